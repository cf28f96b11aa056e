"""A start with fewer pods than asked: the largest number that fits, in closed form.

Only for workloads of one pod set that say how few will do. All of them are tried first, in every
flavor; then the largest number that any choice of flavors holds. What was found for one may be
too much for another who is close to a limit: it is cut down on the same flavors, which always fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from webhook.model.quantity import Amounts, times
from webhook.model.workload import PodSet, Workload
from webhook.quota.bounds import Bounds
from webhook.quota.flavors import Choice, Free, Menu, Option, assign


class Partial:
    """One pod set that may start with ``fewest`` pods, as one queue sees it."""

    def __init__(self, menu: Menu, pods: PodSet) -> None:
        self.menu, self.pods = menu, pods
        one = menu.wants(replace(pods, count=1, min_count=None))
        self._each = [option for options in one.groups for option in options] if one else []

    def assign(self, free: Free) -> Choice | None:
        """The choice with the most pods, below all of them; None where not even the fewest fit."""
        for count in self._candidates(free):
            wants = self.menu.wants(replace(self.pods, count=count, min_count=None))
            choice = assign(self.menu, (wants,), free) if wants is not None else None
            if choice is not None:
                return replace(choice, count=count)
        return None

    def _candidates(self, free: Free) -> list[int]:
        """How many pods each flavor alone would hold: the answer is one of these, or one less than all."""
        numbers = {
            min(free[number] // amount for number, amount in option.charges)
            for option in self._each
        }
        most, fewest = self.pods.count - 1, self.pods.fewest
        return sorted({min(each, most) for each in numbers if each >= fewest}, reverse=True)


def partial_of(menu: Menu, pod_sets: Sequence[PodSet]) -> Partial | None:
    """How these pod sets may start in part; None where they must start whole."""
    if len(pod_sets) != 1 or pod_sets[0].fewest >= pod_sets[0].count:
        return None
    return Partial(menu, pod_sets[0])


def at_least(pod_sets: Sequence[PodSet]) -> tuple[PodSet, ...]:
    """The same with as few pods as will do."""
    if len(pod_sets) != 1:
        return tuple(pod_sets)
    return tuple(replace(pods, count=pods.fewest) for pods in pod_sets)


def within(bounds: Bounds, workload: Workload, choice: Choice) -> Choice:
    """The same choice with no more pods than the limits of the workload leave room for."""
    (pods,) = workload.asks
    count = pods.count if choice.count is None else choice.count
    room = bounds.room(workload, pods.requests)
    return choice if room is None or room >= count else _cut(choice, count, room)


def _cut(choice: Choice, count: int, to: int) -> Choice:
    def fewer(option: Option) -> Option:
        amounts = {r: amount // count * to for r, amount in option.amounts.items()}
        charges = tuple((number, amount // count * to) for number, amount in option.charges)
        return Option(option.flavor, charges, amounts)

    options = tuple(tuple(fewer(option) for option in mine) for mine in choice.options)
    charges = tuple((number, amount // count * to) for number, amount in choice.charges)
    return Choice(options, charges, to)


def taken(workload: Workload, choice: Choice) -> Amounts:
    """What it starts with, whatever a quota names."""
    if choice.count is None:
        return workload.total
    return times(workload.asks[0].requests, choice.count)


def counts(workload: Workload, choice: Choice) -> tuple[int, ...]:
    """With how many pods of each set it starts."""
    if choice.count is not None:
        return (choice.count,)
    return tuple(pods.count for pods in workload.asks)
