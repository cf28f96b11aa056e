"""Quotas and workloads in few words, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any

from webhook.model.kinds import JOB
from webhook.model.quantity import NANO, parse_quantity
from webhook.model.queues import (
    Cohort,
    Flavor,
    FlavorQuota,
    FlavorResource,
    Order,
    Queue,
    Quotas,
    Share,
)
from webhook.model.workload import Admission, Phase, PodSet, Uid, Workload
from webhook.quota.news import Start
from webhook.quota.plan import Core

ANY = None


def n(amount: int | float | str) -> int:
    """An amount in nano-units, from a number or a quantity."""
    return parse_quantity(amount) if isinstance(amount, str) else round(amount * NANO)


def share(amount: Any, borrow: Any = ANY, lend: Any = ANY) -> Share:
    return Share(n(amount), *(None if x is None else n(x) for x in (borrow, lend)))


def quota(flavor: str = "default", **resources: Any) -> FlavorQuota:
    """``quota("spot", cpu=5)``; a tuple is (nominal, borrow, lend)."""
    shares = {
        _resource(name): share(*value) if isinstance(value, tuple) else share(value)
        for name, value in resources.items()
    }
    return FlavorQuota(flavor, shares)


def _resource(name: str) -> str:
    return "nvidia.com/gpu" if name == "gpu" else name


def amounts(**resources: Any) -> dict[str, int]:
    return {_resource(name): n(value) for name, value in resources.items()}


def queue(
    name: str, *quotas: FlavorQuota, cohort: str | None = None, strict: bool = False, **more: Any
) -> Queue:
    order = Order.STRICT if strict else Order.FIRST_FIT
    return Queue(name, cohort, quotas, order, **more)


def cohort(
    name: str,
    parent: str | None = None,
    *pools: FlavorQuota,
    cap: Mapping[tuple[str, str], Any] | None = None,
) -> Cohort:
    caps = {FlavorResource(f, _resource(r)): n(v) for (f, r), v in (cap or {}).items()}
    return Cohort(name, parent, pools, caps)


def quotas(*nodes: Queue | Cohort, flavors: Iterable[Flavor] = (), revision: str = "r1") -> Quotas:
    return Quotas(
        {node.name: node for node in nodes if isinstance(node, Queue)},
        {node.name: node for node in nodes if isinstance(node, Cohort)},
        {flavor.name: flavor for flavor in (Flavor("default"), *flavors)},
        revision,
    )


def pods(name: str = "main", count: int = 1, selector: Any = None, **resources: Any) -> PodSet:
    return PodSet(name, count, amounts(**resources), selector or {})


def job(uid: str, queue: str, *pod_sets: PodSet, place: float = 0.0, **more: Any) -> Workload:
    """A waiting workload; bare resources make one pod set of one pod."""
    known = {field.name for field in fields(Workload)} - {"uid", "queue", "place", "asks"}
    given = {key: more.pop(key) for key in list(more) if key in known}
    asks = pod_sets or (pods(**more),)
    return Workload(
        uid=Uid(uid),
        queue=queue,
        place=place,
        asks=asks,
        **{
            "kind": JOB,
            "namespace": "team",
            "name": uid,
            "priority": 0,
            "phase": Phase.WAITING,
            **given,
        },
    )


def running(workload: Workload, admission: Admission | None = None, **more: Any) -> Workload:
    holds = {each.name: each.count for each in workload.asks}
    fields = {"phase": Phase.STARTED, "holds": holds, "admission": admission, **more}
    return replace(workload, **fields)


def stopping(workload: Workload, **more: Any) -> Workload:
    return replace(workload, phase=Phase.STOPPING, **more)


def show(core: Core, starts: Iterable[Start]) -> list[Workload]:
    """Let the cluster show the starts, as they were written."""
    shown = [running(start.workload, start.admission) for start in starts]
    for workload in shown:
        core.see(workload)
    return shown


def started(core: Core, now: float = 0.0) -> list[str]:
    """One pass, its starts shown: their uids."""
    return [workload.uid for workload in show(core, core.plan(now).starts)]


def see_all(core: Core, *workloads: Workload) -> None:
    for workload in workloads:
        core.see(workload)
