"""Ways around the queue that somebody thought of, each with the answer that closes it. Most are about parents."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.admission.building import (
    NOW,
    Cluster,
    edit,
    job,
    jobset,
    judge,
    owned,
    patched,
    pod_spec,
    request,
    submit,
)
from tests.admission.test_changes import changed, lines, pointer, started, waiting, without
from webhook.admission.decide import Judge, mutate, validate, wanted
from webhook.model.kinds import Key
from webhook.workloads.jobset import PARENT_UID

GONE = "2027-01-01T00:00:00Z"
IN_VISION = {Key.QUEUE: "vision"}


def parent(**extra: Any) -> dict[str, Any]:
    about = extra.pop("metadata", {})
    made = jobset(labels=extra.pop("labels", IN_VISION), **extra)
    made["metadata"] |= about
    return made


def knowing(*parents: dict[str, Any]) -> Judge:
    return judge(cluster=Cluster(parents=list(parents)))


def child(of: dict[str, Any], **extra: Any) -> dict[str, Any]:
    return owned(job("js-workers-0", **({"parallelism": 2, "completions": 2} | extra)), of)


def queued(obj: dict[str, Any]) -> bool:
    return obj["spec"].get("suspend") is True and Key.SUBMITTED in obj["metadata"]["annotations"]


# A parent that lets nobody in


def test_a_jobset_that_another_controller_runs_is_nobodys_way_in() -> None:
    """It is never charged, and its controller makes no Jobs here: whatever names it as its owner is a root."""
    foreign = parent(managedBy="kueue.x-k8s.io/multikueue")
    assert queued(submit(child(foreign, labels=IN_VISION), knowing(foreign))[0])


def test_a_parent_that_is_being_deleted_makes_nothing_any_more() -> None:
    dying = parent(metadata={"deletionTimestamp": GONE, "finalizers": ["x.io/keep"]})
    assert queued(submit(child(dying, labels=IN_VISION), knowing(dying))[0])


def test_nor_does_it_start_what_it_made() -> None:
    """A finalizer keeps a waiting JobSet that was deleted; nobody may start it, nor its children."""
    dying = waiting(parent(metadata={"deletionTimestamp": GONE, "finalizers": ["x.io/keep"]}))
    stored, first, second = edit(dying, changed(dying, "/spec/suspend", False))
    assert (stored["spec"]["suspend"], first.allowed, second.allowed) == (True, True, True)
    dying["spec"]["suspend"] = False
    old = child(dying, suspend=True, labels=IN_VISION)
    assert edit(old, changed(old, "/spec/suspend", False), knowing(dying))[0]["spec"]["suspend"]


def test_the_child_of_a_parent_in_no_queue_that_names_a_queue_itself_queues_by_itself() -> None:
    """A label on the template of a replicated job: without this the child would run, and be charged, unasked."""
    free = parent(labels=None)
    assert queued(submit(child(free, labels=IN_VISION), knowing(free))[0])
    old = child(free)
    _, first, _ = edit(old, changed(old, "/metadata/labels", IN_VISION), knowing(free))
    assert lines(first)[0].startswith("a running workload cannot enter a queue")


# Children that change hands


@pytest.mark.parametrize("path", ["/metadata/ownerReferences", "/metadata/ownerReferences/0"])
def test_a_child_stays_its_parents(path: str) -> None:
    """Alone it would be charged a second time, and run on when its parent is deleted."""
    above = parent()
    old = child(above, labels=IN_VISION)
    stored, first, second = edit(old, without(old, path), knowing(above))
    assert stored["metadata"]["ownerReferences"] == old["metadata"]["ownerReferences"]
    assert first.warnings == ("it stays a child of js: its owner was put back",)
    assert second.allowed


def test_it_is_orphaned_by_the_garbage_collector_where_its_parent_is_deleted_so() -> None:
    dying = parent(metadata={"deletionTimestamp": GONE, "finalizers": ["orphan"]})
    old = child(dying, labels=IN_VISION)
    stored, first, _ = edit(old, without(old, "/metadata/ownerReferences"), knowing(dying))
    assert "ownerReferences" not in stored["metadata"]
    assert first.warnings == ()


def test_for_that_the_parent_is_asked_for_again_since_memory_may_be_late() -> None:
    above = parent()
    old = child(above, labels=IN_VISION)
    here = knowing(above)
    taken = wanted(request(without(old, "/metadata/ownerReferences"), old), here)
    assert taken is not None
    assert (taken.name, taken.uid) == ("js", "uid-js")
    assert wanted(request(changed(old, "/metadata/labels/a", "b"), old), here) is None


def test_a_suspended_child_asks_no_more_than_its_parents_template() -> None:
    above = parent()
    old = child(above, suspend=True, labels=IN_VISION)
    new = changed(old, "/spec/template/spec", pod_spec(cpu="7"))
    assert lines(edit(old, new, knowing(above))[1]) == [
        "a child may not ask for more than its parent's template"
    ]


def test_an_edit_that_adds_an_owner_makes_no_child() -> None:
    above = parent()
    old = job("js-workers-0", parallelism=2, completions=2, suspend=True)
    new = owned(changed(old, "/metadata/labels", IN_VISION), above)
    assert queued(edit(old, new, knowing(above))[0])


def test_a_childs_pods_bear_the_uid_by_which_they_are_found_when_both_are_gone() -> None:
    above = parent()
    stored, _, second = submit(child(above), knowing(above))
    assert stored["spec"]["template"]["metadata"]["labels"] == IN_VISION | {PARENT_UID: "uid-js"}
    assert second.allowed


def test_a_child_of_a_waiting_parent_that_was_not_suspended_is_refused_by_the_validating_call() -> (
    None
):
    """The mutating call did not answer in time."""
    above = parent(suspend=True)
    assert not validate(request(child(above)), knowing(above), NOW).allowed


def test_the_parents_version_is_not_what_makes_it_a_parent() -> None:
    above = parent()
    older = owned(child(above), above, apiVersion="jobset.x-k8s.io/v1")
    assert submit(older, knowing(above))[1].note == "child"


@pytest.mark.parametrize(
    ("jobset_name", "part", "name"),
    [
        ("a", "b-c", "a-b-c-0"),
        ("a-b", "c", "a-b-c-0"),
        ("a", "0", "a-0-0"),
        ("a", "b-0", "a-b-0-1"),
    ],
)
def test_names_with_dashes_and_digits_are_told_apart(
    jobset_name: str, part: str, name: str
) -> None:
    above = jobset(jobset_name, labels=IN_VISION)
    above["spec"]["replicatedJobs"][0]["name"] = part
    made = owned(job(name, parallelism=2, completions=2), above)
    assert submit(made, knowing(above))[1].note == "child"
    beside = owned(job(f"{jobset_name}-0", parallelism=2, completions=2), above)
    beside["metadata"]["labels"] = IN_VISION
    assert submit(beside, knowing(above))[1].note == "queued"


def test_a_parent_in_another_namespace_is_none() -> None:
    above = parent(metadata={"namespace": "elsewhere"})
    assert queued(submit(child(above, labels=IN_VISION), knowing(above))[0])


def test_of_two_controllers_the_api_server_refuses_one_and_we_do_not_stumble() -> None:
    above = parent()
    made = child(above, labels=IN_VISION)
    made["metadata"]["ownerReferences"] *= 2
    assert submit(made, knowing(above))[1].allowed


# Entering and leaving


def test_what_still_has_pods_enters_no_queue() -> None:
    """Suspend, label: the queue would be charged for pods it never granted, as long as they please to end."""
    old = job(suspend=True)
    old["status"] = {"active": 0, "terminating": 3, "startTime": GONE}
    _, first, _ = edit(old, changed(old, "/metadata/labels", IN_VISION))
    assert lines(first) == ["pods of it are left: it can enter a queue once they are gone"]


def test_a_jobset_enters_no_queue_later_since_its_jobs_bear_no_label() -> None:
    """Their edits are not reviewed: they could grow."""
    old = jobset(suspend=True)
    _, first, _ = edit(old, changed(old, "/metadata/labels", IN_VISION))
    assert lines(first)[0].startswith("a JobSet cannot enter a queue later")


def test_a_child_enters_its_parents_queue_and_no_other_and_brings_no_stamp() -> None:
    above = parent()
    old = child(above)
    new = changed(old, "/metadata/labels", {Key.QUEUE: "small"})
    new["metadata"]["annotations"] = {Key.SUBMITTED: "2001-01-01T00:00:00Z"}
    stored, first, second = edit(old, new, knowing(above))
    assert stored["metadata"]["labels"] == IN_VISION
    assert stored["metadata"]["annotations"] == {}
    assert (first.allowed, second.allowed) == (True, True)


def test_a_started_jobset_does_not_grow_even_where_its_controller_would_let_it() -> None:
    old = started(parent())
    _, first, _ = edit(old, changed(old, "/spec/replicatedJobs/0/replicas", 3))
    assert lines(first) == ["a started workload may not ask for more: pods from 4 to 6"]


def test_suspending_what_bears_no_label_on_its_template_leaves_the_template_alone() -> None:
    """The API server refuses a changed template in the edit that suspends a running Job."""
    old = started()
    old["spec"]["template"]["metadata"] = {}
    stored, first, second = edit(old, changed(old, "/spec/suspend", True))
    assert stored["spec"]["template"] == old["spec"]["template"]
    assert (first.allowed, second.allowed) == (True, True)


def test_mutate_and_validate_judge_the_same_edit() -> None:
    """What is made too large in the edit that unsuspends it is refused by the first call, not only by the second."""
    old = waiting(job(labels={Key.QUEUE: "small"}))
    new = changed(changed(old, "/spec/parallelism", 11), "/spec/completions", 11)
    new["spec"]["suspend"] = False
    assert not edit(old, new)[1].allowed


# Words and shapes


def test_a_user_name_of_any_letters_is_written_down() -> None:
    name = 'Zoë "…" \N{SNOWMAN} \N{PILE OF POO}/~1\\'
    stored, _, second = submit(job(labels={Key.QUEUE: "small"}), user=name)
    assert stored["metadata"]["annotations"][Key.SUBMITTED_BY] == name
    assert second.allowed


@pytest.mark.parametrize("part", ["labels", "annotations"])
def test_null_is_as_good_as_nothing(part: str) -> None:
    obj = job(namespace="team-vision")
    obj["metadata"][part] = None
    assert queued(submit(obj)[0])
    old = waiting()
    new = copy.deepcopy(old)
    new["metadata"] |= {"labels": None, "annotations": None}
    assert edit(old, new)[0] == old


@pytest.mark.parametrize("value", [5, {"a": 1}, ["vision"], None, True])
def test_a_label_that_is_no_text_is_refused_with_its_place(value: Any) -> None:
    _, first, _ = submit(job(labels={Key.QUEUE: value}))
    assert lines(first) == [f"tidegate cannot count it: metadata.labels[{Key.QUEUE}]: want a text"]


def test_finalizers_of_what_cannot_be_counted_go_all_the_same() -> None:
    old = waiting()
    old["metadata"]["finalizers"] = ["x.io/keep"]
    old["spec"]["template"]["spec"] = pod_spec(cpu="lots")
    new = without(old, "/metadata/finalizers")
    assert edit(old, new)[1].allowed
    dying = changed(old, "/metadata/deletionTimestamp", GONE)
    assert edit(dying, without(dying, "/metadata/finalizers"))[2].allowed
    assert not edit(old, changed(new, "/spec/suspend", False))[1].allowed


def test_a_name_as_long_as_names_get_is_told_in_full() -> None:
    name, queue = "n" * 253, "q" * 63
    _, first, _ = submit(job(name, labels={Key.QUEUE: queue}))
    assert lines(first)[0].startswith(f"no queue named '{queue}'")


def test_nobody_is_asked_for_a_parent_in_a_namespace_we_leave_alone() -> None:
    made = child(parent())
    made["metadata"]["namespace"] = "kube-system"
    assert wanted(request(made), judge()) is None
    assert mutate(request(made), judge(), NOW).patch == ()


def test_what_is_being_deleted_moves_to_no_other_queue() -> None:
    old = changed(started(), "/metadata/deletionTimestamp", GONE)
    new = changed(old, pointer(Key.QUEUE, "labels"), "small")
    assert edit(old, new)[0] == old


def test_a_generated_name_makes_no_child() -> None:
    above = parent()
    made = child(above, labels=IN_VISION)
    del made["metadata"]["name"]
    made["metadata"]["generateName"] = "js-workers-0"
    stored = patched(made, mutate(request(made), knowing(above), NOW))
    assert queued(stored)


# What takes long to judge keeps everybody waiting, and who waits too long passes


@pytest.mark.parametrize(
    ("pod", "said"),
    [
        ({"containers": [{"name": "c"}] * 1001}, "more than 1000 containers"),
        (pod_spec(**{f"x.io/r{n}": "1" for n in range(101)}), "more than 100 resources"),
    ],
)
def test_a_pod_beyond_all_measure_is_refused_before_it_is_added_up(pod: Any, said: str) -> None:
    _, first, _ = submit(job(labels=IN_VISION, pod=pod))
    assert lines(first) == [f"tidegate cannot count it: spec.template.spec: {said}"]


def test_so_is_a_jobset_of_too_many_parts() -> None:
    huge = jobset(labels=IN_VISION)
    huge["spec"]["replicatedJobs"] *= 1001
    _, first, _ = submit(huge)
    assert lines(first) == ["tidegate cannot count it: spec.replicatedJobs: more than 1000 of them"]


@pytest.mark.parametrize("key", [Key.QUEUE, Key.PRIORITY])
def test_a_label_as_long_as_a_request_is_not_told_in_full(key: str) -> None:
    _, first, _ = submit(job(labels={Key.QUEUE: "vision", key: "vision" * 100_000}))
    assert len(lines(first)[0]) == 2000
