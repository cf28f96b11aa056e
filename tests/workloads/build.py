"""Objects as the API server shows them, in as few words as a test needs."""

from __future__ import annotations

import copy
import json
from typing import Any

import jsonpatch

from webhook.model.kinds import Key, Object
from webhook.model.patch import Patch
from webhook.model.quantity import parse_quantity
from webhook.model.workload import Admission, Assigned, Injected
from webhook.workloads.record import render_admission


def container(cpu: str | None = "1", **resources: dict[str, str]) -> dict[str, Any]:
    """One that asks for so much cpu; or ``requests=`` and ``limits=`` spelled out."""
    return {"name": "c", "resources": resources or {"requests": {"cpu": cpu}}}


def template(*containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {"spec": {"containers": list(containers or [container()]), **spec}}


def job(
    name: str = "train",
    *,
    status: dict[str, Any] | None = None,
    conditions: tuple[str, ...] = (),
    pods: dict[str, Any] | None = None,
    record: Admission | None = None,
    metadata: dict[str, Any] | None = None,
    **spec: Any,
) -> Object:
    notes = {} if record is None else {Key.ADMISSION: render_admission(record)}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": "team-a",
            "uid": f"uid-{name}",
            "resourceVersion": "7",
            "creationTimestamp": "2026-11-01T10:00:00Z",
            "annotations": notes,
            **(metadata or {}),
        },
        "spec": {"parallelism": 1, "template": pods or template(), **spec},
        "status": {"conditions": [condition(c) for c in conditions], **(status or {})},
    }


def condition(text: str) -> dict[str, str]:
    """``"Suspended"`` stands at True, ``"Suspended=False"`` does not."""
    name, _, status = text.partition("=")
    return {"type": name, "status": status or "True"}


def replicated(
    name: str = "workers", replicas: int = 1, pods: dict[str, Any] | None = None, **spec: Any
) -> dict[str, Any]:
    return {
        "name": name,
        "replicas": replicas,
        "template": {"spec": {"parallelism": 1, "template": pods or template(), **spec}},
    }


def jobset(
    *items: dict[str, Any],
    name: str = "js",
    conditions: tuple[str, ...] = (),
    succeeded: dict[str, int] | None = None,
    record: Admission | None = None,
    metadata: dict[str, Any] | None = None,
    **spec: Any,
) -> Object:
    done = [{"name": key, "succeeded": number} for key, number in (succeeded or {}).items()]
    obj = job(name, conditions=conditions, record=record, metadata=metadata)
    return obj | {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "spec": {"replicatedJobs": list(items or [replicated()]), **spec},
        "status": obj["status"] | {"replicatedJobsStatus": done},
    }


def child(name: str, parent: str = "js", **more: Any) -> Object:
    owner = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "name": parent,
        "uid": f"uid-{parent}",
        "controller": True,
    }
    return job(name, metadata={"ownerReferences": [owner]}, **more)


def admission(
    count: int = 1, name: str = "main", flavor: str = "default", **more: Any
) -> Admission:
    return Admission("ml", (assigned(count, name, flavor, **more),), "2026-11-01T10:00:01Z", "r1")


def assigned(
    count: int = 1,
    name: str = "main",
    flavor: str = "default",
    *,
    nodes: dict[str, str] | None = None,
    tolerations: tuple[dict[str, str], ...] = (),
) -> Assigned:
    amounts = {"cpu": count * parse_quantity("1")}
    return Assigned(name, count, {"cpu": flavor}, amounts, Injected(nodes or {}, tolerations))


def applied(obj: Object, patch: Patch) -> Object:
    """The object after the patch, applied by a library that is not ours from what goes over the wire."""
    text = json.dumps([op.as_json() for op in patch])
    result: Object = jsonpatch.JsonPatch.from_string(text).apply(copy.deepcopy(obj))
    return result
