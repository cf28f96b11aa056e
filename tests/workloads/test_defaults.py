"""What is filled into new objects: once, only where nothing stands, and never into something of another shape."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.admission.building import job, jobset
from webhook.workloads.defaults import MAX_INT, defaulted

KEYS = st.sampled_from(
    [
        "metadata",
        "spec",
        "template",
        "labels",
        "containers",
        "resources",
        "requests",
        "replicatedJobs",
        "network",
    ]
)
junk = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["", "x"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=10,
)


def test_a_job_is_filled_in_as_the_api_server_does() -> None:
    bare = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [
            {"name": "c", "image": "x:1", "resources": {"requests": {"cpu": 1}}, "ports": [{"containerPort": 80}]},
        ]}},
    }}  # fmt: skip
    full = defaulted(bare)
    assert full["metadata"]["labels"] == {"a": "b"}
    assert {key: value for key, value in full["spec"].items() if key != "template"} == {
        "completions": 1, "parallelism": 1, "backoffLimit": 6, "completionMode": "NonIndexed", "suspend": False,
        "podReplacementPolicy": "TerminatingOrFailed", "manualSelector": False,
    }  # fmt: skip
    pod = full["spec"]["template"]["spec"]
    assert (pod["restartPolicy"], pod["schedulerName"]) == ("Always", "default-scheduler")
    [container] = pod["containers"]
    assert container["resources"] == {"requests": {"cpu": "1"}}
    assert (container["imagePullPolicy"], container["ports"][0]["protocol"]) == (
        "IfNotPresent",
        "TCP",
    )


def test_what_is_said_stays() -> None:
    said = job(backoffLimitPerIndex=1, podFailurePolicy={"rules": []}, parallelism=3)
    spec = defaulted(said)["spec"]
    assert (spec["backoffLimit"], spec["parallelism"]) == (MAX_INT, 3)
    assert spec["podReplacementPolicy"] == "Failed"
    only = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {}, "spec": {"parallelism": 2}}
    assert "completions" not in defaulted(only)["spec"]


def test_a_jobset_is_filled_in_as_its_webhook_does() -> None:
    spec = defaulted(jobset())["spec"]
    assert (spec["successPolicy"], spec["startupPolicy"]) == (
        {"operator": "All"},
        {"startupPolicyOrder": "AnyOrder"},
    )
    [replicated] = spec["replicatedJobs"]
    assert (replicated["groupName"], replicated["replicas"]) == ("default", 2)
    assert replicated["template"]["spec"]["completionMode"] == "Indexed"
    assert "backoffLimit" not in replicated["template"]["spec"]


def test_another_kind_is_left_as_it_is() -> None:
    other = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {}, "spec": {}}
    assert defaulted(other) is other
    assert other["spec"] == {}


@pytest.mark.parametrize("made", [job(), jobset()], ids=["Job", "JobSet"])
@given(st.sampled_from(["metadata", "spec"]), junk)
def test_filling_in_changes_nothing_it_is_given_and_a_second_time_nothing_at_all(
    made: dict[str, Any], part: str, value: Any
) -> None:
    sent = {**made, part: value}
    before = copy.deepcopy(sent)
    full = defaulted(sent)
    assert sent == before
    assert defaulted(full) == full
    if value is not None and not isinstance(value, dict):
        assert full[part] == value
