"""What workloads of one queue have in common when they ask for the same: asked once, answered once.

A shape carries its options, what it needs at least and the last verdict on it, so a thousand
workloads that ask for the same cost one look at the quota.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import cached_property
from itertools import combinations

from webhook.model.quantity import LARGEST, Amount
from webhook.model.workload import PodSet
from webhook.quota.flavors import Choice, Free, Menu, Option, Wants, assign
from webhook.quota.never import NeverFits, ruled_out
from webhook.quota.partial import Partial, at_least, partial_of

MORE_THAN_ANYBODY_HAS: Amount = LARGEST * 2**64


def fingerprint(pod_sets: tuple[PodSet, ...]) -> Hashable:
    """Equal for workloads that ask for the same; the names of the pod sets do not matter."""
    return tuple(
        (
            pods.count,
            tuple(sorted(pods.requests.items())),
            _sorted(pods.node_selector),
            pods.min_count,
            pods.flavors and _sorted(pods.flavors),
        )
        for pods in pod_sets
    )


def _sorted(selector: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(selector.items())) if selector else ()


class Shape:
    """One way to ask, in one queue."""

    def __init__(self, menu: Menu, pod_sets: tuple[PodSet, ...], key: Hashable) -> None:
        self.menu, self.key, self.users = menu, key, 0
        wants = [menu.wants(pods) for pods in pod_sets]
        self.covered = all(want is not None for want in wants)
        self.wants: tuple[Wants, ...] = tuple(want for want in wants if want is not None)
        self.partial: Partial | None = partial_of(menu, pod_sets) if self.covered else None
        fewest = at_least(pod_sets) if self.partial is not None else pod_sets
        self.least_wants = self.wants
        """What it wants with as few pods as will do: the same for most."""
        if self.partial is not None:
            few = (menu.wants(pods) for pods in fewest)
            self.least_wants = tuple(want for want in few if want is not None)
        self.never: NeverFits | None = None
        if self.covered:
            self.never = ruled_out(menu, fewest, self.least_wants)
        self.hopeless = not self.covered or self.never is not None
        self.least = self._least()
        self.fickle = not self.hopeless and self._is_fickle()
        # The verdict of the planner, with the counts of shifts and returns it holds for.
        self.choice: Choice | None = None
        self.shift = self.returned = -1

    def _least(self) -> tuple[Amount, ...]:
        """For each group and resource what any flavor that is taken must have free, at least."""
        if self.hopeless:
            return (MORE_THAN_ANYBODY_HAS,) * len(self.menu.dimensions)
        vectors: dict[int, list[dict[str, Amount]]] = {}
        for want in self.least_wants:
            for options in want.groups:
                for group, blocks in enumerate(self.menu.groups):
                    if options and any(options[0].flavor == b.flavor for b in blocks):
                        asked = {r: a for option in options for r, a in option.amounts.items()}
                        vectors.setdefault(group, []).append(asked)
        return tuple(
            min((asked.get(resource, 0) for asked in vectors.get(group, ())), default=0)
            for group, resource in self.menu.dimensions
        )

    def _is_fickle(self) -> bool:
        """Whether less capacity can make it fit.

        The first option that fits may stand in the way of a later choice, of the same pods by its
        nodes or of later pods by what it takes; a shape without such a choice never profits from
        the loss of an option.
        """
        choices = [options for want in self.wants for options in want.groups]
        free = [options for options in choices if len(options) > 1]
        if not free or len(choices) == 1:
            return False
        for want in self.wants:
            for one, other in combinations(want.groups, 2):
                pairs = ((a.flavor, b.flavor) for a in one for b in other)
                if not all(self.menu.agree(a, b) for a, b in pairs):
                    return True
        return any(
            not numbers.isdisjoint(others)
            for numbers, others in combinations([_numbers(o) for o in choices], 2)
        )

    def assign(self, free: Free) -> Choice | None:
        """What it would take of what is free; fewer pods where not all fit and it may start so."""
        choice = assign(self.menu, self.wants, free)
        if choice is None and self.partial is not None:
            return self.partial.assign(free)
        return choice

    @cached_property
    def ideal(self) -> Choice | None:
        """The least it would take if own quota lay idle, or else if the whole tree did."""
        tree, node = self.menu.tree, self.menu.node
        most = [tree.potential(node, number) for number in range(len(tree.pairs))]
        own = [min(pair) for pair in zip(most, tree.nominal[node], strict=True)]
        taken = assign(self.menu, self.least_wants, own)
        return taken or assign(self.menu, self.least_wants, most)


def _numbers(options: tuple[Option, ...]) -> frozenset[int]:
    return frozenset(n for option in options for n, _ in option.charges)
