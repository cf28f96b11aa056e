"""What went wrong for others, as it has to go here. The names are those of the collected reports."""

from __future__ import annotations

from dataclasses import replace
from random import Random

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
    show,
    started,
)
from webhook.model.queues import Quotas
from webhook.model.workload import Phase, Uid, Workload
from webhook.quota.never import never_fits
from webhook.quota.plan import Core
from webhook.quota.reasons import Because
from webhook.quota.tree import Tree


def test_r01_granted_exactly_the_free_amount() -> None:
    core = Core(quotas(queue("A", quota(cpu=9))))
    core.see(job("exact", "A", pods(count=9, cpu=1)))
    assert started(core) == ["exact"]
    core.forget(Uid("exact"))
    core.see(job("more", "A", cpu="9001m"))
    assert started(core) == []
    assert core.reason(Uid("more"), 0.0).text == "needs 9001m cpu, A can never have more than 9"


def test_r01_against_what_is_free_now() -> None:
    core = Core(quotas(queue("A", quota(cpu=10))))
    see_all(core, running(job("r", "A", cpu=1)), job("more", "A", cpu="9001m"))
    assert started(core) == []
    assert core.reason(Uid("more"), 0.0).text == "needs 9001m cpu, 9 free of 10"
    core.see(job("exact", "A", cpu=9, place=1))
    assert started(core) == ["exact"]


def test_more_free_than_its_own_is_told_of_all_it_could_have() -> None:
    small = queue("A", quota(cpu=2), cohort="lab")
    core = Core(quotas(small, queue("B", quota(cpu=8), cohort="lab"), cohort("lab")))
    see_all(core, running(job("r", "B", cpu=5)), job("more", "A", cpu=6))
    assert core.reason(Uid("more"), 0.0).text == "needs 6 cpu, 5 free of 10"


def test_r09_no_ghosts_after_churn() -> None:
    """2,000 jobs, sights dropped, repeated and late; after a list, usage is that of what lives."""
    random = Random(9)
    policy = quotas(queue("A", quota(cpu=110)))
    core, live, old = Core(policy), dict[str, Workload](), list[Workload]()
    version = 0

    def shown(workload: Workload) -> None:
        nonlocal version
        version += 1
        workload = replace(workload, resource_version=str(version))
        live[workload.uid] = workload
        old.append(workload)
        if random.random() < 0.7:
            core.see(workload)
        if random.random() < 0.3:
            late = random.choice(old[-20:])
            if late.uid in live:
                core.see(late)

    for at in range(2_000):
        shown(job(f"w{at:04}", "A", cpu=random.randint(1, 9), place=at))
        for start in core.plan(0.0).starts:
            if start.workload.uid in live:
                shown(running(start.workload, start.admission))
        for uid in random.sample(sorted(live), min(len(live), 2)):
            if random.random() < 0.5:
                del live[uid]
                core.forget(Uid(uid))
        if at % 200 == 199:
            _relist(core, live)
            recount = sum(w.total["cpu"] for w in live.values() if w.phase is Phase.STARTED)
            assert core.status()[0].balances[_cpu(policy)].used == recount
    assert recount <= n(110)


def _relist(core: Core, live: dict[str, Workload]) -> None:
    """Everything once more; what it does not have is forgotten, what was never written refused."""
    for workload in live.values():
        core.see(workload)
    for uid in core.unconfirmed():
        core.refused(uid, 0.0)


def _cpu(policy: Quotas):
    return Tree(policy).pairs[0]


def test_r15_strict_order_and_one_that_needs_no_gpu() -> None:
    for strict, expected in ((True, []), (False, ["small"])):
        core = Core(quotas(queue("A", quota(cpu=100, gpu=8), strict=strict)))
        see_all(core, running(job("r", "A", gpu=8)), job("head", "A", cpu=8, gpu=8))
        core.see(job("small", "A", cpu=4, place=1))
        assert started(core) == expected
        reason = core.reason(Uid("small"), 0.0)
        assert (reason.kind, reason.behind) == (
            (Because.ORDER, "head") if strict else (Because.STARTED, None)
        )


def test_r16_one_that_fits_behind_ten_thousand_that_do_not() -> None:
    core = Core(quotas(queue("A", quota(cpu=1, gpu=8))))
    core.see(running(job("r", "A", gpu=8)))
    for at in range(9_999):
        core.see(job(f"w{at}", "A", gpu=1, place=at))
    core.plan(0.0)
    before = core.verdicts
    for event in range(20):
        core.see(job(f"more{event}", "A", gpu=1, place=20_000 + event))
        core.plan(0.0)
    assert core.verdicts == before, "what is hopeless is not asked again"
    core.see(job("last", "A", cpu=1, place=99_999))
    assert started(core) == ["last"]
    assert core.verdicts - before <= 3


def test_r30_one_ends_and_one_starts() -> None:
    core = Core(quotas(queue("A", quota(gpu=2))))
    see_all(core, *(job(f"w{i}", "A", gpu=1, place=i, resource_version="1") for i in range(4)))
    first = show(core, core.plan(0.0).starts)
    assert [w.uid for w in first] == ["w0", "w1"]
    core.see(replace(first[0], phase=Phase.FINISHED, holds={}))
    assert [start.workload.uid for start in core.plan(1.0).starts] == ["w2"]
    for now in range(2, 7):  # the watch lags: w2 is still shown waiting
        core.see(job("w2", "A", gpu=1, place=2, resource_version="1"))
        core.see(job("w3", "A", gpu=1, place=3, resource_version="1"))
        assert core.plan(float(now)).starts == ()


def test_r32_two_queues_above_their_share_do_not_block_each_other() -> None:
    for strict in (False, True):
        core = Core(
            quotas(
                cohort("top"),
                queue("A", quota(cpu=(5, 5)), cohort="top", strict=strict),
                queue("B", quota(cpu=(5, 5)), cohort="top", strict=strict),
            )
        )
        see_all(core, running(job("A1", "A", cpu=6)))
        see_all(core, job("A2", "A", cpu=6, place=2), job("B1", "B", cpu=6, place=1))
        assert started(core) == []
        core.forget(Uid("A1"))
        assert started(core) == ["B1"], "both at zero: the older one"


def test_r33_larger_than_the_cap() -> None:
    capped = quotas(
        cohort("top", None, cap={("default", "cpu"): 72}), queue("A", quota(cpu=100), cohort="top")
    )
    refused = never_fits(Tree(capped), "A", [pods(count=73, cpu=1)])
    assert refused is not None
    assert refused.text == "needs 73 cpu, A can never have more than 72"
    lent = quotas(
        cohort("top"),
        queue("A", quota(cpu=(72, 8)), cohort="top"),
        queue("B", quota(cpu=72), cohort="top"),
    )
    assert never_fits(Tree(lent), "A", [pods(count=80, cpu=1)]) is None
    assert never_fits(Tree(lent), "A", [pods(count=81, cpu=1)]) is not None


def test_r33_a_cap_that_is_lowered_under_one_that_waits() -> None:
    core = Core(quotas(queue("A", quota(cpu=80))))
    see_all(core, running(job("r", "A", cpu=10)), job("x", "A", cpu=73))
    core.plan(0.0)
    assert core.reason(Uid("x"), 0.0).kind is Because.QUOTA
    core.replace(quotas(queue("A", quota(cpu=72))))
    core.plan(0.0)
    assert core.reason(Uid("x"), 0.0).kind is Because.NEVER_FITS


def test_r35_the_same_name_created_again() -> None:
    core = Core(quotas(queue("A", quota(cpu=4))))
    core.see(job("uid1", "A", cpu=3))
    started(core)
    core.see(replace(job("uid2", "A", cpu=3), name="uid1"))
    assert started(core) == []
    core.forget(Uid("uid1"))
    assert started(core) == ["uid2"]
    assert core.ledger.now.available(0, 0) == n(1)
