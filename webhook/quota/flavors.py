"""Which flavor for which pod set: the alternatives of a queue, and the first that fits.

The flavors of a queue that share a resource, directly or through others, form a group; a pod set
takes all that it asks of a group's resources from one flavor of it, the first in the order of the
quota blocks that fits. Pod sets come in order, and earlier ones count for later ones.

What a flavor does not name goes by ``uncovered``. By default cpu, memory, ephemeral-storage and pods
are ignored where nobody counts them, and anything else passes the flavor over.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from webhook.model.quantity import Amount, Amounts
from webhook.model.queues import FlavorQuota, FlavorResource, Queue
from webhook.model.workload import PodSet
from webhook.quota.ledger import Charges
from webhook.quota.tree import Tree

MAY_BE_UNCOVERED = frozenset({"cpu", "memory", "ephemeral-storage", "pods"})


class Option(NamedTuple):
    """One flavor for one pod set: what it would be charged, by number and by resource."""

    flavor: str
    charges: Charges
    amounts: Amounts


@dataclass(frozen=True, slots=True)
class Choice:
    """A flavor for every group of every pod set, and the charges of all of them together.

    ``count`` is set where the only pod set starts with fewer pods than it asks for.
    """

    options: tuple[tuple[Option, ...], ...]
    charges: Charges
    count: int | None = None


class Wants(NamedTuple):
    """A pod set as one queue sees it: for each group it asks of, its options in order."""

    groups: tuple[tuple[Option, ...], ...]


class Menu:
    """The flavors of one queue, grouped. Built once a policy."""

    def __init__(self, tree: Tree, node: int) -> None:
        self.tree, self.node = tree, node
        self.queue: Queue = tree.quotas.queues[tree.names[node]]
        self.groups = grouped(self.queue.quotas)
        self.resources = frozenset(r for block in self.queue.quotas for r in block.shares)
        self.dimensions = tuple(
            (group, resource)
            for group, blocks in enumerate(self.groups)
            for resource in sorted({r for block in blocks for r in block.shares})
        )
        """What ``least`` vectors of the line are made of."""
        place = {dimension: at for at, dimension in enumerate(self.dimensions)}
        self.filters = tuple(
            tuple(
                tuple((place[group, r], self.number(b.flavor, r)) for r in b.shares) for b in blocks
            )
            for group, blocks in enumerate(self.groups)
        )
        """Per group and flavor: where its resources stand in a ``least`` vector, and their numbers."""
        self.numbers = tuple(
            sorted({n for group in self.filters for flavor in group for _at, n in flavor})
        )

    def number(self, flavor: str, resource: str) -> int:
        """What the tree counts this pair under; one that the queue names is always counted."""
        return self.tree.numbers[FlavorResource(flavor, resource)]

    def may_ignore(self, resource: str) -> bool:
        """Whether this resource is let pass where no quota names it."""
        return _may_ignore(self.queue, resource)

    def wants(self, pods: PodSet) -> Wants | None:
        """Its options in every group it asks of; None where a resource keeps it from starting."""
        asked = {resource: amount for resource, amount in pods.total.items() if amount > 0}
        if any(r not in self.resources and not self.may_ignore(r) for r in asked):
            return None
        return Wants(
            tuple(
                self._options(blocks, asked, pods)
                for blocks in self.groups
                if any(resource in block.shares for block in blocks for resource in asked)
            )
        )

    def _options(
        self, blocks: Sequence[FlavorQuota], asked: Amounts, pods: PodSet
    ) -> tuple[Option, ...]:
        inside = {r for block in blocks for r in block.shares}.intersection(asked)
        bound = {f for r, f in (pods.flavors or {}).items() if r in inside}
        return tuple(
            self._option(block, asked)
            for block in blocks
            if not self._contradicts(block.flavor, pods.node_selector)
            and bound.issubset({block.flavor})
            and not inside.isdisjoint(block.shares)
            and all(r in block.shares or self.may_ignore(r) for r in inside)
        )

    def _option(self, block: FlavorQuota, asked: Amounts) -> Option:
        amounts = {r: asked[r] for r in sorted(block.shares) if r in asked}
        charges = sorted((self.number(block.flavor, r), amount) for r, amount in amounts.items())
        return Option(block.flavor, tuple(charges), amounts)

    def nodes(self, flavor: str) -> Mapping[str, str]:
        """The node labels that pods of the flavor need."""
        found = self.tree.quotas.flavors.get(flavor)
        return found.nodes if found is not None else {}

    def _contradicts(self, flavor: str, selector: Mapping[str, str]) -> bool:
        return any(selector.get(key, value) != value for key, value in self.nodes(flavor).items())

    def agree(self, one: str, other: str) -> bool:
        """Whether one pod can be on nodes of both."""
        return one == other or not self._contradicts(one, self.nodes(other))


def grouped(blocks: Iterable[FlavorQuota]) -> tuple[tuple[FlavorQuota, ...], ...]:
    """Blocks that share a resource, transitively; groups and members in the order of the policy."""
    groups: list[list[FlavorQuota]] = []
    order = {block.flavor: at for at, block in enumerate(blocks)}
    for block in blocks:
        touching = [
            g for g in groups if any(not block.shares.keys().isdisjoint(b.shares) for b in g)
        ]
        merged = [each for group in touching for each in group] + [block]
        groups = [group for group in groups if group not in touching] + [merged]
    ordered = [tuple(sorted(group, key=lambda b: order[b.flavor])) for group in groups]
    return tuple(sorted(ordered, key=lambda group: order[group[0].flavor]))


class Free(Protocol):
    """How much more of a number a queue may hold: a list or a mapping."""

    def __getitem__(self, number: int, /) -> Amount: ...


def assign(menu: Menu, wants: Sequence[Wants], free: Free) -> Choice | None:
    """The first option that fits, for each group of each pod set in order; None where one has none."""
    if len(wants) == 1 and len(wants[0].groups) == 1:
        return _only(wants[0].groups[0], free)
    taken: dict[int, Amount] = {}
    chosen: list[tuple[Option, ...]] = []
    for want in wants:
        mine: list[Option] = []
        for options in want.groups:
            option = _first(menu, options, mine, taken, free)
            if option is None:
                return None
            for number, amount in option.charges:
                taken[number] = taken.get(number, 0) + amount
            mine.append(option)
        chosen.append(tuple(mine))
    return Choice(tuple(chosen), tuple(sorted(taken.items())))


def _only(options: Iterable[Option], free: Free) -> Choice | None:
    """The same for one pod set in one group, which is most of them."""
    for option in options:
        for number, amount in option.charges:
            if free[number] < amount:
                break
        else:
            return Choice(((option,),), option.charges)
    return None


def _first(
    menu: Menu,
    options: Iterable[Option],
    mine: Sequence[Option],
    taken: Mapping[int, Amount],
    free: Free,
) -> Option | None:
    """Here the ways of ``prefer`` will be weighed; today a flavor that fits is taken."""
    for option in options:
        for number, amount in option.charges:
            if free[number] < amount + taken.get(number, 0):
                break
        else:
            if not mine or all(menu.agree(option.flavor, other.flavor) for other in mine):
                return option
    return None


def uncovered(queue: Queue, pod_sets: Iterable[PodSet]) -> tuple[str, ...]:
    """Resources asked for that no quota of the queue names and that are not ignored."""
    named = {resource for block in queue.quotas for resource in block.shares}
    asked = {r for pods in pod_sets for r, amount in pods.total.items() if amount > 0}
    return tuple(sorted(r for r in asked - named if not _may_ignore(queue, r)))


def _may_ignore(queue: Queue, resource: str) -> bool:
    refuse = queue.refuse_uncovered
    return resource in MAY_BE_UNCOVERED if refuse is None else not refuse
