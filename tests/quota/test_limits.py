"""Limits: what one subject may run at a time, and how the others go on meanwhile."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
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
    show,
    started,
    stopping,
)
from webhook.model.quantity import Amounts
from webhook.model.queues import Flavor, Limit, Queue, Quotas, Subject
from webhook.model.workload import Phase, Uid, Workload
from webhook.quota.bounds import Bounds, Bucket, Whose
from webhook.quota.limits import over_waiting, subject_of
from webhook.quota.never import never_fits
from webhook.quota.plan import Core
from webhook.quota.reasons import Because
from webhook.quota.tree import Tree


def per(
    subject: Subject = Subject.USER,
    *,
    jobs: int | None = None,
    waiting: int | None = None,
    label: str | None = None,
    place: str = "ml.tide:9",
    **resources: Any,
) -> Limit:
    return Limit(subject, label, amounts(**resources), jobs, waiting, place)


def limited(*limits: Limit, strict: bool = False, **owned: Any) -> Quotas:
    return quotas(queue("a", quota(**(owned or {"cpu": 10})), limits=limits, strict=strict))


def of(user: str, workload: Workload, **more: Any) -> Workload:
    return replace(workload, submitted_by=user, **more)


def text(core: Core, uid: str) -> str:
    return core.reason(Uid(uid), 0.0).text


def test_a_limit_stops_the_user_and_not_the_queue() -> None:
    core = Core(limited(per(cpu=4)))
    see_all(
        core,
        of("ana", job("one", "a", cpu=3, place=1)),
        of("ana", job("two", "a", cpu=2, place=2)),
        of("ben", job("three", "a", cpu=2, place=3)),
        of("ana", job("four", "a", cpu=1, place=4)),
    )
    assert started(core) == ["one", "three", "four"]
    reason = core.reason(Uid("two"), 0.0)
    assert reason.kind is Because.LIMIT
    assert reason.text == "user ana holds 4 of at most 4 cpu in a (ml.tide:9), needs 2"
    assert reason.over is not None
    assert (reason.over.subject, reason.over.limit) == ("ana", per(cpu=4))


def test_jobs_count_workloads() -> None:
    core = Core(limited(per(jobs=2)))
    see_all(core, *(of("ana", job(f"w{at}", "a", cpu=1, place=at)) for at in range(4)))
    assert started(core) == ["w0", "w1"]
    assert text(core, "w2") == "user ana runs 2 of at most 2 jobs in a (ml.tide:9)"
    core.forget(Uid("w0"))
    assert started(core) == ["w2"]
    assert started(core) == []


def test_what_is_stopping_counts_until_its_pods_are_gone() -> None:
    core = Core(limited(per(cpu=4)))
    see_all(core, of("ana", job("one", "a", cpu=4)), of("ana", job("two", "a", cpu=4, place=1)))
    (one,) = show(core, core.plan(0.0).starts)
    core.see(stopping(one))
    assert started(core) == []
    core.see(replace(one, phase=Phase.FINISHED, holds={}))
    assert started(core) == ["two"]


def test_what_is_planned_counts() -> None:
    core = Core(limited(per(jobs=1)))
    gone = of("ben", running(job("gone", "a", cpu=10)))
    core.see(gone)
    core.see(stopping(gone))
    see_all(
        core, of("ana", job("one", "a", cpu=5, place=1)), of("ana", job("two", "a", cpu=5, place=2))
    )
    assert core.plan(0.0).starts == ()
    assert core.reason(Uid("one"), 0.0).kind is Because.VICTIMS
    assert core.reason(Uid("two"), 0.0).kind is Because.LIMIT
    core.forget(Uid("one"))
    core.plan(0.0)
    assert core.reason(Uid("two"), 0.0).kind is Because.VICTIMS


def test_pods_that_have_ended_give_theirs_back() -> None:
    core = Core(limited(per(cpu=4)))
    core.see(of("ana", job("one", "a", pods(count=4, cpu=1))))
    (one,) = show(core, core.plan(0.0).starts)
    core.see(of("ana", job("two", "a", cpu=2, place=1)))
    assert started(core) == []
    core.see(replace(one, holds={"main": 2}))
    assert started(core) == ["two"]


def test_all_flavors_together_and_what_no_quota_names() -> None:
    owned = [quota("one", cpu=4), quota("two", cpu=4)]
    both = quotas(
        queue("a", *owned, limits=(per(cpu=5, memory=8),)), flavors=[Flavor("one"), Flavor("two")]
    )
    core = Core(both)
    see_all(
        core,
        of("ana", job("one", "a", cpu=3, memory=4)),
        of("ana", job("two", "a", cpu=2, memory=4, place=1)),
        of("ana", job("three", "a", cpu=1, place=2)),
        of("ben", job("four", "a", cpu=1, memory=6, place=3)),
        of("ben", job("five", "a", cpu=1, memory=4, place=4)),
    )
    assert started(core) == ["one", "two", "four"]
    assert text(core, "three") == "user ana holds 5 of at most 5 cpu in a (ml.tide:9), needs 1"
    assert text(core, "five") == "user ben holds 6 of at most 8 memory in a (ml.tide:9), needs 4"


def test_the_smallest_of_several_decides() -> None:
    core = Core(limited(per(cpu=6), per(Subject.NAMESPACE, cpu=4, place="ml.tide:10")))
    see_all(
        core,
        of("ana", job("one", "a", cpu=3)),
        of("ben", job("two", "a", cpu=2, place=1)),
        of("ben", job("three", "a", cpu=2, place=2), namespace="other"),
        of("ana", job("four", "a", cpu=4, place=3), namespace="other"),
    )
    assert started(core) == ["one", "three"]
    assert text(core, "two") == "namespace team holds 3 of at most 4 cpu in a (ml.tide:10), needs 2"
    assert text(core, "four") == "user ana holds 3 of at most 6 cpu in a (ml.tide:9), needs 4"
    core.forget(Uid("one"))
    assert started(core) == ["two"]


@pytest.mark.parametrize(
    ("limit", "fields", "who"),
    [
        (per(), {"submitted_by": "ana"}, "user ana"),
        (per(Subject.NAMESPACE), {"namespace": "ml"}, "namespace ml"),
        (per(Subject.OWNER), {"owner": "CronJob ml/nightly"}, "owner CronJob ml/nightly"),
        (per(Subject.LABEL, label="team"), {"labels": {"team": "x"}}, "label team x"),
        (per(), {}, "no user"),
        (per(Subject.OWNER), {}, "no owner"),
        (per(Subject.LABEL, label="team"), {}, "no label team"),
    ],
)
def test_subjects_and_those_who_have_none(limit: Limit, fields: dict[str, Any], who: str) -> None:
    core = Core(limited(replace(limit, jobs=1)))
    for at in range(2):
        core.see(replace(job(f"w{at}", "a", cpu=1, place=at), **fields))
    assert started(core) == ["w0"]
    assert text(core, "w1") == f"{who} runs 1 of at most 1 jobs in a (ml.tide:9)"


def test_who_asks_for_none_of_it_is_not_stopped_by_it() -> None:
    core = Core(limited(per(gpu=1), cpu=10, gpu=10))
    core.see(of("ana", running(job("r", "a", gpu=3))))
    see_all(core, of("ana", job("gpu", "a", gpu=1)), of("ana", job("cpu", "a", cpu=1)))
    assert started(core) == ["cpu"]


def test_a_limit_never_blocks_a_strict_queue() -> None:
    core = Core(limited(per(jobs=1), strict=True))
    see_all(
        core,
        of("ana", job("one", "a", cpu=1, place=1)),
        of("ana", job("two", "a", cpu=1, place=2, priority=0)),
        of("ben", job("three", "a", cpu=1, place=3)),
        of("eve", job("four", "a", cpu=9, place=4)),
        of("eve", job("five", "a", cpu=1, place=5)),
    )
    assert started(core) == ["one", "three"]
    assert core.reason(Uid("two"), 0.0).kind is Because.LIMIT
    reason = core.reason(Uid("five"), 0.0)
    assert (reason.kind, reason.behind) == (Because.ORDER, "four")


def test_a_strict_head_that_is_blocked_by_quota_and_then_comes_to_its_limit() -> None:
    """Else it would hold the queue, and what it holds back of the cohort, for ever."""
    lab = quotas(
        cohort("lab"),
        queue("a", quota(cpu=4), cohort="lab", strict=True, limits=(per(jobs=1),)),
        queue("b", quota(cpu=4), cohort="lab"),
    )
    core = Core(lab)
    blocker = running(job("r", "b", cpu=5))
    see_all(core, blocker, of("ana", job("head", "a", cpu=4, place=1)))
    core.see(of("ben", job("next", "a", cpu=1, place=2)))
    core.see(job("other", "b", cpu=1, place=3))
    assert started(core) == []
    assert text(core, "other") == "needs 1 cpu, 0 free of 4, 3 held back for others"
    core.see(of("ana", running(job("bypass", "a", cpu=1))))
    assert started(core) == ["next", "other"]
    assert core.reason(Uid("head"), 0.0).kind is Because.LIMIT


def test_exceeding_a_limit_alone_is_never() -> None:
    policy = limited(per(cpu=4), per(Subject.LABEL, label="team", jobs=3, cpu=6))
    never = never_fits(Tree(policy), "a", [pods("lead", cpu=2), pods("work", count=3, cpu=1)])
    assert never is not None
    assert never.text == "needs 5 cpu, a lets nobody have more than 4 per user (ml.tide:9)"
    assert never.limit == per(cpu=4)
    assert never_fits(Tree(policy), "a", [pods(count=4, cpu=1)]) is None
    core = Core(policy)
    see_all(core, of("ana", job("x", "a", cpu=5)), of("ana", job("y", "a", cpu=1, place=1)))
    assert started(core) == ["y"]
    reason = core.reason(Uid("x"), 0.0)
    assert (reason.kind, reason.text) == (Because.NEVER_FITS, never.text)


def test_one_that_exceeds_a_limit_alone_does_not_hold_a_strict_queue() -> None:
    core = Core(limited(per(cpu=4), strict=True))
    see_all(core, of("ana", job("x", "a", cpu=5)), of("ana", job("y", "a", cpu=1, place=1)))
    assert started(core) == ["y"]


def test_the_order_among_those_who_come_back() -> None:
    core = Core(limited(per(jobs=2), cpu=4))
    for at in range(12):
        core.see(of("ana", job(f"w{at:02}", "a", cpu=1 + at % 2, place=at, priority=at // 6)))
    order = started(core)
    assert order == ["w06", "w07"]
    while running_now := [uid for uid in order if uid in core._charged]:
        core.forget(Uid(running_now[0]))
        order += started(core)
    assert order == [*(f"w{at:02}" for at in range(6, 12)), *(f"w{at:02}" for at in range(6))]


def test_a_late_comer_with_an_early_place_is_first_of_its_user() -> None:
    core = Core(limited(per(jobs=1)))
    see_all(core, of("ana", job("one", "a", cpu=1, place=5)))
    assert started(core) == ["one"]
    see_all(
        core,
        of("ana", job("late", "a", cpu=1, place=9)),
        of("ana", job("early", "a", cpu=1, place=7)),
    )
    assert started(core) == []
    core.see(of("ana", job("earliest", "a", cpu=1, place=6)))
    core.forget(Uid("one"))
    assert started(core) == ["earliest"]
    core.forget(Uid("earliest"))
    assert started(core) == ["early"]


def test_whose_it_is_may_change_while_it_waits() -> None:
    core = Core(limited(per(Subject.LABEL, label="team", jobs=1)))
    see_all(
        core,
        *(replace(job(f"w{at}", "a", cpu=1, place=at), labels={"team": "x"}) for at in range(2)),
    )
    assert started(core) == ["w0"]
    core.see(replace(job("w1", "a", cpu=1, place=1), labels={"team": "y"}))
    assert started(core) == ["w1"]


def test_lowered_and_lifted_while_things_run() -> None:
    core = Core(limited(per(cpu=4)))
    see_all(core, of("ana", job("one", "a", cpu=4)), of("ana", job("two", "a", cpu=1, place=1)))
    assert started(core) == ["one"]
    core.replace(limited(per(cpu=2)))
    assert started(core) == []
    assert text(core, "two") == "user ana holds 4 of at most 2 cpu in a (ml.tide:9), needs 1"
    core.replace(limited())
    assert started(core) == ["two"]


def test_a_start_that_nobody_has_seen_counts_after_a_change_of_policy() -> None:
    core = Core(limited(per(jobs=1)))
    core.see(of("ana", job("one", "a", pods(count=2, cpu=2))))
    assert len(core.plan(0.0).starts) == 1
    core.replace(limited(per(cpu=4)))
    core.see(of("ana", job("two", "a", cpu=1, place=1)))
    assert core.plan(0.0).starts == ()
    core.refused(Uid("one"), 9.0)
    assert started(core, 1.0) == ["two"]


def test_how_many_may_wait() -> None:
    three = per(Subject.OWNER, waiting=3)
    a: Queue = limited(per(cpu=4), three).queues["a"]
    nightly = replace(job("x", "a", cpu=1), owner="CronJob ml/nightly")
    counts = {(1, "CronJob ml/nightly"): 2, (1, ""): 9}
    assert over_waiting(a, nightly, counts) == ()
    (over,) = over_waiting(a, nightly, {(1, "CronJob ml/nightly"): 3})
    assert over.text == "owner CronJob ml/nightly has 3 of at most 3 waiting in a (ml.tide:9)"
    assert len(over_waiting(a, replace(nightly, owner=""), counts)) == 1


def test_the_core_counts_who_waits() -> None:
    core = Core(limited(per(waiting=9), per(cpu=1), per(Subject.NAMESPACE, waiting=9)))
    see_all(
        core,
        *(of("ana", job(f"w{at}", "a", cpu=1, place=at)) for at in range(3)),
        of("ben", job("held", "a", cpu=1, hold="")),
    )
    assert core.waiting("a") == {(0, "ana"): 3, (0, "ben"): 1, (2, "team"): 4}
    assert started(core) == ["w0"]
    core.forget(Uid("w1"))
    core.see(of("eve", job("w2", "a", cpu=1, place=2)))
    assert core.waiting("a") == {(0, "eve"): 1, (0, "ben"): 1, (2, "team"): 2}
    assert core.waiting("nowhere") == {}


@given(
    st.lists(st.tuples(*(st.integers(0, top) for top in (9, 3, 2, 3, 2))), min_size=5, max_size=60),
    st.tuples(st.integers(1, 3), st.integers(2, 6), st.integers(2, 6)),
    st.booleans(),
)
@settings(max_examples=150)
def test_the_first_whom_no_limit_stops(
    steps: list[tuple[int, ...]], bounds: tuple[int, ...], strict: bool
) -> None:
    """Against the plainest planner: everybody asked again, in order, after every start."""
    limits = (per(jobs=bounds[0], cpu=bounds[1]), per(Subject.NAMESPACE, cpu=bounds[2]))
    core, waiting = Core(limited(*limits, strict=strict)), dict[str, Workload]()
    runs: dict[str, Workload] = {}
    for at, (deed, who, where, cpu, priority) in enumerate(steps):
        if deed < 6:
            place = float(at if deed else who)
            one = job(f"w{at:02}", "a", cpu=cpu + 1, place=place, priority=priority)
            waiting[one.uid] = of(f"u{who}", one, namespace=f"n{where}")
            core.see(waiting[one.uid])
        for known in (runs, waiting) if deed == 9 else (runs,) if deed > 5 else ():
            if known:
                core.forget(Uid(known.pop(sorted(known)[(who + where) % len(known)]).uid))
        if deed != 8:
            expected = _plain_pass(waiting, runs, limits, strict=strict)
            assert started(core) == expected
    totals: dict[tuple[int, int, str], tuple[int, dict[str, int]]] = {}
    for workload in runs.values():
        for number, limit in enumerate(limits):
            key = (0, number, subject_of(limit, workload))
            count, used = totals.get(key, (0, {"cpu": 0}))
            totals[key] = (count + 1, {"cpu": used["cpu"] + workload.total["cpu"]})
    assert core._lines.accounts.totals() == totals


def _plain_pass(
    waiting: dict[str, Workload],
    runs: dict[str, Workload],
    limits: tuple[Limit, ...],
    *,
    strict: bool,
) -> list[str]:
    begun: list[str] = []
    while True:
        line = sorted(waiting.values(), key=lambda w: (-w.priority, w.place, w.uid))
        line = [w for w in line if not any(_over(limit, w, runs) for limit in limits)]
        free = n(10) - sum(w.total["cpu"] for w in runs.values())
        fitting = [w for w in (line[:1] if strict else line) if w.total["cpu"] <= free]
        if not fitting:
            return begun
        begun.append(fitting[0].uid)
        runs[fitting[0].uid] = waiting.pop(fitting[0].uid)


def _over(limit: Limit, workload: Workload, runs: dict[str, Workload]) -> bool:
    mine = [w for w in runs.values() if subject_of(limit, w) == subject_of(limit, workload)]
    held = sum(w.total["cpu"] for w in (*mine, workload))
    return held > limit.resources["cpu"] or len(mine) >= (limit.jobs or 99)


def test_a_queue_that_bounds_only_what_waits_has_no_limit_on_what_runs() -> None:
    core = Core(limited(per(waiting=1)))
    see_all(core, *(of("ana", job(f"w{at}", "a", cpu=1, place=at)) for at in range(3)))
    assert started(core) == ["w0", "w1", "w2"]


def test_subjects_that_hold_nothing_are_forgotten() -> None:
    core = Core(limited(per(jobs=1), per(Subject.NAMESPACE, cpu=5)))
    for at in range(50):
        core.see(of(f"user{at}", job(f"w{at}", "a", cpu=1, place=at), namespace=f"n{at}"))
    while started(core):
        for uid in list(core._charged):
            core.forget(uid)
    assert [*core._lines.accounts.bounds[0].every()] == []  # type: ignore[union-attr]


def test_who_is_at_a_limit_is_not_asked_about_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand users of a namespace that is at its limit: an end asks about few of them."""
    core = Core(limited(per(jobs=3), per(Subject.NAMESPACE, jobs=5), cpu=50))
    for at in range(1_000):
        core.see(of(f"user{at}", job(f"w{at:04}", "a", cpu=1, place=at)))
    assert len(started(core)) == 5
    asked: list[Whose] = []

    def counted(self: Bounds, whose: Whose, amounts: Amounts, jobs: int) -> Bucket | None:
        asked.append(whose)
        return stopped_by(self, whose, amounts, jobs)

    stopped_by = Bounds.stopped_by
    monkeypatch.setattr(Bounds, "stopped_by", counted)
    for at in range(5, 25):
        core.forget(Uid(f"w{at - 5:04}"))
        assert started(core) == [f"w{at:04}"]
    assert len(asked) <= 20 * 3
