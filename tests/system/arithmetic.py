"""What a policy grants, in the plainest words that say it: forty lines from the design, none from the product.

The histories of the system tests are judged by this and by nothing of ours, so that a fault of the quota core cannot
hide in its own measure. One resource (cpu, in thousandths), one flavor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


@dataclass
class Node:
    """A queue (no children) or a cohort; ``owns`` is a queue's quota or a cohort's pool."""

    name: str
    owns: int = 0
    borrow: int | None = None
    lend: int | None = None
    cap: int | None = None
    strict: bool = False
    children: list[Node] = field(default_factory=list)
    parent: Node | None = None

    def __post_init__(self) -> None:
        for child in self.children:
            child.parent = self

    def walk(self) -> Iterator[Node]:
        yield self
        for child in self.children:
            yield from child.walk()

    @property
    def subtree(self) -> int:
        return self.owns + sum(child.subtree - child.kept for child in self.children)

    @property
    def kept(self) -> int:
        return 0 if self.lend is None else max(0, self.subtree - self.lend)


Usage = Mapping[str, int]
"""Queue name → thousandths of a cpu held."""


def used(node: Node, usage: Usage) -> int:
    if not node.children:
        return usage.get(node.name, 0)
    return sum(max(0, used(child, usage) - child.kept) for child in node.children)


def held_below(node: Node, usage: Usage) -> int:
    return sum(usage.get(leaf.name, 0) for leaf in node.walk() if not leaf.children)


def uncapped(node: Node, usage: Usage) -> int:
    here = used(node, usage)
    if node.parent is None:
        return node.subtree - here
    above = uncapped(node.parent, usage)
    if node.borrow is not None:
        above = min(above, node.subtree - node.kept - max(0, here - node.kept) + node.borrow)
    return max(0, node.kept - here) + above


def available(node: Node, usage: Usage) -> int:
    """What may still be started in a queue; negative is "over by"."""
    room, above = uncapped(node, usage), node
    while above is not None:
        if above.cap is not None:
            room = min(room, above.cap - held_below(above, usage))
        above = above.parent  # type: ignore[assignment]
    return room


def overdrawn(roots: list[Node], usage: Usage) -> list[tuple[str, int]]:
    """Every node above what the policy grants it, and by how much."""
    return [
        (node.name, -room)
        for root in roots
        for node in root.walk()
        if (room := available(node, usage)) < 0
    ]
