"""Strategic merge: each directive once, with the result the real API server gives.

StatefulSets are the one kind here whose pod template may be changed freely.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.apiservers import STRATEGIC_PATCH, Client
from webhook.sandbox.resources import PODS, Object
from webhook.sandbox.status import StatusError
from webhook.sandbox.strategic import strategic_merge

ENV = [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}, {"name": "C", "value": "3"}]
POD: Object = {
    "nodeSelector": {"zone": "a", "gpu": "h100"},
    "tolerations": [{"key": "a", "operator": "Exists"}, {"key": "b", "operator": "Exists"}],
    "containers": [
        {"name": "main", "image": "one", "env": ENV, "args": ["x", "y"]},
        {"name": "side", "image": "two", "ports": [{"containerPort": 80, "name": "web"}]},
    ],
    "volumes": [{"name": "v", "emptyDir": {}}],
}


def main_with(**fields: Any) -> Object:
    return {"containers": [{"name": "main", **fields}]}


def env_of(*names: str) -> list[Object]:
    known = {entry["name"]: entry for entry in ENV}
    return [known.get(name, {"name": name, "value": "9"}) for name in names]


CASES: dict[str, tuple[Object, str, Any]] = {
    "a map merges": (
        {"nodeSelector": {"gpu": "a100"}},
        "nodeSelector",
        {"zone": "a", "gpu": "a100"},
    ),
    "null removes": ({"nodeSelector": {"gpu": None}}, "nodeSelector", {"zone": "a"}),
    "a map is replaced": (
        {"nodeSelector": {"$patch": "replace", "x": "y"}},
        "nodeSelector",
        {"x": "y"},
    ),
    "an atomic list is replaced": (
        {"tolerations": [{"key": "c", "operator": "Exists"}]},
        "tolerations",
        [{"key": "c", "operator": "Exists"}],
    ),
    "a list of plain values is replaced": (main_with(args=["z"]), "containers.0.args", ["z"]),
    "an element is added": (
        main_with(env=[{"name": "D", "value": "9"}]),
        "containers.0.env",
        env_of("D", "A", "B", "C"),
    ),
    "an element is changed": (
        main_with(env=[{"name": "B", "value": "7"}]),
        "containers.0.env.1",
        {"name": "B", "value": "7"},
    ),
    "an element is deleted": (
        main_with(env=[{"name": "B", "$patch": "delete"}]),
        "containers.0.env",
        env_of("A", "C"),
    ),
    "a list is replaced": (
        main_with(env=[{"$patch": "replace"}, {"name": "D", "value": "9"}]),
        "containers.0.env",
        env_of("D"),
    ),
    "the order is set": (
        main_with(
            **{
                "$setElementOrder/env": [{"name": "C"}, {"name": "D"}, {"name": "A"}],
                "env": [{"name": "D", "value": "9"}],
            }
        ),
        "containers.0.env",
        env_of("B", "C", "D", "A"),
    ),
    "the order alone": (
        main_with(**{"$setElementOrder/env": [{"name": "C"}, {"name": "B"}, {"name": "A"}]}),
        "containers.0.env",
        env_of("C", "B", "A"),
    ),
    "a volume changes its source": (
        {
            "volumes": [
                {"name": "v", "$retainKeys": ["name", "hostPath"], "hostPath": {"path": "/x"}}
            ]
        },
        "volumes.0.hostPath.path",
        "/x",
    ),
    "ports merge by their number": (
        {"containers": [{"name": "side", "ports": [{"containerPort": 80, "name": "other"}]}]},
        "containers.1.ports.0.name",
        "other",
    ),
}


def at(value: Any, path: str) -> Any:
    for part in path.split("."):
        value = value[int(part)] if part.isdigit() else value[part]
    return value


@pytest.mark.parametrize("name", CASES)
def test_directives(client: Client, name: str):
    patch, path, expected = CASES[name]
    labels = {"app": "x"}
    template = {"metadata": {"labels": labels}, "spec": POD}
    selector = {"matchLabels": labels}
    spec = {"replicas": 0, "serviceName": "s", "selector": selector, "template": template}
    sets = f"/apis/apps/v1/namespaces/{client.namespace}/statefulsets"
    made = client.call("POST", sets, {"metadata": {"name": "s"}, "spec": spec})
    assert made.code == 201, made.message
    body = {"spec": {"template": {"spec": patch}}}
    done = client.patch(f"{sets}/s", body, STRATEGIC_PATCH)
    assert done.code == 200, done.message
    assert at(done.json["spec"]["template"]["spec"], path) == expected


def test_finalizers_merge_and_owners_merge_by_uid(client: Client):
    owner = {"apiVersion": "v1", "kind": "Frob", "name": "x", "uid": "u1"}
    metadata = {"name": "a", "finalizers": ["a/a", "b/b"], "ownerReferences": [owner]}
    made = client.create("configmaps", {"metadata": metadata})
    assert made.code == 201, made.message
    patch = {
        "metadata": {
            "finalizers": ["c/c"],
            "$deleteFromPrimitiveList/finalizers": ["a/a"],
            "ownerReferences": [{**owner, "uid": "u2", "name": "y"}],
        }
    }
    done = client.patch(client.path("configmaps", "a"), patch, STRATEGIC_PATCH).json["metadata"]
    assert sorted(done["finalizers"]) == ["b/b", "c/c"]
    assert sorted(one["uid"] for one in done["ownerReferences"]) == ["u1", "u2"]
    client.patch(
        client.path("configmaps", "a"), {"metadata": {"finalizers": None}}, STRATEGIC_PATCH
    )


def test_an_element_without_its_key_is_refused():
    with pytest.raises(StatusError, match="does not contain declared merge key: name") as caught:
        strategic_merge(PODS, {"spec": POD}, {"spec": {"containers": [{"image": "x"}]}})
    assert caught.value.code == 400


def test_an_unknown_directive_is_refused():
    with pytest.raises(StatusError, match="unknown patch type found in the patch: frob"):
        strategic_merge(PODS, {"spec": POD}, {"spec": {"$patch": "frob"}})


def test_the_old_object_is_left_alone():
    before = repr(POD)
    strategic_merge(PODS, {"spec": POD}, {"spec": {"nodeSelector": {"x": "y"}}})
    assert repr(POD) == before
