"""What the API server is told about us: only what it has to ask, and how long to wait."""

from __future__ import annotations

import base64

import pytest

from webhook.service.registration import Reach, registrations

REACH = Reach(ca=b"PEM", url="https://127.0.0.1:8443")


def test_create_has_no_selector_and_update_asks_for_our_label():
    for configuration in registrations(REACH):
        create, update = configuration["webhooks"]
        assert [rule["operations"] for rule in create["rules"]] == [["CREATE"]] * 2
        assert "objectSelector" not in create
        assert [rule["operations"] for rule in update["rules"]] == [["UPDATE"]] * 2
        assert update["objectSelector"] == {
            "matchExpressions": [{"key": "tidegate.dev/queue", "operator": "Exists"}]
        }
        assert [rule["resources"] for rule in update["rules"]] == [["jobs"], ["jobsets"]]


def test_every_entry_is_bounded_and_leaves_the_loop_and_the_system_alone():
    for configuration in registrations(REACH, loop_user="o'loop", own_namespace="mine"):
        for entry in configuration["webhooks"]:
            assert entry["timeoutSeconds"] == 2
            assert entry["sideEffects"] == "None"
            assert entry["admissionReviewVersions"] == ["v1"]
            assert entry["failurePolicy"] == "Ignore"
            assert entry["matchConditions"][0]["expression"] == (
                r"request.userInfo.username != 'o\'loop'"
            )
            (expression,) = entry["namespaceSelector"]["matchExpressions"]
            assert expression["values"] == ["kube-system", "kube-public", "kube-node-lease", "mine"]


def test_only_some_namespaces_may_be_asked_for_and_the_system_never_is():
    whole, some = registrations(REACH)[0], registrations(REACH, only_namespaces={"demo": "true"})
    assert "matchLabels" not in whole["webhooks"][0]["namespaceSelector"]
    for entry in (entry for body in some for entry in body["webhooks"]):
        selector = entry["namespaceSelector"]
        assert selector["matchLabels"] == {"demo": "true"}
        (expression,) = selector["matchExpressions"]
        assert expression["operator"] == "NotIn"
        assert "kube-system" in expression["values"]


def test_only_the_mutating_one_is_asked_again_after_others():
    mutating, validating = registrations(REACH, failure_policy="Fail")
    assert {entry["reinvocationPolicy"] for entry in mutating["webhooks"]} == {"IfNeeded"}
    assert not any("reinvocationPolicy" in entry for entry in validating["webhooks"])
    assert {entry["failurePolicy"] for entry in mutating["webhooks"]} == {"Fail"}


def test_it_is_reached_by_url_or_as_a_service():
    assert REACH.client_config("/mutate") == {
        "url": "https://127.0.0.1:8443/mutate",
        "caBundle": base64.b64encode(b"PEM").decode(),
    }
    service = Reach(ca=b"PEM", service=("ns", "tidegate"), port=8443).client_config("/validate")
    assert service["service"] == {
        "namespace": "ns",
        "name": "tidegate",
        "path": "/validate",
        "port": 8443,
    }
    with pytest.raises(ValueError, match="url or a service"):
        Reach(ca=b"").client_config("/mutate")
