"""Children of a managed parent: charged with it, started with it, never queued a second time.

A child bears the queue's label, so that its updates are reviewed too (an UPDATE is registered by that label), but no
stamp: the stamp is the mark of a root. While the parent waits, so does the child, whoever makes it. Its pods bear the
parent's uid, by which they are found, and charged, when both are gone.
"""

from __future__ import annotations

from dataclasses import replace

from webhook.admission.change import MARKS
from webhook.admission.decision import PASS, Decision, Refusal
from webhook.model.kinds import Key, Object
from webhook.model.patch import NO_PATCH, drop, put
from webhook.workloads.adapter import Adapter
from webhook.workloads.jobset import PARENT_UID
from webhook.workloads.objects import labels, mapping, metadata
from webhook.workloads.start import mark_templates, suspend

UNLIKE = Refusal(
    "tidegate: a child of a queued workload waits with it, in its queue (another webhook changed that, or the mutating"
    " call did not answer in time)"
)


def born(child: Object, parent: Object, adapter: Adapter) -> Decision:
    """The decision of the mutating call on a child's CREATE. A parent in no queue is left alone, its child too."""
    joins = joined(child, parent)
    if joins is PASS:
        return PASS
    queue, uid = labels(parent)[Key.QUEUE], str(metadata(parent).get("uid") or "")
    marks = mark_templates(adapter, child, {Key.QUEUE: queue, PARENT_UID: uid})
    return replace(joins, patch=joins.patch + marks)


def joined(child: Object, parent: Object) -> Decision:
    """The same for one that was there before its queue; its pod template cannot be changed any more."""
    queue = labels(parent).get(Key.QUEUE)
    if queue is None:
        return PASS
    patch = NO_PATCH
    if labels(child).get(Key.QUEUE) != queue:
        patch += put(child, ("metadata", "labels", Key.QUEUE), queue)
    for key in MARKS:
        patch += drop(child, ("metadata", "annotations", key))
    if mapping(parent, "spec").get("suspend") is True:
        patch += suspend(child)
    return Decision(patch=patch, note="child")


def confirmed_child(mutating: Decision) -> Decision:
    """The decision of the validating call, of what the mutating call would still have to put right: nothing."""
    if mutating.patch:
        return Decision(refusals=(UNLIKE,), note="refused")
    return mutating
