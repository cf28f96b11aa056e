"""The garbage collector, of the sandbox and the real one."""

from __future__ import annotations

from typing import Any

from tests.apiservers import Client, config_map
from tests.sandbox.players.cluster import deleted, gone, merge, read
from tests.waiting import eventually

UNKNOWN_UID = "00000000-0000-4000-8000-000000000000"


def owner(name: str, uid: str, **fields: Any) -> dict[str, Any]:
    kind = {"apiVersion": "v1", "kind": "ConfigMap", "controller": True}
    return kind | {"name": name, "uid": uid} | fields


def owned(client: Client, name: str, *references: dict[str, Any]) -> None:
    client.created("configmaps", config_map(name, ownerReferences=list(references)))


def made(client: Client, name: str) -> str:
    """A new ConfigMap; returns its uid."""
    return str(client.created("configmaps", config_map(name))["metadata"]["uid"])


def test_what_belongs_to_an_unknown_uid_is_deleted(client: Client):
    made(client, "parent")
    owned(client, "child", owner("parent", UNKNOWN_UID))
    assert gone(client, "configmaps", "child")


def test_what_belongs_to_an_unknown_kind_stays(client: Client):
    owned(client, "kept", owner("x", UNKNOWN_UID, apiVersion="foo.bar/v1", kind="Foo"))
    owned(client, "child", owner("nobody", UNKNOWN_UID))
    assert gone(client, "configmaps", "child")
    assert read(client, "configmaps", "kept")


def test_children_follow_their_parent_and_theirs(client: Client):
    uid = made(client, "parent")
    owned(client, "child", owner("parent", uid))
    child = read(client, "configmaps", "child")["metadata"]["uid"]
    owned(client, "grandchild", owner("child", child))
    deleted(client, "configmaps", "parent")
    assert gone(client, "configmaps", "child")
    assert gone(client, "configmaps", "grandchild")


def test_one_of_two_owners_is_enough_to_stay(client: Client):
    first, second = made(client, "first"), made(client, "second")
    owned(client, "child", owner("first", first), owner("second", second, controller=False))
    deleted(client, "configmaps", "first")

    def left() -> bool:
        references = read(client, "configmaps", "child")["metadata"]["ownerReferences"]
        return [reference["name"] for reference in references] == ["second"]

    eventually(left)


def test_orphans_are_let_go(client: Client):
    uid = made(client, "parent")
    owned(client, "child", owner("parent", uid))
    deleted(client, "configmaps", "parent", "Orphan")
    assert gone(client, "configmaps", "parent")
    assert "ownerReferences" not in read(client, "configmaps", "child")["metadata"]


def test_a_foreground_deletion_waits_for_those_that_block_it(client: Client):
    uid = made(client, "parent")
    owned(client, "child", owner("parent", uid, blockOwnerDeletion=True))
    merge(client, "configmaps", "child", {"metadata": {"finalizers": ["example.com/hold"]}})
    deleted(client, "configmaps", "parent", "Foreground")
    eventually(lambda: "deletionTimestamp" in read(client, "configmaps", "child")["metadata"])
    parent = read(client, "configmaps", "parent")["metadata"]
    assert parent["finalizers"] == ["foregroundDeletion"]
    merge(client, "configmaps", "child", {"metadata": {"finalizers": None}})
    assert gone(client, "configmaps", "parent")
    assert gone(client, "configmaps", "child")
