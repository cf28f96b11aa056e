"""The writes that suspend and start a workload, the same for every kind that has a suspend field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from webhook.model.kinds import Key, Object
from webhook.model.patch import NO_PATCH, Op, Patch, pointer, put
from webhook.model.queues import DEFAULT_FLAVOR, Flavor
from webhook.model.workload import Admission
from webhook.workloads.adapter import Adapter
from webhook.workloads.objects import metadata
from webhook.workloads.record import admission_of, injected_into, render_admission
from webhook.workloads.templates import inject, labelled, restored, template_at

__all__ = ["injected_into", "label_templates", "locked", "reopen", "restore", "start", "suspend"]

SUSPEND = ("spec", "suspend")
RECORD = ("metadata", "annotations", Key.ADMISSION)


def suspend(obj: Object) -> Patch:
    """Operations that suspend it; none where it is."""
    return put(obj, SUSPEND, True)


def start(
    adapter: Adapter, obj: Object, admission: Admission, flavors: Mapping[str, Flavor]
) -> Patch:
    """The one write of a start. Raises LookupError for a pod set the object does not have, or an unknown flavor.

    Locked by the object's resourceVersion: the API server answers 409 where the object has moved on since it was
    read. What an earlier start injected is taken out again, to the letter; the record says what this one injects.
    """
    earlier, paths = admission_of(obj), dict(adapter.templates(obj))
    done = adapter.succeeded(obj)
    patch: Patch = ()
    written = []
    for pods in admission.pod_sets:
        chosen = [flavors[name] for name in dict.fromkeys(pods.flavors.values()) if _acts(name)]
        path = paths.pop(pods.name)
        ops, injected = inject(obj, path, injected_into(earlier, pods.name), chosen)
        patch += ops
        written.append(replace(pods, injected=injected, done=done.get(pods.name, 0)))
    for name, path in paths.items():  # nothing of these starts now, but a restart may run them
        patch += inject(obj, path, injected_into(earlier, name), ())[0]
    record = replace(admission, pod_sets=tuple(written))
    head = (locked(obj), *put(obj, SUSPEND, False), *put(obj, RECORD, render_admission(record)))
    return (*head, *_sized(adapter, obj, record), *patch)


def grow(adapter: Adapter, obj: Object, admission: Admission) -> Patch:
    """The one write that lets a started workload grow to the counts of ``admission``, its record from then on."""
    written = put(obj, RECORD, render_admission(admission))
    return (locked(obj), *written, *_sized(adapter, obj, admission))


def _sized(adapter: Adapter, obj: Object, admission: Admission) -> Patch:
    return adapter.resized(obj, {pods.name: pods.count for pods in admission.pod_sets})


def reopen(adapter: Adapter, obj: Object, start: Patch) -> Patch:
    """The write to its status that has to come before this start, locked as a start is; none for most.

    Only a start that changes a template ever waits for it: most restarts are on the flavor they had.
    """
    roots = tuple(pointer(*path) for path in adapter.templates(obj).values())
    changes = any(op.path.startswith(f"{root}/") for op in start for root in roots)
    first = adapter.reopening(obj) if changes else NO_PATCH
    return (locked(obj), *first) if first else NO_PATCH


def locked(obj: Object) -> Op:
    """The operation that makes a write fail with 409 unless the object still is as it was read."""
    version = str(metadata(obj).get("resourceVersion") or "")
    return Op("replace", pointer("metadata", "resourceVersion"), version)


def restore(adapter: Adapter, old: Object, new: Object) -> Patch:
    """Operations that put back into a started workload what its start injected and an update dropped."""
    record, was, now = admission_of(old), adapter.templates(old), adapter.templates(new)
    patch: Patch = ()
    for pods in record.pod_sets if record else ():
        if pods.name in was and pods.name in now:
            patch += restored(old, new, was[pods.name], now[pods.name], pods.injected)
    return patch


def label_templates(adapter: Adapter, obj: Object, queue: str) -> Patch:
    """Operations that copy the queue's label to every pod template: pods are found by it when their owner is gone."""
    return mark_templates(adapter, obj, {Key.QUEUE: queue})


def mark_templates(adapter: Adapter, obj: Object, marks: Mapping[str, str]) -> Patch:
    """Operations that put labels on every pod template."""
    patch: Patch = ()
    for path in adapter.templates(obj).values():
        if template_at(obj, path) is not None:
            patch += labelled(obj, path, marks)
    return patch


def _acts(flavor: str) -> bool:
    """Every flavor but ``default`` injects, so the policy has to know it."""
    return flavor != DEFAULT_FLAVOR
