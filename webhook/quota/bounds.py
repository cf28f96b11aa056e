"""What everybody holds under the limits of a queue, so that "is this one over" costs a look.

A bucket is one subject under one limit. When it shrinks, only the crowds that have somebody parked
for it are asked, and each lets back in the first of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from webhook.model.quantity import Amount, Amounts
from webhook.model.queues import Limit, Queue
from webhook.model.workload import Uid, Workload
from webhook.quota.limits import JOBS, OverLimit, subject_of

Whose: TypeAlias = tuple[str, ...]
"""For each limit of a queue the subject that a workload counts for."""


class Parking(Protocol):
    """Who parks workloads for a bucket."""

    def let_back(self, bucket: Bucket) -> bool:
        """The bucket has shrunk. True if somebody may be nominated again."""


class Bucket:
    """What one subject holds under one limit, and who has some of it parked for that."""

    __slots__ = ("at", "jobs", "limit", "parking", "subject", "used")

    def __init__(self, limit: Limit, at: int, subject: str) -> None:
        self.limit, self.at, self.subject = limit, at, subject
        self.jobs = 0
        self.used: dict[str, Amount] = {}
        self.parking: dict[Parking, None] = {}

    def over(self, asked: Amounts, jobs: int) -> tuple[str, Amount, Amount] | None:
        """The first bound that leaves no room for so much: resource, used and bound."""
        most = self.limit.jobs
        if jobs and most is not None and self.jobs + jobs > most:
            return JOBS, self.jobs, most
        for resource, bound in self.limit.resources.items():
            used, amount = self.used.get(resource, 0), asked.get(resource, 0)
            if amount and used + amount > bound:
                return resource, used, bound
        return None

    def count(self, amounts: Amounts, jobs: int) -> None:
        """Somebody of the subject came, or, with negative numbers, went."""
        self.jobs += jobs
        for resource in self.limit.resources:
            if amounts.get(resource):
                self.used[resource] = self.used.get(resource, 0) + amounts[resource]
                if not self.used[resource]:
                    del self.used[resource]

    @property
    def idle(self) -> bool:
        """Whether it says nothing that a new one would not."""
        return not (self.jobs or self.used or self.parking)


class Bounds:
    """The limits of one queue on what runs, and the buckets of all who have any."""

    def __init__(self, queue: Queue) -> None:
        self.queue = queue
        self.limits = tuple(
            each for each in queue.limits if each.resources or each.jobs is not None
        )
        self._buckets: tuple[dict[str, Bucket], ...] = tuple({} for _ in self.limits)

    def whose(self, workload: Workload) -> Whose:
        """For whom it counts."""
        return tuple(subject_of(limit, workload) for limit in self.limits)

    def buckets(self, whose: Whose) -> Iterator[Bucket]:
        """Those that say anything, of the subjects of one workload."""
        for known, subject in zip(self._buckets, whose, strict=True):
            found = known.get(subject)
            if found is not None:
                yield found

    def stopped_by(self, whose: Whose, asked: Amounts, jobs: int) -> Bucket | None:
        """The first bucket that leaves no room for so much."""
        for at, known in enumerate(self._buckets):
            bucket = known.get(whose[at]) or Bucket(self.limits[at], at, whose[at])
            if bucket.over(asked, jobs) is not None:
                return known.setdefault(whose[at], bucket)
        return None

    def count(self, whose: Whose, amounts: Amounts, jobs: int) -> None:
        """Add to its buckets; negative numbers take from them."""
        for at, subject in enumerate(whose):
            bucket = self._buckets[at].get(subject)
            if bucket is None:
                bucket = self._buckets[at][subject] = Bucket(self.limits[at], at, subject)
            bucket.count(amounts, jobs)
            self.tidy(bucket)

    def tidy(self, bucket: Bucket) -> None:
        """Forget it if it is empty: subjects come and go for ever."""
        if bucket.idle:
            self._buckets[bucket.at].pop(bucket.subject, None)

    def room(self, workload: Workload, each: Amounts) -> int | None:
        """For how many of its pods, each asking for so much, there is room; None: for any number."""
        whose, found = self.whose(workload), []
        for limit, known, subject in zip(self.limits, self._buckets, whose, strict=True):
            used = known[subject].used if subject in known else {}
            for resource, bound in limit.resources.items():
                if each.get(resource):
                    found.append((bound - used.get(resource, 0)) // each[resource])
        return min(found, default=None)

    def every(self) -> Iterator[Bucket]:
        """All buckets that say anything."""
        return (bucket for known in self._buckets for bucket in known.values())

    def over(self, workload: Workload, asked: Amounts, jobs: int = 1) -> OverLimit | None:
        """What stops a workload now, in numbers."""
        bucket = self.stopped_by(self.whose(workload), asked, jobs)
        found = bucket.over(asked, jobs) if bucket is not None else None
        if bucket is None or found is None:
            return None
        self.tidy(bucket)
        resource, used, bound = found
        amount = jobs if resource == JOBS else asked[resource]
        return OverLimit(
            self.queue.name, bucket.limit, bucket.subject, resource, amount, used, bound
        )


class Held(NamedTuple):
    """What one workload counts for."""

    node: int
    whose: Whose
    amounts: Amounts
    jobs: int


class Released(NamedTuple):
    """In which queue, and who there, may be nominated again."""

    node: int
    let_back: Sequence[Parking]


NOBODY = Released(0, ())


class Accounts:
    """Who holds what under the limits of all queues. Idempotent by uid, like the ledger."""

    def __init__(self, bounds: Sequence[Bounds | None]) -> None:
        self.bounds = bounds
        self._held: dict[Uid, Held] = {}

    def hold(self, node: int, workload: Workload, amounts: Amounts, jobs: int = 1) -> Released:
        """Record what it holds in place of all that it held."""
        bounds = self.bounds[node]
        new = Held(node, bounds.whose(workload), amounts, jobs) if bounds is not None else None
        return self._replace(workload.uid, new)

    def release(self, uid: Uid) -> Released:
        """It holds nothing any more; unknown uids never did."""
        return self._replace(uid, None)

    def _replace(self, uid: Uid, new: Held | None) -> Released:
        old = self._held.pop(uid, None)
        if new is not None:
            self._held[uid] = new
            self._count(new, 1)
        if old is None:
            return NOBODY
        self._count(old, -1)
        bounds = self.bounds[old.node]
        found = bounds.buckets(old.whose) if bounds is not None else ()
        asked = [(bucket, each) for bucket in found for each in list(bucket.parking)]
        return Released(old.node, [each for bucket, each in asked if each.let_back(bucket)])

    def _count(self, held: Held, sign: int) -> None:
        bounds = self.bounds[held.node]
        if bounds is not None:
            amounts = {resource: sign * amount for resource, amount in held.amounts.items()}
            bounds.count(held.whose, amounts, sign * held.jobs)

    def totals(self) -> dict[tuple[int, int, str], tuple[int, dict[str, Amount]]]:
        """(Queue, number of the limit, subject) → workloads and amounts, for comparison in tests."""
        found = {}
        for node, bounds in enumerate(self.bounds):
            for bucket in bounds.every() if bounds is not None else ():
                if bucket.jobs or bucket.used:
                    found[node, bucket.at, bucket.subject] = (bucket.jobs, dict(bucket.used))
        return found
