"""The record of a start, as it stands in the annotation ``tidegate.dev/admission``.

Compact and deterministic, since annotations of an object share 256 KiB and a test compares texts. Junk reads as no
record at all: the loop then charges the workload as one it did not start, which is the safe side.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from webhook.model.kinds import Key, Object
from webhook.model.quantity import Amount, QuantityError, format_quantity, parse_quantity
from webhook.model.workload import Admission, Assigned, Injected
from webhook.workloads.objects import notes

NOTHING_INJECTED = Injected()


def render_admission(admission: Admission) -> str:
    """The annotation's text."""
    body: dict[str, Any] = {
        "queue": admission.queue,
        "at": admission.at,
        "revision": admission.revision,
        "podSets": [_pod_set_json(pods) for pods in admission.pod_sets],
    }
    if admission.ready_at:
        body["ready"] = admission.ready_at
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False)


def _pod_set_json(pods: Assigned) -> dict[str, Any]:
    body: dict[str, Any] = {
        "name": pods.name,
        "count": pods.count,
        "flavors": dict(sorted(pods.flavors.items())),
        "amounts": {r: format_quantity(a, r) for r, a in sorted(pods.amounts.items())},
    }
    if pods.done:
        body["done"] = pods.done
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
        queue, at, revision = (_text(body[key]) for key in ("queue", "at", "revision"))
        return Admission(queue, pod_sets, at, revision, _text(body.get("ready", "")))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, QuantityError):
        return None


def _pod_set(item: Mapping[str, Any]) -> Assigned:
    return Assigned(
        name=_text(item["name"]),
        count=_count(item["count"]),
        flavors={r: _text(f) for r, f in item["flavors"].items()},
        amounts={r: _amount(a) for r, a in item["amounts"].items()},
        injected=Injected(
            {k: _text(v) for k, v in item.get("nodes", {}).items()},
            tuple({**toleration} for toleration in item.get("tolerations", ())),
        ),
        done=_count(item.get("done", 0)),
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("want a text")
    return value


def _count(value: object) -> int:
    if type(value) is not int or not 0 <= value < 2**31:
        raise ValueError("count")
    return value


def _amount(text: str) -> Amount:
    amount = parse_quantity(text)
    if amount < 0:
        raise ValueError("amount")
    return amount


def injected_into(record: Admission | None, pod_set: str) -> Injected:
    """What the record says was written into one pod template."""
    for pods in record.pod_sets if record else ():
        if pods.name == pod_set:
            return pods.injected
    return NOTHING_INJECTED
