"""The Job controller, of the sandbox and the real one: what the loop has to reckon with."""

from __future__ import annotations

from typing import Any

from tests.apiservers import JSON_PATCH, Client
from tests.sandbox.manifests import job, pod_template
from tests.sandbox.players.cluster import (
    condition,
    deleted,
    finish,
    gone,
    items,
    merge,
    patch,
    pods_of,
    read,
    set_phase,
    until,
)
from tests.waiting import eventually

SELECTOR = "/spec/template/spec/nodeSelector"
START = {"op": "replace", "path": "/spec/suspend", "value": False}
STOP = {"op": "replace", "path": "/spec/suspend", "value": True}
HOLD = {"metadata": {"finalizers": ["example.com/hold"]}}


def keys(flavor: str) -> dict[str, Any]:
    return {"op": "add", "path": SELECTOR, "value": {"gpu": flavor}}


def status(client: Client, name: str) -> dict[str, Any]:
    found: dict[str, Any] = read(client, "jobs", name)["status"]
    return found


def test_a_suspended_job_has_no_pods_and_says_so(client: Client):
    client.created("jobs", job("t", suspend=True, parallelism=2, completions=2))
    made = until(client, "jobs", "t", "Suspended")
    assert "startTime" not in made["status"]
    assert "active" not in made["status"]
    assert items(client, "pods") == []


def test_one_patch_starts_a_job_on_a_flavor(client: Client):
    client.created("jobs", job("t", suspend=True, parallelism=2, completions=2))
    until(client, "jobs", "t", "Suspended")
    patch(client, "jobs", "t", START, keys("h100"))
    pods = pods_of(client, "t", 2)
    assert [pod["spec"]["nodeSelector"] for pod in pods] == [{"gpu": "h100"}] * 2
    owner = pods[0]["metadata"]["ownerReferences"][0]
    assert (owner["kind"], owner["name"], owner["controller"]) == ("Job", "t", True)
    eventually(lambda: status(client, "t").get("active") == 2)
    assert status(client, "t")["startTime"]
    assert condition(read(client, "jobs", "t"), "Suspended") == "False"


def test_a_job_that_runs_to_its_end(client: Client):
    client.created("jobs", job("t", parallelism=1, completions=2))
    (first,) = pods_of(client, "t", 1)
    set_phase(client, first, "Running")
    eventually(lambda: status(client, "t").get("ready") == 1)
    set_phase(client, first, "Succeeded")
    pods = pods_of(client, "t", 2)
    eventually(lambda: status(client, "t").get("succeeded") == 1)
    (second,) = [pod for pod in pods if pod["metadata"]["name"] != first["metadata"]["name"]]
    set_phase(client, second, "Succeeded")
    done = until(client, "jobs", "t", "Complete")
    assert condition(done, "SuccessCriteriaMet") == "True"
    assert done["status"]["succeeded"] == 2
    assert done["status"]["completionTime"]
    assert "active" not in done["status"]
    assert done["status"]["terminating"] == 0


def test_an_indexed_job_gives_each_pod_its_index(client: Client):
    client.created("jobs", job("t", parallelism=2, completions=3, completionMode="Indexed"))
    first, second = pods_of(client, "t", 2)
    index = "batch.kubernetes.io/job-completion-index"
    for number, pod in enumerate((first, second)):
        assert pod["metadata"]["labels"][index] == str(number)
        assert pod["metadata"]["annotations"][index] == str(number)
        assert pod["metadata"]["name"].startswith(f"t-{number}-")
        assert pod["spec"]["hostname"] == f"t-{number}"
    set_phase(client, second, "Succeeded")
    eventually(lambda: status(client, "t").get("completedIndexes") == "1")
    pods = pods_of(client, "t", 3)
    set_phase(client, pods[0], "Succeeded")
    set_phase(client, pods[2], "Succeeded")
    done = until(client, "jobs", "t", "Complete")
    assert (done["status"]["completedIndexes"], done["status"]["succeeded"]) == ("0-2", 3)


def test_suspending_takes_pods_and_start_time_away_and_keeps_what_succeeded(client: Client):
    client.created("jobs", job("t", parallelism=2, completions=3))
    first, _ = pods_of(client, "t", 2)
    set_phase(client, first, "Succeeded")
    eventually(lambda: status(client, "t").get("succeeded") == 1)
    patch(client, "jobs", "t", STOP)
    stopped = until(client, "jobs", "t", "Suspended")["status"]
    assert stopped["succeeded"] == 1
    eventually(lambda: "startTime" not in status(client, "t"))
    eventually(lambda: status(client, "t")["terminating"] == 0)
    assert "active" not in status(client, "t")


def test_a_stopped_job_starts_on_another_flavor(client: Client):
    client.created("jobs", job("t", suspend=True))
    until(client, "jobs", "t", "Suspended")
    patch(client, "jobs", "t", START, keys("h100"))
    pods_of(client, "t", 1)
    patch(client, "jobs", "t", STOP)
    until(client, "jobs", "t", "Suspended")
    eventually(lambda: "active" not in status(client, "t"))
    patch(client, "jobs", "t", START, keys("a100"))

    def moved() -> bool:
        return [p["spec"]["nodeSelector"] for p in pods_of(client, "t", 1)] == [{"gpu": "a100"}]

    eventually(moved)


def test_no_active_pods_does_not_mean_that_the_pods_are_gone(client: Client):
    client.created("jobs", job("t"))
    (pod,) = pods_of(client, "t", 1)
    kept = pod["metadata"].get("finalizers") or []
    held = {"metadata": {"finalizers": [*kept, "example.com/hold"]}}
    merge(client, "pods", pod["metadata"]["name"], held)
    patch(client, "jobs", "t", STOP)
    until(client, "jobs", "t", "Suspended")
    eventually(lambda: status(client, "t").get("terminating") == 1)
    assert "active" not in status(client, "t")
    patch(client, "jobs", "t", keys("h100"))
    merge(client, "pods", pod["metadata"]["name"], {"metadata": {"finalizers": None}})
    eventually(lambda: status(client, "t")["terminating"] == 0)


def test_the_template_of_a_running_job_is_immutable(client: Client):
    client.created("jobs", job("t"))
    pods_of(client, "t", 1)
    for operations in ([keys("h100")], [STOP, keys("h100")]):
        refused = client.patch(client.path("jobs", "t"), operations, JSON_PATCH)
        assert refused.code == 422
        assert refused.message.startswith(
            'Job.batch "t" is invalid: spec.template: Invalid value: {'
        )
        assert refused.message.endswith("}: field is immutable")
        (cause,) = refused.json["details"]["causes"]
        assert (cause["field"], cause["reason"]) == ("spec.template", "FieldValueInvalid")


def test_requests_of_a_waiting_job_may_change(client: Client):
    client.created("jobs", job("t", suspend=True))
    until(client, "jobs", "t", "Suspended")
    path = "/spec/template/spec/containers/0/resources"
    requests = {"op": "add", "path": path, "value": {"requests": {"cpu": "2"}}}
    patch(client, "jobs", "t", requests)
    image = {"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "b"}
    refused = client.patch(client.path("jobs", "t"), [image], JSON_PATCH)
    assert refused.code == 422
    assert refused.json["details"]["causes"][0]["field"] == "spec.template.spec"


def test_a_job_whose_pods_fail_too_often_fails(client: Client):
    client.created("jobs", job("t", backoffLimit=0, parallelism=2, completions=2))
    first, _ = pods_of(client, "t", 2)
    set_phase(client, first, "Failed")
    failed = until(client, "jobs", "t", "Failed")
    assert condition(failed, "FailureTarget") == "True"
    reasons = {c["reason"] for c in failed["status"]["conditions"] if "Fail" in c["type"]}
    assert reasons == {"BackoffLimitExceeded"}
    assert "completionTime" not in failed["status"]


def test_a_failed_index_is_remembered(client: Client):
    body = job("t", parallelism=2, completions=2, completionMode="Indexed", backoffLimitPerIndex=0)
    client.created("jobs", body)
    first, second = pods_of(client, "t", 2)
    set_phase(client, first, "Failed")
    eventually(lambda: status(client, "t").get("failedIndexes") == "0")
    set_phase(client, second, "Succeeded")
    failed = until(client, "jobs", "t", "Failed")
    assert failed["status"]["completedIndexes"] == "1"
    assert failed["status"]["conditions"][-1]["reason"] == "FailedIndexes"


def test_a_job_that_has_nothing_to_do_completes_while_suspended(client: Client):
    client.created("jobs", job("t", suspend=True, completions=0))
    done = until(client, "jobs", "t", "Complete")
    assert done["spec"]["suspend"] is True


def test_a_job_of_another_controller_is_left_alone(client: Client):
    client.created("jobs", job("other", managedBy="kueue.x-k8s.io/multikueue"))
    client.created("jobs", job("ours"))
    pods_of(client, "ours", 1)
    assert status(client, "other") == {}
    assert [p["metadata"]["labels"]["job-name"] for p in items(client, "pods")] == ["ours"]


def test_growing_and_shrinking(client: Client):
    client.created("jobs", job("t", parallelism=1, completions=5))
    pods_of(client, "t", 1)
    merge(client, "jobs", "t", {"spec": {"parallelism": 3}})
    pods_of(client, "t", 3)
    merge(client, "jobs", "t", {"spec": {"parallelism": 2}})
    pods_of(client, "t", 2)


def test_a_finished_job_goes_when_its_time_is_over(client: Client):
    client.created("jobs", job("t", ttlSecondsAfterFinished=0))
    finish(client, "t", 1)
    assert gone(client, "jobs", "t")
    eventually(lambda: items(client, "pods") == [])


def test_a_job_that_is_deleted_takes_its_pods_along(client: Client):
    client.created("jobs", job("t", template=pod_template(), parallelism=2, completions=2))
    pods_of(client, "t", 2)
    deleted(client, "jobs", "t")
    assert gone(client, "jobs", "t")
    eventually(lambda: items(client, "pods") == [])
