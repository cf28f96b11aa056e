"""Which flavor a pod set is given, and what can never be given."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

from hypothesis import given

from tests.quota.building import cohort, n, pods, queue, quota, quotas
from tests.quota.histories import SHAPES, any_policy, seeds
from webhook.model.queues import Flavor, Quotas
from webhook.model.workload import PodSet
from webhook.quota.flavors import Menu, assign, uncovered
from webhook.quota.never import NeverFits, never_fits
from webhook.quota.shape import Shape
from webhook.quota.tree import Tree

ZONES = [Flavor("east", {"zone": "e"}), Flavor("west", {"zone": "w"}), Flavor("spot")]


def chosen(policy: Quotas, *pod_sets: PodSet, name: str = "a") -> list[list[str]] | None:
    """The flavors of each pod set in an idle tree."""
    tree = Tree(policy)
    node = tree.nodes[name]
    shape = Shape(Menu(tree, node), pod_sets, ())
    if not shape.covered:
        return None
    free = [tree.potential(node, number) for number in range(len(tree.pairs))]
    choice = assign(shape.menu, shape.wants, free)
    return None if choice is None else [[o.flavor for o in each] for each in choice.options]


def two(**more: Any) -> Quotas:
    return quotas(queue("a", quota("east", cpu=4), quota("west", cpu=8), **more), flavors=ZONES)


def test_the_first_flavor_in_the_order_of_the_blocks_that_fits() -> None:
    assert chosen(two(), pods(cpu=3)) == [["east"]]
    assert chosen(two(), pods(cpu=5)) == [["west"]]
    assert chosen(two(), pods(cpu=9)) is None


def test_exactly_what_is_free_fits_and_a_nano_more_does_not() -> None:
    assert chosen(two(), pods(cpu=8)) == [["west"]]
    assert chosen(two(), pods(cpu="8000000001n")) is None


def test_earlier_pod_sets_count_for_later_ones() -> None:
    both = chosen(two(), pods("one", cpu=3), pods("two", cpu=3), pods("three", cpu=5))
    assert both == [["east"], ["west"], ["west"]]
    assert chosen(two(), pods("one", cpu=3), pods("two", cpu=3), pods("three", cpu=6)) is None


def test_a_flavor_holds_all_that_is_asked_of_its_group() -> None:
    policy = quotas(
        queue("a", quota("east", cpu=4, gpu=0), quota("west", cpu=1, gpu=2)), flavors=ZONES
    )
    assert chosen(policy, pods(cpu=1, gpu=1)) == [["west"]]
    assert chosen(policy, pods(cpu=2, gpu=1)) is None
    assert chosen(policy, pods(cpu=2)) == [["east"]]


def test_flavors_that_share_nothing_are_two_groups_and_both_are_taken() -> None:
    policy = quotas(queue("a", quota("east", gpu=2), quota("spot", cpu=4)), flavors=ZONES)
    assert chosen(policy, pods(cpu=1, gpu=1)) == [["east", "spot"]]


def test_sharing_is_transitive() -> None:
    policy = quotas(
        queue("a", quota("east", gpu=2), quota("spot", memory=4), quota("west", gpu=1, memory=1)),
        flavors=ZONES,
    )
    assert [[b.flavor for b in group] for group in Menu(Tree(policy), 0).groups] == [
        ["east", "spot", "west"]
    ]


def test_node_selectors_pass_a_contradicting_flavor_over() -> None:
    assert chosen(two(), pods(cpu=1, selector={"zone": "w", "disk": "ssd"})) == [["west"]]
    assert chosen(two(), pods(cpu=1, selector={"zone": "x"})) is None


def test_a_flavor_chosen_before_passes_a_contradicting_one_over() -> None:
    policy = quotas(
        queue("a", quota("west", gpu=2), quota("east", cpu=4), quota("spot", cpu=4)), flavors=ZONES
    )
    assert chosen(policy, pods(cpu=1, gpu=1)) == [["west", "spot"]]
    assert chosen(policy, pods("one", gpu=1), pods("two", cpu=1)) == [["west"], ["east"]]


def test_what_nobody_counts_is_ignored_if_it_is_ordinary() -> None:
    policy = two()
    assert chosen(policy, pods(cpu=1, memory=9, pods=3)) == [["east"]]
    assert chosen(policy, pods(cpu=1, gpu=1)) is None
    assert chosen(policy, pods(cpu=1, gpu=0)) == [["east"]], "none is asked for"
    assert chosen(policy, pods(memory=9)) == [[]]


def test_uncovered_resources_by_policy() -> None:
    asks = [pods(cpu=1, gpu=1, memory=1)]
    ask = {more: two(refuse_uncovered=more).queues["a"] for more in (None, True, False)}
    assert uncovered(ask[None], asks) == ("nvidia.com/gpu",)
    assert uncovered(ask[True], asks) == ("memory", "nvidia.com/gpu")
    assert uncovered(ask[False], asks) == ()
    assert chosen(two(refuse_uncovered=False), *asks) == [["east"]]


def test_a_flavor_that_lacks_a_resource_of_its_group_is_passed_over_or_not() -> None:
    policy = quotas(
        queue("a", quota("east", cpu=4), quota("west", cpu=4, gpu=1, memory=4)), flavors=ZONES
    )
    assert chosen(policy, pods(cpu=1, gpu=1)) == [["west"]]
    assert chosen(policy, pods(cpu=1, memory=1)) == [["east"]], "memory is ignored there"


def never(policy: Quotas, *pod_sets: PodSet, name: str = "a") -> NeverFits | None:
    return never_fits(Tree(policy), name, pod_sets)


def test_never_says_what_was_asked_and_the_most_there_could_be() -> None:
    found = never(two(), pods(count=3, cpu=3))
    assert found == NeverFits("a", "cpu", n(9), n(8), "west")
    assert found.text == "needs 9 cpu, a can never have more than 8 on west"
    assert never(two(), pods(count=2, cpu=4)) is None


def test_never_counts_pod_sets_together() -> None:
    alone = quotas(queue("a", quota(cpu=8)))
    found = never(alone, pods("one", cpu=5), pods("two", cpu=4))
    assert found is not None
    assert found.text == "needs 9 cpu, a can never have more than 8"
    both = never(two(), pods("one", cpu=8), pods("two", cpu=4), pods("three", cpu=1))
    assert both is not None
    assert both.text == "needs 13 cpu, a can never have more than 12"


def test_never_knows_borrowing_and_caps() -> None:
    policy = quotas(
        cohort("top", None, cap={("default", "cpu"): 9}),
        queue("a", quota(cpu=(4, 4)), cohort="top"),
        queue("b", quota(cpu=8), cohort="top"),
    )
    assert never(policy, pods(cpu=8)) is None
    assert never(policy, pods(cpu=9)) is not None
    assert never(policy, pods(cpu=9), name="b") is None
    assert never(policy, pods(cpu=10), name="b") is not None


def test_never_for_want_of_a_flavor() -> None:
    found = never(two(), pods(cpu=1, selector={"zone": "x"}))
    assert found is not None
    assert found.text == "needs 1 cpu, no flavor of a goes with its node selector"


def test_an_uncovered_resource_is_another_matter() -> None:
    assert never(two(), pods(gpu=99)) is None


@given(seeds)
def test_never_is_sound(seed: int) -> None:
    """Where it says never, no choice of flavors whatever fits into an idle tree."""
    random = Random(seed)
    tree = Tree(any_policy(random))
    for node, pod_sets in product(tree.queues, SHAPES):
        if never_fits(tree, tree.names[node], pod_sets) is not None:
            menu = Menu(tree, node)
            wants = [want for want in map(menu.wants, pod_sets) if want is not None]
            every = [options for want in wants for options in want.groups]
            assert not any(_fits(tree, node, options) for options in product(*every))


def _fits(tree: Tree, node: int, options: tuple) -> bool:
    total: dict[int, int] = {}
    for number, amount in (charge for option in options for charge in option.charges):
        total[number] = total.get(number, 0) + amount
    return all(tree.potential(node, number) >= amount for number, amount in total.items())
