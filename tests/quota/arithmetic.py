"""The arithmetic of quota as the text says it, by recursion over names and lists of holdings."""

from __future__ import annotations

from collections.abc import Mapping

from webhook.model.queues import FlavorResource, Quotas, Share

Amounts = Mapping[FlavorResource, int]
Holdings = list[tuple[str, Amounts]]


class Arithmetic:
    """Behaviour.md, section 4, by recursion over names."""

    def __init__(self, quotas: Quotas) -> None:
        self.quotas = quotas
        self.memo: dict[tuple[str, FlavorResource], int] = {}
        every = (*quotas.queues, *quotas.cohorts)
        self.below = {node: [c for c in every if self.parent(c) == node] for node in every}

    def parent(self, node: str) -> str | None:
        queue = self.quotas.queues.get(node)
        above = queue.cohort if queue else self.quotas.cohorts[node].parent
        return above if above in self.quotas.cohorts else None

    def up(self, node: str) -> list[str]:
        above = self.parent(node)
        return [node] if above is None else [node, *self.up(above)]

    def children(self, node: str) -> list[str]:
        return self.below[node]

    def share(self, node: str, fr: FlavorResource) -> Share:
        queue = self.quotas.queues.get(node)
        for block in queue.quotas if queue else self.quotas.cohorts[node].pools:
            if block.flavor == fr.flavor and fr.resource in block.shares:
                return block.shares[fr.resource]
        return Share(0)

    def subtree(self, node: str, fr: FlavorResource) -> int:
        if (node, fr) not in self.memo:
            below = (self.subtree(c, fr) - self.kept(c, fr) for c in self.children(node))
            self.memo[node, fr] = self.share(node, fr).nominal + sum(below)
        return self.memo[node, fr]

    def kept(self, node: str, fr: FlavorResource) -> int:
        lend = self.share(node, fr).lend
        if lend is None or self.parent(node) is None:
            return 0
        return max(0, self.subtree(node, fr) - lend)

    def used(self, node: str, fr: FlavorResource, held: Holdings) -> int:
        if node in self.quotas.queues:
            return sum(amounts.get(fr, 0) for queue, amounts in held if queue == node)
        below = self.children(node)
        return sum(max(0, self.used(c, fr, held) - self.kept(c, fr)) for c in below)

    def available(self, node: str, fr: FlavorResource, held: Holdings) -> int:
        free = self._uncapped(node, fr, held)
        for above in self.up(node):
            cohort = self.quotas.cohorts.get(above)
            if cohort is not None and fr in cohort.caps:
                under = sum(a.get(fr, 0) for queue, a in held if above in self.up(queue))
                free = min(free, cohort.caps[fr] - under)
        return free

    def _uncapped(self, node: str, fr: FlavorResource, held: Holdings) -> int:
        above, subtree = self.parent(node), self.subtree(node, fr)
        used, kept = self.used(node, fr, held), self.kept(node, fr)
        if above is None:
            return subtree - used
        free, borrow = self._uncapped(above, fr, held), self.share(node, fr).borrow
        if borrow is not None:
            free = min(free, subtree - kept - max(0, used - kept) + borrow)
        return max(0, kept - used) + free

    def level(self, node: str) -> int:
        return max((1 + self.level(c) for c in self.children(node)), default=0)

    def height(self, queue: str, asked: Amounts, held: Holdings) -> int:
        return max((self._height(queue, fr, n, held) for fr, n in asked.items()), default=0)

    def _height(self, node: str, fr: FlavorResource, amount: int, held: Holdings) -> int:
        used, above = self.used(node, fr, held), self.parent(node)
        if above is None or used + amount <= self.subtree(node, fr):
            return self.level(node)
        return self._height(above, fr, amount - max(0, self.kept(node, fr) - used), held)
