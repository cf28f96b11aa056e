"""A group of the line in a queue with limits: one verdict by quota for all, a lane for each subject.

What is asked is the same for everybody here, so it fits for all or for nobody; whom a limit stops
differs. The firsts of the lanes stand in a heap, and the first of these speaks for the crowd. It is
asked about its limits only when it does. If one of them stops it, its whole lane is parked for that
bucket; and when the bucket shrinks, the lane whose first is before all others parked for it comes
back. As soon as that one moves on, the next follows, so nobody is let back in to be parked again.
"""

from __future__ import annotations

from heapq import heappop, heappush

from webhook.quota.bounds import Bounds, Bucket, Whose
from webhook.quota.line import Fifo, Group, Waiting


class Lane(Fifo):
    """Workloads of one crowd that count for the same subjects. ``parked`` names what stops them."""

    __slots__ = ("parked", "whose")

    def __init__(self, whose: Whose) -> None:
        super().__init__()
        self.whose = whose
        self.parked: Bucket | None = None


class Crowd(Group):
    """Workloads of one shape and priority in a queue with limits."""

    __slots__ = ("_asked", "_bounds", "_heads", "_jobs", "_lanes", "_parked")

    def __init__(self, first: Waiting, bounds: Bounds) -> None:
        super().__init__(first.workload.priority, first.shape)
        self._bounds = bounds
        self._asked, self._jobs = first.workload.least, first.workload.jobs
        self._lanes: dict[Whose, Lane] = {}
        self._heads: list[Waiting] = []
        """Of every open lane its first, and others that no longer are."""
        self._parked: dict[Bucket, list[Waiting]] = {}
        """The same of the lanes that are parked, by what stops them."""

    def enter(self, entry: Waiting) -> bool:
        whose = self._bounds.whose(entry.workload)
        lane = self._lanes.get(whose)
        if lane is None:
            lane = self._lanes[whose] = Lane(whose)
        lane.push(entry)
        self.live += 1
        if lane.first() is not entry:
            return False
        self._show(lane)
        return lane.parked is None or self.let_back(lane.parked)

    def _show(self, lane: Lane) -> None:
        """Its first has changed."""
        heap = self._heads if lane.parked is None else self._parked[lane.parked]
        heappush(heap, lane.first())

    def leave(self, entry: Waiting) -> None:
        lane = self._lanes[self._bounds.whose(entry.workload)]
        was_first = lane.first() is entry
        lane.drop(entry)
        self.live -= 1
        if not was_first:
            return
        if lane.live:
            self._show(lane)
        else:
            del self._lanes[lane.whose]
        if lane.parked is None:
            self._follow(lane)
        else:
            self._clean(lane.parked)

    def head(self) -> Waiting | None:
        return _first(self._heads, None)

    def example(self) -> Waiting:
        return self.head() or next(iter(self._lanes.values())).first()

    def admits(self, entry: Waiting) -> bool:
        lane = self._lanes[self._bounds.whose(entry.workload)]
        bucket = self._bounds.stopped_by(lane.whose, self._asked, self._jobs)
        if bucket is None:
            return True
        lane.parked = bucket
        bucket.parking[self] = None
        heappush(self._parked.setdefault(bucket, []), entry)
        self._follow(lane)
        return False

    def _follow(self, lane: Lane) -> None:
        """The first of an open lane has moved on: those parked for the same subjects may be next."""
        for bucket in self._bounds.buckets(lane.whose):
            if bucket in self._parked:
                self.let_back(bucket)

    def let_back(self, bucket: Bucket) -> bool:
        """Open the lane whose first is before all others parked for the bucket, if it has room now."""
        if bucket.over(self._asked, self._jobs) is not None:
            return False
        entry = _first(self._parked[bucket], bucket)
        if entry is not None and isinstance(entry.group, Lane):
            entry.group.parked = None
            heappush(self._heads, entry)
        self._clean(bucket)
        return entry is not None

    def _clean(self, bucket: Bucket) -> None:
        """Nobody parked for it: it need not ask here."""
        if _first(self._parked[bucket], bucket) is None:
            del self._parked[bucket]
            del bucket.parking[self]
            self._bounds.tidy(bucket)


def _first(heap: list[Waiting], parked: Bucket | None) -> Waiting | None:
    """The first entry that is still the first of its lane, where the lane is still parked so."""
    while heap:
        lane = heap[0].group
        if isinstance(lane, Lane) and lane.parked is parked and lane.first() is heap[0]:
            return heap[0]
        heappop(heap)
    return None
