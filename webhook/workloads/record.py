"""The record of a start, as it stands in the annotation ``tidegate.dev/admission``.

Compact and deterministic, since annotations of an object share 256 KiB and a test compares texts. Junk reads as no
record at all: the loop then charges the workload as one it did not start, which is the safe side.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from webhook.model.kinds import Key, Object
from webhook.model.quantity import QuantityError, format_quantity, parse_quantity
from webhook.model.workload import Admission, Assigned, Injected
from webhook.workloads.objects import notes


def render_admission(admission: Admission) -> str:
    """The annotation's text."""
    body = {
        "queue": admission.queue,
        "at": admission.at,
        "revision": admission.revision,
        "podSets": [_pod_set_json(pods) for pods in admission.pod_sets],
    }
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False)


def _pod_set_json(pods: Assigned) -> dict[str, Any]:
    body: dict[str, Any] = {
        "name": pods.name,
        "count": pods.count,
        "flavors": dict(sorted(pods.flavors.items())),
        "amounts": {r: format_quantity(a, r) for r, a in sorted(pods.amounts.items())},
    }
    if pods.injected.nodes:
        body["nodes"] = dict(sorted(pods.injected.nodes.items()))
    if pods.injected.tolerations:
        body["tolerations"] = [dict(item) for item in pods.injected.tolerations]
    return body


def admission_of(obj: Object) -> Admission | None:
    """The record an object bears; None without one, or where it is no record of ours."""
    text = notes(obj).get(Key.ADMISSION)
    return parse_admission(text) if isinstance(text, str) else None


def parse_admission(text: str) -> Admission | None:
    """The reverse of ``render_admission``; None for junk."""
    try:
        body = json.loads(text)
        pod_sets = tuple(_pod_set(item) for item in body["podSets"])
        return Admission(str(body["queue"]), pod_sets, str(body["at"]), str(body["revision"]))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, QuantityError):
        return None


def _pod_set(item: Mapping[str, Any]) -> Assigned:
    if not isinstance(item["count"], int) or item["count"] < 0:
        raise ValueError("count")
    return Assigned(
        name=str(item["name"]),
        count=item["count"],
        flavors={str(r): str(f) for r, f in item["flavors"].items()},
        amounts={str(r): parse_quantity(a) for r, a in item["amounts"].items()},
        injected=Injected(
            {str(k): str(v) for k, v in item.get("nodes", {}).items()},
            tuple(dict(toleration) for toleration in item.get("tolerations", ())),
        ),
    )
