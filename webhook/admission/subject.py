"""The object of a request, as the rules see it: which adapter reads it, what marks it bears, what conditions read.

One ``Subject`` is one state of an object (the old or the new one of an update), so that every rule can be asked of
both. Nothing here decides anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from webhook.admission.knowledge import Knowledge
from webhook.admission.review import Request
from webhook.language.conditions import Scope
from webhook.language.policy import Policy, UnknownPriority
from webhook.model.kinds import Key, Object
from webhook.model.quantity import add
from webhook.model.workload import PodSet
from webhook.workloads.adapter import Adapter
from webhook.workloads.objects import labels, mapping, metadata, notes
from webhook.workloads.templates import template_at


@dataclass(frozen=True, slots=True)
class Subject:
    """One state of a managed object, read. ``queue`` is what its label says, "" where the label is empty.

    Where our own label is missing, one that the policy reads as well says it.
    """

    adapter: Adapter
    object: Object
    pod_sets: tuple[PodSet, ...]
    queue: str | None
    priority: tuple[str, int] | UnknownPriority

    @property
    def priority_value(self) -> int:
        """Its number; 0 while its label names no priority."""
        return 0 if isinstance(self.priority, UnknownPriority) else self.priority[1]

    @property
    def stamped(self) -> bool:
        """Bears the mark of a root: once stamped, no owner reference added later makes it a child."""
        return Key.SUBMITTED in notes(self.object)

    @property
    def started(self) -> bool:
        """Runs, or may: neither suspended nor finished."""
        return not (self.adapter.suspended(self.object) or self.adapter.finished(self.object))

    @property
    def waiting(self) -> bool:
        """Suspended, and not done: finished beats suspended."""
        return self.adapter.suspended(self.object) and not self.adapter.finished(self.object)


def read_subject(adapter: Adapter, obj: Object, policy: Policy, knowledge: Knowledge) -> Subject:
    """Raises BadObject for an object that cannot be counted."""
    label = labels(obj).get(Key.PRIORITY)
    classes = [(name, knowledge.priority_class(name)) for name in _classes(adapter, obj)]
    return Subject(
        adapter=adapter,
        object=obj,
        pod_sets=adapter.pod_sets(obj),
        queue=next(iter(queue_labels(policy, labels(obj)).values()), None),
        priority=policy.priority_of(label, classes),
    )


def queue_labels(policy: Policy, found: Mapping[str, str]) -> dict[str, str]:
    """The labels that name a queue, our own first."""
    keys = (Key.QUEUE, *policy.settings.queue_labels)
    return {key: found[key] for key in keys if key in found}


def in_queue(subject: Subject, queue: str) -> Subject:
    """The same object, had it this queue's label."""
    return replace(subject, queue=queue)


def scope_of(request: Request, subject: Subject, knowledge: Knowledge, old: Object | None) -> Scope:
    """What conditions may read of this state of the object."""
    obj, about = subject.object, metadata(subject.object)
    priority = subject.priority
    return Scope(
        object=obj,
        old_object=old,
        request=request.raw,
        namespace_object=knowledge.namespace_object(request.namespace),
        namespace=request.namespace,
        name=str(about.get("name") or about.get("generateName") or ""),
        kind=subject.adapter.kind.name,
        labels=labels(obj),
        annotations=notes(obj),
        user=request.user,
        groups=request.groups,
        queue=subject.queue,
        priority=None if isinstance(priority, UnknownPriority) else priority[0],
        pods=sum(pods.count for pods in subject.pod_sets),
        requests=add(*(pods.total for pods in subject.pod_sets)),
    )


def _classes(adapter: Adapter, obj: Object) -> list[str]:
    """The PriorityClasses its pod templates name, each once, in order."""
    names: dict[str, None] = {}
    for path in adapter.templates(obj).values():
        template: Mapping[str, object] = template_at(obj, path) or {}
        name = mapping(template, "spec").get("priorityClassName")
        if isinstance(name, str) and name:
            names[name] = None
    return list(names)
