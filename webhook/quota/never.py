"""What can never start, whoever stops: a request above all that an idle tree could give, or a limit.

Asked at submission, where a refusal with numbers is worth more than a silent wait. It is sound: it
says never only where no choice of flavors could fit. It is not complete: two pod sets that fit one
by one and not together, on flavors they might swap, are let in and wait.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from webhook.model.quantity import Amount, add, format_quantity
from webhook.model.queues import DEFAULT_FLAVOR, Limit
from webhook.model.workload import PodSet
from webhook.quota.flavors import Menu, Option, Wants
from webhook.quota.limits import JOBS, alone_over
from webhook.quota.partial import at_least
from webhook.quota.tree import Tree


@dataclass(frozen=True, slots=True)
class NeverFits:
    """What is asked and the most there could be. ``flavor`` is the one that could give it.

    It is None where several flavors together could not, and empty where the node selectors of the
    pods leave no flavor at all. ``limit`` is the limit that it exceeds alone, if that is why.
    """

    queue: str
    resource: str
    asked: Amount
    most: Amount
    flavor: str | None
    limit: Limit | None = None

    @property
    def text(self) -> str:
        """One line, with both numbers and the queue."""
        if self.limit is not None:
            return self._limited(self.limit)
        asked = f"needs {format_quantity(self.asked, self.resource)} {self.resource}"
        if self.flavor == "":
            return f"{asked}, no flavor of {self.queue} goes with its node selector"
        where = f" on {self.flavor}" if self.flavor and self.flavor != DEFAULT_FLAVOR else ""
        most = format_quantity(self.most, self.resource)
        return f"{asked}, {self.queue} can never have more than {most}{where}"

    def _limited(self, limit: Limit) -> str:
        asked, most = (
            str(each) if self.resource == JOBS else format_quantity(each, self.resource)
            for each in (self.asked, self.most)
        )
        where = f" ({limit.place})" if limit.place else ""
        return (
            f"needs {asked} {self.resource}, {self.queue} lets nobody have more than {most}"
            f" {limit.per}{where}"
        )


def never_fits(tree: Tree, queue: str, pod_sets: Sequence[PodSet]) -> NeverFits | None:
    """The first thing that rules it out; None where it may fit, or where a resource is uncovered."""
    menu, pod_sets = Menu(tree, tree.nodes[queue]), at_least(pod_sets)
    wants = [menu.wants(pods) for pods in pod_sets]
    whole = [want for want in wants if want is not None]
    return ruled_out(menu, pod_sets, whole) if len(whole) == len(wants) else None


def ruled_out(menu: Menu, pod_sets: Sequence[PodSet], wants: Sequence[Wants]) -> NeverFits | None:
    """The same for pod sets whose options are known."""
    over = _over_limit(menu, pod_sets)
    if over is not None:
        return over
    for pods, want in zip(pod_sets, wants, strict=True):
        for options in want.groups:
            if not any(_possible(menu, option) for option in options):
                return _alone(menu, pods, options)
    every = [options for want in wants for options in want.groups]
    return _forced(menu, every) or _together(menu, every)


def _over_limit(menu: Menu, pod_sets: Sequence[PodSet]) -> NeverFits | None:
    asked = add(*(pods.total for pods in pod_sets))
    found = alone_over(menu.queue, asked)
    if found is None:
        return None
    limit, resource, bound = found
    amount = 1 if resource == JOBS else asked[resource]
    return NeverFits(menu.queue.name, resource, amount, bound, None, limit)


def _possible(menu: Menu, option: Option) -> bool:
    return not any(_short(menu, option))


def _short(menu: Menu, option: Option) -> Iterator[tuple[Amount, Amount, int]]:
    """(potential, asked, number) where more is asked than the queue could ever have."""
    for number, amount in option.charges:
        most = menu.tree.potential(menu.node, number)
        if amount > most:
            yield most, amount, number


def _alone(menu: Menu, pods: PodSet, options: Sequence[Option]) -> NeverFits:
    """One pod set that no flavor could hold: told of the flavor that comes closest."""
    if not options:
        resource = min(
            (r for r, amount in pods.total.items() if amount > 0 and r in menu.resources),
            default="pods",
        )
        return _answer(menu, resource, pods.total.get(resource, 0), 0, "")
    closest = max(
        (next(_short(menu, option)) for option in options), key=lambda s: (s[0] - s[1], -s[2])
    )
    return _pair(menu, closest[2], closest[1], closest[0])


def _forced(menu: Menu, every: Iterable[Sequence[Option]]) -> NeverFits | None:
    """Pod sets that have no choice, added up on the flavor that each must take."""
    sums: dict[int, Amount] = {}
    for options in every:
        possible = [option for option in options if _possible(menu, option)]
        for number, amount in possible[0].charges if len(possible) == 1 else ():
            sums[number] = sums.get(number, 0) + amount
    for number, asked in sorted(sums.items()):
        most = menu.tree.potential(menu.node, number)
        if asked > most:
            return _pair(menu, number, asked, most)
    return None


def _together(menu: Menu, every: Iterable[Sequence[Option]]) -> NeverFits | None:
    """All pod sets against all flavors they could be spread over."""
    asked: dict[str, Amount] = {}
    numbers: dict[str, set[int]] = {}
    for options in every:
        for resource in {r for option in options for r in option.amounts}:
            if all(resource in option.amounts for option in options):
                amount = options[0].amounts[resource]
                asked[resource] = asked.get(resource, 0) + amount
                flavors = numbers.setdefault(resource, set())
                flavors.update(menu.number(option.flavor, resource) for option in options)
    for resource, total in sorted(asked.items()):
        most = sum(max(0, menu.tree.potential(menu.node, n)) for n in numbers[resource])
        if total > most:
            return _answer(menu, resource, total, most, None)
    return None


def _pair(menu: Menu, number: int, asked: Amount, most: Amount) -> NeverFits:
    flavor, resource = menu.tree.pairs[number]
    return _answer(menu, resource, asked, most, flavor)


def _answer(
    menu: Menu, resource: str, asked: Amount, most: Amount, flavor: str | None
) -> NeverFits:
    return NeverFits(menu.queue.name, resource, asked, max(0, most), flavor)
