"""Children of a managed parent: charged with it, started with it, never queued a second time.

A child bears the queue's label, so that its updates are reviewed too (an UPDATE is registered by that label), but no
stamp: the stamp is the mark of a root. While the parent waits, so does the child, whoever makes it.
"""

from __future__ import annotations

from webhook.admission.change import MARKS
from webhook.admission.decision import PASS, Decision
from webhook.model.kinds import Key, Object
from webhook.model.patch import NO_PATCH, drop, put
from webhook.workloads.objects import labels, mapping
from webhook.workloads.start import suspend


def born(child: Object, parent: Object) -> Decision:
    """The decision of the mutating call on a child's CREATE. A parent in no queue is left alone, its child too."""
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
