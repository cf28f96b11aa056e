"""An object that was none of our business bears a queue's label now: like a submission, but never while it runs.

What runs, or still has pods, would be charged to a queue that never granted it. A kind that makes children has made
them without the label by which their edits are reviewed.
"""

from __future__ import annotations

from webhook.admission.decision import Refusal
from webhook.admission.subject import Subject
from webhook.model.kinds import JOBSET
from webhook.model.workload import Phase

RUNNING = Refusal("a running workload cannot enter a queue; suspend it first (spec.suspend: true)")
STOPPING = Refusal("pods of it are left: it can enter a queue once they are gone")
CHILDREN = Refusal(
    f"a {JOBSET.name} cannot enter a queue later, its Jobs were made without one; delete it and submit it again"
)


def too_late(subject: Subject) -> Refusal | None:
    """Why it cannot enter a queue as it is; None if it can. Raises BadObject."""
    if subject.started:
        return RUNNING
    if subject.adapter.kind == JOBSET:
        return CHILDREN
    phase = subject.adapter.read(subject.object, queue="", priority=0).phase
    return STOPPING if phase is Phase.STOPPING else None
