"""How much there is at each node of the tree: the arithmetic behind findings about quota.

Small and slow on purpose, and independent of the quota core, which the language does not know. Caps are left out: the
findings ask what would be without them. For the rules see "potential" in the design of quota.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from webhook.model.quantity import Amount
from webhook.model.queues import Cohort, FlavorResource, Queue, Quotas, Share

_NONE = Share(0)


class Capacity:
    """Amounts of one tree, by node and flavor-resource. The cohorts must form no cycle."""

    def __init__(self, quotas: Quotas) -> None:
        self._nodes: dict[str, Queue | Cohort] = {**quotas.cohorts, **quotas.queues}
        self._shares = {name: _shares(node) for name, node in self._nodes.items()}
        self._children: dict[str, list[str]] = {name: [] for name in self._nodes}
        for name, node in self._nodes.items():
            parent = _parent(node)
            if parent is not None:
                self._children[parent].append(name)
        self.lendable = lru_cache(maxsize=None)(self._lendable)
        self.total = lru_cache(maxsize=None)(self._total)
        self.potential = lru_cache(maxsize=None)(self._potential)

    def share(self, name: str, what: FlavorResource) -> Share:
        """What the node itself was given."""
        return self._shares[name].get(what, _NONE)

    def kept(self, name: str, what: FlavorResource) -> Amount:
        """What it never leaves to others."""
        lend = self.share(name, what).lend
        return 0 if lend is None else max(0, self.lendable(name, what) - lend)

    def most(self, name: str, what: FlavorResource) -> Amount:
        """An upper bound of what all below it can use together."""
        return self.total(name, what) + self.borrowable(name, what)

    def borrowable(self, name: str, what: FlavorResource) -> Amount:
        """The most it could ever borrow, by its own bound and by what the others can leave."""
        borrow, more = self.share(name, what).borrow, self.others_leave(name, what)
        return more if borrow is None else min(more, borrow)

    def others_leave(self, name: str, what: FlavorResource) -> Amount:
        """The most that the rest of its tree could lend to it."""
        parent = _parent(self._nodes[name])
        if parent is None:
            return 0
        leaves = self.lendable(name, what) - self.kept(name, what)
        return max(0, self.potential(parent, what) - leaves)

    def names(self, name: str, what: FlavorResource) -> bool:
        """Whether the node has an entry of its own for it."""
        return what in self._shares[name]

    def above(self, name: str) -> Iterator[str]:
        """The cohorts above a node, from below."""
        while (parent := _parent(self._nodes[name])) is not None:
            name = parent
            yield name

    def root(self, name: str) -> str:
        """The top of the tree it stands in."""
        return [name, *self.above(name)][-1]

    def is_queue(self, name: str) -> bool:
        """Whether it is a queue, and no cohort."""
        return isinstance(self._nodes[name], Queue)

    def members(self, cohort: str) -> list[str]:
        """What stands directly below it."""
        return self._children[cohort]

    def tree(self, name: str) -> tuple[str, ...]:
        """Every queue of the tree it stands in."""
        root = self.root(name)
        return (root,) if self.is_queue(root) else tuple(self.queues_below(root))

    def queues_below(self, name: str) -> Iterator[str]:
        """Every queue below a cohort."""
        for child in self._children[name]:
            if isinstance(self._nodes[child], Queue):
                yield child
            else:
                yield from self.queues_below(child)

    def _lendable(self, name: str, what: FlavorResource) -> Amount:
        """Own quota and what the members leave."""
        left = (self.lendable(c, what) - self.kept(c, what) for c in self._children[name])
        return self.share(name, what).nominal + sum(left)

    def _total(self, name: str, what: FlavorResource) -> Amount:
        """All quota at and below it."""
        below = sum(self.total(child, what) for child in self._children[name])
        return self.share(name, what).nominal + below

    def _potential(self, name: str, what: FlavorResource) -> Amount:
        """The most one workload below it could get while nobody else holds anything."""
        parent = _parent(self._nodes[name])
        if parent is None:
            return self.lendable(name, what)
        kept, borrow = self.kept(name, what), self.share(name, what).borrow
        above = self.potential(parent, what)
        if borrow is None:
            return kept + above
        return kept + min(above, self.lendable(name, what) - kept + borrow)


def _parent(node: Queue | Cohort) -> str | None:
    return node.cohort if isinstance(node, Queue) else node.parent


def _shares(node: Queue | Cohort) -> dict[FlavorResource, Share]:
    quotas = node.quotas if isinstance(node, Queue) else node.pools
    return {
        FlavorResource(quota.flavor, resource): share
        for quota in quotas
        for resource, share in quota.shares.items()
    }
