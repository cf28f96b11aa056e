"""What each kind defaults and refuses: the API server's strategies as pure functions.

``prepare_*`` return a new object, ``validate_*`` all reasons against it at once. Both may be asked
twice about the same object (before and after the webhooks) and give the same answer. Metadata,
the separation of status and the generation are the writer's (``webhook.sandbox.writing``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

from webhook.sandbox.resources import ADMISSION_GROUP, Object, Resource
from webhook.sandbox.status import Cause
from webhook.sandbox.strategies import job, jobset, pod, webhook_configuration
from webhook.sandbox.strategies.fields import copied

__all__ = ["prepare_create", "prepare_update", "validate_create", "validate_update"]


@dataclass(frozen=True, slots=True)
class _Rules:
    """The rules of one kind; ``prepare`` functions change the copy they are given."""

    prepare_create: Callable[[Resource, Object], None]
    prepare_update: Callable[[Resource, Object, Object], None]
    validate_create: Callable[[Resource, Object], Iterator[Cause]]
    validate_update: Callable[[Resource, Object, Object, str], Iterator[Cause]]


_WEBHOOKS = _Rules(
    webhook_configuration.prepare_create,
    webhook_configuration.prepare_update,
    webhook_configuration.validate_create,
    webhook_configuration.validate_update,
)
_RULES = {
    ("batch", "Job"): _Rules(
        job.prepare_create, job.prepare_update, job.validate_create, job.validate_update
    ),
    ("", "Pod"): _Rules(
        pod.prepare_create, pod.prepare_update, pod.validate_create, pod.validate_update
    ),
    ("jobset.x-k8s.io", "JobSet"): _Rules(
        jobset.prepare_create, jobset.prepare_update, jobset.validate_create, jobset.validate_update
    ),
    (ADMISSION_GROUP, "MutatingWebhookConfiguration"): _WEBHOOKS,
    (ADMISSION_GROUP, "ValidatingWebhookConfiguration"): _WEBHOOKS,
}


def _rules(resource: Resource) -> _Rules | None:
    return _RULES.get((resource.group, resource.kind))


def prepare_create(resource: Resource, obj: Object, now: datetime) -> Object:
    """The object with the kind's defaults, without the status a client sent along.

    ``now`` is for kinds that stamp a time; none of ours does.
    """
    if (rules := _rules(resource)) is None:
        return obj
    made: Object = copied(obj)
    rules.prepare_create(resource, made)
    return made


def prepare_update(resource: Resource, old: Object, new: Object, subresource: str) -> Object:
    """The new state with the kind's defaults; a write to /status changes nothing else."""
    if (rules := _rules(resource)) is None or subresource == "status":
        return new
    made: Object = copied(new)
    rules.prepare_update(resource, old, made)
    return made


def validate_create(resource: Resource, obj: Object) -> list[Cause]:
    """Every reason to refuse a new object."""
    rules = _rules(resource)
    return list(rules.validate_create(resource, obj)) if rules else []


def validate_update(resource: Resource, old: Object, new: Object, subresource: str) -> list[Cause]:
    """Every reason to refuse a change."""
    rules = _rules(resource)
    return list(rules.validate_update(resource, old, new, subresource)) if rules else []
