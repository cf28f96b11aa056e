"""What went wrong for others with limits, holds, late pods and counts. The names are those of the reports."""

from __future__ import annotations

from dataclasses import replace

from tests.quota.building import (
    job,
    n,
    pods,
    queue,
    quota,
    quotas,
    running,
    see_all,
    show,
    started,
    stopping,
)
from webhook.model.queues import Deadline, FlavorResource, Halt, Limit, Quotas, Subject
from webhook.model.workload import Admission, Cause, Phase, Uid
from webhook.quota.limits import over_waiting
from webhook.quota.plan import Core
from webhook.quota.reasons import Because

CPU = FlavorResource("default", "cpu")


def used(core: Core) -> int:
    return core.status()[0].balances[CPU].used // n(1)


def test_r14_a_stream_of_small_ones_against_a_big_one() -> None:
    """60 of 100 are used by six that end one a minute, a new small one arrives every 30 s."""
    for strict in (False, True):
        core = Core(quotas(queue("a", quota(cpu=100), strict=strict)))
        running_now = [running(job(f"old{at}", "a", cpu=10)) for at in range(6)]
        see_all(core, *running_now, job("big", "a", cpu=50, place=0.0))
        begun: list[str] = []
        for half_minute in range(12):
            core.see(job(f"s{half_minute:02}", "a", cpu=10, place=1.0 + half_minute))
            if half_minute % 2:
                core.forget(Uid(f"old{half_minute // 2}"))
            begun += started(core, 30.0 * half_minute)
            if strict and "big" not in begun:
                assert begun == []
        if strict:
            assert begun[0] == "big", "no later one starts before it"
            continue
        assert "big" not in begun
        reason = core.reason(Uid("big"), 360.0)
        assert reason.passes == f"passed over {len(begun)} times since 1970-01-01T00:00:00Z"


def test_r17_parallelism_is_raised_and_lowered_on_one_that_runs() -> None:
    core = Core(quotas(queue("a", quota(cpu=10))))
    core.see(job("x", "a", pods(count=4, cpu=1)))
    (x,) = show(core, core.plan(0.0).starts)
    core.see(replace(x, growth=(pods(count=16, cpu=1),)))
    assert core.plan(0.0).growths == ()
    core.see(replace(x, growth=(pods(count=4, cpu=1),)))
    (growth,) = core.plan(0.0).growths
    assert (growth.admission.pod_sets[0].count, used(core)) == (8, 8)
    grown = running(replace(x, asks=(pods(count=8, cpu=1),), growth=()), growth.admission)
    core.see(grown)
    core.see(replace(grown, asks=(pods(count=2, cpu=1),), holds={"main": 8}))
    assert used(core) == 8
    core.see(replace(grown, asks=(pods(count=2, cpu=1),), holds={"main": 2}))
    assert used(core) == 2
    core.see(replace(grown, asks=(pods(count=0, cpu=1),), holds={}))
    assert used(core) == 0


def test_r26_a_paused_queue_lets_nothing_in() -> None:
    def policy(revision: str, halt: Halt | None = None) -> Quotas:
        return quotas(queue("a", quota(cpu=4), halt=halt), revision=revision)

    core = Core(policy("r1"))
    see_all(core, *(job(f"w{at}", "a", cpu=2, place=at) for at in range(3)))
    starts = core.plan(0.0).starts
    assert [(s.workload.uid, s.admission.revision) for s in starts] == [("w0", "r1"), ("w1", "r1")]
    core.replace(policy("r2", Halt(drains=False)))
    core.refused(Uid("w1"), until=0.0)  # the loop has seen that it is not of this revision
    w0 = show(core, starts[:1])[0]
    for now in range(1, 5):
        plan = core.plan(float(now))
        assert (plan.starts, plan.evictions) == ((), ())
    core.replace(policy("r3", Halt(drains=True)))
    assert [e.workload.uid for e in core.plan(5.0).evictions] == ["w0"]
    core.see(stopping(w0))
    assert core.plan(6.0).evictions == ()


def test_r31_one_that_can_never_be_placed_does_not_hold_the_quota() -> None:
    core = Core(quotas(queue("a", quota(cpu=4), deadline=Deadline(300))))
    core.see(job("stuck", "a", cpu=4, place=0.0))
    (start,) = core.plan(0.0).starts
    stuck = running(start.workload, replace(start.admission, at="x"), started_at=0.0)
    see_all(core, stuck, job("small", "a", cpu=1, place=1.0))
    assert core.plan(299.0).starts == ()
    (eviction,) = core.plan(300.0).evictions
    again = replace(
        stuck, phase=Phase.WAITING, holds={}, started_at=None, evicted=eviction.record, place=300.0
    )
    core.see(again)
    assert started(core, 301.0) == ["small"]
    assert core.reason(Uid("stuck"), 301.0).kind is Because.BACKOFF
    core.forget(Uid("small"))
    assert started(core, 360.0) == ["stuck"]


def test_r38_a_person_keeps_one_suspended() -> None:
    core = Core(quotas(queue("a", quota(cpu=4), strict=True)))
    held = job("held", "a", cpu=3, place=0.0, hold="true")
    see_all(core, held, job("next", "a", cpu=2, place=1.0), job("last", "a", cpu=3, place=2.0))
    assert started(core) == ["next"]
    core.see(replace(held, hold=None))
    assert core.reason(Uid("last"), 0.0).behind == "held", "it takes its place by its original time"
    core.forget(Uid("next"))
    assert started(core) == ["held"]


def test_r40_a_cronjob_that_keeps_adding() -> None:
    limit = Limit(Subject.OWNER, None, {}, None, 3, "ml.tide:4")
    policy = quotas(queue("a", quota(cpu=4), limits=(limit,)))
    core = Core(policy)
    core.see(running(job("r", "a", cpu=4)))
    accepted = 0
    for minute in range(60):
        one = job(f"n{minute:02}", "a", cpu=1, place=minute, owner="CronJob team/nightly")
        refused = over_waiting(policy.queues["a"], one, core.waiting("a"))
        if not refused:
            accepted += 1
            core.see(one)
        core.plan(60.0 * minute)
    assert accepted == 3
    assert refused[0].text == (
        "owner CronJob team/nightly has 3 of at most 3 waiting in a (ml.tide:4)"
    )
    core.forget(Uid("r"))
    assert started(core) == ["n00", "n01", "n02"]
    assert over_waiting(policy.queues["a"], one, core.waiting("a")) == ()


def test_r44_the_bigger_number_goes_first() -> None:
    core = Core(quotas(queue("a", quota(cpu=1))))
    for at, priority in enumerate((0, 50, 100, -5)):
        core.see(job(f"p{priority}", "a", cpu=1, place=at, priority=priority))
    order = []
    while begun := started(core):
        order += begun
        core.forget(Uid(begun[0]))
    assert order == ["p100", "p50", "p0", "p-5"]


def test_one_that_fails_is_told_apart_from_one_that_made_room() -> None:
    """So that nobody looks for a preemptor where an image has a typing error."""
    core = Core(quotas(queue("a", quota(cpu=4), deadline=Deadline(10))))
    record = Admission("a", (), "2026-01-01T00:00:00Z", "r1")
    core.see(running(job("x", "a", cpu=1), record, started_at=0.0))
    (eviction,) = core.plan(10.0).evictions
    assert (eviction.record.cause, eviction.by) == (Cause.NOT_READY, None)
