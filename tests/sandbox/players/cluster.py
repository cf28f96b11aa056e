"""What the tests of the controllers do over and over: read, change, wait."""

from __future__ import annotations

from typing import Any

from tests.apiservers import JSON_PATCH, MERGE_PATCH, Client
from tests.waiting import eventually

Object = dict[str, Any]

READY = {
    "phase": "Running",
    "conditions": [{"type": "Ready", "status": "True"}],
    "containerStatuses": [
        {
            "name": "main",
            "image": "train:1",
            "imageID": "",
            "ready": True,
            "restartCount": 0,
            "state": {"running": {"startedAt": "2026-12-01T12:00:00Z"}},
        }
    ],
}


def read(client: Client, plural: str, name: str) -> Object:
    answer = client.get(client.path(plural, name))
    assert answer.code == 200, answer.body
    return answer.json


def items(client: Client, plural: str, selector: str = "") -> list[Object]:
    query = f"?labelSelector={selector}" if selector else ""
    found: list[Object] = client.get(client.path(plural) + query).json["items"]
    return sorted(found, key=lambda obj: str(obj["metadata"]["name"]))


def merge(client: Client, plural: str, name: str, body: Object, sub: str = "") -> Object:
    answer = client.patch(client.path(plural, name) + sub, body, MERGE_PATCH)
    assert answer.code == 200, answer.body
    return answer.json


def patch(client: Client, plural: str, name: str, *operations: Object) -> Object:
    answer = client.patch(client.path(plural, name), list(operations), JSON_PATCH)
    assert answer.code == 200, answer.body
    return answer.json


def condition(obj: Object, name: str) -> str | None:
    """The status of a condition, or None."""
    found = (obj.get("status") or {}).get("conditions") or []
    return next((str(c["status"]) for c in found if c["type"] == name), None)


def until(client: Client, plural: str, name: str, condition_type: str) -> Object:
    """The object once a condition is true."""

    def reached() -> Object | None:
        obj = read(client, plural, name)
        return obj if condition(obj, condition_type) == "True" else None

    return eventually(reached) or {}


def pods_of(client: Client, job: str, count: int) -> list[Object]:
    """The pods of a Job that are not being deleted, once there are as many."""

    def there() -> list[Object]:
        found = items(client, "pods", f"batch.kubernetes.io/job-name={job}")
        found = [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]
        assert len(found) == count, found
        return found

    return eventually(there)


def set_phase(client: Client, pod: Object, phase: str) -> None:
    """Play the end (or the start) of a pod."""
    status = READY if phase == "Running" else {"phase": phase, "containerStatuses": []}
    merge(client, "pods", pod["metadata"]["name"], {"status": status}, "/status")


def finish(client: Client, job: str, count: int, phase: str = "Succeeded") -> None:
    for pod in pods_of(client, job, count):
        set_phase(client, pod, phase)


def deleted(client: Client, plural: str, name: str, propagation: str = "Background") -> None:
    query = f"?propagationPolicy={propagation}"
    assert client.call("DELETE", client.path(plural, name) + query).code == 200


def gone(client: Client, plural: str, name: str) -> bool:
    return eventually(lambda: client.get(client.path(plural, name)).code == 404)
