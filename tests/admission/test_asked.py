"""What the rules of a policy have to say: whom a queue accepts, who is warned, what audit would have done."""

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
    request,
    submit,
)
from tests.admission.test_changes import changed, lines, pointer, started
from webhook.admission.decide import Judge, mutate, validate
from webhook.admission.decision import Reason, Told
from webhook.model.kinds import Key
from webhook.workloads.objects import write_time

RULES = """
queue open { quota { cpu 100 } }
queue vision {
  quota { cpu 100 }
  accept when labels["team"] == "vision"
  accept when "admins" in groups
}
queue fenced {
  quota { cpu 100 }
  accept when namespaceObject.metadata.labels["team"] == labels["team"]
}

route trial for Job when pods > 1 to fenced audit
route for Job when namespace == "team-vision" to vision
route fenced for Job when namespace == "team-fenced" to fenced
route broken for Job when labels["tier"] == "gold" to open

warn many-pods for Job when pods > 10 { message "{pods} pods in one Job" }
warn no-owner when labels["owner"] == "" { message "the owner is empty" }
warn later for Job when pods > 5 audit { message "this will be warned about" }
deny huge for Job when pods > 50 { message "{pods} pods are too many" }
deny soon for Job when pods > 20 audit { message "this will be denied" }
"""


def by(**namespaces: str) -> Judge:
    cluster = Cluster()
    for name, team in namespaces.items():
        cluster.namespaces[name] = {"metadata": {"name": name, "labels": {"team": team}}}
    return judge(RULES, cluster)


def in_queue(queue: str, pods: int = 1, **labels: str) -> dict[str, Any]:
    labels = {Key.QUEUE: queue, "owner": "ana"} | labels
    return job(labels=labels, parallelism=pods, completions=pods)


def names(told: tuple[Told, ...]) -> list[str]:
    return [one.rule for one in told]


# Accept


def test_a_queue_refuses_whom_no_accept_line_lets_in_naming_all_of_them() -> None:
    _, first, _ = submit(in_queue("vision", team="speech"), by())
    assert lines(first) == [
        "queue vision does not accept this workload (accept policies/ml.tide:5, policies/ml.tide:6)"
    ]
    assert first.refusals[0].reason is Reason.ACCEPT


def test_any_accept_line_is_enough() -> None:
    assert submit(in_queue("vision", team="vision"), by())[2].allowed
    groups = {"username": "root", "groups": ["admins"]}
    asked = request(in_queue("vision", team="speech"), userInfo=groups)
    assert mutate(asked, by(), NOW).allowed


def test_a_route_into_a_queue_that_does_not_accept_is_refused_naming_both_lines() -> None:
    obj = job(namespace="team-vision", labels={"team": "x"})
    told = "accept policies/ml.tide:5, policies/ml.tide:6; route policies/ml.tide:14"
    assert lines(submit(obj, by())[1]) == [f"queue vision does not accept this workload ({told})"]
    obj = job(namespace="team-fenced", labels={"team": "x"})
    told = "accept policies/ml.tide:10; route fenced policies/ml.tide:15"
    assert lines(submit(obj, by(**{"team-fenced": "y"}))[1]) == [
        f"queue fenced does not accept this workload ({told})"
    ]


def test_an_accept_that_cannot_be_evaluated_refuses_says_why_and_is_counted() -> None:
    _, first, _ = submit(in_queue("fenced", team="x"), by())
    assert lines(first)[0].startswith("queue fenced does not accept this workload: ")
    assert names(first.account.failed) == ["accept fenced"]


def test_whoever_moves_a_waiting_workload_asks_the_new_queue() -> None:
    old = in_its_queue(in_queue("open", team="speech"))
    move = changed(old, pointer(Key.QUEUE, "labels"), "vision")
    assert lines(edit(old, move, by())[1]) == [
        "queue vision does not accept this workload (accept policies/ml.tide:5, policies/ml.tide:6)"
    ]
    assert edit(old, changed(move, "/metadata/labels/team", "vision"), by())[2].allowed


def test_who_is_in_its_queue_is_not_asked_again() -> None:
    old = in_its_queue(in_queue("vision", team="vision"))
    assert edit(old, changed(old, "/metadata/labels/team", "speech"), by())[2].allowed


def test_moving_there_and_back_does_not_get_past_an_accept() -> None:
    old = in_its_queue(in_queue("vision", team="vision"))
    gone = edit(old, changed(old, pointer(Key.QUEUE, "labels"), "open"), by())[0]
    less = edit(gone, changed(gone, "/metadata/labels/team", "x"), by())[0]
    assert not edit(less, changed(less, pointer(Key.QUEUE, "labels"), "vision"), by())[1].allowed


def test_who_enters_a_queue_later_is_asked_too() -> None:
    old = job(suspend=True)
    new = copy.deepcopy(old)
    new["metadata"]["labels"] = {Key.QUEUE: "vision"}
    assert edit(old, new, by())[1].refusals[0].reason is Reason.ACCEPT


def test_the_order_is_accept_deny_priority_and_quota() -> None:
    obj = in_queue("vision", 200, team="x") | {}
    obj["metadata"]["labels"][Key.PRIORITY] = "asap"
    reasons = [refusal.reason for refusal in submit(obj, by())[1].refusals]
    assert reasons == [Reason.ACCEPT, Reason.DENIED, Reason.UNKNOWN_PRIORITY, Reason.NEVER_FITS]


# Warn


def in_its_queue(obj: dict[str, Any]) -> dict[str, Any]:
    stored, first, second = submit(obj, by())
    assert first.allowed and second.allowed
    return stored


MANY = "11 pods in one Job (warn many-pods policies/ml.tide:18)"


def test_a_warn_is_told_by_the_validating_call_behind_where_it_waits() -> None:
    _, first, second = submit(in_queue("open", 11), by())
    assert first.warnings == ()
    assert second.warnings == ("queued in open", MANY)
    assert names(second.account.warned) == ["warn many-pods"]


def test_a_warn_that_cannot_be_evaluated_warns_and_is_counted() -> None:
    obj = in_queue("open")
    del obj["metadata"]["labels"]["owner"]
    _, first, second = submit(obj, by())
    assert second.warnings[1].startswith("the condition of no-owner could not be evaluated: ")
    assert names(second.account.failed) == ["warn no-owner"]
    assert names(first.account.failed) == []


def test_nobody_is_warned_who_is_in_no_queue() -> None:
    assert submit(jobset(), by())[2].warnings == ()


def test_a_change_is_warned_of_what_it_brings_about_and_of_nothing_else() -> None:
    old = in_its_queue(in_queue("open"))
    grown, first, second = edit(old, sized(old, 11), by())
    assert (first.warnings, second.warnings) == ((), (MANY,))
    for again in (sized(grown, 12), changed(grown, "/metadata/labels/x", "y")):
        assert edit(grown, again, by())[2].warnings == ()


def test_another_queue_hears_all_warnings() -> None:
    old = in_its_queue(in_queue("open", 11))
    new = changed(old, pointer(Key.QUEUE, "labels"), "vision")
    moved = edit(old, changed(new, "/metadata/labels/team", "vision"), by())
    assert moved[2].warnings == (MANY,)


def test_what_changes_neither_spec_nor_labels_is_not_warned_of() -> None:
    old = in_its_queue(in_queue("open", 11))
    assert edit(old, changed(old, "/metadata/annotations/x", "y"), by())[2].warnings == ()


def test_a_started_workload_is_not_judged_by_warns() -> None:
    old = started(job(labels={Key.QUEUE: "vision"}, parallelism=20, completions=20))
    assert edit(old, changed(old, "/metadata/labels/x", "y"), by())[2].warnings == ()


def test_a_child_is_not_warned_of() -> None:
    parent = jobset(labels={Key.QUEUE: "open"})
    parent["spec"]["replicatedJobs"][0]["template"]["spec"] |= {
        "parallelism": 11,
        "completions": 11,
    }
    parent["metadata"]["annotations"] = {Key.SUBMITTED: write_time(NOW)}
    child = owned(job("js-workers-0", parallelism=11, completions=11), parent)
    here = judge(RULES, Cluster(parents=[parent]))
    assert submit(child, here)[2].warnings == ()


def sized(obj: dict[str, Any], pods: int) -> dict[str, Any]:
    new = changed(obj, "/spec/parallelism", pods)
    return changed(new, "/spec/completions", pods)


# Audit and failures


def test_rules_under_audit_are_told_once_and_change_nothing() -> None:
    obj = in_queue("open", 21)
    stored, first, second = submit(obj, by())
    assert first.allowed and second.warnings == ("queued in open", MANY.replace("11", "21"))
    assert names(first.account.audited) == ["deny soon"]
    assert names(second.account.audited) == ["warn later"]
    assert stored["metadata"]["labels"][Key.QUEUE] == "open"


def test_a_route_under_audit_is_told_and_the_next_one_tried() -> None:
    obj = job(namespace="team-vision", labels={"team": "vision", "owner": "a"}, parallelism=2)
    obj["spec"]["completions"] = 2
    stored, first, _ = submit(obj, by())
    assert stored["metadata"]["labels"][Key.QUEUE] == "vision"
    assert names(first.account.audited) == ["route trial"]
    assert first.account.route == Told("route policies/ml.tide:14", "policies/ml.tide:14")


def test_a_route_that_fails_is_told_even_where_nobody_routes() -> None:
    _, first, second = submit(job(), by())
    assert first.note == "ignored"
    assert names(first.account.failed) == ["route broken"]
    assert second.account.failed == ()


@pytest.mark.parametrize("pods", [21, 60])
def test_an_edit_tells_what_it_brings_about_under_audit_once(pods: int) -> None:
    old = in_its_queue(in_queue("open"))
    grown, first, _ = edit(old, sized(old, pods), by())
    assert names(first.account.audited) == ["deny soon"]
    if first.allowed:
        assert edit(grown, sized(grown, 22), by())[1].account.audited == ()


def test_the_validating_call_tells_of_denies_only_where_it_refuses() -> None:
    stored = in_its_queue(in_queue("open", 21))
    assert names(validate(request(stored), by(), NOW).account.audited) == ["warn later"]
    stored = sized(stored, 51)
    assert names(validate(request(stored), by(), NOW).account.audited) == ["deny soon"]
