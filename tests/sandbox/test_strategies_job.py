"""The rules of a Job, against what the real server did (see the messages)."""

from __future__ import annotations

import copy
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.sandbox.manifests import job, pod_template
from webhook.sandbox.resources import JOBS, RESOURCES
from webhook.sandbox.status import Cause
from webhook.sandbox.strategies import (
    prepare_create,
    prepare_update,
    validate_create,
    validate_update,
)

NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
UID = "0b9f3a52-8e55-4a34-9b47-8a5ad7a8f6b1"
CONTROLLER_UID = "batch.kubernetes.io/controller-uid"


def created(name: str = "t1", **spec: Any) -> dict[str, Any]:
    """A Job as it is stored."""
    body = job(name, **spec)
    body["metadata"] |= {"namespace": "default", "uid": UID, "resourceVersion": "7"}
    return prepare_create(JOBS, body, NOW)


def suspended(**status: Any) -> dict[str, Any]:
    return created(suspend=True, parallelism=2, completions=2) | {"status": status}


def marked_suspended(**status: Any) -> dict[str, Any]:
    return suspended(conditions=[{"type": "Suspended", "status": "True"}], **status)


def changed(old: dict[str, Any], **pod_spec: Any) -> dict[str, Any]:
    """The Job with fields of its pod spec set."""
    new = copy.deepcopy(old)
    new["spec"]["template"]["spec"].update(pod_spec)
    return new


def refusals(old: dict[str, Any], new: dict[str, Any], subresource: str = "") -> list[Cause]:
    return validate_update(JOBS, old, prepare_update(JOBS, old, new, subresource), subresource)


def test_a_job_gets_the_defaults_of_the_real_server():
    spec = created()["spec"]
    expected = {
        "parallelism": 1,
        "completions": 1,
        "backoffLimit": 6,
        "completionMode": "NonIndexed",
        "suspend": False,
        "podReplacementPolicy": "TerminatingOrFailed",
        "manualSelector": False,
    }
    assert {key: spec[key] for key in expected} == expected
    pod = spec["template"]["spec"]
    assert pod["dnsPolicy"] == "ClusterFirst"
    assert pod["schedulerName"] == "default-scheduler"
    assert pod["terminationGracePeriodSeconds"] == 30
    assert pod["containers"][0]["imagePullPolicy"] == "IfNotPresent"
    assert pod["containers"][0]["terminationMessagePath"] == "/dev/termination-log"


def test_completions_stay_open_when_only_parallelism_is_stated():
    assert "completions" not in created(parallelism=3)["spec"]


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("train", "Always"),
        ("train:latest", "Always"),
        ("registry:5000/train", "Always"),
        ("train:1", "IfNotPresent"),
        ("train@sha256:00", "IfNotPresent"),
    ],
)
def test_the_pull_policy_follows_the_tag(image: str, policy: str):
    template = pod_template(containers=[{"name": "main", "image": image}])
    container = created(template=template)["spec"]["template"]["spec"]["containers"][0]
    assert container["imagePullPolicy"] == policy


def test_the_selector_is_generated_from_the_uid():
    made = created()
    labels = made["spec"]["template"]["metadata"]["labels"]
    assert made["spec"]["selector"] == {"matchLabels": {CONTROLLER_UID: UID}}
    assert labels == {
        CONTROLLER_UID: UID,
        "controller-uid": UID,
        "batch.kubernetes.io/job-name": "t1",
        "job-name": "t1",
    }
    assert made["metadata"]["labels"] == labels


def test_before_there_is_a_uid_there_is_no_selector():
    assert "selector" not in prepare_create(JOBS, job("t1"), NOW)["spec"]


def test_preparing_twice_changes_nothing_and_leaves_the_argument_alone():
    body = job("t1")
    before = copy.deepcopy(body)
    once = prepare_create(JOBS, body, NOW)
    assert body == before
    assert prepare_create(JOBS, once, NOW) == once


def test_a_status_sent_along_is_dropped():
    assert prepare_create(JOBS, job("t1") | {"status": {"active": 3}}, NOW)["status"] == {}


def test_a_new_job_is_valid():
    assert validate_create(JOBS, created()) == []


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (
            {"parallelism": -1},
            "spec.parallelism: Invalid value: -1: must be greater than or equal to 0",
        ),
        (
            {"completionMode": "Indexed", "parallelism": 2},
            "spec.completions: Required value: when completion mode is Indexed",
        ),
        (
            {"completionMode": "Odd"},
            (
                'spec.completionMode: Unsupported value: "Odd": supported values: "NonIndexed", '
                '"Indexed"'
            ),
        ),
        (
            {"template": {"spec": {"containers": [{"name": "a", "image": "b"}]}}},
            'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
        ),
        (
            {"template": pod_template(containers=[])},
            "spec.template.spec.containers: Required value",
        ),
        (
            {"template": pod_template(containers=[{"name": "a"}])},
            "spec.template.spec.containers[0].image: Required value",
        ),
        (
            {"backoffLimitPerIndex": 1},
            "spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode",
        ),
    ],
)
def test_a_broken_job_is_refused_in_the_words_of_the_real_server(spec: dict[str, Any], text: str):
    causes = validate_create(JOBS, created(**spec))
    assert text in [f"{cause.field}: {cause.message}" for cause in causes]


def test_labels_that_contradict_the_generated_ones_are_refused():
    template = pod_template()
    template["metadata"] = {"labels": {"job-name": "other"}}
    causes = validate_create(JOBS, created(template=template))
    assert any("must be 't1'" in cause.message for cause in causes)


def test_an_indexed_job_whose_pods_could_not_be_named_is_refused():
    causes = validate_create(JOBS, created("t" * 62, completionMode="Indexed", completions=10))
    assert "will not able to create pod with invalid DNS label" in causes[0].message


def test_the_template_of_a_running_job_is_immutable():
    old = created() | {"status": {"startTime": "2026-12-01T12:00:00Z", "active": 1}}
    (cause,) = refusals(old, changed(old, nodeSelector={"gpu": "h100"}))
    assert cause.field == "spec.template"
    assert cause.reason == "FieldValueInvalid"
    assert cause.message.startswith('Invalid value: {"spec":') or '"gpu":"h100"' in cause.message
    assert cause.message.endswith(": field is immutable")


def test_suspending_and_changing_the_template_in_one_write_is_refused():
    old = created() | {"status": {"startTime": "2026-12-01T12:00:00Z", "active": 1}}
    new = changed(old, nodeSelector={"gpu": "h100"})
    new["spec"]["suspend"] = True
    assert [cause.field for cause in refusals(old, new)] == ["spec.template"]


@pytest.mark.parametrize(
    "old", [suspended(), marked_suspended(), marked_suspended(startTime="x", terminating=1)]
)
def test_directives_and_resources_change_while_suspended(old: dict[str, Any]):
    new = changed(
        old,
        nodeSelector={"gpu": "h100"},
        tolerations=[{"operator": "Exists"}],
        schedulingGates=[{"name": "a.dev/gate"}],
        affinity={"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {}}},
    )
    container = new["spec"]["template"]["spec"]["containers"][0]
    container["resources"] = {"requests": {"cpu": "2"}}
    new["spec"]["template"]["metadata"]["labels"]["team"] = "vision"
    new["spec"]["template"]["metadata"]["annotations"] = {"note": "x"}
    new["spec"]["suspend"] = False
    assert refusals(old, new) == []


@pytest.mark.parametrize(
    "old",
    [
        suspended(startTime="2026-12-01T12:00:00Z"),  # Suspended is not yet reported
        marked_suspended(active=1),  # pods are still there
    ],
)
def test_directives_wait_until_the_controller_has_seen_the_suspension(old: dict[str, Any]):
    assert [c.field for c in refusals(old, changed(old, nodeSelector={"a": "b"}))] == [
        "spec.template"
    ]


@pytest.mark.parametrize(
    "fields",
    [
        {"containers": [{"name": "main", "image": "train:2"}]},
        {"containers": [{"name": "main", "image": "train:1"}, {"name": "b", "image": "b"}]},
        {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": []}}},
        {"hostNetwork": True},
    ],
)
def test_the_rest_of_the_template_stays_immutable_while_suspended(fields: dict[str, Any]):
    old = suspended()
    new = changed(old, **fields)
    if "affinity" in fields:
        new["spec"]["template"]["spec"]["affinity"]["podAffinity"] = {"x": ["y"]}
    assert [cause.field for cause in refusals(old, new)] == ["spec.template.spec"]


def test_what_a_write_leaves_out_of_a_template_is_defaulted_again():
    old = created()
    new = copy.deepcopy(old)
    del new["spec"]["template"]["spec"]["dnsPolicy"]
    assert refusals(old, new) == []


def test_parallelism_is_always_mutable_and_completions_of_a_plain_job_never():
    old = created(parallelism=2, completions=2)
    new = copy.deepcopy(old)
    new["spec"]["parallelism"] = 5
    assert refusals(old, new) == []
    new["spec"]["completions"] = 5
    (cause,) = refusals(old, new)
    assert (cause.field, cause.message) == (
        "spec.completions",
        "Invalid value: 5: field is immutable",
    )


def test_completions_of_an_indexed_job_change_only_in_tandem_with_parallelism():
    old = created(parallelism=2, completions=2, completionMode="Indexed")
    new = copy.deepcopy(old)
    new["spec"]["completions"] = 5
    (cause,) = refusals(old, new)
    assert f"{cause.field}: {cause.message}" == (
        "spec.completions: Invalid value: 5: can only be modified in tandem with spec.parallelism"
    )
    new["spec"]["parallelism"] = 5
    assert refusals(old, new) == []


@pytest.mark.parametrize("field", ["managedBy", "podFailurePolicy", "selector"])
def test_fields_that_are_fixed_for_ever(field: str):
    old = created()
    new = copy.deepcopy(old)
    new["spec"][field] = "example.com/other" if field == "managedBy" else {"rules": [{"a": "b"}]}
    assert f"spec.{field}" in [cause.field for cause in refusals(old, new)]


def test_a_selector_that_a_write_leaves_out_is_not_made_again():
    old = created()
    new = copy.deepcopy(old)
    del new["spec"]["selector"]
    assert "spec.selector" in [cause.field for cause in refusals(old, new)]


def status_refusals(old: dict[str, Any], **status: Any) -> list[str]:
    new = old | {"status": status}
    return [f"{cause.field}: {cause.message}" for cause in refusals(old, new, "status")]


def test_the_start_time_is_fixed_while_a_job_runs():
    old = created() | {"status": {"startTime": "2026-12-01T12:00:00Z"}}
    assert status_refusals(old) == [
        "status.startTime: Invalid value: null: field is immutable for unsuspended job once set"
    ]
    assert status_refusals(suspended(startTime="2026-12-01T12:00:00Z")) == []


TRUE = {"status": "True", "lastTransitionTime": "2026-12-01T12:00:00Z"}
START = "2026-12-01T12:00:00Z"


@pytest.mark.parametrize(
    ("status", "part"),
    [
        (
            {"conditions": [{"type": "Complete"} | TRUE], "completionTime": START},
            "without the SuccessCriteriaMet=true condition",
        ),
        ({"conditions": [{"type": "Failed"} | TRUE]}, "without the FailureTarget=true condition"),
        (
            {
                "conditions": [{"type": "FailureTarget"} | TRUE, {"type": "Failed"} | TRUE],
                "terminating": 1,
            },
            "terminating>0 is invalid for finished job",
        ),
        ({"completionTime": START}, "there is no Complete=True condition"),
        ({"active": 1, "ready": 2}, "cannot set more ready pods than active"),
    ],
)
def test_a_status_that_contradicts_itself_is_refused(status: dict[str, Any], part: str):
    assert any(part in text for text in status_refusals(created(), startTime=START, **status))


def test_kinds_without_rules_pass_as_they_are():
    config_maps = next(r for r in RESOURCES if r.kind == "ConfigMap")
    body = {"metadata": {"name": "a"}, "data": {"b": "c"}}
    assert prepare_create(config_maps, body, NOW) is body
    assert validate_create(config_maps, body) == []
