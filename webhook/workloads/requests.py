"""What one pod of a template asks for, counted as the scheduler counts it (behaviour.md §5).

The order matters where others get it wrong: limits fill missing requests first; a sidecar (an init container that
restarts always) runs beside the containers and beside every plain init container that starts after it.
https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers/#resource-sharing-within-containers
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from webhook.model.quantity import (
    NANO,
    Amount,
    Amounts,
    QuantityError,
    add,
    largest,
    read_quantity,
    round_up,
)
from webhook.workloads.objects import BadObject, mapping, sequence

MOST_CONTAINERS, MOST_RESOURCES = 1000, 100
"""No pod has so many; to add up more, in a review that the API server refuses later, would keep the others waiting."""
POD_LEVEL = ("cpu", "memory")
"""Resources a pod may ask for as a whole; huge pages too, by prefix."""


def pod_requests(spec: Mapping[str, Any], path: str = "spec") -> Amounts:
    """Amounts one pod asks for, rounded up to each resource's unit; what is 0 is left out, ``pods`` is 1.

    Raises BadObject with the path of what cannot be counted.
    """
    _bounded(spec, path)
    sidecars: dict[str, Amount] = {}
    peaks: list[Amounts] = []
    for index, container in enumerate(sequence(spec, "initContainers", path)):
        asked = _asked(container, f"{path}.initContainers[{index}]")
        if container.get("restartPolicy") == "Always":
            sidecars = add(sidecars, asked)
        else:
            peaks.append(add(sidecars, asked))
    running = add(
        sidecars,
        *(
            _asked(container, f"{path}.containers[{index}]")
            for index, container in enumerate(sequence(spec, "containers", path))
        ),
    )
    summed = largest([running, *peaks])
    total = add(
        largest([summed, _of_the_whole_pod(spec, summed, path)]),
        _amounts(mapping(spec, "overhead", path), f"{path}.overhead"),
    )
    rounded = {resource: round_up(amount, resource) for resource, amount in total.items()}
    return {resource: amount for resource, amount in rounded.items() if amount} | {"pods": NANO}


def _bounded(spec: Mapping[str, Any], path: str) -> None:
    inits, mains = (sequence(spec, part, path) for part in ("initContainers", "containers"))
    if len(inits) + len(mains) > MOST_CONTAINERS:
        raise BadObject(path, f"more than {MOST_CONTAINERS} containers")
    names: set[str] = set()
    for container in (*inits, *mains):
        resources = container.get("resources")
        for amounts in resources.values() if isinstance(resources, Mapping) else ():
            names.update(amounts if isinstance(amounts, Mapping) else ())
    if len(names) > MOST_RESOURCES:
        raise BadObject(path, f"more than {MOST_RESOURCES} resources")


def _of_the_whole_pod(spec: Mapping[str, Any], summed: Amounts, path: str) -> Amounts:
    """Requests stated for the pod as a whole, which the API server lets be no less than the sum of its containers.

    An API server too old to know them drops them and the containers count, so the caller takes the larger. A limit
    of the whole pod stands in only for what no container asks for at all.
    """
    limits, requests = _stated(spec, path)
    unasked = {resource: limit for resource, limit in limits.items() if resource not in summed}
    return {
        resource: amount
        for resource, amount in {**unasked, **requests}.items()
        if resource in POD_LEVEL or resource.startswith("hugepages-")
    }


def _asked(container: Mapping[str, Any], path: str) -> Amounts:
    limits, requests = _stated(container, path)
    return {**limits, **requests}


def _stated(holder: Mapping[str, Any], path: str) -> tuple[Amounts, Amounts]:
    """Limits and requests, as written."""
    resources, here = mapping(holder, "resources", path), f"{path}.resources"
    return (
        _amounts(mapping(resources, "limits", here), f"{here}.limits"),
        _amounts(mapping(resources, "requests", here), f"{here}.requests"),
    )


def _amounts(raw: Mapping[str, Any], path: str) -> Amounts:
    return {resource: _amount(value, f"{path}[{resource}]") for resource, value in raw.items()}


def _amount(value: object, path: str) -> Amount:
    try:
        amount = read_quantity(value)
    except QuantityError as error:
        raise BadObject(path, str(error)) from None
    if amount < 0:
        raise BadObject(path, "an amount cannot be negative")
    return amount
