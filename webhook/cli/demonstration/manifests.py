"""Jobs and JobSets as a team would write them: no queue, no suspend, only what they need.

How long a pod runs is on it: the sandbox's players read the annotation, a real node the command.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from webhook.model.kinds import Key, Object

PLAY_SECONDS = "tidegate.dev/play-seconds"
IMAGE = "busybox"


@dataclass(frozen=True, slots=True)
class Pods:
    """So many equal pods, what each asks for, and how long it runs."""

    count: int
    requests: Mapping[str, str]
    seconds: float
    name: str = "main"


@dataclass(frozen=True, slots=True)
class Title:
    """Who submits it, under which name; ``queue`` only where somebody names one himself."""

    namespace: str
    name: str
    team: str | None
    priority: str | None = None
    queue: str | None = None


def job(title: Title, pods: Pods, *, rounds: int = 1) -> Object:
    """``rounds``: so many times as many pods in all as run at once."""
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": _metadata(title),
        "spec": _job_spec(pods, rounds),
    }


def jobset(title: Title, parts: Sequence[Pods]) -> Object:
    """One replicated job for each part, with one child Job each."""
    replicated = [
        {"name": part.name, "replicas": 1, "template": {"spec": _job_spec(part, 1)}}
        for part in parts
    ]
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": _metadata(title),
        "spec": {"replicatedJobs": replicated},
    }


def _metadata(title: Title) -> dict[str, Any]:
    given = {"team": title.team, Key.PRIORITY: title.priority, Key.QUEUE: title.queue}
    labels = {key: value for key, value in given.items() if value is not None}
    return {"namespace": title.namespace, "name": title.name, "labels": labels}


def _job_spec(pods: Pods, rounds: int) -> dict[str, Any]:
    return {
        "parallelism": pods.count,
        "completions": pods.count * rounds,
        "backoffLimit": 0,
        "template": _template(pods),
    }


def _template(pods: Pods) -> dict[str, Any]:
    container: dict[str, Any] = {
        "name": "main",
        "image": IMAGE,
        "command": ["sleep", f"{pods.seconds:.2f}"],
        "resources": {"requests": dict(pods.requests)},
    }
    extended = {name: amount for name, amount in pods.requests.items() if "/" in name}
    if extended:  # a real API server wants limits wherever it cannot overcommit
        container["resources"]["limits"] = extended
    return {
        "metadata": {"annotations": {PLAY_SECONDS: f"{pods.seconds:.2f}"}},
        "spec": {
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 1,
            "containers": [container],
        },
    }
