"""The columns of a pod, whose STATUS is a small story of its own."""

from __future__ import annotations

from datetime import datetime

from webhook.sandbox.resources import Object


def _statuses(obj: Object) -> list[Object]:
    return list((obj.get("status") or {}).get("containerStatuses") or [])


def pod_ready(obj: Object, _now: datetime) -> str:
    ready = sum(bool(status.get("ready")) for status in _statuses(obj))
    return f"{ready}/{len((obj.get('spec') or {}).get('containers') or [])}"


def pod_restarts(obj: Object, _now: datetime) -> str:
    return str(sum(int(status.get("restartCount", 0)) for status in _statuses(obj)))


def pod_status(obj: Object, _now: datetime) -> str:
    """The phase, or what is more telling: gated, waiting for what, ended how, terminating."""
    status = obj.get("status") or {}
    word = str(status.get("reason") or status.get("phase") or "Unknown")
    if _gated(status):
        word = "SchedulingGated"
    for container in reversed(_statuses(obj)):
        word = _container_word(container.get("state") or {}) or word
    if "deletionTimestamp" in obj["metadata"] and status.get("phase") not in _ENDED:
        return "Terminating"
    return word


_ENDED = ("Succeeded", "Failed")


def _gated(status: Object) -> bool:
    return any(
        condition.get("type") == "PodScheduled" and condition.get("reason") == "SchedulingGated"
        for condition in status.get("conditions") or []
    )


def _container_word(state: Object) -> str:
    if reason := (state.get("waiting") or {}).get("reason"):
        return str(reason)
    if ended := state.get("terminated"):
        return str(ended.get("reason") or f"ExitCode:{ended.get('exitCode', 0)}")
    return ""
