"""What several system tests do: submit as a user, look at what is stored, keep pods from going."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.apiservers import JSON_PATCH, MERGE_PATCH, Client
from tests.cluster.kubectl import Kubectl
from tests.system.crowd import pod_spec
from tests.waiting import eventually

QUEUE = "tidegate.dev/queue"
SUBMITTED = "tidegate.dev/submitted"
HOLD = "tidegate.dev/hold"
KEEP = "test.example/keep"
NODE = {"apiVersion": "v1", "kind": "Node", "name": "test-node"}

Object = dict[str, Any]


def job(name: str, queue: str | None, pods: int = 1, cpu: str = "1") -> Object:
    labels = {"app": "test"} | ({QUEUE: queue} if queue else {})
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "labels": labels},
        "spec": {"parallelism": pods, "completions": pods, "template": {"spec": pod_spec(cpu)}},
    }


def jobset(name: str, queue: str | None, cpu: str = "1", **spec: Any) -> Object:
    """One replicated job ``workers`` of one child with one pod."""
    child: Object = {"parallelism": 1, "completions": 1, "backoffLimit": 0}
    child["template"] = {"spec": pod_spec(cpu)}
    part = {"name": "workers", "replicas": 1, "template": {"spec": child}}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name, "labels": {QUEUE: queue} if queue else {}},
        "spec": {"replicatedJobs": [part], **spec},
    }


def create(kubectl: Kubectl, obj: Object) -> None:
    kubectl.ok("create", "-f", "-", stdin=json.dumps(obj))


def merge(kubectl: Kubectl, kind: str, name: str, change: Object) -> Any:
    """``kubectl patch``: its exit code and words."""
    return kubectl.run("patch", kind, name, "--type=merge", "-p", json.dumps(change))


def stored(team: Client, name: str, plural: str = "jobs") -> Object:
    answer = team.get(team.path(plural, name))
    assert answer.code == 200, answer.body
    return answer.json


def is_gone(team: Client, name: str, plural: str = "jobs") -> bool:
    return team.get(team.path(plural, name)).code == 404


def runs(team: Client, name: str, plural: str = "jobs") -> bool:
    return stored(team, name, plural)["spec"].get("suspend") is False


def until_runs(team: Client, name: str, plural: str = "jobs") -> None:
    eventually(lambda: runs(team, name, plural))


def pods_of(team: Client, job_name: str) -> list[Object]:
    query = f"?labelSelector=batch.kubernetes.io/job-name={job_name}"
    items: list[Object] = team.get(team.path("pods") + query).json["items"]
    return items


def until_pods(team: Client, job_name: str, count: int = 1) -> list[Object]:
    return eventually(lambda: found if len(found := pods_of(team, job_name)) == count else [])


def keep(team: Client, pods: list[Object]) -> None:
    """They stay, as in a long grace period, until they are let go.

    Bound to a node, since pods that end without one are declared failed every now and then.
    """
    for pod in pods:
        path = team.path("pods", pod["metadata"]["name"])
        target = {"metadata": {"name": pod["metadata"]["name"]}, "target": NODE}
        assert team.call("POST", f"{path}/binding", target).code in (201, 409)
        finalizers = [*pod["metadata"].get("finalizers", []), KEEP]
        done = team.patch(path, {"metadata": {"finalizers": finalizers}}, MERGE_PATCH)
        assert done.code == 200, done.body


def let_go(team: Client, pods: list[Object]) -> None:
    for pod in pods:
        path = team.path("pods", pod["metadata"]["name"])
        at = team.get(path).json["metadata"].get("finalizers", []).index(KEEP)
        step = {"op": "remove", "path": f"/metadata/finalizers/{at}"}
        assert team.patch(path, [step], JSON_PATCH).code == 200
        team.call("DELETE", f"{path}?gracePeriodSeconds=0")


def kept(team: Client) -> list[Object]:
    items = team.get(team.path("pods")).json["items"]
    return [pod for pod in items if KEEP in pod["metadata"].get("finalizers", [])]


def free(kubectl: Kubectl, queue: str) -> Callable[[], str]:
    """What a dry run of a small Job is told of the queue: the loop's own numbers, as they are now."""

    def ask() -> str:
        done = kubectl.run(
            "create", "--dry-run=server", "-f", "-", stdin=json.dumps(job("x", queue))
        )
        return str(done.stderr.strip())

    return ask
