"""What a workload that runs is charged: pods it holds, on the flavors its record names.

The record says where, the object says how much: counts and requests are read anew each time, so
pods that have ended give theirs back. What runs without a record is charged by the best guess.
"""

from __future__ import annotations

from collections.abc import Mapping

from webhook.model.quantity import Amount, Amounts, add, times
from webhook.model.queues import FlavorResource, Queue
from webhook.model.workload import Admission, Assigned, Workload
from webhook.quota.flavors import Choice, grouped
from webhook.quota.partial import counts


def held(queue: Queue, workload: Workload) -> Mapping[FlavorResource, Amount]:
    """What it holds now, as the queue counts it."""
    requests = {pods.name: pods.requests for pods in workload.asks}
    assigned = {one.name: one for one in workload.admission.pod_sets} if workload.admission else {}
    total: dict[FlavorResource, Amount] = {}
    for name, count in workload.holds.items():
        record = assigned.get(name)
        each = requests.get(name)
        if each is None:
            each = _recorded(record)
        flavors = where(queue, each, record)
        for resource, amount in each.items():
            if amount and resource in flavors:
                pair = FlavorResource(flavors[resource], resource)
                total[pair] = total.get(pair, 0) + amount * count
    return total


def counted(workload: Workload) -> Amounts:
    """What its pods ask for now, whatever a quota names: limits count all of it."""
    requests = {pods.name: pods.requests for pods in workload.asks}
    assigned = {one.name: one for one in workload.admission.pod_sets} if workload.admission else {}
    each = {name: requests.get(name) or _recorded(assigned.get(name)) for name in workload.holds}
    return add(*(times(each[name], count) for name, count in workload.holds.items()))


def counted_at_start(workload: Workload, admission: Admission) -> Amounts:
    """The same for a start of ours until the cluster shows it."""
    counts = {one.name: one.count for one in admission.pod_sets}
    return add(*(times(pods.requests, counts.get(pods.name, 0)) for pods in workload.asks))


def _recorded(record: Assigned | None) -> Amounts:
    """Requests of one pod where only the record still knows them, rounded up."""
    if record is None or not record.count:
        return {}
    return {resource: -(-amount // record.count) for resource, amount in record.amounts.items()}


def where(queue: Queue, asked: Amounts, record: Assigned | None) -> Mapping[str, str]:
    """Resource → flavor: as recorded; by guess what no flavor of the record had to do with.

    A resource that the recorded flavor passed over is charged once the queue counts it there.
    """
    flavors = dict(record.flavors) if record is not None else {}
    open_ones = {r for r, amount in asked.items() if amount and r not in flavors}
    used = set(flavors.values())
    for blocks in grouped(queue.quotas) if open_ones else ():
        inside = {r for block in blocks for r in block.shares} & open_ones
        possible = [block for block in blocks if block.flavor in used] or list(blocks)
        for resource in sorted(inside):
            naming = [block for block in possible if resource in block.shares]
            naming.sort(key=lambda block: not inside.issubset(block.shares))
            if naming:
                flavors[resource] = naming[0].flavor
    return flavors


def granted(admission: Admission) -> Mapping[FlavorResource, Amount]:
    """What a start of ours holds until the cluster shows it."""
    total: dict[FlavorResource, Amount] = {}
    for one in admission.pod_sets:
        for resource, amount in one.amounts.items():
            flavor = one.flavors.get(resource)
            if flavor is not None:
                pair = FlavorResource(flavor, resource)
                total[pair] = total.get(pair, 0) + amount
    return total


def admission_of(workload: Workload, choice: Choice, revision: str) -> Admission:
    """The record of a start, but for the time and what gets injected."""
    return Admission(
        queue=workload.queue,
        pod_sets=tuple(
            Assigned(
                name=pods.name,
                count=count,
                flavors={r: option.flavor for option in options for r in option.amounts},
                amounts={r: amount for option in options for r, amount in option.amounts.items()},
            )
            for pods, options, count in zip(
                workload.asks, choice.options, counts(workload, choice), strict=True
            )
        ),
        at="",
        revision=revision,
    )
