"""What a person at the keyboard sees: refusals and warnings of one line, forged parents that gain nothing."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from typing import Any

import pytest

from tests.apiservers import Client
from tests.cluster.kubectl import Kubectl
from tests.system.crowd import pod_spec
from tests.system.rig import Rig
from tests.waiting import eventually

QUEUE = "tidegate.dev/queue"


@pytest.fixture
def team(rig: Rig) -> Iterator[Client]:
    """Calls of the administrator in a new namespace."""
    client = Client(rig.server, f"team-{secrets.token_hex(3)}")
    made = client.call("POST", "/api/v1/namespaces", {"metadata": {"name": client.namespace}})
    assert made.code == 201
    account = {"metadata": {"name": "default"}}
    client.call("POST", f"/api/v1/namespaces/{client.namespace}/serviceaccounts", account)
    yield client
    client.call("DELETE", f"/api/v1/namespaces/{client.namespace}")


@pytest.fixture
def alice(team: Client) -> Kubectl:
    return Kubectl(team.server.kubeconfig("alice"), team.namespace)


def job(name: str, queue: str, *, pods: int = 1, **requests: Any) -> dict[str, Any]:
    pod = pod_spec("1")
    pod["containers"][0]["resources"]["requests"] |= requests
    pod["containers"][0]["resources"]["limits"] = {k: v for k, v in requests.items() if "/" in k}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        # A Job without any label takes over those of its pod template, the queue's among them.
        "metadata": {"name": name, "labels": {QUEUE: queue, "app": "test"}},
        "spec": {"parallelism": pods, "completions": pods, "template": {"spec": pod}},
    }


def create(kubectl: Kubectl, obj: dict[str, Any]) -> Any:
    return kubectl.run("create", "-f", "-", stdin=json.dumps(obj))


def stored(team: Client, name: str, plural: str = "jobs") -> dict[str, Any]:
    answer = team.get(team.path(plural, name))
    assert answer.code == 200, answer.body
    return answer.json


def refusal(done: Any) -> str:
    """The line after kubectl's own words; there must be no second one."""
    assert done.returncode == 1
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    _, _, said = lines[0].partition("denied the request: ")
    return str(said)


def test_a_denied_job_is_told_the_rule_its_place_and_the_numbers(alice: Kubectl) -> None:
    done = create(alice, job("big", "gpus", pods=1, **{"nvidia.com/gpu": "5"}))
    assert refusal(done) == (
        "one workload may ask for at most 4 GPUs, this one asks for 5"
        " (deny too-big policies/teams.tide:14)"
    )


def test_a_job_that_can_never_fit_is_told_so_with_the_numbers(alice: Kubectl) -> None:
    done = create(alice, job("vast", "full", pods=3))
    assert refusal(done) == (
        "can never start: needs 3 cpu, full can never have more than 2"
        " (queue full policies/teams.tide:12)"
    )


def test_a_job_of_an_unknown_queue_is_told_the_nearest_one(alice: Kubectl) -> None:
    assert (
        refusal(create(alice, job("lost", "gpu"))) == "no queue named 'gpu', did you mean 'gpus'?"
    )


def test_a_waiting_job_is_told_where_it_waits(team: Client, alice: Kubectl) -> None:
    assert create(alice, job("first", "full", pods=2)).returncode == 0
    eventually(lambda: stored(team, "first")["spec"]["suspend"] is False)

    def told() -> str:
        """Asked by a dry run, since the loop's numbers reach the webhook a moment after the start."""
        done = alice.run(
            "create", "--dry-run=server", "-f", "-", stdin=json.dumps(job("x", "full"))
        )
        return str(done.stderr.strip())

    eventually(lambda: told().endswith("queued in full: needs 1 cpu, 0 free of 2, 0 ahead"))
    done = create(alice, job("second", "full"))
    assert done.stderr.strip() == "Warning: queued in full: needs 1 cpu, 0 free of 2, 0 ahead"
    assert stored(team, "second")["spec"]["suspend"] is True


def test_forged_parents_gain_nothing(team: Client, alice: Kubectl) -> None:
    assert create(alice, job("holder", "full", pods=2)).returncode == 0
    eventually(lambda: stored(team, "holder")["spec"]["suspend"] is False)
    assert create(alice, jobset("live")).returncode == 0
    eventually(lambda: stored(team, "live", "jobsets")["spec"]["suspend"] is False)
    uid = stored(team, "live", "jobsets")["metadata"]["uid"]
    copied = owned(job("copied", "full"), "jobset.x-k8s.io/v1alpha2", "JobSet", "live", uid)
    unknown = owned(job("unknown", "full"), "foo.bar/v1", "Foo", "nobody", "1234")
    later = job("later", "full")
    for obj in (copied, unknown, later):
        assert create(alice, obj).returncode == 0
    reference = copied["metadata"]["ownerReferences"]
    escape = {"metadata": {"ownerReferences": reference}, "spec": {"suspend": False}}
    assert (
        alice.run("patch", "job", "later", "--type=merge", "-p", json.dumps(escape)).returncode == 0
    )
    for name in ("copied", "unknown", "later"):
        obj = stored(team, name)
        assert obj["spec"]["suspend"] is True, name
        assert "tidegate.dev/submitted" in obj["metadata"]["annotations"], name
        assert obj["metadata"]["labels"][QUEUE] == "full", name


def test_a_user_starts_nothing_by_hand(team: Client, alice: Kubectl) -> None:
    assert create(alice, job("holder", "full", pods=2)).returncode == 0
    eventually(lambda: stored(team, "holder")["spec"]["suspend"] is False)
    assert create(alice, job("impatient", "full")).returncode == 0
    before = stored(team, "impatient")
    done = alice.run(
        "patch", "job", "impatient", "--type=merge", "-p", '{"spec":{"suspend":false}}'
    )
    assert done.returncode == 0
    assert "suspend stays true: it waits in queue full" in done.stderr
    assert stored(team, "impatient")["spec"] == before["spec"]
    done = alice.run("label", "job", "impatient", f"{QUEUE}-")
    assert f"label {QUEUE} stays" in done.stderr
    done = alice.run("label", "job", "holder", "--overwrite", f"{QUEUE}=gpus")
    assert "a started workload stays in queue full" in done.stderr


def jobset(name: str) -> dict[str, Any]:
    child = {
        "parallelism": 1,
        "completions": 1,
        "backoffLimit": 0,
        "template": {"spec": pod_spec("1")},
    }
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name, "labels": {QUEUE: "gpus"}},
        "spec": {
            "replicatedJobs": [{"name": "workers", "replicas": 1, "template": {"spec": child}}]
        },
    }


def owned(obj: dict[str, Any], version: str, kind: str, name: str, uid: str) -> dict[str, Any]:
    reference = {"apiVersion": version, "kind": kind, "name": name, "uid": uid, "controller": True}
    obj["metadata"]["ownerReferences"] = [reference]
    return obj
