"""The tree of cohorts and queues, and what may be used in it, in exact integers.

Cohorts are inner nodes, queues are leaves, a queue without a cohort is a tree of its own. Nodes and
(flavor, resource) pairs become dense numbers in the order of their names, so that a lookup is an
index and no answer depends on the order in which a policy was written. The arithmetic:

    subtree(n) = own quota + Σ (subtree(c) - kept(c))      kept(n) = subtree(n) - lend(n), from 0 up
    used(cohort) = Σ max(0, used(c) - kept(c))             used(queue) = what its workloads hold
    available(root) = subtree - used
    available(n) = max(0, kept - used) + min(available(parent), subtree - kept
                   - max(0, used - kept) + borrow(n))      the latter if borrow is set

A cap stands outside that recursion: it bounds all that is held below its cohort, kept quota
included; within the recursion a member's kept quota would slip past it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from webhook.model.quantity import Amount
from webhook.model.queues import FlavorQuota, FlavorResource, Order, Quotas, Share

Rows: TypeAlias = Sequence[Sequence[Amount]]
"""An amount for every node and every (flavor, resource)."""
Below: TypeAlias = Sequence[Mapping[int, Amount]]
"""For every node with a cap, and every number it caps: all that is held below it."""


class Tree:
    """What a policy grants, compiled. Everything here stays as it is; usage is handed in."""

    def __init__(self, quotas: Quotas) -> None:
        self.quotas = quotas
        self.names: tuple[str, ...] = (*sorted(quotas.queues), *sorted(quotas.cohorts))
        self.nodes = {name: node for node, name in enumerate(self.names)}
        if len(self.nodes) < len(self.names):
            twice = sorted(quotas.queues.keys() & quotas.cohorts.keys())
            raise ValueError(f"both a queue and a cohort: {', '.join(twice)}")
        self.queues = range(len(quotas.queues))
        shares = [_shares(self._blocks(name)) for name in self.names]
        self.pairs = tuple(sorted(_pairs(quotas, shares)))
        self.numbers = {pair: number for number, pair in enumerate(self.pairs)}
        self._lay_out()
        self._add_up(shares)
        self.capped = tuple(self._caps_over(node) for node in range(len(self.names)))
        self.strict = tuple(
            quotas.queues[self.names[queue]].order is Order.STRICT for queue in self.queues
        )

    def _blocks(self, name: str) -> tuple[FlavorQuota, ...]:
        queue = self.quotas.queues.get(name)
        return queue.quotas if queue is not None else self.quotas.cohorts[name].pools

    def _parent_name(self, name: str) -> str | None:
        queue = self.quotas.queues.get(name)
        parent = queue.cohort if queue is not None else self.quotas.cohorts[name].parent
        return parent if parent in self.quotas.cohorts else None

    def _lay_out(self) -> None:
        """Paths to the root, roots, heights; refuses cohorts that contain themselves."""
        parents = {name: self._parent_name(name) for name in self.names}
        paths: list[tuple[int, ...]] = []
        heights = [0] * len(self.names)
        for name in self.names:
            path = [name]
            while (above := parents[path[-1]]) is not None:
                if above in path:
                    raise ValueError(f"cohort `{above}` is inside itself")
                path.append(above)
            paths.append(tuple(self.nodes[each] for each in path))
        for path_up in paths:
            for height, node in enumerate(path_up):
                heights[node] = max(heights[node], height)
        self.paths = tuple(paths)
        self.heights = tuple(heights)
        self.roots = tuple(path[-1] for path in paths)

    def _add_up(self, shares: Sequence[Mapping[FlavorResource, Share]]) -> None:
        """Nominal, subtree, kept and borrow of every node, from the leaves to the roots."""
        width = len(self.pairs)
        nominal = [[0] * width for _ in self.names]
        kept = [[0] * width for _ in self.names]
        self.borrow: tuple[Mapping[int, Amount], ...] = tuple({} for _ in self.names)
        limits: list[dict[int, Amount]] = [{} for _ in self.names]
        lends: list[dict[int, Amount]] = [{} for _ in self.names]
        for node, own in enumerate(shares):
            for pair, share in own.items():
                number = self.numbers[pair]
                nominal[node][number] = share.nominal
                if share.borrow is not None:
                    limits[node][number] = share.borrow
                if share.lend is not None:
                    lends[node][number] = share.lend
        subtree = [list(row) for row in nominal]
        for node in sorted(range(len(self.names)), key=lambda each: self.heights[each]):
            if len(self.paths[node]) == 1:
                continue
            for number, lend in lends[node].items():
                kept[node][number] = max(0, subtree[node][number] - lend)
            above = subtree[self.paths[node][1]]
            for number in range(width):
                above[number] += subtree[node][number] - kept[node][number]
        self.nominal: Rows = nominal
        self.subtree: Rows = subtree
        self.kept: Rows = kept
        self.borrow = tuple(limits)
        self._nothing: Rows = [[0] * width] * len(self.names)
        self._nothing_below: Below = ({},) * len(self.names)

    def _caps_over(self, node: int) -> Mapping[int, tuple[tuple[int, Amount], ...]]:
        """Number → the cohorts on the way up that cap it, with their caps."""
        found: dict[int, tuple[tuple[int, Amount], ...]] = {}
        for above in self.paths[node]:
            cohort = self.quotas.cohorts.get(self.names[above])
            if above in self.queues or cohort is None:
                continue
            for pair, cap in cohort.caps.items():
                number = self.numbers[pair]
                found[number] = (*found.get(number, ()), (above, cap))
        return found

    def available(self, node: int, number: int, used: Rows, below: Below) -> Amount:
        """How much more may be held there; below 0: by how much too much is held."""
        path = self.paths[node]
        root = path[-1]
        free = self.subtree[root][number] - used[root][number]
        for each in path[-2::-1]:
            kept, held, limits = self.kept[each][number], used[each][number], self.borrow[each]
            if number in limits:
                lent = self.subtree[each][number] - kept
                free = min(free, lent - max(0, held - kept) + limits[number])
            if held < kept:
                free += kept - held
        if number in self.capped[node]:
            for capped, cap in self.capped[node][number]:
                free = min(free, cap - below[capped].get(number, 0))
        return free

    def potential(self, node: int, number: int) -> Amount:
        """What would be available if nothing ran: no request above it can ever fit."""
        return self.available(node, number, self._nothing, self._nothing_below)

    def height(self, queue: int, number: int, amount: Amount, used: Rows) -> int:
        """The height of the lowest subtree whose own quota holds the amount; the root's if none."""
        for node in self.paths[queue]:
            if used[node][number] + amount <= self.subtree[node][number]:
                return self.heights[node]
            amount -= max(0, self.kept[node][number] - used[node][number])
        return self.heights[self.roots[queue]]


def _shares(blocks: Iterable[FlavorQuota]) -> Mapping[FlavorResource, Share]:
    return {
        FlavorResource(block.flavor, resource): share
        for block in blocks
        for resource, share in block.shares.items()
    }


def _pairs(quotas: Quotas, shares: Iterable[Mapping[FlavorResource, Share]]) -> set[FlavorResource]:
    """Every flavor and resource that the policy counts anywhere."""
    found = {pair for own in shares for pair in own}
    return found.union(*(cohort.caps for cohort in quotas.cohorts.values()))
