"""Checks of a pod spec, shared by Pods, Jobs and JobSets.

Only what a policy or a controller can meet: container basics, tolerations, gates. Volumes, probes
and security contexts pass unchecked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from webhook.sandbox.resources import Object
from webhook.sandbox.status import Cause
from webhook.sandbox.strategies.fields import (
    duplicate,
    forbidden,
    invalid,
    items,
    required,
    section,
)
from webhook.sandbox.strategies.names import label_faults, validate_labels

QUANTITY = re.compile(
    r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?", re.ASCII
)
_QUANTITY_TEXT = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)


def containers(spec: Object) -> list[Object]:
    """All containers, init containers first."""
    return items(spec, "initContainers") + items(spec, "containers")


def default_requests(spec: Object) -> None:
    """Requests from limits: done for a Pod, not for a template."""
    for container in containers(spec):
        limits = section(container, "resources", "limits")
        if limits:
            container["resources"]["requests"] = limits | section(
                container, "resources", "requests"
            )


def validate_template(template: Object, field: str) -> Iterator[Cause]:
    labels = section(template, "metadata", "labels")
    yield from validate_labels(labels, f"{field}.metadata.labels")
    yield from validate_pod_spec(section(template, "spec"), f"{field}.spec")


def validate_pod_spec(spec: Object, field: str) -> Iterator[Cause]:
    if not items(spec, "containers"):
        yield required(f"{field}.containers")
    seen: set[str] = set()
    for kind in ("initContainers", "containers"):
        for index, container in enumerate(items(spec, kind)):
            yield from _validate_container(container, f"{field}.{kind}[{index}]", seen)
    yield from validate_labels(section(spec, "nodeSelector"), f"{field}.nodeSelector")
    yield from _validate_gates(spec, field)


def _validate_container(container: Object, field: str, seen: set[str]) -> Iterator[Cause]:
    name = str(container.get("name") or "")
    if not name:
        yield required(f"{field}.name")
    elif name in seen:
        yield duplicate(f"{field}.name", name)
    else:
        yield from (invalid(f"{field}.name", name, fault) for fault in label_faults(name))
    seen.add(name)
    if not container.get("image"):
        yield required(f"{field}.image")
    for amounts in ("requests", "limits"):
        for resource, amount in section(container, "resources", amounts).items():
            yield from _validate_amount(f"{field}.resources.{amounts}[{resource}]", amount)


def _validate_amount(field: str, amount: object) -> Iterator[Cause]:
    if not QUANTITY.fullmatch(str(amount)):
        yield invalid(field, amount, _QUANTITY_TEXT)
    elif str(amount).startswith("-"):
        yield invalid(field, amount, "must be greater than or equal to 0")


def _validate_gates(spec: Object, field: str) -> Iterator[Cause]:
    names = [str(gate.get("name") or "") for gate in items(spec, "schedulingGates")]
    for index, name in enumerate(names):
        if name in names[:index]:
            yield duplicate(f"{field}.schedulingGates[{index}]", {"name": name})
    if names and spec.get("nodeName"):
        yield forbidden(
            f"{field}.nodeName", "cannot be set until all schedulingGates have been cleared"
        )
