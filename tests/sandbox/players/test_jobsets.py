"""The JobSet controller, of the sandbox and the real one."""

from __future__ import annotations

from typing import Any

from tests.apiservers import JSON_PATCH, Client
from tests.sandbox.manifests import jobset, pod_template, replicated_job
from tests.sandbox.players.cluster import (
    condition,
    deleted,
    finish,
    gone,
    items,
    patch,
    pods_of,
    read,
    until,
)
from tests.waiting import eventually

TEMPLATE = "/spec/replicatedJobs/0/template/spec/template/spec"
START = {"op": "replace", "path": "/spec/suspend", "value": False}
STOP = {"op": "replace", "path": "/spec/suspend", "value": True}
ZONE = {"zone": "a"}


def waiting(client: Client, replicas: int = 2, **spec: Any) -> list[dict[str, Any]]:
    """A suspended JobSet `js`; returns its children."""
    template = pod_template(nodeSelector=ZONE)
    one = replicated_job("w", replicas=replicas, template=template, backoffLimit=0)
    client.created("jobsets", jobset("js", one, suspend=True, **spec))
    until(client, "jobsets", "js", "Suspended")
    eventually(lambda: len(items(client, "jobs")) == replicas)
    return items(client, "jobs")


def selectors(client: Client) -> list[dict[str, str]]:
    jobs = items(client, "jobs")
    return [job["spec"]["template"]["spec"].get("nodeSelector") for job in jobs]


def with_keys(flavor: str) -> dict[str, Any]:
    return {"op": "add", "path": f"{TEMPLATE}/nodeSelector", "value": ZONE | {flavor: "yes"}}


def test_the_children_of_a_waiting_jobset_are_there_and_suspended(client: Client):
    children = waiting(client)
    assert [child["metadata"]["name"] for child in children] == ["js-w-0", "js-w-1"]
    owner = read(client, "jobsets", "js")
    for number, child in enumerate(children):
        assert child["spec"]["suspend"] is True
        reference = child["metadata"]["ownerReferences"][0]
        assert (reference["kind"], reference["uid"]) == ("JobSet", owner["metadata"]["uid"])
        assert reference["controller"] is reference["blockOwnerDeletion"] is True
        for marks in (
            child["metadata"]["labels"],
            child["metadata"]["annotations"],
            child["spec"]["template"]["metadata"]["labels"],
            child["spec"]["template"]["metadata"]["annotations"],
        ):
            expected = {
                "jobset-name": "js",
                "jobset-uid": owner["metadata"]["uid"],
                "replicatedjob-name": "w",
                "replicatedjob-replicas": "2",
                "job-index": str(number),
                "job-global-index": str(number),
                "restart-attempt": "0",
                "global-replicas": "2",
                "group-name": "default",
            }
            assert {key: marks[f"jobset.sigs.k8s.io/{key}"] for key in expected} == expected
            assert len(marks["jobset.sigs.k8s.io/job-key"]) == 40
    (counts,) = owner["status"]["replicatedJobsStatus"]
    eventually(lambda: read(client, "jobsets", "js")["status"]["replicatedJobsStatus"][0])
    assert counts["name"] == "w"


def test_a_start_reaches_the_children_and_their_pods(client: Client):
    waiting(client)
    patch(client, "jobsets", "js", START, with_keys("gpu-h100"))
    (pod,) = pods_of(client, "js-w-1", 1)
    assert pod["spec"]["nodeSelector"] == ZONE | {"gpu-h100": "yes"}
    assert pod["spec"]["subdomain"] == "js"
    eventually(lambda: condition(read(client, "jobsets", "js"), "Suspended") == "False")


def test_a_resume_on_another_flavor_merges_the_keys_of_both(client: Client):
    waiting(client, replicas=1)
    patch(client, "jobsets", "js", START, with_keys("gpu-h100"))
    pods_of(client, "js-w-0", 1)
    patch(client, "jobsets", "js", STOP, with_keys("gpu-a100"))
    until(client, "jobsets", "js", "Suspended")
    until(client, "jobs", "js-w-0", "Suspended")
    patch(client, "jobsets", "js", START)
    merged = ZONE | {"gpu-h100": "yes", "gpu-a100": "yes"}
    eventually(lambda: selectors(client) == [merged])


def test_children_reset_while_suspended_start_clean(client: Client):
    waiting(client, replicas=1)
    patch(client, "jobsets", "js", START, with_keys("gpu-h100"))
    pods_of(client, "js-w-0", 1)
    patch(client, "jobsets", "js", STOP, with_keys("gpu-a100"))
    until(client, "jobs", "js-w-0", "Suspended")
    eventually(lambda: "startTime" not in read(client, "jobs", "js-w-0")["status"])
    clean = {"op": "replace", "path": "/spec/template/spec/nodeSelector", "value": ZONE}
    patch(client, "jobs", "js-w-0", clean)
    patch(client, "jobsets", "js", START)
    eventually(lambda: selectors(client) == [ZONE | {"gpu-a100": "yes"}])


def test_a_child_that_is_deleted_comes_back_from_the_template(client: Client):
    (child,) = waiting(client, replicas=1)
    deleted(client, "jobs", "js-w-0")

    def again() -> bool:
        jobs = items(client, "jobs")
        return bool(jobs) and jobs[0]["metadata"]["uid"] != child["metadata"]["uid"]

    eventually(again)
    assert items(client, "jobs")[0]["spec"]["suspend"] is True


def test_what_may_change_and_when(client: Client):
    waiting(client)
    refused = {"op": "add", "path": f"{TEMPLATE}/hostNetwork", "value": True}
    replicas = {"op": "replace", "path": "/spec/replicatedJobs/0/replicas", "value": 5}
    for operation in (refused, replicas):
        answer = client.patch(client.path("jobsets", "js"), [operation], JSON_PATCH)
        assert answer.code == 422
        assert "spec.replicatedJobs: Invalid value: [" in answer.message
        assert answer.message.endswith("]: field is immutable")
    patch(client, "jobsets", "js", START, with_keys("gpu-h100"))
    answer = client.patch(client.path("jobsets", "js"), [with_keys("gpu-a100")], JSON_PATCH)
    assert answer.code == 422
    patch(client, "jobsets", "js", STOP, with_keys("gpu-a100"))


def test_a_jobset_whose_jobs_are_complete_is_completed(client: Client):
    waiting(client)
    patch(client, "jobsets", "js", START)
    for child in ("js-w-0", "js-w-1"):
        finish(client, child, 1)
    done = until(client, "jobsets", "js", "Completed")
    assert done["status"]["terminalState"] == "Completed"
    (counts,) = read(client, "jobsets", "js")["status"]["replicatedJobsStatus"]
    assert counts["succeeded"] == 2


def test_a_jobset_whose_job_fails_has_failed(client: Client):
    waiting(client)
    patch(client, "jobsets", "js", START)
    finish(client, "js-w-0", 1, "Failed")
    failed = until(client, "jobsets", "js", "Failed")
    assert failed["status"]["terminalState"] == "Failed"


def test_a_restart_makes_all_children_anew(client: Client):
    before = waiting(client, failurePolicy={"maxRestarts": 1})
    patch(client, "jobsets", "js", START)
    finish(client, "js-w-0", 1, "Failed")
    uids = {child["metadata"]["uid"] for child in before}

    def restarted() -> bool:
        jobs = items(client, "jobs")
        attempts = {j["metadata"]["labels"]["jobset.sigs.k8s.io/restart-attempt"] for j in jobs}
        return attempts == {"1"} and len(jobs) == 2

    eventually(restarted)
    assert not uids & {child["metadata"]["uid"] for child in items(client, "jobs")}
    assert read(client, "jobsets", "js")["status"]["restarts"] == 1
    finish(client, "js-w-1", 1, "Failed")
    assert until(client, "jobsets", "js", "Failed")["status"]["restarts"] == 1


def test_a_jobset_that_is_deleted_takes_everything_along(client: Client):
    waiting(client)
    patch(client, "jobsets", "js", START)
    pods_of(client, "js-w-0", 1)
    deleted(client, "jobsets", "js")
    assert gone(client, "jobsets", "js")
    eventually(lambda: items(client, "jobs") == [] and items(client, "pods") == [])
