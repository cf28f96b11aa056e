"""The rules of a JobSet, as its own webhooks have them."""

from __future__ import annotations

import copy
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.sandbox.manifests import jobset, replicated_job
from webhook.sandbox.resources import JOBSETS
from webhook.sandbox.strategies import (
    prepare_create,
    prepare_update,
    validate_create,
    validate_update,
)

NOW = datetime(2026, 12, 1, tzinfo=UTC)


def created(*replicated: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return prepare_create(JOBSETS, jobset("js", *replicated, **spec), NOW)


def with_pod(old: dict[str, Any], *, suspend: bool, **fields: Any) -> dict[str, Any]:
    new = copy.deepcopy(old)
    new["spec"]["suspend"] = suspend
    template = new["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    template.setdefault("spec", {}).update(fields)
    return new


def refused(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    prepared = prepare_update(JOBSETS, old, new, "")
    return [cause.field for cause in validate_update(JOBSETS, old, prepared, "")]


def test_defaults_are_those_of_the_webhook_and_no_more():
    spec = created()["spec"]
    assert spec["successPolicy"] == {"operator": "All"}
    assert spec["startupPolicy"] == {"startupPolicyOrder": "AnyOrder"}
    assert spec["network"] == {"enableDNSHostnames": True, "publishNotReadyAddresses": True}
    template = spec["replicatedJobs"][0]["template"]["spec"]
    assert template["completionMode"] == "Indexed"
    assert "backoffLimit" not in template
    assert "suspend" not in spec


@pytest.mark.parametrize(("before", "after"), [(True, True), (True, False), (False, True)])
def test_directives_are_mutable_while_old_or_new_is_suspended(before: bool, after: bool):
    old = created(suspend=before)
    change = {"nodeSelector": {"gpu": "h100"}, "tolerations": [{"operator": "Exists"}]}
    assert refused(old, with_pod(old, suspend=after, **change)) == []


def test_directives_of_a_running_jobset_are_immutable():
    old = created(suspend=False)
    new = with_pod(old, suspend=False, nodeSelector={"gpu": "h100"})
    assert refused(old, new) == ["spec.replicatedJobs"]


@pytest.mark.parametrize("field", ["affinity", "containers"])
def test_the_rest_of_the_pod_template_is_immutable_even_while_suspended(field: str):
    value: Any = {"nodeAffinity": {"a": "b"}} if field == "affinity" else [{"name": "other"}]
    old = created(suspend=True)
    assert refused(old, with_pod(old, suspend=True, **{field: value})) == ["spec.replicatedJobs"]


def test_counts_are_immutable():
    old = created(replicated_job(parallelism=2), suspend=True)
    for path in ("replicas", "parallelism"):
        new = copy.deepcopy(old)
        target = new["spec"]["replicatedJobs"][0]
        (target if path == "replicas" else target["template"]["spec"])[path] = 5
        assert refused(old, new) == ["spec.replicatedJobs"]


def test_a_manifest_without_the_defaults_cannot_be_re_applied():
    old = created(suspend=True)
    new = copy.deepcopy(old)
    new["spec"]["replicatedJobs"] = jobset("js")["spec"]["replicatedJobs"]
    assert refused(old, new) == ["spec.replicatedJobs"]


def test_names_must_leave_room_for_those_of_jobs_and_pods():
    long = "w" * 50
    causes = validate_create(JOBSETS, created(replicated_job(long, completions=100)))
    assert causes[0].field == "spec.replicatedJobs[0].name"
    assert "names generated for this JobSet will exceed 63" in causes[0].message
    causes = validate_create(JOBSETS, created(replicated_job(), replicated_job()))
    assert causes[0].reason == "FieldValueDuplicate"
