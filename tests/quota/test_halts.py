"""Queues that start nothing more, and queues that stop what runs as well."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.quota.building import (
    cohort,
    job,
    queue,
    quota,
    quotas,
    running,
    see_all,
    show,
    started,
    stopping,
)
from webhook.model.queues import Halt, Quotas
from webhook.model.workload import Cause, Evicted, Phase, Uid, Workload
from webhook.quota.news import Eviction
from webhook.quota.plan import Core
from webhook.quota.reasons import Because

X = Uid("x")


def lab(halt: Halt | None, **more: Any) -> Quotas:
    return quotas(
        cohort("lab"),
        queue("a", quota(cpu=4), cohort="lab", halt=halt, **more),
        queue("b", quota(cpu=4), cohort="lab"),
    )


def told(core: Core, now: float = 0.0) -> list[Eviction]:
    return list(core.plan(now).evictions)


def suspended(workload: Workload, eviction: Eviction) -> Workload:
    """As the cluster shows it after the stop, its pods still there."""
    return stopping(workload, evicted=eviction.record)


def waits_again(workload: Workload, eviction: Eviction) -> Workload:
    return replace(workload, phase=Phase.WAITING, holds={}, evicted=eviction.record)


def test_hold_starts_nothing_and_stops_nothing() -> None:
    core = Core(lab(None))
    core.see(job("x", "a", cpu=1))
    assert started(core) == ["x"]
    core.replace(lab(Halt(drains=False, reason="until the release")))
    core.see(job("y", "a", cpu=1, priority=9))
    plan = core.plan(1.0)
    assert (plan.starts, plan.evictions) == ((), ())
    reason = core.reason(Uid("y"), 1.0)
    assert (reason.kind, reason.text) == (
        Because.HOLD,
        "queue a is on hold: until the release",
    )
    assert core.reason(X, 1.0).kind is Because.STARTED
    core.replace(lab(None))
    assert started(core, 2.0) == ["y"]


def test_its_quota_stays_lendable_even_if_it_is_strict() -> None:
    core = Core(lab(Halt(drains=False), strict=True))
    see_all(core, job("head", "a", cpu=8), job("lent", "b", cpu=8, place=1))
    assert started(core) == ["lent"]
    assert core.reason(Uid("head"), 0.0).text == "queue a is on hold"


def test_a_hold_of_its_own_is_said_first() -> None:
    core = Core(lab(Halt(drains=True, reason="moving")))
    see_all(core, job("x", "a", cpu=1, hold="mine"), job("y", "a", cpu=1))
    assert core.reason(X, 0.0).text == "on hold: mine"
    assert core.reason(Uid("y"), 0.0).text == "queue a drains: moving"


def test_who_waits_in_a_halted_queue_is_counted_and_nobody_stands_in_line() -> None:
    core = Core(lab(Halt(drains=False)))
    see_all(core, job("x", "a", cpu=1), job("y", "a", cpu=1, priority=3))
    one = next(each for each in core.status() if each.queue == "a")
    assert (dict(one.waiting), core.ahead("a", 0)) == ({3: 1, 0: 1}, 0)


def test_drain_stops_what_runs_at_once_and_each_once() -> None:
    core = Core(lab(None))
    see_all(core, job("x", "a", cpu=2), job("y", "a", cpu=1, place=1), job("z", "b", cpu=1))
    shown = {w.uid: w for w in show(core, core.plan(0.0).starts)}
    core.replace(lab(Halt(drains=True, reason="moving out")))
    evictions = told(core, 5.0)
    assert [(e.workload.uid, e.text, e.hold, e.by) for e in evictions] == [
        ("x", "queue a drains: moving out", None, None),
        ("y", "queue a drains: moving out", None, None),
    ]
    assert evictions[0].record == Evicted(Cause.DRAINED, 5.0)
    assert core.reason(X, 5.0).text == "stopping: queue a drains: moving out"
    core.see(shown[X])  # the watch lags
    assert told(core, 6.0) == []
    assert core.unconfirmed() == ("x", "y")
    core.see(suspended(shown[X], evictions[0]))
    assert core.unconfirmed() == ("y",)
    assert core.reason(X, 6.0).text == "stopping: 1 pod of it not gone yet"


def test_what_drains_is_lent_as_soon_as_its_pods_are_gone() -> None:
    core = Core(lab(None))
    core.see(job("x", "a", cpu=4))
    (x,) = show(core, core.plan(0.0).starts)
    core.replace(lab(Halt(drains=True)))
    core.see(job("lent", "b", cpu=8))
    plan = core.plan(0.0)
    assert (plan.starts, len(plan.evictions)) == ((), 1)
    assert core.reason(Uid("lent"), 0.0).kind is Because.VICTIMS
    core.see(suspended(x, plan.evictions[0]))
    assert started(core) == []
    core.see(waits_again(x, plan.evictions[0]))
    assert started(core) == ["lent"]
    assert core.reason(X, 0.0).text == "queue a drains"


def test_a_drained_one_keeps_its_place() -> None:
    core = Core(lab(Halt(drains=True)))
    x = running(job("x", "a", cpu=4, place=1))
    core.see(x)
    (eviction,) = told(core)
    see_all(core, waits_again(x, eviction), job("y", "a", cpu=4, place=2))
    core.see(running(job("r", "b", cpu=4)))
    core.replace(lab(None))
    assert started(core) == ["x"]


def test_a_start_on_its_way_into_a_queue_that_drains_is_stopped_when_it_shows() -> None:
    core = Core(lab(None))
    core.see(job("x", "a", cpu=1))
    (start,) = core.plan(0.0).starts
    core.replace(lab(Halt(drains=True)))
    assert told(core) == []
    core.see(running(start.workload, start.admission))
    assert [e.workload.uid for e in told(core)] == ["x"]


def test_a_stop_that_was_not_written_is_told_again_after_a_while() -> None:
    core = Core(lab(Halt(drains=True)))
    core.see(running(job("x", "a", cpu=1)))
    assert len(told(core, 0.0)) == 1
    core.refused(X, until=30.0)
    plan = core.plan(1.0)
    assert (plan.evictions, plan.again_at) == ((), 30.0)
    assert core.reason(X, 1.0).kind is Because.STARTED
    assert len(told(core, 30.0)) == 1


def test_a_stop_that_somebody_undid_is_told_again() -> None:
    core = Core(lab(Halt(drains=True)))
    x = running(job("x", "a", cpu=1), resource_version="5")
    core.see(x)
    assert len(told(core)) == 1
    core.confirm(X, "7")
    core.see(replace(x, resource_version="6"))
    assert told(core) == []
    core.see(replace(x, resource_version="8"))
    assert len(told(core)) == 1


def test_even_if_that_was_seen_before_the_confirmation() -> None:
    core = Core(lab(Halt(drains=True)))
    x = running(job("x", "a", cpu=1), resource_version="5")
    core.see(x)
    told(core)
    core.see(replace(x, resource_version="8"))
    assert told(core) == []
    core.confirm(X, "7")
    assert len(told(core)) == 1


def test_what_is_going_anyway_is_left_alone() -> None:
    core = Core(lab(Halt(drains=True)))
    gone = running(job("x", "a", cpu=1), deleting=True)
    see_all(core, gone, stopping(running(job("y", "a", cpu=1))))
    assert told(core) == []


def test_a_stop_outlives_a_change_of_policy() -> None:
    core = Core(lab(Halt(drains=True)))
    core.see(running(job("x", "a", cpu=4)))
    told(core)
    core.replace(lab(None))
    core.see(job("y", "a", cpu=8))
    assert told(core) == []
    assert core.reason(Uid("y"), 0.0).kind is Because.VICTIMS
    core.forget(X)
    assert started(core) == ["y"]


def test_a_bypass_is_drained_too() -> None:
    core = Core(lab(Halt(drains=True)))
    core.see(running(job("x", "a", cpu=9), None))
    assert [e.workload.uid for e in told(core)] == ["x"]
