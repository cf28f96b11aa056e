"""Whom to stop though nobody needs its place: queues that drain, and pods that are not ready in time.

The clock of ``ready within`` runs from the start to the first time that all pods are ready. A loop
notes that time in the record of the start, so that another one does not stop what has run for days
and has just lost a pod. What is told to be stopped counts as stopping at once, and is told once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush

from webhook.model.queues import Deadline, Queue, Quotas
from webhook.model.workload import Cause, Evicted, Uid, Workload
from webhook.quota.news import Eviction

BACKOFF_SECONDS, LONGEST_BACKOFF_SECONDS = 60, 3600


@dataclass(slots=True)
class Stop:
    """A stop of ours that no sight has shown yet. ``version`` is that of the write, once it is confirmed."""

    eviction: Eviction
    version: str | None = None


class Stops:
    """Started workloads that may have to be stopped for their queue's sake, by the time of it."""

    def __init__(self, quotas: Quotas) -> None:
        self._quotas = quotas
        self._watched: dict[Uid, tuple[float, Workload]] = {}
        self._timers: list[tuple[float, Uid]] = []
        self._ready: dict[Uid, float] = {}
        """Seen ready since the start at that time, whatever they are now."""
        self._postponed: dict[Uid, float] = {}
        self._unmarked: dict[Uid, Workload] = {}
        """Ready for the first time; the record does not say so, and nobody was told yet."""
        self._told: set[Uid] = set()

    def obey(self, quotas: Quotas) -> None:
        """Another policy is in force. All are to be watched anew; what was seen ready stays so."""
        self._quotas = quotas
        for known in (self._watched, self._timers, self._unmarked, self._told):
            known.clear()

    def watch(self, workload: Workload) -> None:
        """A started workload as it is seen now."""
        uid, queue = workload.uid, self._quotas.queues[workload.queue]
        self._note_readiness(workload, queue)
        moment = self._moment(workload, queue)
        if moment is None:
            self._watched.pop(uid, None)
            return
        moment = max(moment, self._postponed.get(uid, moment))
        known = self._watched.get(uid)
        self._watched[uid] = (moment, workload)
        if known is None or known[0] != moment:
            heappush(self._timers, (moment, uid))

    def forget(self, uid: Uid) -> None:
        """It runs no longer."""
        for known in (self._watched, self._ready, self._postponed, self._unmarked):
            known.pop(uid, None)
        self._told.discard(uid)

    def postpone(self, uid: Uid, until: float) -> None:
        """A write to it failed: leave it alone till then."""
        self._postponed[uid] = until
        self._told.discard(uid)

    def _note_readiness(self, workload: Workload, queue: Queue) -> None:
        uid, began = workload.uid, workload.started_at
        if self._ready.get(uid) != began:
            self._ready.pop(uid, None)
            self._told.discard(uid)
        self._unmarked.pop(uid, None)
        if began is None or not (workload.ready or uid in self._ready):
            return
        self._ready[uid] = began
        asked = queue.deadline is not None and workload.admission is not None
        if asked and workload.ready_at is None and uid not in self._told:
            self._unmarked[uid] = workload

    def _moment(self, workload: Workload, queue: Queue) -> float | None:
        """When it has to be stopped, if nothing changes."""
        if queue.halt is not None and queue.halt.drains:
            return float("-inf")
        began, deadline = workload.started_at, queue.deadline
        # what runs without a record was not started by us: its clock cannot be told
        if deadline is None or began is None or workload.admission is None:
            return None
        if workload.ready_at is not None or workload.uid in self._ready:
            return None
        return began + deadline.seconds

    def due(self, now: float) -> Iterator[Eviction]:
        """Those whose time has come."""
        while self._timers and self._timers[0][0] <= now:
            moment, uid = heappop(self._timers)
            known = self._watched.get(uid)
            if known is not None and known[0] == moment:
                del self._watched[uid]
                yield self._evict(known[1], now)

    def _evict(self, workload: Workload, now: float) -> Eviction:
        queue = self._quotas.queues[workload.queue]
        if queue.halt is not None and queue.halt.drains:
            why = f": {queue.halt.reason}" if queue.halt.reason else ""
            record = stopped(workload, Cause.DRAINED, now)
            return Eviction(workload, record, f"queue {queue.name} drains{why}")
        deadline = queue.deadline or Deadline(0)
        record, hold = late(workload, deadline, now)
        text = f"not ready within {deadline.seconds} s"
        return Eviction(workload, record, text, hold=hold)

    def unmarked(self, now: float) -> tuple[Workload, ...]:
        """Ready for the first time, which their records do not say; each is told once."""
        found = [uid for uid in self._unmarked if self._postponed.get(uid, now) <= now]
        self._told.update(found)
        return tuple(self._unmarked.pop(uid) for uid in found)

    def next_due(self) -> float | None:
        """When the next one has to be stopped, or to be told of."""
        moments = [self._postponed[uid] for uid in self._unmarked if uid in self._postponed]
        while self._timers:
            moment, uid = self._timers[0]
            known = self._watched.get(uid)
            if known is not None and known[0] == moment:
                return min([moment, *moments])
            heappop(self._timers)
        return min(moments, default=None)


def stopped(workload: Workload, cause: Cause, now: float, by: str = "") -> Evicted:
    """The record of a stop that is no fault of the workload: it keeps its place, and what it failed before."""
    before = workload.evicted
    if before is None:
        return Evicted(cause, now, by)
    ready = workload.ready or workload.ready_at is not None
    return Evicted(cause, now, by, 0 if ready else before.count, None, before.place)


def late(workload: Workload, deadline: Deadline, now: float) -> tuple[Evicted, str | None]:
    """The record of pods that were not ready in time, and the reason for a hold after the last try."""
    count = (workload.evicted.count if workload.evicted is not None else 0) + 1
    if deadline.retries is not None and count > deadline.retries:
        hold = f"not ready {count} times" if count > 1 else "not ready 1 time"
        return Evicted(Cause.NOT_READY, now, count=count, place=now), hold
    wait = min(BACKOFF_SECONDS * 2 ** min(count - 1, 10), LONGEST_BACKOFF_SECONDS)
    return Evicted(Cause.NOT_READY, now, count=count, not_before=now + wait, place=now), None
