"""What happens to a new workload: queued and stamped, refused with every reason, or left alone."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.admission.building import (
    LOOP,
    NOW,
    Cluster,
    job,
    jobset,
    judge,
    owned,
    patched,
    pod_spec,
    request,
    submit,
)
from webhook.admission.decide import mutate, validate
from webhook.admission.knowledge import QueueNews, Room
from webhook.model.kinds import Key
from webhook.model.quantity import NANO
from webhook.model.queues import FlavorResource
from webhook.workloads.objects import write_time


def lines(decision) -> list[str]:
    return [refusal.line for refusal in decision.refusals]


def test_a_labelled_job_is_suspended_stamped_and_labelled_down_to_its_pods() -> None:
    stored, first, second = submit(job(labels={Key.QUEUE: "small"}))
    assert (first.allowed, second.allowed) == (True, True)
    assert stored["spec"]["suspend"] is True
    marks = stored["metadata"]["annotations"]
    assert marks == {Key.SUBMITTED: write_time(NOW), Key.SUBMITTED_BY: "alice"}
    assert stored["spec"]["template"]["metadata"]["labels"] == {Key.QUEUE: "small"}


def test_a_route_names_the_queue_of_what_bears_no_label() -> None:
    stored, _, second = submit(jobset(namespace="team-vision"))
    assert stored["metadata"]["labels"][Key.QUEUE] == "vision"
    assert stored["spec"]["suspend"] is True
    inner = stored["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    assert inner["metadata"]["labels"] == {Key.QUEUE: "vision"}
    assert second.allowed


def test_what_no_route_claims_is_left_alone_and_no_rule_sees_it() -> None:
    stored, first, second = submit(job(parallelism=60, completions=60))
    assert stored == job(parallelism=60, completions=60)
    assert first.allowed
    assert second.warnings == ()


def test_marks_a_user_sends_are_taken_off_or_overwritten() -> None:
    forged = job(labels={Key.QUEUE: "small"})
    forged["metadata"]["annotations"] = {
        Key.SUBMITTED: "2001-01-01T00:00:00.000000Z",
        Key.SUBMITTED_BY: "bob",
        Key.ADMISSION: '{"queue":"small"}',
        Key.EVICTED: "{}",
        Key.WANTED: "{}",
        "mine": "stays",
    }
    stored, _, second = submit(forged)
    assert stored["metadata"]["annotations"] == {
        Key.SUBMITTED: write_time(NOW),
        Key.SUBMITTED_BY: "alice",
        "mine": "stays",
    }
    assert second.allowed


@pytest.mark.parametrize("obj", [job(labels={Key.QUEUE: "small"}), jobset(namespace="team-vision")])
def test_its_own_output_fed_back_yields_an_empty_patch(obj) -> None:
    stored, _, _ = submit(obj)
    assert mutate(request(stored), judge(), NOW + 1).patch == ()


def test_a_stamp_of_a_minute_ago_is_not_taken_for_our_own() -> None:
    stored, _, _ = submit(job(labels={Key.QUEUE: "small"}))
    again, _, _ = submit(copy.deepcopy(stored), now=NOW + 60)
    assert again["metadata"]["annotations"][Key.SUBMITTED] == write_time(NOW + 60)


def test_a_stamp_in_the_name_of_another_user_is_overwritten_at_once() -> None:
    stored, _, _ = submit(job(labels={Key.QUEUE: "small"}), user="bob")
    again, _, _ = submit(copy.deepcopy(stored), user="alice")
    assert again["metadata"]["annotations"][Key.SUBMITTED_BY] == "alice"


def test_an_unknown_queue_is_refused_with_the_nearest_name() -> None:
    _, first, _ = submit(job(labels={Key.QUEUE: "vison"}))
    assert lines(first) == ["no queue named 'vison', did you mean 'vision'?"]


def test_an_empty_queue_label_is_no_way_around_the_routes() -> None:
    _, first, _ = submit(job(namespace="team-vision", labels={Key.QUEUE: ""}))
    assert not first.allowed


def test_every_reason_is_told_at_once_with_rule_place_and_numbers() -> None:
    labels = {Key.QUEUE: "small", Key.PRIORITY: "asap"}
    _, first, _ = submit(job(labels=labels, parallelism=60, completions=60))
    assert lines(first) == [
        "one workload may have at most 50 pods, this one has 60 (deny too-many policies/ml.tide:18)",
        f"no priority named 'asap' (label {Key.PRIORITY}); there are normal, urgent",
        "can never start: needs 60 cpu, small can never have more than 10 (queue small policies/ml.tide:15)",
    ]


def test_borrowing_counts_for_what_can_ever_fit() -> None:
    fits = job(labels={Key.QUEUE: "speech"}, pod=pod_spec(**{"nvidia.com/gpu": "6"}))
    too_much = job(labels={Key.QUEUE: "speech"}, pod=pod_spec(**{"nvidia.com/gpu": "7"}))
    assert submit(fits)[1].allowed
    assert not submit(too_much)[1].allowed


def test_a_resource_no_quota_names_is_refused() -> None:
    _, first, _ = submit(job(labels={Key.QUEUE: "small"}, pod=pod_spec(**{"nvidia.com/gpu": "1"})))
    assert lines(first) == [
        "queue small has no quota for nvidia.com/gpu (queue small policies/ml.tide:15)"
    ]


@pytest.mark.parametrize(
    ("free", "text"),
    [(3, "3 free of 10"), (10, "10 free of 10"), (12, "12 free with what others lend")],
)
def test_the_submitter_is_told_where_it_waits_and_why(free: int, text: str) -> None:
    cluster = Cluster(
        news={
            "small": QueueNews(
                {FlavorResource("default", "cpu"): Room(free * NANO, 10 * NANO)},
                {100: 4, 1000: 7, 0: 5},
            )
        }
    )
    _, first, second = submit(
        job(labels={Key.QUEUE: "small"}, parallelism=8, completions=8), judge(cluster=cluster)
    )
    assert first.warnings == ()
    assert second.warnings == (f"queued in small: needs 8 cpu, {text}, 11 ahead",)


def test_without_news_the_submitter_is_still_told_the_queue() -> None:
    assert submit(job(labels={Key.QUEUE: "small"}))[2].warnings == ("queued in small",)


def test_a_workload_nobody_queued_is_refused_by_the_validating_call() -> None:
    """The mutating call did not answer in time: failing open here would be a way past the queue."""
    decision = validate(request(job(labels={Key.QUEUE: "small"})), judge(), NOW)
    assert not decision.allowed
    assert "submit it again" in lines(decision)[0]


@pytest.mark.parametrize(
    "namespace", ["kube-system", "kube-public", "kube-node-lease", "tidegate-system"]
)
def test_system_namespaces_are_left_alone_whatever_the_registration_says(namespace: str) -> None:
    obj = job(namespace=namespace, labels={Key.QUEUE: "no-such"})
    assert submit(obj)[0] == obj


def test_another_controllers_job_is_not_ours() -> None:
    obj = job(labels={Key.QUEUE: "small"}, managedBy="kueue.x-k8s.io/multikueue")
    assert submit(obj)[0] == obj


def test_an_object_that_cannot_be_counted_is_refused_with_its_place() -> None:
    _, first, _ = submit(job(labels={Key.QUEUE: "small"}, pod=pod_spec(cpu="lots")))
    assert lines(first) == [
        "tidegate cannot count it: spec.template.spec.containers[0].resources.requests[cpu]: `lots` is not a quantity"
    ]


def test_a_status_that_is_sent_along_makes_nothing_finished() -> None:
    obj = job(labels={Key.QUEUE: "small"})
    obj["status"] = {"conditions": [{"type": "Complete", "status": "True"}]}
    assert submit(obj)[0]["spec"]["suspend"] is True


def test_the_loops_own_requests_are_not_judged() -> None:
    assert mutate(request(job(labels={Key.QUEUE: "no-such"}), user=LOOP), judge(), NOW).allowed


def test_dry_run_is_answered_like_the_real_thing() -> None:
    plain = mutate(request(job(labels={Key.QUEUE: "small"})), judge(), NOW)
    dry = mutate(request(job(labels={Key.QUEUE: "small"}), dryRun=True), judge(), NOW)
    assert dry == plain


def test_a_priority_class_names_the_priority_where_the_policy_declares_it() -> None:
    cluster = Cluster(news={"small": QueueNews({}, {100: 4, 1000: 7})}, classes={"urgent": 5})
    obj = job(labels={Key.QUEUE: "small"}, pod=pod_spec() | {"priorityClassName": "urgent"})
    assert submit(obj, judge(cluster=cluster))[2].warnings == ("queued in small: 7 ahead",)


# Children


def the_parent(**extra: Any) -> dict[str, Any]:
    parent = jobset(labels={Key.QUEUE: "small"}, **extra)
    parent["metadata"]["annotations"] = {Key.SUBMITTED: write_time(NOW)}
    return parent


def the_child(parent: dict[str, Any], name: str = "js-workers-0", **spec: Any) -> dict[str, Any]:
    return owned(job(name, **({"parallelism": 2, "completions": 2} | spec)), parent)


def test_a_child_is_its_parents_business() -> None:
    parent = the_parent()
    stored, first, second = submit(the_child(parent), judge(cluster=Cluster(parents=[parent])))
    assert stored["spec"]["suspend"] is False
    assert stored["metadata"]["labels"] == {Key.QUEUE: "small"}
    assert "annotations" not in stored["metadata"]
    assert (first.note, second.note, second.warnings) == ("child", "child", ())


def test_a_child_waits_while_its_parent_waits() -> None:
    parent = the_parent(suspend=True)
    stored, _, _ = submit(the_child(parent), judge(cluster=Cluster(parents=[parent])))
    assert stored["spec"]["suspend"] is True


def test_the_child_of_a_parent_in_no_queue_is_left_alone_even_where_a_route_would_claim_it() -> (
    None
):
    parent = jobset(namespace="team-vision")
    child = the_child(parent)
    child["metadata"]["namespace"] = "team-vision"
    stored, _, _ = submit(child, judge(cluster=Cluster(parents=[parent])))
    assert stored == child


@pytest.mark.parametrize(
    "child",
    [
        the_child(the_parent(), "free-lunch"),
        the_child(the_parent(), "js-workers-2"),
        the_child(the_parent(), parallelism=3, completions=3),
        the_child(the_parent(), pod=pod_spec(cpu="1001m")),
        owned(job("js-workers-0"), the_parent(), uid="stale"),
        owned(job("js-workers-0"), the_parent(), controller=False),
        owned(job("js-workers-0"), the_parent(), kind="Foo", apiVersion="foo.bar/v1"),
    ],
    ids=["name", "index", "pods", "requests", "uid", "no controller", "unknown kind"],
)
def test_whoever_forges_a_parent_is_a_root_and_queues(child) -> None:
    child["metadata"]["labels"] = {Key.QUEUE: "small"}
    stored, _, second = submit(child, judge(cluster=Cluster(parents=[the_parent()])))
    assert stored["spec"]["suspend"] is True
    assert Key.SUBMITTED in stored["metadata"]["annotations"]
    assert second.allowed


def test_a_child_bears_no_mark_of_a_root() -> None:
    parent = the_parent()
    child = the_child(parent)
    child["metadata"]["annotations"] = {Key.SUBMITTED: "2001-01-01T00:00:00Z"}
    decision = mutate(request(child), judge(cluster=Cluster(parents=[parent])), NOW)
    assert patched(child, decision)["metadata"]["annotations"] == {}


def test_a_finished_parent_makes_nothing_any_more() -> None:
    parent = the_parent()
    parent["status"] = {"conditions": [{"type": "Completed", "status": "True"}]}
    child = the_child(parent)
    child["metadata"]["labels"] = {Key.QUEUE: "small"}
    stored, _, _ = submit(child, judge(cluster=Cluster(parents=[parent])))
    assert stored["spec"]["suspend"] is True
    assert Key.SUBMITTED in stored["metadata"]["annotations"]
