"""What sets write: over what is there, judged on the object as it came, charged and stamped like what was sent."""

from __future__ import annotations

import copy
import json
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
from tests.admission.test_changes import lines
from webhook.admission.decide import Judge, mutate
from webhook.admission.decision import Decision, Reason
from webhook.model.kinds import Key
from webhook.workloads.objects import write_time

QUEUES = """
priority high 1000
priority low   100 default
queue open { quota { cpu 100 } }
queue small { quota { cpu 2 } accept when labels["team"] == "a" }
route all when namespace == "team" to open
"""


def by(*rules: str, cluster: Cluster | None = None) -> Judge:
    quotas = QUEUES.replace("{ quota { cpu 2 } accept", "{\n quota { cpu 2 }\n accept").replace(
        '"a" }', '"a"\n}'
    )
    return judge("\n".join((quotas, *rules)), cluster)


def stored(obj: dict[str, Any], *rules: str) -> dict[str, Any]:
    """As it is stored; what both calls said was yes, and a second mutating call has nothing to add."""
    here = by(*rules)
    made, first, second = submit(obj, here)
    assert first.allowed, lines(first)
    assert second.allowed, lines(second)
    assert mutate(request(made), here, NOW + 1).patch == ()
    return made


def queued(**extra: Any) -> dict[str, Any]:
    labels = extra.pop("labels", {})
    return job(labels={Key.QUEUE: "open"} | labels, **extra)


def sets(decision: Decision) -> list[str]:
    return [one.rule for one in decision.account.sets]


TIDY = """
set tidy for Job when !has(object.spec.ttlSecondsAfterFinished) {
  spec.ttlSecondsAfterFinished = 86400
}
"""


def test_a_set_writes_where_its_condition_holds() -> None:
    assert stored(queued(), TIDY)["spec"]["ttlSecondsAfterFinished"] == 86400
    assert stored(queued(ttlSecondsAfterFinished=1), TIDY)["spec"]["ttlSecondsAfterFinished"] == 1
    assert sets(submit(queued(), by(TIDY))[1]) == ["set tidy"]


def test_a_set_without_a_condition_writes_over_what_is_there() -> None:
    made = stored(queued(backoffLimit=6), "set few for Job { spec.backoffLimit = 0 }")
    assert made["spec"]["backoffLimit"] == 0


def test_maps_on_the_way_are_made_and_keys_are_escaped() -> None:
    rule = """
set note {
  metadata.annotations["a/b~c"] = user
  metadata.labels["example.com/owner"] = user
}
"""
    made = stored(job(namespace="team"), rule)
    assert made["metadata"]["annotations"]["a/b~c"] == "alice"
    assert made["metadata"]["labels"] == {"example.com/owner": "alice", Key.QUEUE: "open"}


ALL = """
set limits for JobSet {
  spec.replicatedJobs[*].template.spec.template.spec.priorityClassName = "x"
  spec.replicatedJobs[*].template.spec.backoffLimit = 0
}
set fresh for Job {
  spec.template.spec.containers[*].imagePullPolicy = "Always"
  spec.template.spec.initContainers[*].imagePullPolicy = "Always"
}
"""


def test_every_item_of_a_list_is_written_and_no_list_is_made() -> None:
    pod = pod_spec()
    pod["containers"].append({"name": "more", "image": "y", "imagePullPolicy": "Never"})
    made = stored(queued(pod=pod), ALL)["spec"]["template"]["spec"]
    assert [one["imagePullPolicy"] for one in made["containers"]] == ["Always", "Always"]
    assert "initContainers" not in made
    inner = stored(jobset(labels={Key.QUEUE: "open"}), ALL)["spec"]["replicatedJobs"][0]["template"]
    assert inner["spec"]["backoffLimit"] == 0
    assert inner["spec"]["template"]["spec"]["priorityClassName"] == "x"


def test_what_stands_where_a_map_should_be_is_left_to_the_api_server() -> None:
    rule = 'set deep { metadata.annotations["x"] = "y" }'
    obj = queued(pod=pod_spec() | {"containers": [{"name": "a"}, "text"]})
    assert not submit(obj, by(ALL))[1].allowed  # it cannot be counted, set or no set
    assert stored(queued(), rule)["metadata"]["annotations"]["x"] == "y"


def test_all_sets_see_the_object_as_it_came_and_the_first_wins() -> None:
    rules = """
set one when !("tier" in labels) {
  metadata.labels["tier"] = "one"
}
set two when "tier" in labels {
  metadata.labels["tier"]  = "two"
  metadata.labels["other"] = "two"
}
set three when !("tier" in labels) {
  metadata.labels["tier"]  = "three"
  metadata.labels["other"] = "three"
}
"""
    made = stored(queued(), rules)["metadata"]["labels"]
    assert (made["tier"], made["other"]) == ("one", "three")


def test_a_map_and_a_field_in_it_are_written_so_that_the_first_set_stands() -> None:
    inner = 'set inner for Job { spec.template.spec.nodeSelector["a"] = "inner" }'
    outer = 'set outer for Job { spec.template.spec.nodeSelector = {"a": "outer", "b": "outer"} }'
    selector = stored(queued(), inner, outer)["spec"]["template"]["spec"]["nodeSelector"]
    assert selector == {"a": "inner", "b": "outer"}
    selector = stored(queued(), outer, inner)["spec"]["template"]["spec"]["nodeSelector"]
    assert selector == {"a": "outer", "b": "outer"}


def test_a_set_that_fails_is_skipped_and_told() -> None:
    rule = 'set odd { metadata.labels["b"] = labels["a"] }'
    made, first, second = submit(queued(), by(rule))
    assert second.allowed and "b" not in made["metadata"]["labels"]
    assert [one.rule for one in first.account.failed] == ["set odd"]


def test_a_set_on_trial_writes_nothing_and_is_told() -> None:
    trial = "set few for Job audit { spec.backoffLimit = 0 }"
    made, first, second = submit(queued(), by(trial))
    assert "backoffLimit" not in made["spec"]
    assert [one.rule for one in first.account.audited] == ["set few"]
    assert second.account.audited == ()


def test_nothing_is_written_into_what_is_in_no_queue_or_a_child() -> None:
    rule = 'set owner { metadata.labels["owner"] = user }'
    assert submit(job(), by(rule))[0] == job()
    parent = jobset(labels={Key.QUEUE: "open"})
    parent["metadata"]["annotations"] = {Key.SUBMITTED: write_time(NOW)}
    child = owned(job("js-workers-0", parallelism=2, completions=2), parent)
    made = submit(child, by(rule, cluster=Cluster(parents=[parent])))[0]
    assert made["metadata"]["labels"] == {Key.QUEUE: "open"}


# What is asked after the sets


def test_denies_see_what_the_sets_wrote() -> None:
    grow = "set grow for Job { spec.parallelism = 60 }"
    deny = 'deny many when pods > 50 { message "{pods} pods" }'
    obj = queued(parallelism=1, completions=60)
    assert lines(submit(obj, by(grow, deny))[1]) == ["60 pods (deny many policies/ml.tide:12)"]


def test_accept_sees_what_the_sets_wrote() -> None:
    rule = 'set team { metadata.labels["team"] = "a" }'
    assert stored(job(labels={Key.QUEUE: "small"}), rule)["metadata"]["labels"]["team"] == "a"
    refused = submit(job(labels={Key.QUEUE: "small", "team": "a"}), by(rule.replace('"a"', '"b"')))
    assert refused[1].refusals[0].reason is Reason.ACCEPT


def test_what_a_set_asks_for_has_to_fit_as_well() -> None:
    rule = "set grow for Job { spec.parallelism = 3 }"
    obj = job(labels={Key.QUEUE: "small", "team": "a"}, completions=3)
    assert submit(obj, by())[1].allowed
    assert submit(obj, by(rule))[1].refusals[0].reason is Reason.NEVER_FITS


def test_the_priority_a_set_writes_is_its_priority_from_now_on() -> None:
    rule = f'set first when user == "alice" {{ metadata.labels["{Key.PRIORITY}"] = "high" }}'
    deny = 'deny nobody when priority == "high" { message "not {priority}" }'
    assert stored(queued(), rule)["metadata"]["labels"][Key.PRIORITY] == "high"
    assert lines(submit(queued(), by(rule, deny))[1])[0].startswith("not high")


def test_a_set_may_mend_an_unknown_priority_and_may_name_one() -> None:
    mend = f'set low {{ metadata.labels["{Key.PRIORITY}"] = "low" }}'
    assert stored(queued(labels={Key.PRIORITY: "asap"}), mend)
    wrong = mend.replace('= "low"', "= user")
    assert submit(queued(), by(wrong))[1].refusals[0].reason is Reason.UNKNOWN_PRIORITY


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (
            "set odd for Job { spec.parallelism = -1 }",
            "what was written into it cannot be counted: spec.parallelism: want a number that is not negative",
        ),
        (
            'set odd for Job { spec.managedBy = "example.com/x" }',
            "what was written into it cannot be counted: spec.managedBy: another controller would run it",
        ),
    ],
)
def test_what_a_set_spoils_is_refused_naming_the_set(rule: str, text: str) -> None:
    assert lines(submit(queued(), by(rule))[1]) == [f"{text} (set odd policies/ml.tide:11)"]


def test_a_number_no_object_can_hold_is_not_written() -> None:
    rule = "set odd for Job { spec.ttlSecondsAfterFinished = 1.0 / 0.0 }"
    made, first, _ = submit(queued(), by(rule))
    assert "ttlSecondsAfterFinished" not in made["spec"]
    assert [one.message for one in first.account.failed] == [
        "the value is a number that no object can hold"
    ]


# Twice, and later


DOUBLE = """
set double for Job when object.spec.completions < 50 {
  spec.completions = object.spec.completions * 2
}
"""


def test_what_would_not_come_to_rest_is_noted_and_written_once() -> None:
    made = stored(queued(completions=4), DOUBLE)
    assert made["spec"]["completions"] == 8
    assert json.loads(made["metadata"]["annotations"][Key.BEFORE_SETS])


def test_what_comes_to_rest_leaves_no_note() -> None:
    assert Key.BEFORE_SETS not in stored(queued(), TIDY)["metadata"]["annotations"]


def test_rules_about_what_tidegate_writes_itself_see_what_was_sent_both_times() -> None:
    rules = """
set run when !has(object.spec.suspend) || !object.spec.suspend {
  metadata.labels["sent"] = "running"
}
set way when !("tidegate.dev/queue" in labels) {
  metadata.labels["way"] = "route"
}
set bare when has(object.metadata.annotations) {
  metadata.labels["notes"] = "yes"
}
"""
    made = stored(job(namespace="team"), rules)["metadata"]["labels"]
    assert made == {"sent": "running", "way": "route", Key.QUEUE: "open"}


def test_what_another_webhook_adds_in_between_is_written_into_too() -> None:
    here = by(ALL, DOUBLE)
    made = submit(queued(completions=4), here)[0]
    made["spec"]["template"]["spec"]["containers"].append({"name": "sidecar", "image": "y"})
    again = patched(made, mutate(request(made), here, NOW + 1))
    containers = again["spec"]["template"]["spec"]["containers"]
    assert [one["imagePullPolicy"] for one in containers] == ["Always", "Always"]
    assert again["spec"]["completions"] == 8


def test_a_copy_of_a_stored_workload_is_not_doubled_again() -> None:
    made = stored(queued(completions=4), DOUBLE)
    again = stored(copy.deepcopy(made), DOUBLE)
    assert again["spec"]["completions"] == 8


def forged(obj: dict[str, Any], *parts: Any) -> dict[str, Any]:
    obj = copy.deepcopy(obj)
    text = parts[0] if isinstance(parts[0], str) else json.dumps(parts)
    obj["metadata"]["annotations"] = {Key.BEFORE_SETS: text, Key.SUBMITTED_BY: "alice"}
    obj["metadata"]["annotations"][Key.SUBMITTED] = write_time(NOW)
    return obj


LOW = f"""
set low when labels["team"] == "poor" {{
  metadata.labels["{Key.PRIORITY}"] = "low"
}}
"""


@pytest.mark.parametrize(
    "note",
    [
        [{"at": ["metadata", "labels", "team"], "was": "rich"}],
        [{"at": ["metadata", "labels", "team"], "made": 1}],
        [{"at": ["metadata", "labels"], "made": 1}],
        [{"at": ["metadata"], "made": 1}],
        [{"at": ["metadata", "labels", Key.QUEUE], "was": 1}],
        [{"at": ["metadata", "labels"], "was": [1]}],
        [{"at": ["spec"], "was": "none"}],
        [{"at": ["spec", "parallelism"], "was": 1}],
        [{"at": [], "made": 1}],
        [{"at": ["metadata", 0], "was": {}}],
        [{"at": "spec", "was": {}}],
        ["[" * 9000],
        ["[" * 20000],
        ["null"],
        ["{}"],
        ["[NaN]"],
        ['[{"at":["spec","suspend"],"was":Infinity}]'],
    ],
)
def test_who_forges_a_note_is_judged_all_the_same(note: list[Any]) -> None:
    obj = forged(queued(labels={"team": "poor", Key.PRIORITY: "high"}), *note)
    made = submit(obj, by(LOW))[0]
    assert made["metadata"]["labels"][Key.PRIORITY] == "low"
    assert made["metadata"]["labels"][Key.QUEUE] == "open"
    assert Key.BEFORE_SETS not in made["metadata"]["annotations"]


def test_who_forges_what_a_set_replaces_gets_what_that_object_would_have_got() -> None:
    note = {"at": ["spec", "completions"], "was": 3}
    made = submit(forged(queued(completions=40), note), by(DOUBLE))[0]
    honest = submit(queued(completions=3), by(DOUBLE))[0]
    assert made == honest


def test_too_much_to_be_noted_is_refused() -> None:
    rule = 'set longer { metadata.annotations["a"] = annotations["a"] + "z" }'
    obj = queued()
    obj["metadata"]["annotations"] = {"a": "y" * 200}
    assert stored(obj, rule)["metadata"]["annotations"]["a"] == "y" * 200 + "z"
    obj["metadata"]["annotations"] = {"a": "y" * 20_000}
    assert lines(submit(obj, by(rule))[1]) == [
        "what was replaced in it is too much to be noted (set longer policies/ml.tide:11)"
    ]


def test_who_forges_the_queue_it_came_for_waits_in_that_queue_or_is_refused_by_it() -> None:
    note = {"at": ["metadata", "labels", Key.QUEUE], "was": "small"}
    assert submit(forged(queued(), note), by(TIDY))[1].refusals[0].reason is Reason.ACCEPT
    made = submit(forged(queued(labels={"team": "a"}), note), by(TIDY))[0]
    assert made == submit(job(labels={Key.QUEUE: "small", "team": "a"}), by(TIDY))[0]


def test_who_enters_a_queue_later_does_not_get_past_the_sets() -> None:
    old = job(suspend=True)
    new = copy.deepcopy(old)
    new["metadata"]["labels"] = {Key.QUEUE: "open"}
    made = edit(old, new, by(TIDY))[0]
    assert made["spec"]["ttlSecondsAfterFinished"] == 86400


def test_edits_are_not_written_into() -> None:
    old = stored(queued(), TIDY)
    new = copy.deepcopy(old)
    new["spec"]["ttlSecondsAfterFinished"] = 5
    made, _, second = edit(old, new, by(TIDY))
    assert second.allowed and made["spec"]["ttlSecondsAfterFinished"] == 5


def test_a_long_list_is_one_operation() -> None:
    pod = pod_spec()
    pod["containers"] = [{"name": f"c{i}", "image": "x"} for i in range(1000)]
    decision = mutate(request(queued(pod=pod)), by(ALL), NOW)
    assert lines(decision) == []
    paths = [op.path for op in decision.patch if op.path.startswith("/spec/template/spec")]
    assert paths == ["/spec/template/spec/containers"]


TOLERANT = "set exists for Job { spec.template.spec.tolerations[*].operator = name }"


def test_whoever_sends_a_list_of_thousands_is_refused_before_it_takes_long() -> None:
    pod = pod_spec() | {"tolerations": [{} for _ in range(10_000)]}
    made = stored(queued(pod=pod), TOLERANT)["spec"]["template"]["spec"]["tolerations"]
    assert made == [{"operator": "train"}] * 10_000
    pod["tolerations"].append({})
    (line,) = lines(submit(queued(pod=pod), by(TOLERANT))[1])
    assert "spec.template.spec.tolerations: more than 10000 items to write into" in line
    assert line.endswith("(set exists policies/ml.tide:11)")
