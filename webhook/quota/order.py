"""Everybody who waits: in the line of a queue, or beside it for a hold or a backoff.

Whoever stands beside the line blocks nobody and comes back to the place it had. Nothing here looks
at quota; that is the business of ``contest``.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import partial
from heapq import heappop, heappush
from typing import TypeVar

from webhook.model.quantity import Amounts
from webhook.model.workload import Uid, Workload
from webhook.quota.bounds import Accounts, Bounds, Released
from webhook.quota.crowd import Crowd
from webhook.quota.flavors import Menu
from webhook.quota.limits import waits_for
from webhook.quota.line import Line, Waiting
from webhook.quota.passes import Passes
from webhook.quota.shape import Shape, fingerprint
from webhook.quota.tree import Tree

_Counted = TypeVar("_Counted", bound=Hashable)


class Lines:
    """The waiting workloads of all queues of a tree."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.menus = [Menu(tree, node) for node in tree.queues]
        bounds = [_bounds(menu) for menu in self.menus]
        self.accounts = Accounts(bounds)
        self.lines = [Line() if b is None else Line(partial(Crowd, bounds=b)) for b in bounds]
        self.counts: list[dict[int, int]] = [{} for _ in tree.queues]
        """Per queue: priority → how many wait, in the line or beside it."""
        self.by_subject: list[dict[tuple[int, str], int]] = [{} for _ in tree.queues]
        """Per queue: (number of a limit on how many may wait, subject) → how many do."""
        self._beside: list[dict[int, int]] = [{} for _ in tree.queues]
        self._shapes: list[dict[Hashable, Shape]] = [{} for _ in tree.queues]
        self._entries: dict[Uid, Waiting] = {}
        self._delays: dict[Uid, float] = {}
        self._timers: list[tuple[float, Uid]] = []
        self._now = float("-inf")
        self.since: float | None = None
        """When the first pass was made, and with it the counting of who passes whom."""
        self._passes = [None if tree.strict[queue] else Passes() for queue in tree.queues]

    def __contains__(self, uid: object) -> bool:
        return uid in self._entries

    def entry(self, uid: Uid) -> Waiting | None:
        """Its place in the order; its ``group`` is None while it stands beside the line."""
        return self._entries.get(uid)

    def workloads(self) -> Iterator[Workload]:
        """All that wait, in no order that means anything."""
        return (entry.workload for entry in self._entries.values())

    def node(self, workload: Workload) -> int:
        """Its queue, which exists."""
        return self.tree.nodes[workload.queue]

    def add(self, workload: Workload) -> bool:
        """Let it wait, or wait as it is seen now. True if its queue has to be looked at again."""
        known = self._entries.get(workload.uid)
        if known is not None:
            if self.alike(known.workload, workload):
                known.workload = workload
                return False
            self._take_out(known)
        node = self.node(workload)
        entry = Waiting(workload, self._intern(node, workload))
        self._entries[workload.uid] = entry
        self._count_waiting(node, workload, 1)
        self._heed_backoff(workload)
        halted = self.menus[node].queue.halt is not None
        if halted or workload.hold is not None or workload.uid in self._delays:
            _count(self._beside[node], workload.priority, 1)
            return False
        passes = self._passes[node]
        entry.passed = passes.behind(entry.place) if passes is not None else 0
        return self.lines[node].add(entry)

    def note_start(self, node: int, entry: Waiting) -> None:
        """It has left the line because it may start: whoever stands before it was passed over."""
        passes = self._passes[node]
        if passes is not None:
            passes.note(entry.place, self.lines[node].front())

    def passed_over(self, entry: Waiting) -> tuple[int, float | None]:
        """How often it was passed over while it stood in line, and since when that is counted."""
        passes = self._passes[self.node(entry.workload)]
        count = passes.behind(entry.place) - entry.passed if passes is not None else 0
        return (count, max(entry.workload.place, self.since or 0.0)) if count > 0 else (0, None)

    def alike(self, one: Workload, other: Workload) -> bool:
        """Whether they stand in the same place for the same thing, on account of the same subjects."""
        if not _alike(one, other):
            return False
        bounds = self.accounts.bounds[self.node(one)]
        if bounds is not None and bounds.whose(one) != bounds.whose(other):
            return False
        queue = self.menus[self.node(one)].queue
        return [*waits_for(queue, one)] == [*waits_for(queue, other)]

    def account(self, node: int, workload: Workload, amounts: Amounts) -> int | None:
        """Count what it holds under the limits of the queue; the queue that has to be looked at."""
        return self._let_back(self.accounts.hold(node, workload, amounts, workload.jobs))

    def discount(self, uid: Uid) -> int | None:
        """It holds nothing any more; the queue that has to be looked at, if there is one."""
        return self._let_back(self.accounts.release(uid))

    def _let_back(self, released: Released) -> int | None:
        for crowd in released.let_back:
            if isinstance(crowd, Crowd):
                self.lines[released.node].sort_in(crowd)
        return released.node if released.let_back else None

    def _heed_backoff(self, workload: Workload) -> None:
        """What its record says of when it may start again holds beside other delays."""
        until = not_before(workload)
        if until > max(self._now, self._delays.get(workload.uid, until - 1)):
            self._delays[workload.uid] = until
            heappush(self._timers, (until, workload.uid))

    def remove(self, uid: Uid) -> Waiting | None:
        """It waits no longer; a backoff of it is forgotten, too."""
        self._delays.pop(uid, None)
        entry = self._entries.get(uid)
        if entry is not None:
            self._take_out(entry)
        return entry

    def _take_out(self, entry: Waiting) -> None:
        node, priority = self.node(entry.workload), entry.workload.priority
        del self._entries[entry.uid]
        self._count_waiting(node, entry.workload, -1)
        if entry.group is not None:
            self.lines[node].remove(entry)
        else:
            _count(self._beside[node], priority, -1)
        entry.shape.users -= 1
        if not entry.shape.users:
            del self._shapes[node][entry.shape.key]

    def _count_waiting(self, node: int, workload: Workload, step: int) -> None:
        _count(self.counts[node], workload.priority, step)
        for key in waits_for(self.menus[node].queue, workload) if workload.jobs else ():
            _count(self.by_subject[node], key, step)

    def delay(self, uid: Uid, until: float) -> None:
        """Take it out of the line till then."""
        entry = self._entries.get(uid)
        if entry is None:
            return
        until = max(until, not_before(entry.workload))
        self._delays[uid] = until
        heappush(self._timers, (until, uid))
        if entry.group is not None:
            node = self.node(entry.workload)
            self.lines[node].remove(entry)
            _count(self._beside[node], entry.workload.priority, 1)

    def until(self, uid: Uid) -> float | None:
        """When its backoff ends, if it is in one."""
        return self._delays.get(uid)

    def delays(self) -> dict[Uid, float]:
        """All backoffs."""
        return dict(self._delays)

    def due(self, now: float) -> Iterator[int]:
        """Put those back whose backoff has ended; their queues."""
        self._now = now
        if self.since is None:
            self.since = now
        while self._timers and self._timers[0][0] <= now:
            until, uid = heappop(self._timers)
            if self._delays.get(uid) != until:
                continue
            del self._delays[uid]
            workload = self._entries[uid].workload
            self._take_out(self._entries[uid])
            self.add(workload)
            yield self.node(workload)

    def next_due(self) -> float | None:
        """When the next backoff ends."""
        while self._timers and self._delays.get(self._timers[0][1]) != self._timers[0][0]:
            heappop(self._timers)
        return self._timers[0][0] if self._timers else None

    def ahead(self, node: int, priority: int) -> int:
        """How many in the line a newcomer of this priority would stand behind."""
        beside = self._beside[node]
        counts = self.counts[node].items()
        return sum(n - beside.get(each, 0) for each, n in counts if each >= priority)

    def _intern(self, node: int, workload: Workload) -> Shape:
        key = fingerprint(workload.asks)
        shape = self._shapes[node].get(key)
        if shape is None:
            shape = self._shapes[node][key] = Shape(self.menus[node], workload.asks, key)
        shape.users += 1
        return shape


def _bounds(menu: Menu) -> Bounds | None:
    bounds = Bounds(menu.queue)
    return bounds if bounds.limits else None


def not_before(workload: Workload) -> float:
    """When it may start again after pods that were not ready in time; long ago for most."""
    until = workload.evicted.not_before if workload.evicted is not None else None
    return until if until is not None else float("-inf")


def _alike(one: Workload, other: Workload) -> bool:
    """Whether they stand in the same place for the same thing."""
    return (
        one.queue == other.queue
        and one.priority == other.priority
        and one.place == other.place
        and (one.hold is None) == (other.hold is None)
        and not_before(one) == not_before(other)
        and (one.asks is other.asks or one.asks == other.asks)
    )


def _count(counts: dict[_Counted, int], what: _Counted, step: int) -> None:
    counts[what] = counts.get(what, 0) + step
    if not counts[what]:
        del counts[what]
