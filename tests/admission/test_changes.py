"""Edits by anybody but the loop: nobody starts, moves or unmarks a workload, and nobody's re-apply fails."""

from __future__ import annotations

import copy
from typing import Any

import jsonpatch
import pytest

from tests.admission.building import (
    LOOP,
    NOW,
    Cluster,
    edit,
    job,
    jobset,
    judge,
    owned,
    pod_spec,
    request,
    submit,
)
from webhook.admission.decide import mutate
from webhook.model.kinds import Key
from webhook.model.queues import Flavor, Toleration
from webhook.model.workload import Admission, Assigned
from webhook.workloads.registry import adapter_for
from webhook.workloads.start import start

A100 = Flavor(
    "a100", {"accelerator": "a100"}, (Toleration("nvidia.com/gpu", "present", "NoSchedule"),)
)


def waiting(obj: dict[str, Any] | None = None) -> dict[str, Any]:
    stored, _, _ = submit(obj or job(labels={Key.QUEUE: "vision"}))
    stored["metadata"] |= {"uid": "u1", "resourceVersion": "7"}
    return stored


def started(obj: dict[str, Any] | None = None) -> dict[str, Any]:
    stored = waiting(obj)
    adapter = adapter_for(stored["apiVersion"].rpartition("/")[0], stored["kind"])
    assert adapter is not None
    pods = tuple(
        Assigned(p.name, p.count, dict.fromkeys(p.requests, "a100"), p.total)
        for p in adapter.pod_sets(stored)
    )
    record = Admission("vision", pods, "2027-01-01T00:00:00.000000Z", "r1")
    patch = start(adapter, stored, record, {"a100": A100})
    return jsonpatch.apply_patch(stored, [op.as_json() for op in patch])


def changed(obj: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    new = copy.deepcopy(obj)
    return jsonpatch.apply_patch(new, [{"op": "add", "path": path, "value": value}])


def without(obj: dict[str, Any], path: str) -> dict[str, Any]:
    return jsonpatch.apply_patch(copy.deepcopy(obj), [{"op": "remove", "path": path}])


def pointer(key: str, part: str = "annotations") -> str:
    return f"/metadata/{part}/{key.replace('/', '~1')}"


def lines(decision: Any) -> list[str]:
    return [refusal.line for refusal in decision.refusals]


def test_suspend_false_on_a_waiting_workload_is_turned_back_with_a_warning() -> None:
    old = waiting()
    stored, first, second = edit(old, changed(old, "/spec/suspend", False))
    assert stored == old
    assert first.warnings == (
        "suspend stays true: it waits in queue vision until quota is free for it",
    )
    assert second.allowed


def test_dropping_suspend_altogether_is_turned_back_too() -> None:
    old = waiting()
    assert edit(old, without(old, "/spec/suspend"))[0] == old


def test_a_status_sent_along_with_the_edit_hides_nothing() -> None:
    """The mutating call sees what an edit says of status; the API server throws it away afterwards."""
    old = waiting()
    new = changed(old, "/spec/suspend", False)
    new["status"] = {"conditions": [{"type": "Complete", "status": "True"}]}
    assert edit(old, new)[0]["spec"]["suspend"] is True


def test_a_deletion_timestamp_sent_along_hides_nothing() -> None:
    old = waiting()
    new = changed(old, "/spec/suspend", False)
    new["metadata"]["deletionTimestamp"] = "2027-01-01T00:00:00Z"
    assert edit(old, new)[0]["spec"]["suspend"] is True


def test_what_is_being_deleted_passes() -> None:
    old = changed(started(), "/metadata/deletionTimestamp", "2027-01-01T00:00:00Z")
    new = without(old, pointer(Key.QUEUE, "labels"))
    assert edit(old, new)[1].allowed


@pytest.mark.parametrize("key", [Key.SUBMITTED, Key.SUBMITTED_BY, Key.ADMISSION])
def test_marks_that_are_dropped_come_back_without_a_word(key: str) -> None:
    old = started()
    stored, first, second = edit(old, without(old, pointer(key)))
    assert stored == old
    assert first.warnings == ()
    assert second.allowed


@pytest.mark.parametrize(
    "key", [Key.SUBMITTED, Key.SUBMITTED_BY, Key.ADMISSION, Key.EVICTED, Key.WANTED]
)
def test_marks_that_are_forged_are_put_back_with_a_warning(key: str) -> None:
    old = started()
    stored, first, _ = edit(old, changed(old, pointer(key), "forged"))
    assert stored == old
    assert first.warnings == (f"only tidegate writes {key}: put back",)


def test_the_queue_label_cannot_be_cut_out_of_what_waits_or_runs() -> None:
    for old in (waiting(), started()):
        _, first, _ = edit(old, without(old, pointer(Key.QUEUE, "labels")))
        assert lines(first) == [
            f"label {Key.QUEUE} stays; delete the workload to take it out of queue vision"
        ]


def test_the_escape_by_two_edits_fails_at_the_first(  # suspend and drop the label, then unsuspend
) -> None:
    old = started()
    new = changed(without(old, pointer(Key.QUEUE, "labels")), "/spec/suspend", True)
    assert not edit(old, new)[1].allowed


def test_a_whole_manifest_in_the_objects_place_keeps_label_marks_and_injected_keys() -> None:
    """kubectl replace: the manifest never bore the label a route gave."""
    old = started(job(namespace="team-vision"))
    manifest = job(namespace="team-vision")
    manifest["metadata"] |= {"uid": "u1", "resourceVersion": "7"}
    stored, first, second = edit(old, manifest)
    assert stored == old
    assert (first.allowed, second.allowed) == (True, True)


def test_a_started_workload_does_not_move_to_another_queue() -> None:
    old = started()
    _, first, _ = edit(old, changed(old, pointer(Key.QUEUE, "labels"), "small"))
    assert lines(first) == [
        "a started workload stays in queue vision; suspend it before it moves to small"
    ]


def test_nor_does_it_in_the_edit_that_suspends_it() -> None:
    old = started()
    new = changed(changed(old, pointer(Key.QUEUE, "labels"), "small"), "/spec/suspend", True)
    assert not edit(old, new)[1].allowed


def test_a_waiting_workload_moves_and_keeps_its_place_and_its_pods_follow() -> None:
    old = waiting()
    stored, first, second = edit(old, changed(old, pointer(Key.QUEUE, "labels"), "small"))
    assert (first.allowed, second.allowed) == (True, True)
    assert stored["metadata"]["annotations"] == old["metadata"]["annotations"]
    assert stored["spec"]["template"]["metadata"]["labels"] == {Key.QUEUE: "small"}


def test_it_does_not_move_where_it_could_never_fit() -> None:
    old = waiting(job(labels={Key.QUEUE: "vision"}, parallelism=11, completions=11))
    _, first, _ = edit(old, changed(old, pointer(Key.QUEUE, "labels"), "small"))
    assert lines(first)[0].startswith("can never start: needs 11 cpu")


def test_an_unknown_priority_is_refused_whatever_its_state() -> None:
    for old in (waiting(), started()):
        assert not edit(old, changed(old, pointer(Key.PRIORITY, "labels"), "asap"))[1].allowed
        assert edit(old, changed(old, pointer(Key.PRIORITY, "labels"), "urgent"))[1].allowed


def test_suspending_a_started_workload_is_allowed() -> None:
    old = started()
    stored, first, second = edit(old, changed(old, "/spec/suspend", True))
    assert stored["spec"]["suspend"] is True
    assert (first.allowed, second.allowed) == (True, True)


def test_growth_of_a_started_job_is_put_back_with_a_warning() -> None:
    old = started(job(labels={Key.QUEUE: "vision"}, parallelism=2, completions=8))
    stored, first, second = edit(old, changed(old, "/spec/parallelism", 5))
    assert stored == old
    assert first.warnings == (
        "growth from 2 to 5 pods was put back: a started workload has no quota for it",
    )
    assert second.allowed


def test_growth_of_an_elastic_indexed_job_is_put_back_in_tandem() -> None:
    old = started(
        job(labels={Key.QUEUE: "vision"}, parallelism=2, completions=2, completionMode="Indexed")
    )
    new = changed(changed(old, "/spec/parallelism", 5), "/spec/completions", 5)
    assert edit(old, new)[0] == old


def test_shrinking_is_allowed() -> None:
    old = started(job(labels={Key.QUEUE: "vision"}, parallelism=4, completions=8))
    stored, first, _ = edit(old, changed(old, "/spec/parallelism", 1))
    assert stored["spec"]["parallelism"] == 1
    assert first.warnings == ()


def test_what_a_pod_of_a_started_workload_asks_for_may_not_grow() -> None:
    old = started()
    path = "/spec/template/spec/containers/0/resources/requests/cpu"
    _, first, _ = edit(old, changed(old, path, "2"))
    assert lines(first) == [
        "a started workload may not ask for more: cpu of each pod of main from 1 to 2"
    ]


def test_a_waiting_workload_may_grow_as_far_as_it_can_ever_fit() -> None:
    old = waiting(job(labels={Key.QUEUE: "small"}))
    assert edit(old, changed(changed(old, "/spec/parallelism", 10), "/spec/completions", 10))[
        1
    ].allowed
    assert not edit(old, changed(changed(old, "/spec/parallelism", 11), "/spec/completions", 11))[
        1
    ].allowed


def test_a_deny_that_held_before_the_change_does_not_deny_it() -> None:
    """A stricter policy must not break the re-apply of what waits already."""
    lenient = judge(POLICY_WITHOUT_DENY)
    old, _, _ = submit(job(labels={Key.QUEUE: "vision"}, parallelism=60, completions=60), lenient)
    new = changed(old, "/metadata/labels/note", "x")
    assert edit(old, new)[1].allowed
    smaller = waiting(job(labels={Key.QUEUE: "vision"}, parallelism=40, completions=40))
    grown = changed(changed(smaller, "/spec/parallelism", 60), "/spec/completions", 60)
    assert lines(edit(smaller, grown)[1])[0].startswith("one workload may have at most 50 pods")


POLICY_WITHOUT_DENY = """
priority normal 100 default
queue vision { quota { cpu 64 } }
queue small { quota { cpu 10 } }
"""


@pytest.mark.parametrize("make", [job, jobset])
def test_a_reapplied_manifest_of_a_started_workload_changes_nothing(make: Any) -> None:
    """Injected node selectors and tolerations are dropped by every way of applying; without this, 422 for ever."""
    old = started(make(labels={Key.QUEUE: "vision"}))
    new = copy.deepcopy(old)
    for spec in _pod_specs(new):
        spec.pop("nodeSelector")
        spec.pop("tolerations")
    stored, first, second = edit(old, new)
    assert stored == old
    assert (first.warnings, second.allowed) == ((), True)


def test_a_manifest_with_a_selector_and_tolerations_of_its_own_keeps_them_in_their_order() -> None:
    own = {"key": "own", "operator": "Exists"}
    pod = pod_spec() | {"nodeSelector": {"zone": "a"}, "tolerations": [own]}
    old = started(job(labels={Key.QUEUE: "vision"}, pod=pod))
    new = copy.deepcopy(old)
    new["spec"]["template"]["spec"] |= {"nodeSelector": {"zone": "a"}, "tolerations": [own]}
    assert edit(old, new)[0] == old


def test_the_pod_templates_keep_the_queues_label() -> None:
    for old in (waiting(), started(), started(jobset(labels={Key.QUEUE: "vision"}))):
        new = copy.deepcopy(old)
        for template in _templates(new):
            template["metadata"]["labels"].pop(Key.QUEUE)
        assert edit(old, new)[0] == old


def test_an_owner_reference_patched_in_later_makes_no_child() -> None:
    parent = jobset(labels={Key.QUEUE: "vision"})
    cluster = Cluster(parents=[parent])
    old = waiting(job("js-workers-0", labels={Key.QUEUE: "vision"}, parallelism=2, completions=2))
    new = owned(changed(old, "/spec/suspend", False), parent)
    assert edit(old, new, judge(cluster=cluster))[0]["spec"]["suspend"] is True


def test_the_loop_does_as_it_likes() -> None:
    old = waiting()
    decision = mutate(request(changed(old, "/spec/suspend", False), old, user=LOOP), judge(), NOW)
    assert (decision.allowed, decision.patch) == (True, ())


def test_another_webhook_that_undoes_ours_is_refused_by_the_validating_call() -> None:
    old = waiting()
    from webhook.admission.decide import validate

    decision = validate(request(changed(old, "/spec/suspend", False), old), judge(), NOW)
    assert lines(decision) == [
        "another webhook changed what tidegate keeps: suspend, its marks or injected keys"
    ]


# Entering a queue later


def test_a_running_workload_cannot_enter_a_queue() -> None:
    """It would push the queue over its quota: others would wait for what nobody granted."""
    old = job()
    _, first, _ = edit(old, changed(old, "/metadata/labels", {Key.QUEUE: "small"}))
    assert lines(first) == [
        "a running workload cannot enter a queue; suspend it first (spec.suspend: true)"
    ]


def test_not_even_one_that_claims_to_be_finished() -> None:
    old = job()
    new = changed(old, "/metadata/labels", {Key.QUEUE: "small"})
    new["status"] = {"conditions": [{"type": "Complete", "status": "True"}]}
    assert not edit(old, new)[1].allowed


def test_a_suspended_one_enters_like_a_submission() -> None:
    old = job(suspend=True)
    stored, first, second = edit(old, changed(old, "/metadata/labels", {Key.QUEUE: "small"}))
    assert Key.SUBMITTED in stored["metadata"]["annotations"]
    assert (first.allowed, second.warnings) == (True, ("queued in small",))


# Children


def a_child(**spec: Any) -> dict[str, Any]:
    parent = jobset(labels={Key.QUEUE: "vision"})
    child = owned(job("js-workers-0", **({"parallelism": 2, "completions": 2} | spec)), parent)
    child["metadata"]["labels"] = {Key.QUEUE: "vision"}
    return child


def with_parent(**extra: Any) -> Any:
    return judge(cluster=Cluster(parents=[jobset(labels={Key.QUEUE: "vision"}, **extra)]))


def test_a_child_is_started_by_whoever_likes_once_its_parent_has_started() -> None:
    old = a_child(suspend=True)
    stored, first, second = edit(old, changed(old, "/spec/suspend", False), with_parent())
    assert stored["spec"]["suspend"] is False
    assert (first.warnings, second.allowed) == ((), True)


def test_a_child_is_not_started_while_its_parent_waits() -> None:
    old = a_child(suspend=True)
    stored, first, second = edit(
        old, changed(old, "/spec/suspend", False), with_parent(suspend=True)
    )
    assert stored["spec"]["suspend"] is True
    assert (len(first.warnings), second.allowed) == (1, True)


def test_a_child_that_was_made_larger_is_not_started_as_a_child() -> None:
    old = a_child(suspend=True, parallelism=50, completions=50)
    assert (
        edit(old, changed(old, "/spec/suspend", False), with_parent())[0]["spec"]["suspend"] is True
    )


def test_a_running_child_does_not_grow_beyond_what_its_parent_was_granted() -> None:
    old = a_child(completions=8)
    assert edit(old, changed(old, "/spec/parallelism", 50), with_parent())[0] == old


def test_a_child_is_not_relabelled_nor_marked_as_a_root() -> None:
    old = a_child()
    assert not edit(old, changed(old, pointer(Key.QUEUE, "labels"), "small"), with_parent())[
        1
    ].allowed
    forged = changed(old, "/metadata/annotations", {Key.SUBMITTED: "2001-01-01T00:00:00Z"})
    assert Key.SUBMITTED not in edit(old, forged, with_parent())[0]["metadata"]["annotations"]


def _templates(obj: dict[str, Any]) -> list[dict[str, Any]]:
    if obj["kind"] == "Job":
        return [obj["spec"]["template"]]
    return [item["template"]["spec"]["template"] for item in obj["spec"]["replicatedJobs"]]


def _pod_specs(obj: dict[str, Any]) -> list[dict[str, Any]]:
    return [template["spec"] for template in _templates(obj)]
