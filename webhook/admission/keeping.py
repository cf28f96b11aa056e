"""What an update may not change is put back, so that a tool that re-applies its manifest neither fails nor wins.

``suspend: false`` on a waiting workload is turned back with a warning, injected keys that a re-apply drops return,
growth of a started workload waits. Fed back its own output, all of this is empty: the validating call relies on it.
"""

from __future__ import annotations

from webhook.admission.change import MARKS, Change
from webhook.model.kinds import Key, Object
from webhook.model.patch import NO_PATCH, Patch, drop, put
from webhook.workloads.objects import is_deleting, mapping, metadata, notes
from webhook.workloads.record import admission_of
from webhook.workloads.registry import controller_of
from webhook.workloads.start import label_templates, restore, suspend
from webhook.workloads.templates import Path, template_at


def put_back(change: Change) -> tuple[Patch, tuple[str, ...]]:
    """Operations on the new object, and what to tell whoever sent it."""
    patch, warnings = _marks(change)
    for part in (_owner, _queue_label, _suspension, _growth):
        ops, told = part(change)
        patch, warnings = patch + ops, warnings + told
    return patch + _injected(change) + _template_labels(change), warnings


def _marks(change: Change) -> tuple[Patch, tuple[str, ...]]:
    """Marks as they were. Dropped ones come back without a word: whole manifests never carry them."""
    obj = change.new.object
    before, after = notes(change.old.object), notes(obj)
    wrong = [key for key in MARKS if before.get(key) != after.get(key)]
    if not wrong:
        return NO_PATCH, ()
    forged = [key for key in wrong if key in after]
    warnings = (f"only tidegate writes {', '.join(forged)}: put back",) if forged else ()
    lost = {key: before[key] for key in wrong if key in before}
    if not after:
        return put(obj, ("metadata", "annotations"), lost), warnings
    patch = NO_PATCH
    for key in wrong:
        path = ("metadata", "annotations", key)
        patch += put(obj, path, lost[key]) if key in lost else drop(obj, path)
    return patch, warnings


def _queue_label(change: Change) -> tuple[Patch, tuple[str, ...]]:
    if not change.queue:
        return NO_PATCH, ()
    return put(change.new.object, ("metadata", "labels", Key.QUEUE), change.queue), ()


def _owner(change: Change) -> tuple[Patch, tuple[str, ...]]:
    """A child stays its parent's while that lives: alone it would be charged a second time, and run on after it."""
    parent, old, new = change.parent, change.old.object, change.new.object
    if parent is None or is_deleting(parent) or controller_of(new) == controller_of(old):
        return NO_PATCH, ()
    references = metadata(old).get("ownerReferences")
    text = f"it stays a child of {metadata(parent).get('name')}: its owner was put back"
    return put(new, ("metadata", "ownerReferences"), references), (text,)


def _suspension(change: Change) -> tuple[Patch, tuple[str, ...]]:
    if not (change.old.waiting and change.new.started) or change.may_start:
        return NO_PATCH, ()
    text = f"suspend stays true: it waits in queue {change.queue} until quota is free for it"
    return suspend(change.new.object), (text,)


def _growth(change: Change) -> tuple[Patch, tuple[str, ...]]:
    if not (change.old.started and change.new.started):
        return NO_PATCH, ()
    growth = change.new.adapter.grown(change.old.object, change.new.object)
    if growth is None or not growth.patch:
        return NO_PATCH, ()
    text = f"growth from {growth.was} to {growth.wants} pods was put back: a started workload has no quota for it"
    return growth.patch, (text,)


def _injected(change: Change) -> Patch:
    """What the latest start wrote into the templates, as long as the API server takes them for immutable."""
    old = change.old
    if admission_of(old.object) is None or old.adapter.template_open(old.object):
        return NO_PATCH
    return restore(old.adapter, old.object, change.new.object)


def _template_labels(change: Change) -> Patch:
    """The queue's label on the pod templates, while they are open to change; else as it stood.

    The old state decides: the API server refuses a changed template in the very edit that suspends a running Job.
    """
    adapter, old, new = change.new.adapter, change.old.object, change.new.object
    if adapter.template_open(old):
        return label_templates(adapter, new, change.queue)
    patch = NO_PATCH
    was, now = adapter.templates(old), adapter.templates(new)
    for name in was.keys() & now.keys():
        label = _label_at(old, was[name])
        if label is not None:
            patch += put(new, (*now[name], "metadata", "labels", Key.QUEUE), label)
    return patch


def _label_at(obj: Object, path: Path) -> str | None:
    template = template_at(obj, path) or {}
    label = mapping(mapping(template, "metadata"), "labels").get(Key.QUEUE)
    return label if isinstance(label, str) else None
