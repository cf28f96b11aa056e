"""One queue as the contest sees it: what is free to it, with and without what others hold back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from webhook.model.quantity import Amount
from webhook.quota.flavors import Menu
from webhook.quota.ledger import Free, Ledger
from webhook.quota.line import Line, Waiting


class Seat:
    """What the contest knows of one queue: what is free to it, as of the last change."""

    __slots__ = (
        "_bare_free",
        "_free",
        "_ledger",
        "_shift",
        "blocked",
        "keeper",
        "line",
        "menu",
        "planned",
        "queue",
        "root",
        "settled",
    )

    def __init__(self, queue: int, ledger: Ledger, menu: Menu, line: Line) -> None:
        self.queue, self.menu, self.line = queue, menu, line
        self.root = ledger.tree.roots[queue]
        self.planned = 0
        self.blocked = False
        """Strict, and its first would not fit even if nobody held anything back."""
        self.keeper = f"held back by queue {queue}"
        """What the ledger charges for the quota that it keeps from the others while blocked."""
        self.settled: tuple[Waiting | None, int, int] | None = None
        self._ledger = ledger
        self._free = Free(ledger.tree, ledger.promised, queue)
        self._bare_free = Free(ledger.tree, ledger.afterwards, queue)
        self._shift = -1

    def free(self) -> Free:
        """What the queue may take, with all that is promised to others left alone."""
        self._refresh()
        return self._free

    def bare(self) -> Free:
        """The same as if no blocked strict queue held anything back."""
        self._refresh()
        return self._bare_free

    def _refresh(self) -> None:
        shift = self._ledger.shifts[self.root]
        if shift != self._shift:
            self._free.clear()
            self._bare_free.clear()
            self._shift = shift

    def own(self) -> dict[int, Amount]:
        """What is left of its own quota, lent out or not."""
        nominal = self._ledger.tree.nominal[self.queue]
        used = self._ledger.afterwards.used[self.queue]
        return {number: nominal[number] - used[number] for number in self.menu.numbers}

    def potential(self, number: int) -> Amount:
        """What the queue could have at most, if nothing else ran."""
        return self._ledger.tree.potential(self.queue, number)

    def frees(self, numbers: Iterable[int]) -> dict[int, tuple[Amount, Amount]]:
        """What it may take of each, and what others hold back of it: for answers, not for plans.

        What it holds back itself is free to it. Below 0: by how much too much is held.
        """
        bare = self.bare()
        with self._ledger.without_held_back(self.keeper) as usage:
            promised = {number: usage.available(self.queue, number) for number in numbers}
        free = {n: max(amount, min(0, bare[n])) for n, amount in promised.items()}
        return {number: (amount, bare[number] - amount) for number, amount in free.items()}

    def may_fit(self, least: tuple[Amount, ...], free: Mapping[int, Amount]) -> bool:
        """False only if nothing that needs at least this fits."""
        for flavors in self.menu.filters:
            for flavor in flavors:
                for at, number in flavor:
                    if least[at] and free[number] < least[at]:
                        break
                else:
                    break
            else:
                return False
        return True
