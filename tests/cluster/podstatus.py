"""What a pod says about itself, and what a kubelet would write into its status.

Takes a pod and the time, returns a body for a merge patch of the status. Lists are built
whole, because a merge patch replaces them.
"""

from __future__ import annotations

import datetime
from typing import Any

Pod = dict[str, Any]
Status = dict[str, Any]

ENDED = ("Succeeded", "Failed")
READY_CONDITIONS = ("PodScheduled", "Initialized", "ContainersReady", "Ready")


def uid(pod: Pod) -> str:
    return str(pod["metadata"]["uid"])


def version(pod: Pod) -> int:
    """Resource versions of the same resource may be compared as numbers (promised since 1.35)."""
    return int(pod["metadata"]["resourceVersion"])


def labels(pod: Pod) -> dict[str, str]:
    return dict(pod["metadata"].get("labels") or {})


def annotation(pod: Pod, name: str) -> str | None:
    return (pod["metadata"].get("annotations") or {}).get(name)


def phase(pod: Pod) -> str:
    return str(pod.get("status", {}).get("phase", "Pending"))


def is_gated(pod: Pod) -> bool:
    return bool(pod["spec"].get("schedulingGates"))


def is_bound(pod: Pod) -> bool:
    return bool(pod["spec"].get("nodeName"))


def is_deleting(pod: Pod) -> bool:
    return "deletionTimestamp" in pod["metadata"]


def is_released(pod: Pod) -> bool:
    """Its kubelet has let go of it: only finalizers keep it."""
    return is_deleting(pod) and pod["metadata"].get("deletionGracePeriodSeconds") == 0


def has_ended(pod: Pod) -> bool:
    return phase(pod) in ENDED


def now() -> datetime.datetime:
    """The clock, for those who call the functions below."""
    return datetime.datetime.now(datetime.UTC)


def running_seconds(pod: Pod, now: datetime.datetime) -> float:
    """How long it has run, to the second, by what its status says."""
    started = pod.get("status", {}).get("startTime")
    if started is None:
        return 0.0
    return max(0.0, (now - datetime.datetime.fromisoformat(started)).total_seconds())


def running(pod: Pod, now: datetime.datetime) -> Status:
    """The status of a pod whose containers are all ready."""
    started = {"running": {"startedAt": _stamp(now)}}
    status: Status = {
        "phase": "Running",
        "startTime": _stamp(now),
        "conditions": _conditions(pod, now, ready=True, reason=""),
        "containerStatuses": _containers(pod, "containers", started, ready=True),
    }
    if pod["spec"].get("initContainers"):
        status["initContainerStatuses"] = _init_containers(pod, now)
    return status


def ended(pod: Pod, exit_code: int, now: datetime.datetime) -> Status:
    """The status of a pod all of whose containers have ended with this code."""
    reason = "Error" if exit_code else "Completed"
    times = {"startedAt": pod["status"].get("startTime", _stamp(now)), "finishedAt": _stamp(now)}
    state = {"terminated": {"exitCode": exit_code, "reason": reason, **times}}
    return {
        "phase": "Failed" if exit_code else "Succeeded",
        "conditions": _conditions(
            pod, now, ready=False, reason="PodFailed" if exit_code else "PodCompleted"
        ),
        "containerStatuses": _containers(pod, "containers", state, ready=False),
    }


def _conditions(
    pod: Pod, now: datetime.datetime, *, ready: bool, reason: str
) -> list[dict[str, Any]]:
    """The kubelet's conditions over those of others (such as DisruptionTarget), which stay."""
    known = {one["type"]: one for one in pod.get("status", {}).get("conditions") or []}
    for kind in READY_CONDITIONS:
        holds = ready or kind in ("PodScheduled", "Initialized")
        one = {"type": kind, "status": str(holds), "lastTransitionTime": _stamp(now)}
        if not holds:
            one["reason"] = reason
        if known.get(kind, {}).get("status") != one["status"]:
            known[kind] = one
    return list(known.values())


def _containers(pod: Pod, field: str, state: Status, *, ready: bool) -> list[dict[str, Any]]:
    return [_container(one, state, ready=ready) for one in pod["spec"][field]]


def _init_containers(pod: Pod, now: datetime.datetime) -> list[dict[str, Any]]:
    """Sidecars run, the others are done."""
    times = {"startedAt": _stamp(now), "finishedAt": _stamp(now)}
    done = {"terminated": {"exitCode": 0, "reason": "Completed", **times}}
    alive = {"running": {"startedAt": _stamp(now)}}
    return [
        _container(one, alive if one.get("restartPolicy") == "Always" else done, ready=True)
        for one in pod["spec"]["initContainers"]
    ]


def _container(container: dict[str, Any], state: Status, *, ready: bool) -> dict[str, Any]:
    return {
        "name": container["name"],
        "image": container.get("image", ""),
        "imageID": "",
        "ready": ready,
        "started": ready,
        "restartCount": 0,
        "state": state,
    }


def _stamp(now: datetime.datetime) -> str:
    return now.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
