"""Children of a JobSet, on both servers: they wait with it, run with it, and are nobody's way around the queue."""

from __future__ import annotations

import json
from typing import Any

from tests.apiservers import Client
from tests.cluster.kubectl import Kubectl
from tests.system.cases import (
    HOLD,
    KEEP,
    QUEUE,
    SUBMITTED,
    create,
    free,
    is_gone,
    job,
    jobset,
    merge,
    pods_of,
    runs,
    stored,
    until_pods,
    until_runs,
)
from tests.system.test_submitters import alice, team
from tests.waiting import eventually

__all__ = ["alice", "team"]
CHILD = "js-workers-0"


def until_child(team: Client, **spec: Any) -> dict[str, Any]:
    """The child as soon as it is there, and its spec says so."""

    def there() -> dict[str, Any]:
        found = stored(team, CHILD)
        return found if found["spec"].items() >= spec.items() else {}

    return eventually(there)


def test_a_child_of_what_runs_grows_no_more_than_a_root(team: Client, alice: Kubectl) -> None:
    create(alice, jobset("js", "gpus"))
    until_runs(team, "js", "jobsets")
    before = until_child(team, suspend=False)
    done = merge(alice, "job", CHILD, {"spec": {"parallelism": 50}})
    assert done.returncode == 0
    assert "growth from 1 to" in done.stderr or before["spec"]["completions"] == 1
    until_pods(team, CHILD)
    assert stored(team, CHILD)["spec"]["template"] == before["spec"]["template"]
    assert SUBMITTED not in stored(team, CHILD)["metadata"].get("annotations", {})


def test_a_child_of_what_waits_is_not_started_by_hand(team: Client, alice: Kubectl) -> None:
    create(alice, jobset("js", "gpus") | {"metadata": held("js", "gpus")})
    until_child(team, suspend=True)
    done = merge(alice, "job", CHILD, {"spec": {"suspend": False}})
    assert (done.returncode, "suspend stays true" in done.stderr) == (0, True)
    assert stored(team, CHILD)["spec"]["suspend"] is True
    assert pods_of(team, CHILD) == []


def test_nor_is_one_made_by_hand_under_its_name(team: Client, alice: Kubectl) -> None:
    """The JobSet's own child deleted, another put in its place with the same owner: it waits too."""
    create(alice, jobset("js", "gpus") | {"metadata": held("js", "gpus")})
    made = until_child(team, suspend=True)
    forged = job("js-workers-0", "gpus")
    forged["metadata"]["ownerReferences"] = made["metadata"]["ownerReferences"]
    for _ in range(20):
        alice.run("delete", "job", CHILD, "--wait=true")
        if alice.run("create", "-f", "-", stdin=json.dumps(forged)).returncode == 0:
            break
    assert stored(team, CHILD)["spec"]["suspend"] is True
    assert pods_of(team, CHILD) == []


def test_a_child_stays_its_parents(team: Client, alice: Kubectl) -> None:
    create(alice, jobset("js", "gpus"))
    until_runs(team, "js", "jobsets")
    owners = until_child(team, suspend=False)["metadata"]["ownerReferences"]
    done = merge(alice, "job", CHILD, {"metadata": {"ownerReferences": []}})
    assert "it stays a child of js" in done.stderr
    assert stored(team, CHILD)["metadata"]["ownerReferences"] == owners
    done = alice.run("label", "job", CHILD, f"{QUEUE}-")
    assert f"label {QUEUE} stays" in done.stderr


def test_children_that_are_orphaned_on_purpose_run_on_and_are_charged(
    team: Client, alice: Kubectl
) -> None:
    create(alice, jobset("js", "full", cpu="2"))
    until_runs(team, "js", "jobsets")
    until_child(team, suspend=False)
    until_pods(team, CHILD)
    alice.ok("delete", "jobset", "js", "--cascade=orphan")
    eventually(lambda: is_gone(team, "js", "jobsets"))
    eventually(lambda: SUBMITTED in stored(team, CHILD)["metadata"].get("annotations", {}))
    assert "ownerReferences" not in stored(team, CHILD)["metadata"]
    assert len(pods_of(team, CHILD)) == 1
    create(alice, job("next", "full", pods=2))
    eventually(lambda: free(alice, "full")().endswith("0 free of 2, 1 ahead"))
    assert not runs(team, "next")
    alice.ok("delete", "job", CHILD)
    until_runs(team, "next")


def test_foreground_deletion_passes_and_frees_the_queue(team: Client, alice: Kubectl) -> None:
    create(alice, jobset("js", "full", cpu="2"))
    until_runs(team, "js", "jobsets")
    until_child(team, suspend=False)
    create(alice, job("next", "full", pods=2))
    assert not runs(team, "next")
    alice.ok("delete", "jobset", "js", "--cascade=foreground", "--wait=true")
    until_runs(team, "next")


def test_a_jobset_that_is_kept_by_a_finalizer_is_not_started_on_its_way_out(
    team: Client, alice: Kubectl
) -> None:
    waits = jobset("js", "gpus")
    waits["metadata"] = held("js", "gpus") | {"finalizers": [KEEP]}
    create(alice, waits)
    until_child(team, suspend=True)
    alice.ok("delete", "jobset", "js", "--cascade=background", "--wait=false")
    assert merge(alice, "jobset", "js", {"spec": {"suspend": False}}).returncode == 0
    assert stored(team, "js", "jobsets")["spec"]["suspend"] is True
    merge(alice, "job", CHILD, {"spec": {"suspend": False}})
    assert pods_of(team, CHILD) == []
    assert merge(alice, "jobset", "js", {"metadata": {"finalizers": []}}).returncode == 0
    eventually(lambda: is_gone(team, "js", "jobsets"))


def test_a_label_on_the_template_of_a_child_queues_the_child(team: Client, alice: Kubectl) -> None:
    """Its JobSet is in no queue: without this the child would be charged to a queue that never granted it."""
    create(alice, job("holder", "full", pods=2))
    until_runs(team, "holder")
    free_set = jobset("js", None)
    free_set["spec"]["replicatedJobs"][0]["template"]["metadata"] = {"labels": {QUEUE: "full"}}
    create(alice, free_set)
    child = until_child(team, suspend=True)
    assert SUBMITTED in child["metadata"]["annotations"]
    alice.ok("delete", "job", "holder")
    until_runs(team, CHILD)


def test_a_restart_on_another_flavor_leaves_nothing_of_the_first_with_the_children(
    team: Client, alice: Kubectl
) -> None:
    create(alice, jobset("js", "two", cpu="2"))
    until_runs(team, "js", "jobsets")
    eventually(lambda: selector(until_child(team, suspend=False)) == {"capacity": "spot"})
    until_pods(team, CHILD)
    stop = {"metadata": {"annotations": {HOLD: "for a while"}}, "spec": {"suspend": True}}
    assert merge(alice, "jobset", "js", stop).returncode == 0
    until_child(team, suspend=True)
    create(alice, job("blocker", "two", cpu="2"))
    until_runs(team, "blocker")
    assert selector(stored(team, "blocker")) == {"capacity": "spot"}
    merge(alice, "jobset", "js", {"metadata": {"annotations": {HOLD: None}}})
    until_runs(team, "js", "jobsets")
    eventually(lambda: selector(until_child(team, suspend=False)) == {"capacity": "steady"})
    pods = until_pods(team, CHILD)
    assert pods[0]["spec"]["nodeSelector"] == {"capacity": "steady"}


def held(name: str, queue: str) -> dict[str, Any]:
    return {"name": name, "labels": {QUEUE: queue}, "annotations": {HOLD: "not yet"}}


def selector(obj: dict[str, Any]) -> dict[str, str]:
    found: dict[str, str] = obj["spec"]["template"]["spec"].get("nodeSelector", {})
    return found
