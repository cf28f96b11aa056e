"""Who is next: within a queue, across the queues of a tree, and what a strict queue keeps."""

from __future__ import annotations

from random import Random

from tests.benchmarks.planner import Load, policy
from tests.quota.building import (
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
from webhook.model.queues import Flavor, Quotas
from webhook.model.workload import Phase, Uid
from webhook.quota.plan import Core
from webhook.quota.reasons import Because


def pair(a: float = 5, b: float = 5, *, strict: str = "", pool: float = 0) -> Quotas:
    return quotas(
        cohort("top", None, quota(cpu=pool)),
        queue("a", quota(cpu=a), cohort="top", strict="a" in strict),
        queue("b", quota(cpu=b), cohort="top", strict="b" in strict),
    )


def test_first_fit_passes_over_what_does_not_fit() -> None:
    core = Core(quotas(queue("a", quota(cpu=4))))
    see_all(core, *(job(f"w{i}", "a", cpu=cpu, place=i) for i, cpu in enumerate([3, 2, 1, 1])))
    assert started(core) == ["w0", "w2"]


def test_strict_waits_for_its_first() -> None:
    core = Core(quotas(queue("a", quota(cpu=4), strict=True)))
    see_all(core, *(job(f"w{i}", "a", cpu=cpu, place=i) for i, cpu in enumerate([3, 2, 1, 1])))
    assert started(core) == ["w0"]
    reason = core.reason(Uid("w3"), 0.0)
    assert (reason.kind, reason.behind) == (Because.ORDER, "w1")
    assert reason.text == "waits behind Job team/w1 in a"


def test_strict_starts_one_after_the_other_in_one_pass() -> None:
    core = Core(quotas(queue("a", quota(cpu=4), strict=True)))
    see_all(core, *(job(f"w{i}", "a", cpu=1, place=i) for i in range(6)))
    assert started(core) == ["w0", "w1", "w2", "w3"]


def test_hold_and_backoff_do_not_stop_a_strict_queue() -> None:
    core = Core(quotas(queue("a", quota(cpu=4), strict=True)))
    see_all(core, job("held", "a", cpu=9, hold="later"), job("late", "a", cpu=4, place=1))
    see_all(core, job("small", "a", cpu=1, place=2))
    core.refused(Uid("late"), until=60.0)
    assert started(core, 59.0) == ["small"]
    assert core.plan(60.0).starts == ()
    assert core.reason(Uid("late"), 60.0).kind is Because.QUOTA


def test_whoever_stays_at_home_goes_first() -> None:
    """A borrower has the higher priority, and is second."""
    core = Core(pair(4, 2))
    see_all(core, job("borrower", "b", cpu=3, priority=9), job("owner", "a", cpu=4, place=5))
    assert started(core) == ["owner"]


def test_then_priority_then_place_then_uid() -> None:
    core = Core(pair(0, 0, pool=1))
    see_all(core, job("late", "a", cpu=1, place=2), job("low", "b", cpu=1, priority=-1))
    see_all(core, job("early2", "a", cpu=1, place=1), job("early1", "b", cpu=1, place=1))
    assert started(core) == ["early1"]


def test_the_lower_subtree_goes_first() -> None:
    """Both borrow; one from its own cohort, the other from the root."""
    core = Core(
        quotas(
            cohort("root"),
            cohort("near", "root", quota(cpu=4)),
            queue("in-near", quota(cpu=0), cohort="near"),
            queue("far", quota(cpu=0), cohort="root"),
        )
    )
    see_all(core, job("far", "far", cpu=4, priority=3), job("near", "in-near", cpu=4))
    assert started(core) == ["near"]


def test_the_height_is_taken_anew_after_every_step() -> None:
    """After its first start `a` borrows, so `b` is next, whose first has no priority at all."""
    core = Core(pair(2, 2, pool=2))
    see_all(core, *(job(f"a{i}", "a", cpu=2, priority=9, place=i) for i in range(3)))
    see_all(core, job("b0", "b", cpu=2, place=9))
    assert started(core) == ["a0", "b0", "a1"]


def test_whoever_stops_does_not_count_when_it_is_asked_who_borrows() -> None:
    core = Core(pair(2, 2))
    gone = running(job("gone", "a", cpu=4))
    see_all(core, gone, job("owner", "a", cpu=2), job("borrower", "b", cpu=3, priority=9))
    core.see(stopping(gone))
    assert started(core) == []
    assert core.reason(Uid("owner"), 0.0).kind is Because.VICTIMS
    core.forget(Uid("gone"))
    assert started(core) == ["owner"]


def test_a_blocked_strict_queue_keeps_its_own_for_its_first() -> None:
    core = Core(pair(5, 5, strict="a"))
    see_all(core, running(job("r", "b", cpu=6)), job("head", "a", cpu=5, place=9))
    see_all(core, job("tiny", "b", cpu=1, place=1))
    assert started(core) == []
    tiny = core.reason(Uid("tiny"), 0.0)
    assert tiny.text == "needs 1 cpu, 0 free of 5, 4 held back for others"
    head = core.reason(Uid("head"), 0.0)
    assert head.text == "needs 5 cpu, 4 free of 5", "what it keeps itself is free to it"
    core.forget(Uid("r"))
    assert started(core) == ["tiny", "head"]


def test_it_keeps_no_more_than_its_first_needs() -> None:
    core = Core(pair(5, 5, strict="a"))
    see_all(core, running(job("x", "a", cpu=3)), running(job("y", "b", cpu=5)))
    see_all(core, job("head", "a", cpu="2500m"), job("tiny", "b", cpu=1))
    assert started(core) == [], "two left, all of them kept"
    core.forget(Uid("head"))
    assert started(core) == ["tiny"]


def test_it_keeps_its_own_for_one_that_has_to_borrow_as_well() -> None:
    core = Core(pair(5, 5, strict="a"))
    see_all(core, running(job("y", "b", cpu=4)), job("head", "a", cpu=7))
    see_all(core, job("tiny", "b", cpu=2, place=1), job("one", "b", cpu=1, place=2))
    assert started(core) == ["one"], "six free, five of them kept"


def test_it_keeps_nothing_for_one_on_hold_or_that_can_never_fit() -> None:
    core = Core(pair(5, 5, strict="a"))
    see_all(core, running(job("y", "b", cpu=6)), job("held", "a", cpu=5, hold=""))
    see_all(core, job("tiny", "b", cpu=1))
    assert started(core) == ["tiny"]
    core.see(job("huge", "a", cpu=11))
    core.see(job("tiny2", "b", cpu=1))
    assert started(core) == ["tiny2"]
    assert core.reason(Uid("huge"), 0.0).kind is Because.NEVER_FITS


def test_two_blocked_strict_queues_do_not_block_each_other() -> None:
    core = Core(pair(5, 5, strict="ab"))
    see_all(core, running(job("r", "a", cpu=6)))
    see_all(core, job("a2", "a", cpu=6, place=1), job("b1", "b", cpu=6, place=2))
    assert started(core) == []
    core.forget(Uid("r"))
    assert started(core) == ["a2"]


def test_freed_capacity_is_for_the_one_that_was_planned_into_it() -> None:
    core = Core(quotas(queue("a", quota(cpu=4))))
    (gone,) = [running(job("gone", "a", cpu=4))]
    see_all(core, gone, job("big", "a", cpu=4, place=1))
    assert started(core) == []
    core.see(stopping(gone))
    assert started(core) == [], "its pods are still there"
    core.see(job("small", "a", cpu=1, place=0.5))
    assert started(core) == []
    assert core.reason(Uid("big"), 0.0).kind is Because.VICTIMS
    text = core.reason(Uid("big"), 0.0).text
    assert text == "waits for pods that are stopping: needs 4 cpu, 0 free of 4"
    assert core.reason(Uid("small"), 0.0).kind is Because.QUOTA
    core.forget(Uid("gone"))
    assert started(core) == ["big"]


def test_what_is_planned_begins_as_the_pods_go() -> None:
    core = Core(quotas(queue("a", quota(cpu=4))))
    gone = running(job("gone", "a", cpu=4))
    see_all(core, gone, *(job(f"w{i}", "a", cpu=2, place=i) for i in range(2)))
    core.see(stopping(gone))
    core.plan(0.0)
    core.see(job("gone", "a", cpu=2, phase=Phase.STOPPING, holds={"main": 1}))
    assert started(core) == ["w0"]
    core.see(job("gone", "a", cpu=4))
    assert started(core) == ["w1"]


def test_nobody_passes_a_planned_one_in_a_strict_queue() -> None:
    core = Core(quotas(queue("a", quota(cpu=5), strict=True)))
    gone = running(job("gone", "a", cpu=4))
    see_all(core, gone, job("big", "a", cpu=4, place=1), job("small", "a", cpu=1, place=2))
    core.see(stopping(gone))
    assert started(core) == []
    assert core.reason(Uid("small"), 0.0).behind == "big"
    core.forget(Uid("gone"))
    assert started(core) == ["big", "small"]


def test_a_planned_one_gives_up_when_nothing_is_stopping_and_it_still_does_not_fit() -> None:
    core = Core(quotas(queue("a", quota(cpu=4))))
    gone = running(job("gone", "a", cpu=4))
    see_all(core, gone, job("big", "a", cpu=4, place=1), job("small", "a", cpu=1, place=2))
    core.see(stopping(gone))
    core.plan(0.0)
    core.see(running(job("bypass", "a", cpu=2)))
    core.forget(Uid("gone"))
    assert started(core) == ["small"]
    assert core.reason(Uid("big"), 0.0).kind is Because.QUOTA


def test_two_trees_know_nothing_of_each_other() -> None:
    core = Core(quotas(queue("a", quota(cpu=1)), queue("b", quota(cpu=1))))
    see_all(core, job("x", "a", cpu=1), job("y", "b", cpu=1), job("z", "b", cpu=1, place=1))
    assert started(core) == ["x", "y"]
    before = core.verdicts
    core.forget(Uid("x"))
    assert started(core) == []
    assert core.verdicts == before, "nobody waits in that tree, and the other one is not asked"


def test_an_arrival_behind_its_like_asks_nothing() -> None:
    core = Core(quotas(queue("a", quota(cpu=1))))
    see_all(core, *(job(f"w{i}", "a", cpu=1, place=i) for i in range(3)))
    started(core)
    before = core.verdicts
    see_all(core, *(job(f"v{i}", "a", cpu=1, place=10 + i) for i in range(100)))
    assert started(core) == []
    assert core.verdicts == before


def test_the_count_of_verdicts_does_not_grow_with_those_who_wait() -> None:
    def verdicts_a_start(waiting: int) -> float:
        load = Load(policy(20, 5), waiting)
        load.churn(100)
        before = load.core.verdicts
        done = load.churn(300)
        return (load.core.verdicts - before) / done

    few, many = verdicts_a_start(2_000), verdicts_a_start(8_000)
    assert many <= 1.4 * few


def choosy() -> Core:
    """`both` waits in b: its first pods take flavor `one`, and so leave none of it for the second.

    Less gpu on `one` sends the first pods to `two`, and both fit.
    """
    pools = (quota("one", cpu=4, gpu=4), quota("two", cpu=2, gpu=4))
    none = (quota("one", cpu=0, gpu=0), quota("two", cpu=0, gpu=0))
    core = Core(
        quotas(
            cohort("top", None, *pools),
            queue("a", *none, cohort="top"),
            queue("b", *none, cohort="top"),
            flavors=[Flavor("one"), Flavor("two")],
        )
    )
    core.see(job("both", "b", pods("p", cpu=2, gpu=4), pods("q", cpu=4), priority=9))
    return core


def test_who_fits_with_less_is_asked_again_in_the_same_pass() -> None:
    core = choosy()
    core.see(job("gpu", "a", gpu=1))
    assert started(core) == ["gpu", "both"]


def test_and_in_the_next_pass_if_something_was_taken_meanwhile() -> None:
    core = choosy()
    assert started(core) == []
    core.see(running(job("gpu", "a", gpu=1)))
    assert started(core) == ["both"]


def test_and_in_its_own_queue() -> None:
    core = choosy()
    core.see(job("gpu", "b", gpu=1))
    assert started(core) == ["gpu", "both"]


def test_a_crowd_of_hopeless_ones_is_not_in_the_way() -> None:
    core = Core(quotas(queue("a", quota(cpu=1, gpu=1))))
    core.see(running(job("r", "a", gpu=1)))
    random = Random(5)
    for i in range(500):
        core.see(job(f"w{i}", "a", cpu=f"{i}m", gpu=1, place=random.random()))
    core.plan(0.0)
    before = core.verdicts
    core.see(job("last", "a", cpu=1, place=9))
    assert started(core) == ["last"]
    assert core.verdicts - before <= 128, "one block of the line at most"
    assert core.ledger.now.available(0, 0) == n(0)
