"""GitOps: a started Job and JobSet are re-applied unchanged, ten times each way; nothing fails, nothing is written.

The manifests spell out what JobSet would default; a start has injected node selectors and tolerations, which every
way of applying drops. What the sandbox does not do (server-side apply) it refuses, and that is its test.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.apiservers import Client
from tests.cluster.kubectl import Kubectl
from tests.system.crowd import pod_spec
from tests.system.rig import Rig
from tests.system.test_submitters import QUEUE, alice, stored, team
from tests.waiting import eventually
from webhook.sandbox.server import Sandbox

__all__ = ["alice", "team"]
TIMES = 10
OWN_TOLERATION = {"key": "own", "operator": "Exists", "effect": "NoSchedule"}


def pod() -> dict[str, Any]:
    return pod_spec("1") | {"nodeSelector": {"zone": "a"}, "tolerations": [OWN_TOLERATION]}


def a_job() -> dict[str, Any]:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "applied", "labels": {QUEUE: "gpus"}},
        "spec": {
            "parallelism": 1,
            "completions": 1,
            "suspend": False,
            "template": {"spec": pod()},
        },
    }


def a_jobset() -> dict[str, Any]:
    """With JobSet's defaults: a manifest without them cannot be re-applied even where we are not."""
    child = {
        "parallelism": 1,
        "completions": 1,
        "completionMode": "Indexed",
        "backoffLimit": 0,
        "template": {"metadata": {}, "spec": pod()},
    }
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "applied", "labels": {QUEUE: "gpus"}},
        "spec": {
            "suspend": False,
            "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
            "startupPolicy": {"startupPolicyOrder": "AnyOrder"},
            "successPolicy": {"operator": "All"},
            "replicatedJobs": [
                {
                    "name": "workers",
                    "groupName": "default",
                    "replicas": 1,
                    "template": {"metadata": {}, "spec": child},
                }
            ],
        },
    }


MANIFESTS = [pytest.param(a_job, "jobs", id="job"), pytest.param(a_jobset, "jobsets", id="jobset")]


@pytest.mark.parametrize(("make", "plural"), MANIFESTS)
def test_client_side_apply(team: Client, alice: Kubectl, make: Any, plural: str) -> None:
    manifest = json.dumps(make())
    alice.ok("apply", "-f", "-", stdin=manifest)
    started(team, plural)
    assert reapplied(team, alice, plural, manifest) == 0


@pytest.mark.parametrize(("make", "plural"), MANIFESTS)
def test_server_side_apply_with_force(
    rig: Rig, team: Client, alice: Kubectl, make: Any, plural: str
) -> None:
    manifest = json.dumps(make())
    way = ("--server-side", "--force-conflicts", "--field-manager=argocd")
    if isinstance(rig.server, Sandbox):
        done = alice.run("apply", *way, "-f", "-", stdin=manifest)
        assert done.returncode != 0
        assert "server-side apply" in done.stderr
        return
    alice.ok("apply", *way, "-f", "-", stdin=manifest)
    started(team, plural)
    assert reapplied(team, alice, plural, manifest, *way) == 0


def started(team: Client, plural: str) -> None:
    """Until it has started and its controller has said all it has to say for now."""
    eventually(lambda: stored(team, "applied", plural)["spec"]["suspend"] is False)
    selector = pod_of(stored(team, "applied", plural))["nodeSelector"]
    assert selector == {"zone": "a", "accelerator": "a100"}
    eventually(lambda: settled(team, plural))


def settled(team: Client, plural: str) -> bool:
    status = stored(team, "applied", plural).get("status", {})
    if plural == "jobs":
        return status.get("active") == 1
    jobs = status.get("replicatedJobsStatus", [])
    return bool(jobs) and jobs[0].get("suspended", 0) == 0


def reapplied(team: Client, alice: Kubectl, plural: str, manifest: str, *way: str) -> int:
    """Applies it ten times; how many of the applies after the first wrote anything."""
    versions = []
    for _ in range(TIMES):
        alice.ok("apply", *way, "-f", "-", stdin=manifest)
        obj = stored(team, "applied", plural)
        assert pod_of(obj)["nodeSelector"] == {"zone": "a", "accelerator": "a100"}
        assert OWN_TOLERATION in pod_of(obj)["tolerations"]
        assert len(pod_of(obj)["tolerations"]) == 2
        assert obj["spec"]["suspend"] is False
        versions.append((obj["metadata"]["generation"], fields_written(obj)))
    return len(set(versions[1:])) - 1 if versions[1:] else 0


def fields_written(obj: dict[str, Any]) -> str:
    """Everything but status and what status writes: the controllers may go on writing that.

    Of who owns which field neither the order nor the second counts: both follow the clock.
    """
    metadata = {k: v for k, v in obj["metadata"].items() if k != "resourceVersion"}
    entries = [e for e in metadata.get("managedFields", []) if e.get("subresource") != "status"]
    owned = [{k: v for k, v in entry.items() if k != "time"} for entry in entries]
    metadata["managedFields"] = sorted(owned, key=lambda entry: str(entry["manager"]))
    return json.dumps([metadata, obj["spec"]], sort_keys=True)


def pod_of(obj: dict[str, Any]) -> dict[str, Any]:
    if obj["kind"] == "JobSet":
        obj = obj["spec"]["replicatedJobs"][0]["template"]
    spec: dict[str, Any] = obj["spec"]["template"]["spec"]
    return spec
