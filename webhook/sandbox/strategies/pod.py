"""Pod: defaults, the first status, and the few fields that may change once it exists.

Scheduling gates only go: one JSON patch may add node selectors and tolerations and remove a gate,
since the OLD pod decides whether it is gated.
"""

from __future__ import annotations

from collections.abc import Iterator

from webhook.sandbox.resources import Object, Resource
from webhook.sandbox.status import Cause
from webhook.sandbox.strategies.fields import (
    copied,
    forbidden,
    immutable,
    invalid,
    items,
    made,
    number,
    same,
    section,
)
from webhook.sandbox.strategies.pod_spec import (
    containers,
    default_requests,
    validate_pod_spec,
)
from webhook.workloads.defaults import default_pod_spec, fill

UPDATABLE = (
    "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)
ONLY_ADDITIONS = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
GATED_MESSAGE = "Scheduling is blocked due to non-empty scheduling gates"


def _default(pod: Object) -> None:
    spec = made(pod, "spec")
    default_pod_spec(spec)
    default_requests(spec)
    fill(spec, {"enableServiceLinks": True, "preemptionPolicy": "PreemptLowerPriority"})
    if spec.get("priority") is None and not spec.get("priorityClassName"):
        spec["priority"] = 0


def prepare_create(_: Resource, pod: Object) -> None:
    _default(pod)
    pod["status"] = {"phase": "Pending", "qosClass": _quality(section(pod, "spec"))}
    if items(pod, "spec", "schedulingGates"):
        blocked = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}
        pod["status"]["conditions"] = [blocked | {"message": GATED_MESSAGE}]


def prepare_update(_: Resource, old: Object, new: Object) -> None:
    _default(new)
    if items(old, "spec", "schedulingGates") and not items(new, "spec", "schedulingGates"):
        rest = [
            c for c in items(new, "status", "conditions") if c.get("reason") != "SchedulingGated"
        ]
        new["status"] = section(new, "status") | {"conditions": rest}


def _quality(spec: Object) -> str:
    amounts = [
        section(c, "resources", kind) for c in containers(spec) for kind in ("requests", "limits")
    ]
    if not any(amounts):
        return "BestEffort"
    pairs = [section(c, "resources") for c in containers(spec)]
    full = all(same(p.get("requests"), p.get("limits")) and p.get("limits") for p in pairs)
    return "Guaranteed" if full else "Burstable"


def validate_create(_: Resource, pod: Object) -> Iterator[Cause]:
    yield from validate_pod_spec(section(pod, "spec"), "spec")


def validate_update(_: Resource, old: Object, new: Object, subresource: str) -> Iterator[Cause]:
    spec, was = section(new, "spec"), section(old, "spec")
    if subresource == "status":
        yield from immutable("status.nodeName", spec.get("nodeName"), was.get("nodeName"))
        return
    for kind in ("containers", "initContainers"):
        if len(items(spec, kind)) != len(items(was, kind)):
            yield forbidden(f"spec.{kind}", "pod updates may not add or remove containers")
            return
    yield from _validate_deadline(spec, was)
    yield from _validate_tolerations(spec, was)
    yield from _validate_gates(spec, was)
    yield from _validate_rest(spec, was)


def _validate_deadline(spec: Object, was: Object) -> Iterator[Cause]:
    field, new, old = (
        "spec.activeDeadlineSeconds",
        *(s.get("activeDeadlineSeconds") for s in (spec, was)),
    )
    if new is None and old is not None:
        yield invalid(field, None, "must not update from a positive integer to nil value")
    elif new is not None and number(new) < 0:
        yield invalid(field, new, "must be between 0 and 2147483647, inclusive")
    elif new is not None and old is not None and number(new) > number(old):
        yield invalid(field, new, "must be less than or equal to previous value")


def _validate_tolerations(spec: Object, was: Object) -> Iterator[Cause]:
    def key(toleration: Object) -> Object:
        return {k: v for k, v in toleration.items() if k != "tolerationSeconds"}

    kept = [key(toleration) for toleration in items(spec, "tolerations")]
    if any(key(toleration) not in kept for toleration in items(was, "tolerations")):
        text = "existing toleration can not be modified except its tolerationSeconds"
        yield forbidden("spec.tolerations", text)


def _validate_gates(spec: Object, was: Object) -> Iterator[Cause]:
    known = {gate.get("name") for gate in items(was, "schedulingGates")}
    for index, gate in enumerate(items(spec, "schedulingGates")):
        if gate.get("name") not in known:
            text = f"only deletion is allowed, but found new scheduling gate '{gate.get('name')}'"
            yield forbidden(f"spec.schedulingGates[{index}].name", text)


def _validate_rest(spec: Object, was: Object) -> Iterator[Cause]:
    """Everything that is neither updatable nor, on a gated pod, a directive must be as it was."""
    munged = copied(spec)
    for kind in ("containers", "initContainers"):
        for ours, theirs in zip(items(munged, kind), items(was, kind), strict=True):
            ours["image"] = theirs.get("image")
    for name in ("activeDeadlineSeconds", "tolerations", "schedulingGates"):
        munged[name] = was.get(name)
    if items(was, "schedulingGates"):
        yield from _validate_gated(munged, was)
    if not same(munged, was):
        changed = sorted(
            k for k in munged.keys() | was.keys() if not same(munged.get(k), was.get(k))
        )
        text = (
            f"pod updates may not change fields other than {UPDATABLE}\n{', '.join(changed)} differ"
        )
        yield forbidden("spec", text)


def _validate_gated(munged: Object, was: Object) -> Iterator[Cause]:
    """Additions to the node selector; node affinity where none was."""
    new, old = section(munged, "nodeSelector"), section(was, "nodeSelector")
    if any(new.get(key) != value for key, value in old.items()):
        yield invalid("spec.nodeSelector", new, ONLY_ADDITIONS)
    munged["nodeSelector"] = was.get("nodeSelector")
    before = section(was, "affinity").get("nodeAffinity")
    if before is None and section(munged, "affinity").pop("nodeAffinity", None) is not None:
        munged["affinity"] = section(munged, "affinity") or was.get("affinity")
