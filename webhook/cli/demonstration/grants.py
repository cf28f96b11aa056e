"""What a policy grants, in the plainest words that say it, so that the demo does not believe the loop.

The loop's ledger is fast and shared with everything else; this is neither. It adds up what started
objects hold and compares it with own quota, borrowing, pools and caps, straight from the design.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from webhook.model.quantity import Amount
from webhook.model.queues import FlavorQuota, FlavorResource, Quotas

Usage = Mapping[str, Mapping[FlavorResource, Amount]]
"""Queue → what its started workloads hold."""


@dataclass(slots=True)
class Node:
    """A queue, which has no children, or a cohort. Absent in ``borrow`` and ``lend``: without bound."""

    name: str
    owns: dict[FlavorResource, Amount] = field(default_factory=dict)
    borrow: dict[FlavorResource, Amount] = field(default_factory=dict)
    lend: dict[FlavorResource, Amount] = field(default_factory=dict)
    caps: Mapping[FlavorResource, Amount] = field(default_factory=dict)
    parent: Node | None = None
    children: list[Node] = field(default_factory=list)

    def upward(self) -> Iterator[Node]:
        """Itself, and everybody above."""
        node: Node | None = self
        while node is not None:
            yield node
            node = node.parent

    def downward(self) -> Iterator[Node]:
        """Itself, and everybody below."""
        yield self
        for child in self.children:
            yield from child.downward()


class Grants:
    """The tree of one policy."""

    def __init__(self, quotas: Quotas) -> None:
        self.nodes = {
            name: _node(name, cohort.pools, cohort.caps) for name, cohort in quotas.cohorts.items()
        }
        self.nodes |= {name: _node(name, queue.quotas, {}) for name, queue in quotas.queues.items()}
        parents = {name: queue.cohort for name, queue in quotas.queues.items()}
        parents |= {name: cohort.parent for name, cohort in quotas.cohorts.items()}
        for name, parent in parents.items():
            if parent is not None:
                self.nodes[name].parent = self.nodes[parent]
                self.nodes[parent].children.append(self.nodes[name])

    def over(
        self, queue: str, pairs: Iterable[FlavorResource], usage: Usage
    ) -> frozenset[tuple[str, FlavorResource]]:
        """Queues around this one that hold more than they may, of which."""
        *_, root = self.nodes[queue].upward()
        leaves = [node for node in root.downward() if not node.children]
        return frozenset(
            (node.name, pair)
            for pair in pairs
            for node in leaves
            if available(node, pair, usage) < 0
        )

    def family(self, queue: str) -> frozenset[str]:
        """All queues of the same tree."""
        *_, root = self.nodes[queue].upward()
        return frozenset(node.name for node in root.downward())

    def most(self, queue: str, pair: FlavorResource) -> Amount:
        """What it could hold if nothing else ran."""
        return available(self.nodes[queue], pair, {})


def _node(name: str, quotas: Iterable[FlavorQuota], caps: Mapping[FlavorResource, Amount]) -> Node:
    node = Node(name, caps=caps)
    for quota in quotas:
        for resource, share in quota.shares.items():
            pair = FlavorResource(quota.flavor, resource)
            node.owns[pair] = share.nominal
            if share.borrow is not None:
                node.borrow[pair] = share.borrow
            if share.lend is not None:
                node.lend[pair] = share.lend
    return node


def subtree(node: Node, pair: FlavorResource) -> Amount:
    """Its own, and what its children put in."""
    given = sum(subtree(child, pair) - kept(child, pair) for child in node.children)
    return node.owns.get(pair, 0) + given


def kept(node: Node, pair: FlavorResource) -> Amount:
    """What it lends to nobody."""
    lend = node.lend.get(pair)
    return 0 if lend is None else max(0, subtree(node, pair) - lend)


def used(node: Node, pair: FlavorResource, usage: Usage) -> Amount:
    """What is held of it: by a queue, or by the children of a cohort out of what is shared."""
    if not node.children:
        return usage.get(node.name, {}).get(pair, 0)
    return sum(max(0, used(child, pair, usage) - kept(child, pair)) for child in node.children)


def held_below(node: Node, pair: FlavorResource, usage: Usage) -> Amount:
    """All that runs below it, which is what a cap bounds."""
    return sum(usage.get(each.name, {}).get(pair, 0) for each in node.downward())


def available(node: Node, pair: FlavorResource, usage: Usage) -> Amount:
    """How much more may be started there; negative: over by so much."""
    room = _uncapped(node, pair, usage)
    for above in node.upward():
        if pair in above.caps:
            room = min(room, above.caps[pair] - held_below(above, pair, usage))
    return room


def _uncapped(node: Node, pair: FlavorResource, usage: Usage) -> Amount:
    here, own = used(node, pair, usage), kept(node, pair)
    if node.parent is None:
        return subtree(node, pair) - here
    above = _uncapped(node.parent, pair, usage)
    if pair in node.borrow:
        lent = subtree(node, pair) - own
        above = min(above, lent - max(0, here - own) + node.borrow[pair])
    return max(0, own - here) + above
