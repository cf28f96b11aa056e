"""`ready within`: pods that are not ready in time give their quota back, and try again later."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.quota.building import job, queue, quota, quotas, running, see_all, started, stopping
from webhook.model.queues import Deadline, Halt, Quotas
from webhook.model.workload import Admission, Cause, Evicted, Phase, Uid, Workload
from webhook.quota.news import Eviction
from webhook.quota.plan import Core
from webhook.quota.reasons import Because

X = Uid("x")
RECORD = Admission("a", (), "2026-01-01T00:00:00.000000Z", "r1")


def within(seconds: int | None = 100, retries: int | None = None, **more: Any) -> Quotas:
    deadline = Deadline(seconds, retries) if seconds is not None else None
    return quotas(queue("a", quota(cpu=4), deadline=deadline, **more))


def begun(at: float, **more: Any) -> Workload:
    """x, started at that time, its pods not ready."""
    return running(job("x", "a", cpu=3, place=1.0), RECORD, started_at=at, **more)


def told(core: Core, now: float) -> list[Eviction]:
    return list(core.plan(now).evictions)


def after(workload: Workload, eviction: Eviction) -> Workload:
    """As it waits again: what the record says is read from the object."""
    place = eviction.record.place
    return replace(
        workload,
        phase=Phase.WAITING,
        holds={},
        started_at=None,
        evicted=eviction.record,
        place=workload.place if place is None else place,
        hold=eviction.hold,
    )


def test_not_ready_in_time_is_stopped() -> None:
    core = Core(within(100))
    core.see(begun(1000.0))
    plan = core.plan(1099.9)
    assert (plan.evictions, plan.again_at) == ((), 1100.0)
    (eviction,) = told(core, 1100.0)
    assert eviction.text == "not ready within 100 s"
    assert eviction.record == Evicted(
        Cause.NOT_READY, 1100.0, count=1, not_before=1160.0, place=1100.0
    )
    assert (eviction.hold, told(core, 1101.0)) == (None, [])


def test_it_waits_and_goes_behind_those_present() -> None:
    core = Core(within(100))
    x = begun(0.0)
    core.see(x)
    (eviction,) = told(core, 100.0)
    core.see(stopping(x, evicted=eviction.record, started_at=None))
    core.see(after(x, eviction))
    reason = core.reason(X, 130.0)
    assert (reason.kind, reason.until) == (Because.BACKOFF, 160.0)
    assert reason.text == "tried again in 30 s, not ready in time 1 time"
    see_all(core, job("later", "a", cpu=1, place=130.0), job("present", "a", cpu=3, place=99.0))
    plan = core.plan(130.0)
    assert [s.workload.uid for s in plan.starts] == ["present", "later"]
    assert plan.again_at == 160.0
    core.forget(Uid("present"))
    core.see(job("young", "a", cpu=3, place=159.0))
    core.forget(Uid("later"))
    assert [s.workload.uid for s in core.plan(160.0).starts] == ["x"]


@pytest.mark.parametrize(
    ("failures", "seconds"), [(0, 60), (1, 120), (2, 240), (5, 1920), (6, 3600), (60, 3600)]
)
def test_the_wait_doubles_up_to_an_hour(failures: int, seconds: int) -> None:
    before = Evicted(Cause.NOT_READY, 1.0, count=failures) if failures else None
    core = Core(within(100))
    core.see(begun(0.0, evicted=before))
    (eviction,) = told(core, 500.0)
    assert eviction.record.not_before == 500.0 + seconds
    assert eviction.record.count == failures + 1


def test_after_the_last_retry_it_is_held() -> None:
    core, x = Core(within(100, retries=2)), begun(0.0)
    at = 0.0
    holds = []
    for _ in range(3):
        core.see(x)
        (eviction,) = told(core, at + 100.0)
        holds.append(eviction.hold)
        core.see(after(x, eviction))
        at = at + 5000.0
        x = replace(x, started_at=at, evicted=eviction.record)
    assert holds == [None, None, "not ready 3 times"]
    reason = core.reason(X, at)
    assert (reason.kind, reason.text) == (Because.HOLD, "on hold: not ready 3 times")
    core.see(replace(after(x, eviction), hold=None))
    assert [s.workload.uid for s in core.plan(at).starts] == ["x"], "released: it starts at once"


def test_no_retry_at_all() -> None:
    core = Core(within(100, retries=0))
    core.see(begun(0.0))
    (eviction,) = told(core, 100.0)
    assert (eviction.hold, eviction.record.not_before) == ("not ready 1 time", None)


def test_ready_once_is_ready_for_good() -> None:
    core = Core(within(100))
    core.see(begun(0.0))
    core.see(begun(0.0, ready=True))
    plan = core.plan(50.0)
    assert ([w.uid for w in plan.ready], plan.again_at) == (["x"], None)
    core.see(begun(0.0))
    plan = core.plan(5000.0)
    assert (plan.ready, plan.evictions) == ((), ()), "told once; losing a pod is not being late"


def test_what_the_record_says_outlives_the_loop() -> None:
    core = Core(within(100))
    core.see(begun(0.0, ready_at=50.0))
    plan = core.plan(5000.0)
    assert (plan.ready, plan.evictions) == ((), ())


def test_a_note_that_was_not_written_is_told_again() -> None:
    core = Core(within(100))
    core.see(begun(0.0, ready=True))
    assert len(core.plan(10.0).ready) == 1
    core.refused(X, until=20.0)
    plan = core.plan(11.0)
    assert (plan.ready, plan.again_at) == ((), 20.0)
    assert len(core.plan(20.0).ready) == 1
    assert core.plan(21.0).ready == ()


def test_each_start_has_its_own_clock() -> None:
    core = Core(within(100))
    core.see(begun(0.0, ready=True))
    core.plan(1.0)
    core.see(begun(1000.0))
    assert told(core, 1099.0) == []
    assert len(told(core, 1100.0)) == 1


def test_nothing_is_noted_where_nobody_asks() -> None:
    core = Core(within(None))
    core.see(begun(0.0, ready=True))
    plan = core.plan(9000.0)
    assert (plan.ready, plan.evictions, plan.again_at) == ((), (), None)


def test_what_was_not_started_by_us_has_no_clock() -> None:
    core = Core(within(100))
    core.see(running(job("x", "a", cpu=3), None, started_at=0.0))
    core.see(running(job("y", "a", cpu=1), RECORD, started_at=None))
    assert told(core, 9000.0) == []


def test_a_deadline_of_a_new_policy_counts_from_the_start() -> None:
    core = Core(within(None))
    core.see(begun(0.0))
    core.see(replace(begun(0.0, ready=True), uid=Uid("y")))
    core.see(replace(begun(0.0), uid=Uid("y")))
    core.replace(within(100))
    plan = core.plan(50.0)
    assert ([w.uid for w in plan.ready], plan.again_at) == (["y"], 100.0), "seen ready before"
    assert [e.workload.uid for e in told(core, 100.0)] == ["x"]


def test_a_deadline_that_is_lifted() -> None:
    core = Core(within(100))
    core.see(begun(0.0))
    core.replace(within(None))
    assert told(core, 500.0) == []


def test_drain_comes_first_and_forgives_nothing() -> None:
    failed = Evicted(Cause.NOT_READY, 1.0, count=3, not_before=2.0, place=1.0)
    core = Core(within(100, halt=Halt(drains=True)))
    core.see(begun(50.0, evicted=failed))
    (eviction,) = told(core, 60.0)
    assert eviction.record == Evicted(Cause.DRAINED, 60.0, count=3, place=1.0)


def test_one_that_was_ready_is_forgiven() -> None:
    failed = Evicted(Cause.NOT_READY, 1.0, count=3, not_before=2.0, place=1.0)
    core = Core(within(100, halt=Halt(drains=True)))
    core.see(begun(50.0, evicted=failed, ready_at=55.0))
    (eviction,) = told(core, 60.0)
    assert eviction.record == Evicted(Cause.DRAINED, 60.0, count=0, place=1.0)


def test_it_gives_way_to_the_next_when_its_pods_are_gone() -> None:
    core, x = Core(within(100)), begun(0.0)
    see_all(core, x, job("y", "a", cpu=2, place=2.0))
    assert len(told(core, 100.0)) == 1
    assert core.reason(Uid("y"), 100.0).kind is Because.VICTIMS
    core.forget(X)
    assert started(core, 101.0) == ["y"]


def test_a_refused_start_waits_no_less_than_its_backoff() -> None:
    core = Core(within(100))
    failed = Evicted(Cause.NOT_READY, 100.0, count=1, not_before=160.0, place=100.0)
    core.see(job("x", "a", cpu=1, evicted=failed))
    core.plan(110.0)
    core.refused(X, until=120.0)
    assert core.plan(130.0).again_at == 160.0
    core.see(job("x", "a", cpu=2, evicted=failed))
    assert core.plan(140.0).starts == ()
    assert len(core.plan(160.0).starts) == 1
