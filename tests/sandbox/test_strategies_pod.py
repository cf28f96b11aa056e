"""The rules of a Pod: gates only go, node selectors only grow while gated."""

from __future__ import annotations

import copy
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.sandbox.manifests import pod
from webhook.sandbox.resources import PODS
from webhook.sandbox.strategies import (
    prepare_create,
    prepare_update,
    validate_create,
    validate_update,
)

NOW = datetime(2026, 12, 1, tzinfo=UTC)
GATE = {"name": "tidegate.dev/quota"}


def created(**spec: Any) -> dict[str, Any]:
    return prepare_create(PODS, pod("l-0", **spec), NOW)


def refusals(old: dict[str, Any], **spec: Any) -> list[str]:
    new = copy.deepcopy(old)
    new["spec"].update(spec)
    causes = validate_update(PODS, old, prepare_update(PODS, old, new, ""), "")
    return [f"{cause.field}: {cause.message}" for cause in causes]


def test_a_pod_begins_pending_and_its_requests_follow_its_limits():
    limits = {"resources": {"limits": {"cpu": 2, "memory": "1Gi"}}}
    made = created(containers=[{"name": "a", "image": "b"} | limits])
    assert made["status"] == {"phase": "Pending", "qosClass": "Guaranteed"}
    resources = made["spec"]["containers"][0]["resources"]
    assert resources["requests"] == {"cpu": "2", "memory": "1Gi"}


def test_a_gated_pod_says_so():
    (condition,) = created(schedulingGates=[GATE])["status"]["conditions"]
    assert (condition["type"], condition["reason"]) == ("PodScheduled", "SchedulingGated")


def test_one_write_adds_directives_and_removes_the_gate():
    old = created(schedulingGates=[GATE], nodeSelector={"zone": "a"})
    change = {"zone": "a", "gpu": "h100"}
    tolerations = [{"key": "gpu", "operator": "Exists"}]
    assert refusals(old, nodeSelector=change, tolerations=tolerations, schedulingGates=[]) == []


def test_the_node_selector_of_a_gated_pod_takes_additions_only():
    old = created(schedulingGates=[GATE], nodeSelector={"a": "b"})
    assert refusals(old, nodeSelector={"a": "c"}) == [
        (
            'spec.nodeSelector: Invalid value: {"a":"c"}: only additions to spec.nodeSelector are '
            "allowed (no mutations or deletions)"
        )
    ]


def test_a_pod_without_gates_keeps_its_node_selector():
    (text,) = refusals(created(), nodeSelector={"a": "c"})
    assert text.startswith("spec: Forbidden: pod updates may not change fields other than ")


def test_gates_are_never_added():
    assert refusals(created(), schedulingGates=[GATE]) == [
        (
            "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new "
            "scheduling gate 'tidegate.dev/quota'"
        )
    ]


@pytest.mark.parametrize(
    "spec",
    [
        {"tolerations": [{"key": "a", "operator": "Exists"}]},
        {"activeDeadlineSeconds": 60},
        {"containers": [{"name": "main", "image": "train:2", "imagePullPolicy": "IfNotPresent"}]},
    ],
)
def test_what_may_change_on_a_running_pod(spec: dict[str, Any]):
    assert refusals(created(), **spec) == []


def test_tolerations_are_never_removed():
    old = created(tolerations=[{"key": "a", "operator": "Exists"}])
    assert refusals(old, tolerations=[]) == [
        (
            "spec.tolerations: Forbidden: existing toleration can not be modified except its "
            "tolerationSeconds"
        )
    ]


def test_containers_are_neither_added_nor_removed():
    assert refusals(created(), containers=[]) == [
        "spec.containers: Forbidden: pod updates may not add or remove containers"
    ]


def test_a_bad_quantity_and_a_bad_label_are_refused():
    container = {"name": "a", "image": "b", "resources": {"requests": {"cpu": "two"}}}
    made = created(containers=[container], nodeSelector={"zone": "a" * 64})
    messages = [cause.message for cause in validate_create(PODS, made)]
    assert any("quantities must match the regular expression" in text for text in messages)
    assert any("must be no more than 63 characters" in text for text in messages)
