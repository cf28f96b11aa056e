"""How often a workload was passed over, counted without a write to any that wait."""

from __future__ import annotations

from random import Random

import pytest

from tests.quota.building import job, queue, quota, quotas, running, see_all, started
from webhook.model.workload import Uid
from webhook.quota.passes import MOST, Passes
from webhook.quota.plan import Core
from webhook.quota.reasons import Because, Reason

B = Uid("b")


def full(*, strict: bool = False) -> Core:
    """A big one that does not fit, and one pass so that the counting has begun."""
    core = Core(quotas(queue("a", quota(cpu=10), strict=strict)))
    see_all(core, running(job("r", "a", cpu=8)), job("b", "a", cpu=9, place=100.0))
    core.plan(90.0)
    return core


def passes(core: Core, uid: str = "b") -> tuple[int, float | None]:
    reason = core.reason(Uid(uid), 0.0)
    return reason.passed_over, reason.passed_since


def test_r14_the_stream_of_small_ones_that_starves_the_big_one_is_told() -> None:
    core = full()
    assert passes(core) == (0, None)
    for at in range(5):
        core.see(job(f"s{at}", "a", cpu=2, place=101.0 + at))
        assert started(core) == [f"s{at}"]
        core.forget(Uid(f"s{at}"))
    reason = core.reason(B, 0.0)
    assert (reason.kind, passes(core)) == (Because.QUOTA, (5, 100.0))
    assert reason.passes == "passed over 5 times since 1970-01-01T00:01:40Z"


def test_r14_strict_is_for_those_who_mind() -> None:
    core = full(strict=True)
    core.see(job("s", "a", cpu=2, place=101.0))
    assert started(core) == []
    assert passes(core) == (0, None)
    core.forget(Uid("r"))
    assert started(core) == ["b"]


def test_only_starts_from_behind_count() -> None:
    core = full()
    see_all(
        core,
        job("late", "a", cpu=9, place=102.0),
        job("s1", "a", cpu=1, place=101.0),
        job("early", "a", cpu=1, place=99.0, priority=0),
    )
    assert started(core) == ["early", "s1"]
    assert (passes(core), passes(core, "late")) == ((1, 100.0), (0, None))
    core.forget(Uid("s1"))
    core.see(job("lower", "a", cpu=1, place=50.0, priority=-1))
    assert started(core) == ["lower"]
    assert (passes(core), passes(core, "late")) == ((2, 100.0), (1, 102.0))


def test_what_was_before_it_came_does_not_count() -> None:
    core = full()
    core.see(job("s", "a", cpu=1, place=101.0))
    assert started(core) == ["s"]
    core.see(job("returned", "a", cpu=9, place=95.0))
    assert (passes(core), passes(core, "returned")) == ((1, 100.0), (0, None))


def test_a_hold_is_no_waiting() -> None:
    core = full()
    core.see(job("b", "a", cpu=9, place=100.0, hold=""))
    core.see(job("s", "a", cpu=1, place=101.0))
    assert started(core) == ["s"]
    core.see(job("b", "a", cpu=9, place=100.0))
    assert passes(core) == (0, None)


def test_one_start_is_told_as_once() -> None:
    text = Reason(Because.QUOTA, "", passed_over=1, passed_since=0.0).passes
    assert (text, Reason(Because.QUOTA, "").passes) == ("passed over once since 1970-01-01T00:00:00Z", "")  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_whoever_waits_longest_is_told_exactly_and_memory_is_bounded(seed: int) -> None:
    random, counted, first = Random(seed), Passes(), (0, 0.0, "first")
    places = [(random.randint(-1, 2), random.random() * 100.0, str(at)) for at in range(5 * MOST)]
    for place in places:
        counted.note(place, first)
    behind = [place for place in places if place > first]
    assert counted.behind(first) == len(behind)
    assert len(counted._places) <= MOST
    middle = (1, 50.0, "")
    assert counted.behind(middle) <= sum(place > middle for place in behind)
    counted.note((9, 1.0, "x"), None)
    assert counted.behind(first) == 0
