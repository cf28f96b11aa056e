"""Limits: what one user, namespace, owner or label value may run at a time in a queue.

They count what runs, what is stopping and what is planned, all flavors together, whether a quota
covers it or not. A limit is asked before capacity and stops its subject, never the queue; preemption
does not lift it. Several limits combine by minimum.

This module says what a limit counts and what is over it; ``bounds`` keeps the counts, ``crowd`` the
line of those they stop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from webhook.model.quantity import Amount, Amounts, format_quantity
from webhook.model.queues import Limit, Queue, Subject
from webhook.model.workload import Workload

JOBS = "jobs"
WAITING = "waiting"
"""How limits on the number of workloads are called where a resource would stand."""
_COUNTED = {JOBS: "runs", WAITING: "has"}


def subject_of(limit: Limit, workload: Workload) -> str:
    """Whom the limit counts it for; empty where it has no such label or owner: they are one, too."""
    match limit.subject:
        case Subject.USER:
            return workload.submitted_by
        case Subject.NAMESPACE:
            return workload.namespace
        case Subject.OWNER:
            return workload.owner
        case Subject.LABEL:
            return workload.labels.get(limit.label or "", "")


@dataclass(frozen=True, slots=True)
class OverLimit:
    """One bound that stops a workload. ``used`` is 0 where it is over the limit all alone."""

    queue: str
    limit: Limit
    subject: str
    resource: str
    asked: Amount
    used: Amount
    bound: Amount

    @property
    def who(self) -> str:
        """``user ana``, ``label team a``; where the label is missing, ``no label team``."""
        kind = self.limit.subject.value
        about = f"{kind} {self.limit.label}" if self.limit.subject is Subject.LABEL else kind
        return f"{about} {self.subject}" if self.subject else f"no {about}"

    @property
    def text(self) -> str:
        """``user ana holds 60 of at most 64 nvidia.com/gpu in vision (ml.tide:27), needs 8``."""
        where = f" ({self.limit.place})" if self.limit.place else ""
        verb = _COUNTED.get(self.resource)
        used, bound, asked = (
            str(each) if verb else format_quantity(each, self.resource)
            for each in (self.used, self.bound, self.asked)
        )
        held = f"{self.who} {verb or 'holds'} {used} of at most {bound} {self.resource}"
        return f"{held} in {self.queue}{where}" + ("" if verb else f", needs {asked}")


def waits_for(queue: Queue, workload: Workload) -> Iterator[tuple[int, str]]:
    """Number and subject of each limit on how many may wait."""
    for at, limit in enumerate(queue.limits):
        if limit.waiting is not None:
            yield at, subject_of(limit, workload)


def alone_over(queue: Queue, asked: Amounts) -> tuple[Limit, str, Amount] | None:
    """The first limit that a workload of this size exceeds alone, with the resource and its bound."""
    for limit in queue.limits:
        if limit.jobs == 0:
            return limit, JOBS, 0
        for resource, bound in sorted(limit.resources.items()):
            if asked.get(resource, 0) > bound:
                return limit, resource, bound
    return None


def over_waiting(
    queue: Queue, workload: Workload, waiting: Mapping[tuple[int, str], int]
) -> tuple[OverLimit, ...]:
    """Limits on how many may wait that this workload, not yet counted, would exceed.

    ``waiting`` has (number of the limit in the queue, subject) → how many wait there, as
    ``Core.waiting`` tells it; what it does not have is 0.
    """
    found = []
    for at, subject in waits_for(queue, workload):
        limit, count = queue.limits[at], waiting.get((at, subject), 0)
        most = limit.waiting
        if most is not None and count >= most:
            found.append(OverLimit(queue.name, limit, subject, WAITING, 1, count, most))
    return tuple(found)
