"""The line of one queue: who goes before whom, so built that most of it is never looked at.

Workloads that ask for the same at the same priority form a group: what is true of its first is true
of all, so only the first stands in the line and an arrival behind it costs nothing. The firsts are
sorted into blocks, and each block knows the least that any of its groups needs of each resource: a
block whose least does not fit is passed over whole.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence
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
    """One workload in a line. ``group`` is None once it has left."""

    __slots__ = ("group", "place", "shape", "workload")

    def __init__(self, workload: Workload, shape: Shape) -> None:
        self.workload = workload
        self.shape = shape
        self.place: Place = (-workload.priority, workload.place, workload.uid)
        self.group: Group | None = None

    @property
    def uid(self) -> Uid:
        return self.workload.uid

    def __lt__(self, other: Waiting) -> bool:
        return self.place < other.place


class Group:
    """Workloads of one shape and priority: a list for those who come in order, a heap for others."""

    __slots__ = ("_late", "_queue", "_start", "live", "place", "priority", "shape")

    def __init__(self, priority: int, shape: Shape) -> None:
        self.priority, self.shape = priority, shape
        self.live = 0
        self.place: Place = (0, 0.0, "")
        """The place of its first when the line last sorted it in."""
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
    """All groups of one queue."""

    __slots__ = ("_groups", "_lasts", "blocks", "fickle", "size")

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._lasts: list[Place] = []
        self._groups: dict[tuple[int, int], Group] = {}
        self.fickle = 0
        """Groups whose verdict can turn to yes while capacity shrinks."""
        self.size = 0

    def add(self, entry: Waiting) -> bool:
        """True if it is the first of its group: only then can it change what the queue does."""
        key = (entry.workload.priority, id(entry.shape))
        group = self._groups.get(key)
        self.size += 1
        if group is None:
            group = self._groups[key] = Group(entry.workload.priority, entry.shape)
            self.fickle += entry.shape.fickle
            group.push(entry)
            self._insert(group, entry.place)
            return True
        group.push(entry)
        if entry.place < group.place:
            self._move(group, entry.place)
            return True
        return False

    def remove(self, entry: Waiting) -> None:
        """It leaves, from wherever it stands."""
        group = entry.group
        if group is None:
            raise ValueError(f"{entry.uid} is in no line")
        self.size -= 1
        group.drop(entry)
        if not group.live:
            del self._groups[group.priority, id(group.shape)]
            self.fickle -= group.shape.fickle
            self._delete(group)
        elif entry.place == group.place:
            self._move(group, group.first().place)

    def first(self) -> Waiting | None:
        """Whoever is before all others."""
        return self.blocks[0].groups[0].first() if self.blocks else None

    def groups(self) -> Iterator[Group]:
        """In the order of the line."""
        return (group for block in self.blocks for group in block.groups)

    def need(self) -> tuple[Amount, ...]:
        """The least that anybody asks of each resource; only of a line that is not empty."""
        if len(self.blocks) == 1:
            return self.blocks[0].need()
        return minimum([block.need() for block in self.blocks])

    def _block_of(self, place: Place) -> int:
        return min(bisect_left(self._lasts, place), len(self.blocks) - 1)

    def _insert(self, group: Group, place: Place) -> None:
        group.place = place
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
