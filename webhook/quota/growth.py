"""Started workloads that ask for more pods: the difference waits in the line like a workload of its own.

It has the priority and the place of the one that grows, is bound to the flavors where that one runs,
and counts as no further job. The core knows it under a uid of its own, so all that is said of starts
is true of growth: it is charged as soon as it is granted, confirmed, refused, or undone.
"""

from __future__ import annotations

from dataclasses import replace

from webhook.model.workload import Admission, Assigned, Phase, PodSet, Uid, Workload


def uid_of_growth(uid: Uid) -> Uid:
    """The uid under which the core knows the growth of that workload."""
    return Uid(f"{uid}+")


def wish(workload: Workload) -> Workload | None:
    """What a started one asks for on top, as a workload that waits; None if nothing, or if nobody can tell where."""
    record = workload.admission
    if not workload.growth or record is None:
        return None
    flavors = {one.name: one.flavors for one in record.pod_sets}
    return replace(
        workload,
        uid=uid_of_growth(workload.uid),
        phase=Phase.WAITING,
        asks=tuple(replace(p, flavors=flavors.get(p.name, {})) for p in workload.growth),
        holds={},
        admission=None,
        hold=None,
        evicted=None,
        growth=(),
    )


def uid_that_grows(growth: Uid) -> Uid:
    """The uid of the workload whose growth that is."""
    return Uid(growth.removesuffix("+"))


def grown(workload: Workload, more: Admission) -> Admission:
    """The record of a workload with what it was granted on top."""
    if workload.admission is None:
        return more
    added = {one.name: one for one in more.pod_sets}
    asks = {pods.name: pods for pods in workload.asks}
    pod_sets = tuple(
        _sum(one, asks[one.name], added[one.name])
        if one.name in added and one.name in asks
        else one
        for one in workload.admission.pod_sets
    )
    return replace(workload.admission, pod_sets=pod_sets)


def _sum(one: Assigned, pods: PodSet, added: Assigned) -> Assigned:
    """From what it asks for now, which may be less than it was granted once: pods of it have ended since."""
    count, flavors = pods.count + added.count, {**one.flavors, **added.flavors}
    amounts = {r: amount * count for r, amount in pods.requests.items() if amount and r in flavors}
    return replace(one, count=count, flavors=flavors, amounts=amounts)


def shows(workload: Workload, granted: Admission) -> bool:
    """Whether a sight bears the record of that growth."""
    return workload.admission is not None and _counts(workload.admission) == _counts(granted)


def _counts(admission: Admission) -> list[tuple[str, int]]:
    return sorted((one.name, one.count) for one in admission.pod_sets)
