"""The core against the plain reference, on generated histories: the same starts in the same order."""

from __future__ import annotations

from random import Random

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.quota.histories import (
    Cluster,
    Step,
    any_policy,
    choosy_policy,
    seeds,
    steps,
    tight_policy,
)
from tests.quota.reference import Plannee, Reference
from webhook.model.queues import Quotas
from webhook.quota.news import Start
from webhook.quota.plan import Core


def _told(start: Start) -> tuple[str, list[dict[str, str]]]:
    return start.workload.uid, [dict(one.flavors) for one in start.admission.pod_sets]


def _said(one: Plannee) -> tuple[str, list[dict[str, str]]]:
    return one.workload.uid, one.flavors


def compare(core: Core, reference: Reference, now: float) -> tuple[Start, ...]:
    """One pass of both."""
    plan, expected = core.plan(now), reference.plan(now)
    assert [_told(start) for start in plan.starts] == [_said(one) for one in expected]
    for counted, fresh in zip(_usages(core), core.ledger.recount(), strict=True):
        assert counted.rows() == fresh.rows()
    after, runs = reference.afterwards(), reference.runs() + reference.stopping()
    for name in core.quotas.queues:
        node = core.ledger.tree.nodes[name]
        for number, pair in enumerate(core.ledger.tree.pairs):
            now_free = core.ledger.now.available(node, number)
            assert now_free == reference.math.available(name, pair, runs)
            later = core.ledger.afterwards.available(node, number)
            assert later == reference.math.available(name, pair, after)
    return plan.starts


def _usages(core: Core):
    return core.ledger.now, core.ledger.afterwards, core.ledger.promised


def agree(policy: Quotas, other: Quotas, history: list[Step], *, change_at: int) -> None:
    core, reference = Core(policy), Reference(policy)
    cluster = Cluster(core, reference)
    for at, step in enumerate(history):
        cluster.now = at
        cluster.step(step)
        if at == change_at:
            core.replace(other)
            reference.replace(other)
        if step[3] != 1:
            cluster.take(compare(core, reference, at))
    cluster.take(compare(core, reference, len(history)))
    assert compare(core, reference, len(history)) == (), "a second pass has nothing left to do"


quick = settings(max_examples=120, phases=[p for p in Phase if p is not Phase.explain])


@given(seeds, steps, st.integers(0, 80))
@quick
def test_any_policy(seed: int, history: list[Step], change_at: int) -> None:
    random = Random(seed)
    agree(any_policy(random), any_policy(random), history, change_at=change_at)


@given(seeds, steps, st.integers(0, 80))
@quick
def test_full_queues(seed: int, history: list[Step], change_at: int) -> None:
    random = Random(seed)
    agree(tight_policy(random), tight_policy(random), history, change_at=change_at)


@given(seeds, steps, st.integers(0, 80))
@quick
def test_choosy_workloads(seed: int, history: list[Step], change_at: int) -> None:
    random = Random(seed)
    agree(choosy_policy(random), choosy_policy(random), history, change_at=change_at)
