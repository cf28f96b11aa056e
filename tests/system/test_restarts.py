"""Stopping, starting again and leaving, on both servers: quota is free when the pods are gone, not before."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.apiservers import MERGE_PATCH, Client
from tests.cluster.kubectl import Kubectl
from tests.system.cases import (
    QUEUE,
    SUBMITTED,
    create,
    free,
    is_gone,
    job,
    keep,
    kept,
    let_go,
    merge,
    pods_of,
    runs,
    stored,
    until_pods,
    until_runs,
)
from tests.system.crowd import pod_spec
from tests.system.rig import Rig
from tests.system.test_submitters import alice, team
from tests.waiting import eventually
from webhook.sandbox.server import Sandbox

__all__ = ["alice", "team"]
FULL = "needs 1 cpu, 0 free of 2"


@pytest.fixture(autouse=True)
def _nothing_is_kept(team: Client) -> Iterator[None]:
    """A test that fails leaves the queues to the next one."""
    yield
    let_go(team, kept(team))


def test_a_job_its_user_suspends_gives_its_quota_back_when_its_pods_are_gone(
    rig: Rig, team: Client, alice: Kubectl
) -> None:
    create(alice, job("first", "full", pods=2))
    until_runs(team, "first")
    pods = until_pods(team, "first", 2)
    keep(team, pods)
    create(alice, job("second", "full", pods=2))
    assert merge(alice, "job", "first", {"spec": {"suspend": True}}).returncode == 0
    eventually(lambda: all(p["metadata"].get("deletionTimestamp") for p in pods_of(team, "first")))
    rig.restart_webhook()
    rig.restart_loop()
    assert not runs(team, "second")
    assert not runs(team, "first")
    done = merge(alice, "job", "first", {"spec": {"suspend": False}})
    assert "suspend stays true" in done.stderr
    let_go(team, pods)
    # planned while the first was still going, so what it gave back is the second's
    until_runs(team, "second")
    assert not runs(team, "first")
    alice.ok("delete", "job", "second")
    until_runs(team, "first")
    until_pods(team, "first", 2)


def test_what_moves_to_another_queue_while_it_stops_leaves_its_pods_behind(
    team: Client, alice: Kubectl
) -> None:
    create(alice, job("mover", "full", pods=2))
    until_runs(team, "mover")
    pods = until_pods(team, "mover", 2)
    keep(team, pods)
    create(alice, job("next", "full", pods=2))
    merge(alice, "job", "mover", {"spec": {"suspend": True}})
    assert merge(alice, "job", "mover", {"metadata": {"labels": {QUEUE: "gpus"}}}).returncode == 0
    eventually(lambda: FULL in free(alice, "full")())
    assert not runs(team, "next")
    let_go(team, pods)
    until_runs(team, "next")
    until_runs(team, "mover")


@pytest.mark.parametrize("cascade", ["orphan", "background"])
def test_pods_that_outlive_their_job_stay_charged(
    rig: Rig, team: Client, alice: Kubectl, cascade: str
) -> None:
    create(alice, job("first", "full", pods=2))
    until_runs(team, "first")
    pods = until_pods(team, "first", 2)
    keep(team, pods)
    create(alice, job("second", "full", pods=2))
    alice.ok("delete", "job", "first", f"--cascade={cascade}")
    eventually(lambda: is_gone(team, "first"))
    again = job("first", "full", pods=2)  # under the same name, while the old pods are there
    create(alice, again)
    rig.restart_loop()
    eventually(lambda: FULL in free(alice, "full")())
    assert not runs(team, "second")
    assert not runs(team, "first")
    let_go(team, pods)
    until_runs(team, "second")


def test_a_put_of_the_whole_object_starts_and_unmarks_nothing(team: Client, alice: Kubectl) -> None:
    """As ``kubectl edit`` and ``replace`` write."""
    create(alice, job("holder", "full", pods=2))
    until_runs(team, "holder")
    create(alice, job("waits", "full"))
    mine = Client(team.server, team.namespace, "alice")
    before = stored(team, "waits")
    whole = stored(team, "waits")
    whole["spec"]["suspend"] = False
    whole["metadata"]["annotations"] = {"mine": "é"}
    whole["metadata"]["labels"] = None
    whole["status"] = {"conditions": [{"type": "Complete", "status": "True"}]}
    answer = mine.call("PUT", team.path("jobs", "waits"), whole)
    assert answer.code == 200, answer.body
    after = stored(team, "waits")
    assert after["spec"] == before["spec"]
    assert after["metadata"]["labels"][QUEUE] == "full"
    marks = after["metadata"]["annotations"]
    assert marks == before["metadata"]["annotations"] | {"mine": "é"}


def test_a_job_without_labels_queues_by_those_of_its_pods(team: Client, alice: Kubectl) -> None:
    """The API server copies them to the Job before anybody is asked."""
    obj = job("bare", None)
    del obj["metadata"]["labels"]
    obj["spec"]["template"]["metadata"] = {"labels": {QUEUE: "gpus"}}
    create(alice, obj)
    assert SUBMITTED in stored(team, "bare")["metadata"]["annotations"]
    until_runs(team, "bare")


def test_system_namespaces_are_left_alone(rig: Rig) -> None:
    system = Client(rig.server, "kube-system")
    name = f"chore-{secrets.token_hex(3)}"
    made = system.created("jobs", job(name, "no-such-queue"))
    try:
        assert made["spec"]["suspend"] is False
        assert made["metadata"].get("annotations", {}) == {}
    finally:
        system.call("DELETE", system.path("jobs", name) + "?propagationPolicy=Background")


def test_jobs_that_a_cronjob_makes_are_queued(rig: Rig, team: Client, alice: Kubectl) -> None:
    if isinstance(rig.server, Sandbox):
        pytest.skip("no CronJobs there")
    spec: dict[str, Any] = {"schedule": "* * * * *", "jobTemplate": {"spec": {}}}
    spec["jobTemplate"]["metadata"] = {"labels": {QUEUE: "full"}}
    spec["jobTemplate"]["spec"]["template"] = {"spec": pod_spec("2")}
    cron = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "nightly"}}
    create(alice, job("holder", "full", pods=2))
    until_runs(team, "holder")
    create(alice, cron | {"spec": spec})
    path = f"/apis/batch/v1/namespaces/{team.namespace}/cronjobs/nightly/status"
    missed = (datetime.now(UTC) - timedelta(minutes=2)).strftime("%Y-%m-%dT%H:%M:00Z")
    assert team.patch(path, {"status": {"lastScheduleTime": missed}}, MERGE_PATCH).code == 200
    made = eventually(lambda: owned_by_cron(team))
    assert made["spec"]["suspend"] is True
    assert made["metadata"]["annotations"][SUBMITTED]
    alice.ok("patch", "cronjob", "nightly", "--type=merge", "-p", '{"spec":{"suspend":true}}')
    alice.ok("delete", "job", "holder")
    until_runs(team, made["metadata"]["name"])


def owned_by_cron(team: Client) -> dict[str, Any]:
    items = team.get(team.path("jobs")).json["items"]
    found = [
        o for o in items if o["metadata"].get("ownerReferences", [{}])[0].get("kind") == "CronJob"
    ]
    return found[0] if found else {}
