"""Started workloads that ask for more pods: the difference waits in line like everybody else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

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
    stopping,
)
from webhook.model.queues import Flavor, FlavorResource, Halt, Limit, Quotas, Subject
from webhook.model.workload import Admission, Assigned, Phase, Uid, Workload
from webhook.quota.news import Growth
from webhook.quota.plan import Core
from webhook.quota.reasons import Because

X, MORE = Uid("x"), Uid("x+")


def alone(cpu: Any = 10, **more: Any) -> Quotas:
    return quotas(queue("a", quota(cpu=cpu), **more))


def record(count: int, flavor: str = "default", each: int = 1) -> Admission:
    assigned = Assigned("main", count, {"cpu": flavor}, amounts(cpu=count * each))
    return Admission("a", (assigned,), "2026-01-01T00:00:00.000000Z", "r1")


def runs(
    count: int, wants: int, fewest: int | None = None, flavor: str = "default", **more: Any
) -> Workload:
    """x with so many pods of 1 cpu, wanting so many."""
    asked = (replace(pods(count=wants - count, cpu=1), min_count=fewest),) if wants > count else ()
    one = job("x", "a", pods(count=count, cpu=1), place=1.0, growth=asked)
    return running(one, record(count, flavor), **more)


def used(core: Core) -> int:
    return core.status()[0].balances[FlavorResource("default", "cpu")].used // n(1)


def growths(core: Core, now: float = 0.0) -> list[Growth]:
    return list(core.plan(now).growths)


def test_it_grows_when_it_fits() -> None:
    core = Core(alone())
    core.see(runs(4, 8))
    plan = core.plan(0.0)
    assert plan.starts == ()
    (growth,) = plan.growths
    assert (growth.uid, growth.workload.uid, growth.admission) == (MORE, X, record(8))
    assert (used(core), core.unconfirmed()) == (8, ("x",))
    assert growths(core) == []
    core.see(runs(8, 8))
    assert (used(core), core.unconfirmed()) == (8, ())


def test_it_waits_when_it_does_not_and_its_reason_says_so() -> None:
    core = Core(alone())
    core.see(runs(4, 20))
    assert growths(core) == []
    reason = core.reason(X, 0.0)
    assert (reason.kind, reason.text) == (
        Because.STARTED,
        "started in a, 16 pods more: needs 16 cpu, a can never have more than 10",
    )
    core.see(running(job("r", "a", cpu=3)))
    core.see(runs(4, 8))
    assert growths(core) == []
    assert core.reason(X, 0.0).text == "started in a, 4 pods more: needs 4 cpu, 3 free of 10"
    core.forget(Uid("r"))
    assert len(growths(core)) == 1
    assert core.reason(X, 0.0).text == "started in a"


def test_all_or_nothing_unless_it_may_take_what_there_is() -> None:
    for fewest, expected in ((None, []), (1, [record(7)])):
        core = Core(alone())
        see_all(core, running(job("r", "a", cpu=3)), runs(4, 8, fewest))
        assert [growth.admission for growth in growths(core)] == expected


def test_it_goes_on_growing_step_by_step() -> None:
    core = Core(alone())
    see_all(core, running(job("r", "a", cpu=3)), runs(4, 8, 1))
    assert growths(core)[0].admission == record(7)
    core.see(runs(7, 8, 1))
    assert (used(core), growths(core)) == (10, [])
    core.forget(Uid("r"))
    assert growths(core)[0].admission == record(8)


def test_it_stands_in_line_by_its_priority_and_place() -> None:
    core = Core(alone())
    see_all(
        core, job("early", "a", cpu=2, place=0.0), runs(4, 8), job("late", "a", cpu=2, place=2.0)
    )
    plan = core.plan(0.0)
    assert [s.workload.uid for s in plan.starts] == ["early"]
    assert [growth.uid for growth in plan.growths] == [MORE]
    assert core.reason(Uid("late"), 0.0).text == "needs 2 cpu, 0 free of 10"


def test_in_a_strict_queue_it_holds_up_those_behind_it() -> None:
    core = Core(alone(8, strict=True))
    see_all(core, running(job("r", "a", cpu=2)), runs(4, 8), job("late", "a", cpu=1, place=2.0))
    assert started(core) == []
    reason = core.reason(Uid("late"), 0.0)
    assert (reason.kind, reason.behind) == (Because.ORDER, MORE)
    core.see(runs(4, 4))
    assert started(core) == ["late"]


def test_it_grows_only_where_it_runs() -> None:
    policy = quotas(
        queue("a", quota("one", cpu=4), quota("two", cpu=8)),
        flavors=[Flavor("one"), Flavor("two")],
    )
    core = Core(policy)
    core.see(runs(3, 5, flavor="one"))
    assert growths(core) == []
    text = core.reason(X, 0.0).text
    assert text == "started in a, 2 pods more: needs 2 cpu, 1 free of 4 on one"
    core.see(runs(3, 4, flavor="one"))
    assert growths(core)[0].admission == record(4, "one")


def test_a_smaller_wish_replaces_a_larger_one() -> None:
    core = Core(alone())
    core.see(runs(4, 20))
    assert growths(core) == []
    core.see(runs(4, 6))
    assert growths(core)[0].admission == record(6)
    core = Core(alone())
    core.see(runs(4, 20))
    growths(core)
    core.see(runs(4, 4))
    assert (growths(core), core.reason(X, 0.0).text) == ([], "started in a")


def test_what_it_gives_back_meanwhile() -> None:
    core = Core(alone())
    core.see(runs(8, 8))
    core.see(runs(4, 4, holds={"main": 8}))
    core.see(job("y", "a", cpu=4, place=2.0))
    assert (used(core), started(core)) == (8, [])
    core.see(runs(4, 4))
    assert started(core) == ["y"]


def test_a_grant_counts_until_it_is_shown_or_undone() -> None:
    core = Core(alone())
    core.see(runs(4, 8, resource_version="10"))
    assert len(growths(core)) == 1
    core.see(runs(4, 8, resource_version="11"))
    core.see(job("y", "a", cpu=4, place=2.0))
    assert (used(core), core.plan(0.0).starts) == (8, ())
    core.confirm(MORE, "12")
    core.see(runs(4, 8, resource_version="11"))
    assert used(core) == 8
    core.see(runs(4, 4, resource_version="13"))
    assert used(core) == 8, "its wish is gone and the record does not show it: nobody knows yet"


def test_one_that_was_not_written_waits_again() -> None:
    core = Core(alone())
    core.see(runs(4, 8))
    assert len(growths(core)) == 1
    core.refused(MORE, until=30.0)
    plan = core.plan(1.0)
    assert (used(core), plan.growths, plan.again_at) == (4, (), 30.0)
    assert core.reason(X, 1.0).text == "started in a, 4 pods more: tried again in 29 s"
    assert len(growths(core, 30.0)) == 1


def test_one_that_was_not_written_and_is_not_wanted_any_more() -> None:
    core = Core(alone())
    core.see(runs(4, 8))
    assert len(growths(core)) == 1
    core.see(runs(4, 4))
    core.refused(MORE, until=30.0)
    assert (used(core), growths(core, 30.0)) == (4, [])


def test_it_ends_with_the_one_that_grows() -> None:
    for leave in ("forget", "stop", "finish"):
        core = Core(alone(8))
        core.see(runs(4, 8))
        if leave != "stop":
            assert len(growths(core)) == 1
        if leave == "forget":
            core.forget(X)
        elif leave == "stop":
            core.see(stopping(runs(4, 8)))
        else:
            core.see(replace(runs(4, 8), phase=Phase.FINISHED, holds={}))
        assert (used(core), growths(core)) == (4 if leave == "stop" else 0, [])
        assert core.unconfirmed() == ()
        assert dict(core.status()[0].waiting) == {}


def test_it_waits_while_its_queue_is_on_hold_and_not_while_it_is_held_itself() -> None:
    core = Core(alone(halt=Halt(drains=False, reason="tonight")))
    core.see(runs(4, 8))
    assert growths(core) == []
    assert core.reason(X, 0.0).text == "started in a, 4 pods more: queue a is on hold: tonight"
    core.replace(alone())
    core.see(runs(4, 8, hold="later"))
    assert len(growths(core)) == 1


def test_a_drain_ends_it() -> None:
    core = Core(alone(halt=Halt(drains=True)))
    core.see(runs(4, 8))
    plan = core.plan(0.0)
    assert ([e.workload.uid for e in plan.evictions], plan.growths) == (["x"], ())
    assert growths(core) == []


def test_it_counts_as_no_further_job() -> None:
    jobs, cpu, waiting = (
        Limit(Subject.USER, None, {}, 1),
        Limit(Subject.USER, None, amounts(cpu=6)),
        Limit(Subject.USER, None, {}, None, 1),
    )
    core = Core(alone(limits=(jobs, cpu, waiting)))
    core.see(runs(4, 8, submitted_by="ana"))
    assert growths(core) == []
    assert core.reason(X, 0.0).text == (
        "started in a, 4 pods more: user ana holds 4 of at most 6 cpu in a, needs 4"
    )
    assert core.waiting("a") == {}
    core.see(runs(4, 6, submitted_by="ana"))
    assert len(growths(core)) == 1
    core.see(replace(job("y", "a", cpu=1), submitted_by="ana"))
    assert core.plan(0.0).starts == ()


def test_what_has_no_record_of_ours_does_not_grow() -> None:
    core = Core(alone())
    core.see(replace(runs(4, 8), admission=None))
    assert (growths(core), core.reason(X, 0.0).text) == ([], "started in a")


def test_it_outlives_a_change_of_policy() -> None:
    core = Core(alone())
    core.see(runs(4, 8))
    assert len(growths(core)) == 1
    core.replace(alone(9))
    assert (used(core), growths(core)) == (8, [])
    core.refused(MORE, until=0.0)
    core.replace(alone(7))
    assert (used(core), growths(core)) == (4, [])
    core.replace(quotas(queue("b", quota(cpu=9))))
    assert [w.uid for w in core.orphans()] == ["x"]
    core.replace(alone(8))
    assert len(growths(core)) == 1


def test_it_waits_for_pods_that_are_stopping() -> None:
    core = Core(alone())
    gone = running(job("gone", "a", cpu=6))
    see_all(core, gone, stopping(gone), runs(4, 8))
    assert growths(core) == []
    text = core.reason(X, 0.0).text
    assert text == (
        "started in a, 4 pods more: waits for pods that are stopping: needs 4 cpu, 0 free of 10"
    )
    core.forget(Uid("gone"))
    assert len(growths(core)) == 1


def test_pods_that_have_ended_are_not_asked_for_again() -> None:
    """It was granted 8 and has 3 left to run: with 2 more that is 5."""
    core = Core(alone())
    core.see(replace(runs(3, 5), admission=record(8)))
    assert growths(core)[0].admission == record(5)


def test_across_queues_it_goes_by_its_height_like_others() -> None:
    lab = quotas(
        cohort("lab"),
        queue("a", quota(cpu=4), cohort="lab"),
        queue("b", quota(cpu=4), cohort="lab"),
    )
    core = Core(lab)
    see_all(core, runs(4, 7), job("own", "b", cpu=3, place=9.0))
    plan = core.plan(0.0)
    assert ([s.workload.uid for s in plan.starts], plan.growths) == (["own"], ())
