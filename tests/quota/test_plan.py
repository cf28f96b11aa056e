"""The life of a workload as the loop drives it: granted, confirmed, refused, replaced, forgotten."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

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
    show,
    started,
    stopping,
)
from webhook.model.queues import Flavor, FlavorResource, Quotas
from webhook.model.workload import Admission, Assigned, Phase, Uid, Workload
from webhook.quota.grants import is_older
from webhook.quota.news import QueueStatus
from webhook.quota.plan import Core
from webhook.quota.reasons import Because

CPU = FlavorResource("default", "cpu")
X = Uid("x")


def alone(cpu: Any = 4, **more: Any) -> Quotas:
    return quotas(queue("a", quota(cpu=cpu)), **more)


def used(core: Core, name: str = "a", pair: FlavorResource = CPU) -> int:
    return status(core, name).balances[pair].used // n(1)


def status(core: Core, name: str = "a") -> QueueStatus:
    return next(one for one in core.status() if one.queue == name)


def granted() -> tuple[Core, Workload]:
    """A core that has granted x 3 of 4, unconfirmed."""
    core = Core(alone())
    workload = job("x", "a", cpu=3, resource_version="10")
    core.see(workload)
    assert [start.workload.uid for start in core.plan(0.0).starts] == ["x"]
    return core, workload


def test_a_start_says_where_everything_goes() -> None:
    core = Core(
        quotas(
            queue("a", quota("one", cpu=4, gpu=2), quota("two", memory=8)),
            flavors=[Flavor("one"), Flavor("two")],
            revision="abc",
        )
    )
    core.see(job("x", "a", pods("lead", cpu=1, memory=1), pods("work", count=2, cpu=1, gpu=1)))
    (start,) = core.plan(0.0).starts
    assert start.admission == Admission(
        "a",
        (
            Assigned("lead", 1, {"cpu": "one", "memory": "two"}, amounts(cpu=1, memory=1)),
            Assigned("work", 2, {"cpu": "one", "nvidia.com/gpu": "one"}, amounts(cpu=2, gpu=2)),
        ),
        at="",
        revision="abc",
    )


def test_a_grant_is_charged_at_once_and_given_once() -> None:
    core, workload = granted()
    assert used(core) == 3
    for _ in range(3):
        core.see(workload)
        assert core.plan(1.0).starts == ()
    assert (used(core), core.unconfirmed()) == (3, ("x",))
    assert core.reason(X, 0.0).kind is Because.STARTED


def test_a_stale_sight_does_not_undo_a_start() -> None:
    core, workload = granted()
    core.see(replace(workload, resource_version="11"))
    core.confirm(X, "12")
    core.see(replace(workload, resource_version="11"))
    assert (used(core), core.plan(1.0).starts) == (3, ())


def test_a_sight_newer_than_the_write_does() -> None:
    core, workload = granted()
    core.confirm(X, "12")
    core.see(replace(workload, resource_version="13", hold="somebody wants it down"))
    assert (used(core), core.plan(1.0).starts, core.unconfirmed()) == (0, (), ())


def test_even_if_it_comes_before_the_confirmation() -> None:
    core, workload = granted()
    core.see(replace(workload, resource_version="13"))
    assert used(core) == 3, "it may be the sight that the write was refused for"
    core.confirm(X, "12")
    assert used(core) == 0
    assert started(core) == ["x"]


def test_a_sight_as_started_confirms() -> None:
    core, workload = granted()
    (start,) = [running(workload, core._grants[X].admission, resource_version="12")]
    core.see(start)
    core.confirm(X, "12")
    assert (used(core), core.unconfirmed(), status(core).started) == (3, (), 1)
    core.see(replace(workload, resource_version="11"))
    assert used(core) == 3, "late news of the time before"


def test_a_refused_start_is_given_back_and_waits_its_time() -> None:
    core, _ = granted()
    core.see(job("y", "a", cpu=2, place=1))
    assert core.plan(1.0).starts == ()
    core.refused(X, until=31.0)
    plan = core.plan(1.0)
    assert ([s.workload.uid for s in plan.starts], plan.again_at) == (["y"], 31.0)
    reason = core.reason(X, 1.0)
    assert (reason.kind, reason.text, reason.until) == (
        Because.BACKOFF, "tried again in 30 s", 31.0,
    )  # fmt: skip
    core.forget(Uid("y"))
    assert started(core, 31.0) == ["x"]


def test_a_refused_start_waits_as_it_was_seen_last() -> None:
    core, workload = granted()
    core.see(replace(workload, resource_version="11", asks=(pods(cpu=1),)))
    core.refused(X, until=5.0)
    (start,) = core.plan(5.0).starts
    assert start.admission.pod_sets[0].amounts == amounts(cpu=1)


def test_forgetting_gives_everything_back_whatever_it_was() -> None:
    core, _ = granted()
    core.forget(X)
    core.forget(X)
    core.forget(Uid("nobody"))
    assert (used(core), core.unconfirmed()) == (0, ())
    core.confirm(X, "12")
    core.refused(X, 9.0)
    assert core.reason(X, 0.0).kind is Because.UNKNOWN


def test_pods_that_have_ended_give_theirs_back() -> None:
    core = Core(alone(8))
    core.see(job("x", "a", pods(count=4, cpu=2)))
    (workload,) = show(core, core.plan(0.0).starts)
    core.see(replace(workload, holds={"main": 1}))
    assert used(core) == 2
    core.see(stopping(workload))
    assert (used(core), status(core).stopping) == (8, 1)
    core.see(replace(workload, phase=Phase.FINISHED, holds={}))
    assert used(core) == 0


def test_what_is_being_deleted_stays_charged_and_never_starts() -> None:
    core = Core(alone())
    core.see(job("x", "a", cpu=3, deleting=True))
    assert core.plan(0.0).starts == ()
    core.see(running(job("y", "a", cpu=3), deleting=True))
    core.see(job("z", "a", cpu=2))
    assert (used(core), core.plan(0.0).starts) == (3, ())
    core.forget(Uid("y"))
    assert started(core) == ["z"]


def test_a_bypass_is_charged_where_it_most_likely_runs() -> None:
    core = Core(
        quotas(
            queue("a", quota("one", cpu=4), quota("two", cpu=4, gpu=4)),
            flavors=[Flavor("one"), Flavor("two")],
        )
    )
    core.see(running(job("x", "a", cpu=1, gpu=1, memory=3)))
    core.see(running(job("y", "a", cpu=9)))
    two = FlavorResource("two", "cpu")
    assert (used(core, pair=two), used(core, pair=FlavorResource("one", "cpu"))) == (1, 9)
    assert status(core).bypassed == ("x", "y")
    assert status(core).over == {FlavorResource("one", "cpu"): n(5)}


def test_a_record_that_names_what_the_queue_has_lost_stays_charged_there() -> None:
    core = Core(quotas(cohort("top"), queue("a", quota(cpu=4), cohort="top")))
    core.see(job("x", "a", cpu=3))
    show(core, core.plan(0.0).starts)
    other = queue("b", quota(cpu=4), cohort="top")
    core.replace(quotas(cohort("top"), queue("a", quota(memory=4), cohort="top"), other))
    balance = status(core).balances[CPU]
    assert (balance.nominal, balance.used) == (0, n(3))
    assert status(core, "b").balances[CPU].available == n(1)


def test_a_lowered_quota_stops_nothing_and_starts_nothing() -> None:
    core = Core(alone(8))
    core.see(job("x", "a", cpu=6))
    started(core)
    core.see(job("y", "a", cpu=1, place=1))
    core.replace(alone(5))
    assert core.plan(0.0).starts == ()
    assert status(core).over == {CPU: n(1)}
    assert core.reason(Uid("y"), 0.0).text == "needs 1 cpu, 0 free of 5, over by 1"


def test_a_policy_change_keeps_starts_backoffs_and_whoever_is_stopping() -> None:
    core, _ = granted()
    gone = running(job("gone", "a", cpu=1))
    see_all(core, gone, job("later", "a", cpu=1, place=1))
    core.see(stopping(gone))
    core.refused(Uid("later"), until=50.0)
    core.see(job("next", "a", cpu=1, place=2))
    assert core.plan(0.0).starts == ()
    core.replace(alone(5))
    assert (used(core), core.unconfirmed()) == (4, ("x",))
    assert started(core) == ["next"]
    core.forget(Uid("gone"))
    assert started(core, 49.0) == []
    assert started(core, 50.0) == ["later"]


def test_workloads_of_a_queue_that_is_gone() -> None:
    core = Core(alone())
    see_all(core, job("x", "gone", cpu=1), running(job("y", "gone", cpu=1)))
    assert core.plan(0.0).starts == ()
    assert {w.uid for w in core.orphans()} == {"x", "y"}
    reason = core.reason(X, 0.0)
    assert (reason.kind, reason.text) == (Because.QUEUE_GONE, "queue gone is in no policy")
    core.replace(quotas(queue("gone", quota(cpu=4))))
    assert (core.orphans(), used(core, "gone"), started(core)) == ((), 1, ["x"])
    core.replace(alone())
    assert len(core.orphans()) == 2


def test_a_start_into_a_queue_that_goes_is_charged_nowhere_and_not_given_twice() -> None:
    core, workload = granted()
    core.replace(quotas(queue("b", quota(cpu=4))))
    core.see(workload)
    assert (core.plan(0.0).starts, core.unconfirmed()) == ((), ("x",))
    core.replace(alone())
    assert used(core) == 3


def test_an_edit_while_it_waits() -> None:
    core = Core(quotas(queue("a", quota(cpu=4), strict=True), queue("b", quota(cpu=2))))
    see_all(
        core, job("x", "a", cpu=3), running(job("r", "a", cpu=2)), job("y", "a", cpu=2, place=1)
    )
    assert core.plan(0.0).starts == ()
    core.see(job("x", "b", cpu=2))
    assert started(core) == ["y", "x"], "tree by tree"
    assert (used(core, "a"), used(core, "b")) == (4, 2)


def test_reason_of_a_hold() -> None:
    core = Core(alone())
    core.see(job("x", "a", cpu=1, hold="until the release"))
    reason = core.reason(X, 0.0)
    assert (reason.kind, reason.text) == (Because.HOLD, "on hold: until the release")
    core.see(job("x", "a", cpu=1))
    assert core.reason(X, 0.0).text == "fits, next in a moment"
    assert started(core) == ["x"]
    assert core.reason(X, 0.0).text == "started in a"


def test_reason_for_want_of_quota() -> None:
    core = Core(
        quotas(
            queue("a", quota("one", gpu=64), quota("two", gpu=4)),
            flavors=[Flavor("one"), Flavor("two")],
        )
    )
    see_all(core, running(job("r", "a", gpu=61)), job("x", "a", gpu=8, place=1))
    core.see(job("first", "a", gpu=9, priority=4))
    core.plan(0.0)
    reason = core.reason(X, 0.0)
    assert reason.text == "needs 8 nvidia.com/gpu, 3 free of 64 on one; 4 free of 4 on two"
    assert [(lack.flavor, lack.missing // n(1)) for lack in reason.lacks] == [
        ("one", 5),
        ("two", 4),
    ]
    assert (reason.kind, reason.ahead) == (Because.QUOTA, 1)


def test_reason_for_what_no_quota_names() -> None:
    core = Core(alone())
    core.see(job("x", "a", cpu=1, gpu=1))
    core.plan(0.0)
    reason = core.reason(X, 0.0)
    assert (reason.kind, reason.text) == (
        Because.NEVER_FITS, "no quota of a names nvidia.com/gpu",
    )  # fmt: skip


def test_reason_while_its_pods_go() -> None:
    core = Core(alone())
    core.see(stopping(running(job("x", "a", cpu=1))))
    reason = core.reason(X, 0.0)
    assert (reason.kind, reason.text) == (Because.STOPPING, "stopping: 1 pod of it not gone yet")


def test_status_counts_by_priority() -> None:
    core = Core(alone())
    see_all(core, *(job(f"w{i}", "a", cpu=3, priority=i % 2, place=i) for i in range(5)))
    core.see(job("held", "a", cpu=3, priority=7, hold=""))
    core.plan(0.0)
    one = status(core)
    assert (list(one.waiting.items()), one.started) == ([(7, 1), (1, 1), (0, 3)], 1)
    assert (core.ahead("a", 0), core.ahead("a", 1), core.ahead("nowhere", 0)) == (4, 1, 0)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [("9", "10", True), ("10", "9", False), ("9", "9", False), ("", "9", False), ("a", "b", False)],
)
def test_resource_versions_compare_as_numbers(one: str, other: str, expected: bool) -> None:
    assert is_older(one, other) is expected


def planned() -> tuple[Core, Workload]:
    """x has its capacity as soon as the pods of `gone` have left."""
    core, waits = Core(alone()), job("x", "a", cpu=4, place=1, resource_version="5")
    gone = running(job("gone", "a", cpu=4))
    see_all(core, gone, waits)
    core.see(stopping(gone))
    assert core.plan(0.0).starts == ()
    assert (status(core).planned, status(core).waiting) == (1, {})
    return core, waits


def test_a_planned_one_seen_again_stays_planned_and_starts_as_seen_last() -> None:
    core, waits = planned()
    core.see(replace(waits, resource_version="6", labels={"new": "yes"}))
    core.see(waits)
    assert core.reason(X, 0.0).kind is Because.VICTIMS
    core.forget(Uid("gone"))
    (start,) = core.plan(0.0).starts
    assert (start.workload.resource_version, start.workload.labels) == ("6", {"new": "yes"})


def test_a_planned_one_loses_its_place_when_held_changed_delayed_or_gone() -> None:
    def held(core: Core, waits: Workload) -> None:
        core.see(replace(waits, hold="", resource_version="6"))

    def changed(core: Core, waits: Workload) -> None:
        core.see(replace(waits, asks=(pods(cpu=9),), resource_version="6"))

    def delayed(core: Core, waits: Workload) -> None:
        core.refused(X, until=9.0)

    def gone(core: Core, waits: Workload) -> None:
        core.forget(X)

    for lose in (held, changed, delayed, gone):
        core, waits = planned()
        lose(core, waits)
        core.see(job("y", "a", cpu=2, place=2))
        core.plan(0.0)
        assert core.reason(Uid("y"), 0.0).kind is Because.VICTIMS, lose


def test_pods_that_only_the_record_still_knows() -> None:
    """The template changed its name; what was recorded for one pod counts for each that is left."""
    core = Core(alone(8))
    record = Admission("a", (Assigned("old", 4, {"cpu": "default"}, amounts(cpu=6)),), "", "")
    core.see(running(job("x", "a", pods("new", cpu=9)), record, holds={"old": 2, "lost": 1}))
    assert used(core) == 3


def test_a_resource_that_the_policy_counts_since() -> None:
    """Charged on the flavor the workload runs on, not on another that it never had to do with."""
    core = Core(quotas(queue("a", quota("one", gpu=4)), flavors=[Flavor("one"), Flavor("two")]))
    core.see(job("x", "a", gpu=1, cpu=2))
    show(core, core.plan(0.0).starts)
    more = queue("a", quota("two", gpu=4, cpu=8), quota("one", gpu=4, cpu=8))
    core.replace(quotas(more, flavors=[Flavor("one"), Flavor("two")]))
    pairs = [FlavorResource(flavor, "cpu") for flavor in ("one", "two")]
    assert [used(core, pair=pair) for pair in pairs] == [2, 0]


def test_the_core_knows_its_policy() -> None:
    policy = alone()
    assert Core(policy).quotas is policy
