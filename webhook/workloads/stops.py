"""The writes of a stop, and the record of it in the annotation ``tidegate.dev/evicted``.

All that must outlive the loop stands there: how often pods were not ready in time, when the next try is due, and the
place in the line that it has since. Junk reads as no record: the workload then waits at its original place.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from webhook.model.kinds import Key, Object
from webhook.model.patch import NO_PATCH, Patch, drop, put
from webhook.model.workload import Cause, Evicted
from webhook.workloads.objects import notes, read_time, write_time
from webhook.workloads.record import admission_of, render_admission
from webhook.workloads.start import RECORD, locked, suspend

_NOTES = ("metadata", "annotations")


def render_evicted(evicted: Evicted) -> str:
    """The annotation's text: compact, and without what is not said."""
    body: dict[str, Any] = {"reason": evicted.cause.value, "at": write_time(evicted.at)}
    if evicted.by:
        body["by"] = evicted.by
    if evicted.count:
        body["count"] = evicted.count
    for key, moment in (("notBefore", evicted.not_before), ("place", evicted.place)):
        if moment is not None:
            body[key] = write_time(moment)
    return json.dumps(body, separators=(",", ":"), ensure_ascii=False)


def evicted_of(obj: Object) -> Evicted | None:
    """The record an object bears; None without one, or where it is no record of ours."""
    text = notes(obj).get(Key.EVICTED)
    return parse_evicted(text) if isinstance(text, str) else None


def parse_evicted(text: str) -> Evicted | None:
    """The reverse of ``render_evicted``; None for junk."""
    try:
        body = json.loads(text)
        return Evicted(
            cause=Cause(body["reason"]),
            at=_moment(body["at"]),
            by=str(body.get("by", "")),
            count=_count(body.get("count", 0)),
            not_before=_moment(body["notBefore"]) if "notBefore" in body else None,
            place=_moment(body["place"]) if "place" in body else None,
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _moment(text: object) -> float:
    moment = read_time(text)
    if moment is None:
        raise ValueError("want a time")
    return moment


def _count(value: object) -> int:
    if type(value) is not int or not 0 <= value < 2**31:
        raise ValueError("count")
    return value


def stop(obj: Object, evicted: Evicted, hold: str | None = None) -> Patch:
    """The one write of a stop: suspended, with the record of it, and on hold where ``hold`` gives the reason.

    Locked by the object's resourceVersion, as a start is. What a start injected stays until the next start.
    """
    fresh = {Key.EVICTED: render_evicted(evicted)}
    if hold is not None:
        fresh[Key.HOLD] = hold
    return (locked(obj), *suspend(obj), *_noted(obj, fresh))


def mark_ready(obj: Object, moment: float) -> Patch:
    """Operations that note in the record of the start when all pods were first ready; none without a record.

    The failures before it are forgotten with it: the next time its pods are late is the first.
    """
    record = admission_of(obj)
    if record is None or record.ready_at:
        return NO_PATCH
    text = render_admission(replace(record, ready_at=write_time(moment)))
    return (locked(obj), *put(obj, RECORD, text), *drop(obj, (*_NOTES, Key.EVICTED)))


def _noted(obj: Object, fresh: dict[str, str]) -> Patch:
    """Operations that add annotations; what was never queued by us may have none at all."""
    if not notes(obj):
        return put(obj, _NOTES, fresh)
    return tuple(op for key, text in fresh.items() for op in put(obj, (*_NOTES, key), text))
