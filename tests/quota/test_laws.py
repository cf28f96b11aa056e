"""What must hold in every history, whoever is right about the order."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from hypothesis import given, settings

from tests.quota.histories import Cluster, Step, any_policy, seeds, steps, tight_policy
from webhook.model.queues import Order, Quotas
from webhook.model.workload import Workload
from webhook.quota.ledger import Usage
from webhook.quota.news import Start
from webhook.quota.plan import Core
from webhook.quota.reasons import Because

few = settings(max_examples=60)


def _policy(seed: int) -> Quotas:
    random = Random(seed)
    return (tight_policy if seed % 2 else any_policy)(random)


def _lived(policy: Quotas, history: list[Step]) -> tuple[Core, Cluster, list[list[Start]]]:
    core = Core(policy)
    cluster, passes = Cluster(core), list[list[Start]]()
    for at, step in enumerate(history):
        cluster.now = at
        cluster.step(step)
        passes.append([*core.plan(at).starts])
        cluster.take(tuple(passes[-1]))
    return core, cluster, passes


def _never_over(core: Core, usage: Usage) -> bool:
    tree = core.ledger.tree
    return all(usage.available(q, n) >= 0 for q in tree.queues for n in range(len(tree.pairs)))


@given(seeds, steps)
@few
def test_nothing_is_ever_over(seed: int, history: list[Step]) -> None:
    """The histories lower no quota and bypass nothing."""
    core = Core(_policy(seed))
    cluster = Cluster(core)
    for at, step in enumerate(history):
        cluster.now = at
        cluster.step(step)
        cluster.take(core.plan(at).starts)
        assert _never_over(core, core.ledger.now)
        assert _never_over(core, core.ledger.afterwards)


@given(seeds, steps)
@few
def test_usage_is_that_of_what_lives(seed: int, history: list[Step]) -> None:
    """Equal to a core that was told nothing but the present."""
    policy = _policy(seed)
    core, cluster, _ = _lived(policy, history)
    while core.unconfirmed():
        for uid in core.unconfirmed():
            cluster.admissions.pop(uid, None)
            core.refused(uid, 1e9)
    fresh = Core(policy)
    for workload in cluster.objects.values():
        fresh.see(workload)
    assert core.ledger.now.rows() == fresh.ledger.now.rows()
    for one, other in zip(core.status(), fresh.status(), strict=True):
        assert (one.started, one.stopping) == (other.started, other.stopping)
        assert sum(one.waiting.values()) + one.planned == sum(other.waiting.values())


@given(seeds, steps)
@few
def test_whoever_waits_for_quota_really_lacks_it(seed: int, history: list[Step]) -> None:
    """After a pass: no reason is an empty one, and in a strict queue nobody is before the first."""
    core, cluster, _ = _lived(_policy(seed), history)
    for uid, workload in cluster.objects.items():
        reason = core.reason(uid, len(history))
        if reason.kind is Because.QUOTA:
            lacking = [lack for lack in reason.lacks if lack.missing > 0]
            contradicted = any(lack.missing <= 0 for lack in reason.lacks)
            assert lacking or contradicted
        assert reason.text != "fits, next in a moment", (uid, workload)


@given(seeds, steps)
@few
def test_order_is_never_inverted_in_a_strict_queue(seed: int, history: list[Step]) -> None:
    core = Core(_policy(seed))
    cluster = Cluster(core)
    for at, step in enumerate(history):
        cluster.now = at
        cluster.step(step)
        standing = _standing(core)
        for start in core.plan(at).starts:
            name, key = start.workload.queue, _key(start.workload)
            if core.quotas.queues[name].order is Order.STRICT and name in standing:
                before = [w for w in standing[name] if _key(w) < key]
                assert not [w for w in before if core.reason(w.uid, at).kind is Because.QUOTA]
            cluster.take((start,))


def _standing(core: Core) -> Mapping[str, list[Workload]]:
    found: dict[str, list[Workload]] = {}
    for line in core._lines.lines:
        for group in line.groups():
            for entry in group:
                found.setdefault(entry.workload.queue, []).append(entry.workload)
    return found


def _key(workload: Workload) -> tuple[int, float, str]:
    return -workload.priority, workload.place, workload.uid


@given(seeds, steps)
@few
def test_a_closed_system_is_quiet(seed: int, history: list[Step]) -> None:
    core, cluster, _ = _lived(_policy(seed), history)
    for _ in range(2):
        cluster.take(core.plan(1e6).starts)
    before = core.verdicts
    assert core.plan(1e6).starts == ()
    assert core.verdicts == before


@given(seeds, steps)
@few
def test_the_order_in_which_a_policy_is_written_does_not_matter(
    seed: int, history: list[Step]
) -> None:
    policy = _policy(seed)
    backwards = Quotas(
        dict(reversed([*policy.queues.items()])),
        dict(reversed([*policy.cohorts.items()])),
        dict(reversed([*policy.flavors.items()])),
        policy.revision,
    )
    assert _lived(policy, history)[2] == _lived(backwards, history)[2]


@given(seeds, steps)
@few
def test_a_list_in_any_order_leads_to_the_same_plan(seed: int, history: list[Step]) -> None:
    """What was seen in which order is forgotten; only what is there counts."""
    policy = _policy(seed)
    _, cluster, _ = _lived(policy, history)
    one, other = Core(policy), Core(policy)
    for workload in cluster.objects.values():
        one.see(workload)
    shuffled = [*cluster.objects.values()] * 2
    Random(seed).shuffle(shuffled)
    for workload in shuffled:
        other.see(workload)
    assert one.plan(0.0) == other.plan(0.0)
