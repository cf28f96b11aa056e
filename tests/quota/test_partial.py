"""Starts with fewer pods than asked: the most that fit, and never fewer than will do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.quota.building import (
    amounts,
    cohort,
    job,
    n,
    pods,
    queue,
    quota,
    quotas,
    running,
    see_all,
    started,
)
from webhook.model.queues import Flavor, FlavorResource, Limit, Quotas, Subject
from webhook.model.workload import Assigned, PodSet, Uid, Workload
from webhook.quota.flavors import assign
from webhook.quota.never import never_fits
from webhook.quota.plan import Core
from webhook.quota.reasons import Because
from webhook.quota.shape import Shape
from webhook.quota.tree import Tree

FLAVORS = (Flavor("one"), Flavor("two"))


def some(count: int, fewest: int, **each: Any) -> PodSet:
    return replace(pods(count=count, **each), min_count=fewest)


def elastic(uid: str, count: int, fewest: int, place: float = 0.0, **each: Any) -> Workload:
    return job(uid, "a", some(count, fewest, **(each or {"cpu": 1})), place=place)


def alone(*owned: Any, **more: Any) -> Quotas:
    return quotas(queue("a", *(owned or [quota(cpu=10)]), **more), flavors=FLAVORS)


def begun(core: Core) -> list[tuple[str, tuple[Assigned, ...]]]:
    return [(s.workload.uid, s.admission.pod_sets) for s in core.plan(0.0).starts]


def counts(core: Core) -> list[tuple[str, int]]:
    return [(uid, each[0].count) for uid, each in begun(core)]


def test_as_many_as_fit() -> None:
    core = Core(alone())
    see_all(core, running(job("r", "a", cpu=3)), elastic("x", 8, 2, cpu=2))
    assert begun(core) == [("x", (Assigned("main", 3, {"cpu": "default"}, amounts(cpu=6)),))]
    free = core.status()[0].balances[FlavorResource("default", "cpu")].available
    assert free == n(1)


def test_all_of_them_if_they_fit() -> None:
    core = Core(alone())
    core.see(elastic("x", 10, 1))
    assert counts(core) == [("x", 10)]


def test_exactly_the_fewest() -> None:
    for held, expected in ((6, [("x", 4)]), ("6001m", [])):
        core = Core(alone())
        see_all(core, running(job("r", "a", cpu=held)), elastic("x", 8, 4))
        assert counts(core) == expected


def test_the_scarcest_resource_decides() -> None:
    core = Core(alone(quota(cpu=10, gpu=3, memory=100)))
    core.see(elastic("x", 8, 1, cpu=1, gpu=1, memory=2))
    assert counts(core) == [("x", 3)]


def test_the_flavor_that_holds_most_is_taken() -> None:
    core = Core(alone(quota("one", cpu=3), quota("two", cpu=5)))
    see_all(core, elastic("x", 8, 2), elastic("y", 8, 2, place=1))
    assert begun(core) == [
        ("x", (Assigned("main", 5, {"cpu": "two"}, amounts(cpu=5)),)),
        ("y", (Assigned("main", 3, {"cpu": "one"}, amounts(cpu=3)),)),
    ]


def test_all_in_a_later_flavor_go_before_some_in_the_first() -> None:
    core = Core(alone(quota("one", cpu=7), quota("two", cpu=8)))
    core.see(elastic("x", 8, 2))
    assert begun(core) == [("x", (Assigned("main", 8, {"cpu": "two"}, amounts(cpu=8)),))]


def test_it_wakes_when_the_fewest_fit_and_its_reason_says_so() -> None:
    core = Core(alone())
    blocker = running(job("r", "a", pods(count=9, cpu=1)))
    see_all(core, blocker, elastic("x", 8, 4))
    assert counts(core) == []
    reason = core.reason(Uid("x"), 0.0)
    assert (reason.kind, reason.text) == (
        Because.QUOTA, "needs at least 4 cpu, 1 free of 10",
    )  # fmt: skip
    core.see(replace(blocker, holds={"main": 6}))
    assert counts(core) == [("x", 4)]


def test_a_strict_head_that_may_start_in_part_does_not_wait_for_all() -> None:
    core = Core(alone(strict=True))
    see_all(core, running(job("r", "a", cpu=5)), elastic("x", 8, 4))
    core.see(elastic("next", 1, 1, place=1))
    assert counts(core) == [("x", 5)]


def test_a_strict_queue_holds_back_what_the_fewest_need() -> None:
    lab = quotas(
        cohort("lab"),
        queue("a", quota(cpu=6), cohort="lab", strict=True),
        queue("b", quota(cpu=4), cohort="lab"),
    )
    core = Core(lab)
    see_all(core, running(job("r", "b", cpu=8)), elastic("x", 8, 3))
    core.see(job("small", "b", cpu=1, place=1))
    assert started(core) == []
    text = core.reason(Uid("small"), 0.0).text
    assert text == "needs 1 cpu, 0 free of 4, 2 held back for others"


def test_only_what_could_not_even_start_in_part_never_fits() -> None:
    tree = Tree(alone())
    assert never_fits(tree, "a", [some(20, 10, cpu=1)]) is None
    never = never_fits(tree, "a", [some(20, 11, cpu=1)])
    assert never is not None
    assert never.text == "needs 11 cpu, a can never have more than 10"


def test_limits_cut_it_down_for_one_and_not_for_another() -> None:
    limit = Limit(Subject.USER, None, amounts(cpu=4), None, None, "ml.tide:9")
    core = Core(alone(quota(cpu=20), limits=(limit,)))
    see_all(core, replace(running(job("r", "a", cpu=1)), submitted_by="ana"))
    for at, user in enumerate(("ana", "ben", "ana")):
        core.see(replace(elastic(f"w{at}", 8, 2, place=at), submitted_by=user))
    assert counts(core) == [("w0", 3), ("w1", 4)]
    text = core.reason(Uid("w2"), 0.0).text
    assert text == "user ana holds 4 of at most 4 cpu in a (ml.tide:9), needs 2"
    assert never_fits(Tree(core.quotas), "a", [some(8, 4, cpu=1)]) is None
    assert never_fits(Tree(core.quotas), "a", [some(8, 5, cpu=1)]) is not None


def test_a_limit_on_what_no_quota_names_cuts_it_down_too() -> None:
    limit = Limit(Subject.USER, None, amounts(memory=9))
    core = Core(alone(limits=(limit,)))
    core.see(elastic("x", 8, 2, cpu=1, memory=4))
    assert counts(core) == [("x", 2)]


def test_more_asked_for_as_the_fewest_than_in_all_is_all() -> None:
    core = Core(alone())
    core.see(elastic("x", 3, 8))
    assert counts(core) == [("x", 3)]


def test_several_pod_sets_start_whole() -> None:
    core = Core(alone())
    core.see(job("x", "a", some(8, 1, cpu=1), pods("other", cpu=3)))
    assert counts(core) == []


amounts_of_two = st.lists(st.integers(0, 12), min_size=2, max_size=2)


@given(
    st.lists(amounts_of_two, min_size=4, max_size=4),
    st.lists(st.integers(0, 4), min_size=2, max_size=2),
    st.integers(1, 9),
    st.integers(1, 9),
    st.booleans(),
)
def test_no_larger_number_fits(
    owned: list[list[int]], each: list[int], count: int, fewest: int, parted: bool
) -> None:
    """Against trying every number, in one group of flavors and in two."""
    blocks = [("one", owned[0]), ("two", owned[1])]
    if parted:
        quotas_of = [quota(name, cpu=cpu) for name, (cpu, _) in blocks]
        quotas_of += [quota(f"g{name}", gpu=gpu) for name, (_, gpu) in blocks]
    else:
        quotas_of = [quota(name, cpu=cpu, gpu=gpu) for name, (cpu, gpu) in blocks]
    policy = quotas(queue("a", *quotas_of))
    core = Core(policy)
    menu = core._lines.menus[0]
    asked = some(count, fewest, cpu=each[0], gpu=each[1])
    free = [core.ledger.now.available(0, number) for number in range(len(core.ledger.tree.pairs))]

    def fits(number: int) -> bool:
        wants = menu.wants(pods(count=number, cpu=each[0], gpu=each[1]))
        assert wants is not None
        return assign(menu, (wants,), free) is not None

    expected = next((c for c in range(count, asked.fewest - 1, -1) if fits(c)), None)
    choice = Shape(menu, (asked,), "key").assign(free)
    found = None if choice is None else count if choice.count is None else choice.count
    assert found == expected
