"""Further labels that name the queue: read beside our own, which is what is written; two that differ are refused."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.admission.building import NOW, Cluster, edit, job, jobset, judge, owned, request, submit
from tests.admission.test_changes import changed, lines, pointer, without
from webhook.admission.decide import Judge, mutate
from webhook.admission.decision import Reason
from webhook.model.kinds import Key
from webhook.workloads.objects import write_time

OTHER = "kueue.x-k8s.io/queue-name"
THIRD = "example.com/queue"
SETTINGS = f"""
settings {{
  queue-label "{OTHER}" "{THIRD}"
}}
"""
QUEUES = """
queue a { quota { cpu 10 } }
queue b { quota { cpu 10 } }
route all when namespace == "team" to a
"""


def by(*rules: str, cluster: Cluster | None = None) -> Judge:
    return judge("\n".join((SETTINGS, QUEUES, *rules)), cluster)


def waiting(**labels: str) -> dict[str, Any]:
    stored, first, second = submit(job(labels=labels), by())
    assert first.allowed and second.allowed, lines(first) + lines(second)
    stored["metadata"] |= {"uid": "u1", "resourceVersion": "7"}
    return stored


@pytest.mark.parametrize("key", [Key.QUEUE, OTHER, THIRD])
def test_any_of_them_names_the_queue_and_ours_is_written(key: str) -> None:
    stored = waiting(**{key: "b"})
    assert stored["metadata"]["labels"] == {key: "b", Key.QUEUE: "b"}
    assert stored["spec"]["template"]["metadata"]["labels"] == {Key.QUEUE: "b"}
    assert mutate(request(stored), by(), NOW + 1).patch == ()


def test_without_settings_the_labels_of_others_say_nothing() -> None:
    obj = job(labels={OTHER: "b"})
    assert submit(obj, judge(QUEUES))[0] == obj


def test_a_label_wins_over_the_routes_and_is_asked_by_accept() -> None:
    stored, _, _ = submit(job(namespace="team", labels={OTHER: "b"}), by())
    assert stored["metadata"]["labels"][Key.QUEUE] == "b"
    fenced = 'queue c {\n  quota { cpu 1 }\n  accept when labels["x"] == "y"\n}'
    refused = submit(job(labels={OTHER: "c"}), by(fenced))[1]
    assert refused.refusals[0].reason is Reason.ACCEPT


@pytest.mark.parametrize("first", [Key.QUEUE, OTHER])
def test_two_that_differ_are_refused_and_two_that_agree_are_not(first: str) -> None:
    second = THIRD
    assert lines(submit(job(labels={first: "a", second: "b"}), by())[1]) == [
        f"two labels name different queues: {first} says 'a', {second} says 'b'"
    ]
    assert submit(job(labels={first: "a", second: "a"}), by())[1].allowed


def test_an_unknown_name_is_refused_like_one_of_ours() -> None:
    for name in ("nobody", ""):
        assert submit(job(labels={OTHER: name}), by())[1].refusals[0].reason is Reason.UNKNOWN_QUEUE


def test_a_set_that_writes_one_of_them_moves_nobody() -> None:
    rule = f'set elsewhere {{ metadata.labels["{OTHER}"] = "b" }}'
    assert lines(submit(job(labels={Key.QUEUE: "a"}), by(rule))[1]) == [
        f"two labels name different queues: {Key.QUEUE} says 'a', {OTHER} says 'b'"
    ]
    assert lines(submit(job(labels={OTHER: "a"}), by(rule))[1])
    assert submit(job(labels={OTHER: "b"}), by(rule))[2].allowed


# Later


def test_another_label_alone_moves_nobody_but_both_do() -> None:
    old = waiting(**{OTHER: "a"})
    new = changed(old, pointer(OTHER, "labels"), "b")
    assert lines(edit(old, new, by())[1]) == [
        f"two labels name different queues: {Key.QUEUE} says 'a', {OTHER} says 'b'"
    ]
    both = changed(new, pointer(Key.QUEUE, "labels"), "b")
    moved, first, second = edit(old, both, by())
    assert first.allowed and second.allowed
    assert moved["spec"]["template"]["metadata"]["labels"] == {Key.QUEUE: "b"}


def test_our_label_alone_does_not_move_it_either() -> None:
    old = waiting(**{OTHER: "a"})
    assert not edit(old, changed(old, pointer(Key.QUEUE, "labels"), "b"), by())[1].allowed
    unlabelled = without(old, pointer(OTHER, "labels"))
    assert edit(old, unlabelled, by())[2].allowed


def test_our_label_cannot_be_cut_out_while_another_names_the_queue() -> None:
    old = waiting(**{OTHER: "a"})
    stored, first, second = edit(old, without(old, pointer(Key.QUEUE, "labels")), by())
    assert first.allowed and second.allowed
    assert stored == old


def test_cutting_both_out_in_two_steps_is_refused_at_the_second() -> None:
    old = waiting(**{OTHER: "a"})
    once = edit(old, without(old, pointer(OTHER, "labels")), by())[0]
    assert lines(edit(once, without(once, pointer(Key.QUEUE, "labels")), by())[1])[0].startswith(
        f"label {Key.QUEUE} stays"
    )


def test_a_manifest_with_another_queue_in_the_label_of_others_is_a_move() -> None:
    """kubectl replace with a manifest that never bore our label."""
    old = waiting(**{OTHER: "a"})
    manifest = job(labels={OTHER: "b"})
    manifest["metadata"] |= {"uid": "u1", "resourceVersion": "7"}
    moved, first, second = edit(old, manifest, by())
    assert first.allowed and second.allowed
    assert moved["metadata"]["labels"] == {OTHER: "b", Key.QUEUE: "b"}
    started = copy.deepcopy(old)
    started["spec"]["suspend"] = False
    assert lines(edit(started, manifest, by())[1]) == [
        "a started workload stays in queue a; suspend it before it moves to b"
    ]


def test_the_same_manifest_again_is_never_refused() -> None:
    old = waiting(**{OTHER: "a"})
    manifest = job(labels={OTHER: "a"})
    manifest["metadata"] |= {"uid": "u1", "resourceVersion": "7"}
    stored, first, second = edit(old, manifest, by())
    assert first.allowed and second.allowed
    assert stored == old


def test_labels_that_differed_before_the_setting_was_written_refuse_no_edit() -> None:
    old = waiting(**{Key.QUEUE: "a"})
    old["metadata"]["labels"][OTHER] = "local-queue"
    assert edit(old, changed(old, "/metadata/labels/x", "y"), by())[2].allowed


def test_what_was_in_no_queue_enters_one_by_our_label_alone() -> None:
    old = job(suspend=True)
    obj = changed(old, "/metadata/labels", {OTHER: "a"})
    assert edit(old, obj, by())[0] == obj
    obj = changed(old, "/metadata/labels", {OTHER: "a", Key.QUEUE: "b"})
    assert not edit(old, obj, by())[1].allowed
    obj = changed(old, "/metadata/labels", {OTHER: "a", Key.QUEUE: "a"})
    assert edit(old, obj, by())[2].allowed


# Children


def the_parent(**labels: str) -> dict[str, Any]:
    parent = jobset(labels=labels)
    parent["metadata"]["annotations"] = {Key.SUBMITTED: write_time(NOW)}
    return parent


def test_a_child_is_in_its_parents_queue_whatever_its_labels_say() -> None:
    parent = the_parent(**{Key.QUEUE: "a"})
    here = by(cluster=Cluster(parents=[parent]))
    child = owned(job("js-workers-0", parallelism=2, completions=2, labels={OTHER: "b"}), parent)
    stored, first, _ = submit(child, here)
    assert first.note == "child"
    assert stored["metadata"]["labels"] == {OTHER: "b", Key.QUEUE: "a"}
    stored["metadata"]["uid"] = "u-child"
    assert edit(stored, changed(stored, pointer(OTHER, "labels"), "nobody"), here)[2].allowed


def test_a_child_that_names_a_queue_while_its_parent_is_in_none_queues_by_itself() -> None:
    parent = jobset(labels={OTHER: "b"})
    here = by(cluster=Cluster(parents=[parent]))
    child = owned(job("js-workers-0", parallelism=2, completions=2, labels={OTHER: "b"}), parent)
    stored, first, _ = submit(child, here)
    assert first.note == "queued"
    assert Key.SUBMITTED in stored["metadata"]["annotations"]
