"""The line of one queue: who goes before whom, so built that most of it is never looked at.

Workloads that ask for the same at the same priority form a group: what is true of its first is true
of all, so only the first stands in the line and an arrival behind it costs nothing. The firsts are
sorted into blocks, and each block knows the least that any of its groups needs of each resource: a
block whose least does not fit is passed over whole.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TypeAlias

from webhook.model.quantity import Amount
from webhook.model.workload import Uid, Workload
from webhook.quota.shape import Shape

Place: TypeAlias = tuple[int, float, str]
"""(−priority, place, uid): the total order of a line."""
_LARGEST_BLOCK = 128


class Waiting:
    """One workload in a line. ``group`` is None once it has left; ``passed`` is for ``Passes``."""

    __slots__ = ("group", "passed", "place", "shape", "workload")

    def __init__(self, workload: Workload, shape: Shape) -> None:
        self.workload = workload
        self.shape = shape
        self.place: Place = (-workload.priority, workload.place, workload.uid)
        self.group: Fifo | None = None
        self.passed = 0

    @property
    def uid(self) -> Uid:
        return self.workload.uid

    def __lt__(self, other: Waiting) -> bool:
        return self.place < other.place


class Fifo:
    """Some who wait, in order: a list for those who come in order, a heap for others."""

    __slots__ = ("_late", "_queue", "_start", "live")

    def __init__(self) -> None:
        self.live = 0
        self._queue: list[Waiting] = []
        self._start = 0
        self._late: list[Waiting] = []

    def push(self, entry: Waiting) -> None:
        entry.group = self
        self.live += 1
        if not self._queue or self._queue[-1].place < entry.place:
            self._queue.append(entry)
        else:
            heappush(self._late, entry)

    def drop(self, entry: Waiting) -> None:
        """It stays where it is until it comes to the front, or until most are such."""
        entry.group = None
        self.live -= 1
        if len(self._queue) + len(self._late) > 2 * self.live + 16:
            self._sweep()

    def _sweep(self) -> None:
        self._queue = [entry for entry in self._queue[self._start :] if entry.group is self]
        self._start = 0
        self._late = sorted(entry for entry in self._late if entry.group is self)

    def first(self) -> Waiting:
        """Whoever is before all others; there is somebody."""
        queue, late = self._queue, self._late
        while self._start < len(queue) and queue[self._start].group is not self:
            self._start += 1
        while late and late[0].group is not self:
            heappop(late)
        if self._start == len(queue) or (late and late[0].place < queue[self._start].place):
            return late[0]
        return queue[self._start]

    def __iter__(self) -> Iterator[Waiting]:
        every = (*self._queue[self._start :], *self._late)
        return (entry for entry in every if entry.group is self)


class Group(Fifo):
    """Workloads of one shape and priority."""

    __slots__ = ("listed", "place", "priority", "shape")

    def __init__(self, priority: int, shape: Shape) -> None:
        super().__init__()
        self.priority, self.shape = priority, shape
        self.listed = False
        """Whether the line has sorted it in."""
        self.place: Place = (0, 0.0, "")
        """The place of its first when the line last did."""

    def enter(self, entry: Waiting) -> bool:
        """Let it wait. True if it is the first: only then can it change what the queue does."""
        self.push(entry)
        return not self.listed or entry.place < self.place

    def leave(self, entry: Waiting) -> None:
        """It waits here no longer."""
        self.drop(entry)

    def head(self) -> Waiting | None:
        """Whoever speaks for the group in the line; None if nobody of it may."""
        return self.first() if self.live else None

    def example(self) -> Waiting:
        """One of it to be shown: its head, or whoever waits where nobody may start."""
        return self.first()

    def admits(self, entry: Waiting) -> bool:
        """Whether its head may start at all, whatever is free. If not, another has become its head."""
        return True


def _plain(entry: Waiting) -> Group:
    return Group(entry.workload.priority, entry.shape)


@dataclass(slots=True)
class Block:
    """Some neighbours in the line, in order. ``least`` is None when it has to be taken anew."""

    places: list[Place]
    groups: list[Group]
    least: tuple[Amount, ...] | None = None

    def need(self) -> tuple[Amount, ...]:
        """The least that any of its groups asks of each resource."""
        if self.least is None:
            self.least = minimum([group.shape.least for group in self.groups])
        return self.least


def minimum(vectors: Sequence[tuple[Amount, ...]]) -> tuple[Amount, ...]:
    """Component by component."""
    return tuple(map(min, *vectors)) if len(vectors) > 1 else vectors[0]


class Line:
    """All groups of one queue, of a kind that ``gather`` makes."""

    __slots__ = ("_gather", "_groups", "_lasts", "blocks", "fickle", "size")

    def __init__(self, gather: Callable[[Waiting], Group] = _plain) -> None:
        self.blocks: list[Block] = []
        self._gather = gather
        self._lasts: list[Place] = []
        self._groups: dict[tuple[int, int], Group] = {}
        self.fickle = 0
        """Groups in the blocks whose verdict can turn to yes while capacity shrinks."""
        self.size = 0

    def add(self, entry: Waiting) -> bool:
        """True if it can change what the queue does: for most, if it is the first of its group."""
        key = (entry.workload.priority, id(entry.shape))
        group = self._groups.get(key)
        self.size += 1
        if group is None:
            group = self._groups[key] = self._gather(entry)
        if not group.enter(entry):
            return False
        self.sort_in(group)
        return True

    def remove(self, entry: Waiting) -> None:
        """It leaves, from wherever it stands."""
        if entry.group is None:
            raise ValueError(f"{entry.uid} is in no line")
        group = self._groups[entry.workload.priority, id(entry.shape)]
        self.size -= 1
        group.leave(entry)
        if not group.live:
            del self._groups[group.priority, id(group.shape)]
        self.sort_in(group)

    def first(self) -> Waiting | None:
        """Whoever is before all others, of those who may start at all."""
        while self.blocks:
            entry = self.offer(self.blocks[0].groups[0])
            if entry is not None:
                return entry
        return None

    def offer(self, group: Group) -> Waiting | None:
        """The first of a group in the blocks; None if it may not start: the blocks have changed then."""
        entry = group.head()
        if entry is not None and group.admits(entry):
            return entry
        self.sort_in(group)
        return None

    def front(self) -> Place | None:
        """Nobody who may start stands before this place; None if nobody stands here at all."""
        return self.blocks[0].places[0] if self.blocks else None

    def groups(self) -> Iterator[Group]:
        """In the order of the line; then those of whom nobody may start."""
        yield from (group for block in self.blocks for group in block.groups)
        yield from (group for group in self._groups.values() if not group.listed)

    def need(self) -> tuple[Amount, ...]:
        """The least that anybody asks of each resource; only of a line that is not empty."""
        if len(self.blocks) == 1:
            return self.blocks[0].need()
        return minimum([block.need() for block in self.blocks])

    def sort_in(self, group: Group) -> None:
        """Put it where its head belongs, or out of the blocks if it has none."""
        head = group.head()
        if head is None:
            if group.listed:
                self._delete(group)
        elif not group.listed:
            self._insert(group, head.place)
        elif head.place != group.place:
            self._move(group, head.place)

    def _block_of(self, place: Place) -> int:
        return min(bisect_left(self._lasts, place), len(self.blocks) - 1)

    def _insert(self, group: Group, place: Place) -> None:
        group.place, group.listed = place, True
        self.fickle += group.shape.fickle
        if not self.blocks:
            self.blocks.append(Block([place], [group], group.shape.least))
            self._lasts.append(place)
            return
        number = self._block_of(place)
        block = self.blocks[number]
        at = bisect_right(block.places, place)
        block.places.insert(at, place)
        block.groups.insert(at, group)
        if block.least is not None:
            block.least = minimum([block.least, group.shape.least])
        self._lasts[number] = block.places[-1]
        if len(block.groups) > _LARGEST_BLOCK:
            self._split(number)

    def _split(self, number: int) -> None:
        block, half = self.blocks[number], _LARGEST_BLOCK // 2
        self.blocks.insert(number + 1, Block(block.places[half:], block.groups[half:]))
        del block.places[half:], block.groups[half:]
        block.least = None
        self._lasts[number] = block.places[-1]
        insort(self._lasts, self.blocks[number + 1].places[-1])

    def _delete(self, group: Group) -> None:
        group.listed = False
        self.fickle -= group.shape.fickle
        number = self._block_of(group.place)
        block = self.blocks[number]
        at = bisect_left(block.places, group.place)
        del block.places[at], block.groups[at]
        if not block.groups:
            del self.blocks[number], self._lasts[number]
            return
        self._lasts[number] = block.places[-1]
        if any(map(int.__eq__, block.least or (), group.shape.least)):
            block.least = None

    def _move(self, group: Group, place: Place) -> None:
        """Its first has changed. What its block needs least stays, if it stays in the block."""
        number = self._block_of(group.place)
        block = self.blocks[number]
        last = number == len(self.blocks) - 1
        if not (block.places[0] <= place and (last or place <= block.places[-1])):
            self._delete(group)
            self._insert(group, place)
            return
        at = bisect_left(block.places, group.place)
        del block.places[at], block.groups[at]
        at = bisect_right(block.places, place)
        block.places.insert(at, place)
        block.groups.insert(at, group)
        self._lasts[number] = block.places[-1]
        group.place = place
