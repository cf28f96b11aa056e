"""Jobs and JobSets for the tests of the sandbox, as a user would write them."""

from __future__ import annotations

from typing import Any

PLAY_SECONDS = "tidegate.dev/play-seconds"


def pod_template(
    *, seconds: float | None = None, annotations: dict[str, str] | None = None, **spec: Any
) -> dict[str, Any]:
    """A pod template; ``seconds``: how long each pod is played."""
    marks = dict(annotations or {})
    if seconds is not None:
        marks[PLAY_SECONDS] = str(seconds)
    template: dict[str, Any] = {
        "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "train:1"}]}
        | spec
    }
    if marks:
        template["metadata"] = {"annotations": marks}
    return template


def job(name: str, *, template: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"template": template or pod_template()} | spec,
    }


def jobset(name: str, *replicated: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name},
        "spec": {"replicatedJobs": list(replicated) or [replicated_job()]} | spec,
    }


def replicated_job(
    name: str = "workers",
    *,
    replicas: int = 1,
    template: dict[str, Any] | None = None,
    **spec: Any,
) -> dict[str, Any]:
    return {
        "name": name,
        "replicas": replicas,
        "template": {"spec": {"template": template or pod_template()} | spec},
    }


def pod(name: str, **spec: Any) -> dict[str, Any]:
    containers = [{"name": "main", "image": "train:1"}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {"containers": containers} | spec,
    }
