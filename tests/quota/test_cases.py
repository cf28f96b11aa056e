"""Decisions of the nearest peer, as data: the scenes that lie within what is built so far.

The file is named by ``TIDEGATE_CASES``. Taken are single cycles without preemption and without fair
sharing, with one workload a queue, so that one cycle over heads and our fixed point mean the same.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.quota.building import job, n, quotas, running
from webhook.model.queues import Cohort, Flavor, FlavorQuota, Order, Queue, Quotas, Share
from webhook.model.workload import Admission, Assigned, PodSet, Workload
from webhook.quota.plan import Core

FILE = Path(os.environ.get("TIDEGATE_CASES", "../shared/cases/quota_cases.yaml"))
NOT_YET = {
    "preempts": "preemption",
    "fair-sharing": "fair sharing",
    "partial-admission": "partial starts",
}
OTHERWISE_BY_DESIGN = {
    "flavors with mixed misconfiguration and insufficient quota": "a flavor has no taints of its own",
    "prefer flavor with most local capacity (FS=false)": "the order of `prefer`, a later slice",
    "capacity blocked when lending clusterqueue not guaranteed to reclaim "
    "(ReclaimWithinCohort=LowerPriority)": "only strict queues hold back",
    "capacity blocked when lending clusterqueue not guaranteed to reclaim "
    "(ReclaimWithinCohort=Never)": "only strict queues hold back",
}


def _cases() -> list[Any]:
    if not FILE.is_file():
        return [pytest.param({}, marks=pytest.mark.skip(reason=f"no {FILE}"), id="absent")]
    every = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return [pytest.param(case, id=case["name"]) for case in every if _taken(case)]


def _taken(case: Mapping[str, Any]) -> bool:
    return (
        case["kind"] == "one-cycle"
        and not case.get("fairSharing")
        and NOT_YET.keys().isdisjoint(case["tags"])
    )


@pytest.mark.parametrize("case", _cases())
def test_a_decision(case: Mapping[str, Any]) -> None:
    if why := OTHERWISE_BY_DESIGN.get(case["name"]):
        pytest.skip(why)
    core = Core(_policy(case))
    assert len({one["queue"] for one in case["pending"]}) == len(case["pending"])
    for one in case["running"]:
        core.see(_running(one))
    for one in case["pending"]:
        core.see(_pending(one))
    got = {
        s.workload.uid: [_flavors(p) for p in s.admission.pod_sets] for s in core.plan(0.0).starts
    }
    expected = {
        one["name"]: [each["flavors"] for each in one["podSets"]] for one in case["expect"]["admit"]
    }
    assert got == expected


def _flavors(assigned: Assigned) -> dict[str, str]:
    return dict(assigned.flavors)


def _policy(case: Mapping[str, Any]) -> Quotas:
    declared = [
        Cohort(f"cohort {one['name']}", _cohort(one.get("parent")), _blocks(one))
        for one in case["cohorts"]
    ]
    names = {one.name for one in declared}
    implied = {f"cohort {one['cohort']}" for one in case["queues"] if "cohort" in one} - names
    queues = [
        Queue(
            one["name"],
            _cohort(one.get("cohort")),
            _blocks(one),
            Order.STRICT if one.get("strategy") == "StrictFIFO" else Order.FIRST_FIT,
        )
        for one in case["queues"]
    ]
    flavors = {block.flavor for queue in queues for block in queue.quotas}
    return quotas(
        *declared, *map(Cohort, sorted(implied)), *queues, flavors=map(Flavor, sorted(flavors))
    )


def _cohort(name: str | None) -> str | None:
    """Theirs may bear the name of a queue; with us both share one set of names."""
    return None if name is None else f"cohort {name}"


def _blocks(node: Mapping[str, Any]) -> tuple[FlavorQuota, ...]:
    return tuple(
        FlavorQuota(flavor["flavor"], {r: _share(one) for r, one in flavor["resources"].items()})
        for group in node.get("resourceGroups", ())
        for flavor in group
    )


def _share(one: Mapping[str, Any]) -> Share:
    limits = (one.get("borrowingLimit"), one.get("lendingLimit"))
    return Share(n(one["nominal"]), *(None if each is None else n(each) for each in limits))


def _pod_sets(one: Mapping[str, Any]) -> Iterable[PodSet]:
    for pods in one["podSets"]:
        requests = {r: n(amount) for r, amount in pods["requests"].items()}
        yield PodSet(pods["name"], pods["count"], requests)


def _pending(one: Mapping[str, Any]) -> Workload:
    pods = _pod_sets(one)
    return job(
        one["name"], one["queue"], *pods, priority=one["priority"], place=one.get("created", 0.0)
    )


def _running(one: Mapping[str, Any]) -> Workload:
    assigned = tuple(
        Assigned(
            pods["name"],
            pods["count"],
            pods["flavors"],
            {r: n(amount) for r, amount in pods["usage"].items()},
        )
        for pods in one["podSets"]
    )
    return running(_pending(one), Admission(one["queue"], assigned, "", ""))
