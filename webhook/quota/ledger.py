"""Who holds what: the one mutable thing under the planner.

Everything is counted three times. ``now`` is what runs and what is still stopping; ``afterwards`` is
what runs and what is planned, those who are stopping already gone; ``promised`` is ``afterwards``
with what blocked strict queues hold back. All is decided in the last two, and what is planned starts
when it fits in ``now`` as well: that alone keeps freed capacity for the one it was freed for.

A change costs the depth of the queue, replaces what the same uid held before, and can be undone:
"what if" is asked of the ledger itself inside ``trial()``, never of a copy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from typing import NamedTuple, TypeAlias

from webhook.model.quantity import Amount
from webhook.model.queues import FlavorResource
from webhook.quota.tree import Tree

Charges: TypeAlias = tuple[tuple[int, Amount], ...]
"""Numbers of the tree with amounts above 0."""


class Stage(Enum):
    """What a charge is for, and so in which usages it counts."""

    RUNS = "runs"
    """started, or granted: counts everywhere"""
    STOPPING = "stopping"
    """its pods are going: counts now"""
    PLANNED = "planned"
    """starts when it fits now: counts afterwards"""
    HELD_BACK = "held back"
    """own quota that a blocked strict queue keeps from the others"""


class Charge(NamedTuple):
    """What one uid holds."""

    queue: int
    stage: Stage
    charges: Charges


class Usage:
    """The usage of every node of a tree, of one kind."""

    __slots__ = ("_tree", "below", "used")

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self.used = [[0] * len(tree.pairs) for _ in tree.names]
        self.below: list[dict[int, Amount]] = [{} for _ in tree.names]

    def charge(self, queue: int, number: int, amount: Amount) -> None:
        """Add the amount, which may be negative, up to where it stays within kept quota."""
        if number in self._tree.capped[queue]:
            for capped, _cap in self._tree.capped[queue][number]:
                self.below[capped][number] = self.below[capped].get(number, 0) + amount
        for node in self._tree.paths[queue]:
            row, kept = self.used[node], self._tree.kept[node][number]
            before = row[number]
            row[number] = after = before + amount
            amount = max(0, after - kept) - max(0, before - kept) if kept else amount
            if not amount:
                return

    def available(self, node: int, number: int) -> Amount:
        """How much more may be held there."""
        return self._tree.available(node, number, self.used, self.below)

    def fits(self, queue: int, charges: Charges) -> bool:
        """All of it at once."""
        return all(self.available(queue, number) >= amount for number, amount in charges)

    def height(self, queue: int, charges: Charges) -> int:
        """How far from home it would have to borrow: the greatest height over its resources."""
        tree, used = self._tree, self.used
        if len(tree.paths[queue]) == 1:
            return 0
        return max((tree.height(queue, n, amount, used) for n, amount in charges), default=0)

    def rows(self) -> tuple[object, ...]:
        """For comparison in tests."""
        below = [{n: amount for n, amount in each.items() if amount} for each in self.below]
        return self.used, below


class Free(dict[int, Amount]):
    """What is available to one queue, each number looked up once, until it is cleared."""

    __slots__ = ("_below", "_queue", "_tree", "_used")

    def __init__(self, tree: Tree, usage: Usage, queue: int) -> None:
        super().__init__()
        self._tree, self._used, self._below, self._queue = tree, usage.used, usage.below, queue

    def __missing__(self, number: int) -> Amount:
        self[number] = found = self._tree.available(self._queue, number, self._used, self._below)
        return found


class Ledger:
    """The charges of one tree."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.now = Usage(tree)
        self.afterwards = Usage(tree)
        # Nothing is ever held back in a policy without strict queues in cohorts: one count serves.
        apart = any(tree.strict[q] and len(tree.paths[q]) > 1 for q in tree.queues)
        self.promised = Usage(tree) if apart else self.afterwards
        self._counted = {
            Stage.RUNS: self._distinct(self.now, self.afterwards, self.promised),
            Stage.STOPPING: (self.now,),
            Stage.PLANNED: self._distinct(self.afterwards, self.promised),
            Stage.HELD_BACK: (self.promised,),
        }
        self._charges: dict[str, Charge] = {}
        self._undo: list[tuple[str, Charge | None]] | None = None
        self.shifts = [0] * len(tree.names)
        """Per root: how often anything changed in ``afterwards`` or ``promised``."""
        self.moves = [0] * len(tree.names)
        """Per root: how often anything changed in ``afterwards``."""
        self.returns = [0] * len(tree.names)
        """Per root: how often something was given back there."""
        self.refunds = [0] * len(tree.names)
        """Per root: the same in ``afterwards`` alone."""
        self.stopping = [0] * len(tree.names)
        """Per root: how many are stopping."""
        self.touched: set[int] = set()
        """Roots in which anything changed; whoever deals with it clears it."""

    @staticmethod
    def _distinct(*usages: Usage) -> tuple[Usage, ...]:
        return tuple(dict.fromkeys(usages))

    def number_of(self, amounts: Mapping[FlavorResource, Amount]) -> Charges:
        """The same by number; what the policy counts nowhere is left out, and so are zeros."""
        numbers = self.tree.numbers
        found = ((numbers[pair], n) for pair, n in amounts.items() if n and pair in numbers)
        return tuple(sorted(found))

    def hold(self, uid: str, queue: int, charges: Charges, *, stage: Stage = Stage.RUNS) -> None:
        """Record what the uid holds, in place of all that it held."""
        new = Charge(queue, stage, charges)
        if self._charges.get(uid) != new:
            self._replace(uid, new)

    def release(self, uid: str) -> None:
        """Give back all that the uid holds; unknown uids hold nothing."""
        if uid in self._charges:
            self._replace(uid, None)

    def charge_of(self, uid: str) -> Charge | None:
        """What the uid holds."""
        return self._charges.get(uid)

    def _replace(self, uid: str, new: Charge | None) -> None:
        old = self._charges.get(uid)
        if self._undo is not None:
            self._undo.append((uid, old))
        if old is not None:
            self._count(old, -1)
            del self._charges[uid]
        if new is not None:
            self._count(new, 1)
            self._charges[uid] = new

    def _count(self, charge: Charge, sign: int) -> None:
        queue, stage, charges = charge
        root = self.tree.roots[queue]
        self.touched.add(root)
        if stage is Stage.STOPPING:
            self.stopping[root] += sign
        else:
            self.shifts[root] += 1
            self.returns[root] += sign < 0
            if stage is not Stage.HELD_BACK:
                self.moves[root] += 1
                self.refunds[root] += sign < 0
        for usage in self._counted[stage]:
            for number, amount in charges:
                usage.charge(queue, number, sign * amount)

    def begin(self, uid: str) -> None:
        """A planned one starts: it counts now, too. Nothing changes in ``afterwards``."""
        queue, _stage, charges = self._charges[uid]
        if self._undo is not None:
            self._undo.append((uid, self._charges[uid]))
        self._charges[uid] = Charge(queue, Stage.RUNS, charges)
        for number, amount in charges:
            self.now.charge(queue, number, amount)

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Whatever is held and released inside is undone at the end. Trials nest."""
        outer, self._undo = self._undo, []
        try:
            yield
        finally:
            undo, self._undo = self._undo, None
            for uid, old in reversed(undo):
                self._replace(uid, old)
            self._undo = outer

    @contextmanager
    def without_held_back(self, uid: str) -> Iterator[Usage]:
        """``promised`` as the one who holds back sees it; only for a look, nobody is woken."""
        charge = self._charges.get(uid)
        mine = charge.charges if charge is not None else ()
        queue = charge.queue if charge is not None else 0
        for number, amount in mine:
            self.promised.charge(queue, number, -amount)
        try:
            yield self.promised
        finally:
            for number, amount in mine:
                self.promised.charge(queue, number, amount)

    def recount(self) -> tuple[Usage, Usage, Usage]:
        """``now``, ``afterwards`` and ``promised``, added up anew from the charges."""
        fresh = Ledger(self.tree)
        for uid, charge in self._charges.items():
            fresh.hold(uid, charge.queue, charge.charges, stage=charge.stage)
        return fresh.now, fresh.afterwards, fresh.promised
