"""JobSet: the defaults and refusals of its own webhooks (0.12), applied here without a webhook.

``replicatedJobs`` is immutable but for the pod templates' labels, annotations, node selectors,
tolerations and scheduling gates, and those only while the old OR the new object is suspended.
A JobSet comes as a custom resource: what its webhook does not default stays absent.
"""

from __future__ import annotations

from collections.abc import Iterator

from webhook.sandbox.resources import Object, Resource
from webhook.sandbox.status import Cause
from webhook.sandbox.strategies.fields import (
    copied,
    duplicate,
    immutable,
    invalid,
    items,
    made,
    number,
    required,
    section,
)
from webhook.sandbox.strategies.job import DIRECTIVES
from webhook.sandbox.strategies.names import dns_1035_faults
from webhook.workloads.defaults import default_jobset

TOO_LONG = "JobSet name is too long, {} names generated for this JobSet will exceed 63 characters"
FIXED = ("managedBy", "successPolicy", "failurePolicy", "startupPolicy", "network")


def prepare_create(_: Resource, jobset: Object) -> None:
    default_jobset(jobset)
    jobset.pop("status", None)


def prepare_update(_: Resource, __: Object, new: Object) -> None:
    """Only the schema's defaults: JobSet's own defaulting webhook sees creations alone."""
    for replicated in items(new, "spec", "replicatedJobs"):
        replicated.setdefault("replicas", 1)
        replicated.setdefault("groupName", "default")


def validate_create(_: Resource, jobset: Object) -> Iterator[Cause]:
    name = section(jobset, "metadata").get("name")
    seen: set[str] = set()
    for index, replicated in enumerate(items(jobset, "spec", "replicatedJobs")):
        field = f"spec.replicatedJobs[{index}]"
        short = str(replicated.get("name") or "")
        if not short:
            yield required(f"{field}.name")
        elif short in seen:
            yield duplicate(field, {"name": short})
        seen.add(short)
        yield from _validate_names(f"{name}-{short}", replicated, field)


def _validate_names(stem: str, replicated: Object, field: str) -> Iterator[Cause]:
    """The longest names that will be made of it: its last Job, and that Job's last pod."""
    job = f"{stem}-{number(replicated.get('replicas'), 1) - 1}"
    longest = {"job": job}
    spec = section(replicated, "template", "spec")
    if spec.get("completionMode") == "Indexed" and spec.get("completions") is not None:
        longest["pod"] = f"{job}-{number(spec['completions']) - 1}-abcde"
    for kind, name in longest.items():
        for fault in dns_1035_faults(name):
            text = TOO_LONG.format(kind) if "no more than" in fault else fault
            yield invalid(f"{field}.name", job, text)


def validate_update(_: Resource, old: Object, new: Object, subresource: str) -> Iterator[Cause]:
    if subresource == "status":
        return
    spec, was = section(new, "spec"), section(old, "spec")
    munged = copied(items(spec, "replicatedJobs"))
    if was.get("suspend") is True or spec.get("suspend") is True:
        _allow_directives(munged, items(was, "replicatedJobs"))
    yield from immutable("spec.replicatedJobs", munged, was.get("replicatedJobs"))
    for name in FIXED:
        yield from immutable(f"spec.{name}", spec.get(name), was.get(name))


def _allow_directives(munged: list[Object], was: list[Object]) -> None:
    before = {replicated.get("name"): replicated for replicated in was}
    for replicated in munged:
        old = before.get(replicated.get("name"))
        if old is not None:
            theirs, ours = (section(r, "template", "spec", "template") for r in (old, replicated))
            _restore(ours, theirs)


def _restore(ours: Object, theirs: Object) -> None:
    for kind, names in (("metadata", ("labels", "annotations")), ("spec", DIRECTIVES)):
        target = made(ours, kind)
        for name in names:
            value = section(theirs, kind).get(name)
            if value is None:
                target.pop(name, None)
            else:
                target[name] = value
