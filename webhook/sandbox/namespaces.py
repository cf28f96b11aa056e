"""Namespaces: born Active, and emptied before they go.

On a real server the namespace controller does the emptying; without it no namespace could ever be
deleted, so it runs with the server itself and not with the players.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from webhook.sandbox.resources import NAMESPACES, RESOURCES, Object, Resource, User
from webhook.sandbox.status import StatusError, forbidden, not_found

if TYPE_CHECKING:
    from webhook.sandbox.api import Api

NAMESPACE_CONTROLLER = User(
    "system:serviceaccount:kube-system:namespace-controller", ("system:masters",)
)
FIRST = ("default", "kube-node-lease", "kube-public", "kube-system")
_RETRY_SECONDS = 0.2


def prepared(obj: Object) -> Object:
    """A new namespace with the fields the server adds."""
    metadata = obj["metadata"]
    name = metadata.get("name")
    labels = {**(metadata.get("labels") or {})}
    if name:
        labels["kubernetes.io/metadata.name"] = name
    return obj | {
        "metadata": metadata | ({"labels": labels} if labels else {}),
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Active"},
    }


def check_home(resource: Resource, namespace: Object | None, name: str, obj_name: str) -> None:
    """Raise when nothing can be created in a namespace: it is missing (404) or going (403)."""
    if namespace is None:
        raise not_found(NAMESPACES, name)
    if "deletionTimestamp" in namespace["metadata"]:
        why = f"unable to create new content in namespace {name} because it is being terminated"
        raise forbidden(resource, obj_name, why)


async def empty_terminating(api: Api) -> None:
    """Delete the content of each namespace that is being deleted, then the namespace; for ever."""
    async with asyncio.TaskGroup() as tasks:
        async for event in api.watch(NAMESPACES):
            if event.type in ("ADDED", "MODIFIED") and (
                "deletionTimestamp" in event.object["metadata"]
            ):
                tasks.create_task(_empty(api, event.object["metadata"]["name"]))


async def _empty(api: Api, namespace: str) -> None:
    if await _delete_content(api, namespace):
        await asyncio.sleep(_RETRY_SECONDS)  # what is left has finalizers or a grace period
        await _empty(api, namespace)
    else:
        api.remove_namespace(namespace)


async def _delete_content(api: Api, namespace: str) -> bool:
    """Ask for the deletion of all there is; returns whether anything is left."""
    left = False
    for resource in RESOURCES:
        if not resource.namespaced:
            continue
        for obj in (await api.list(resource, namespace))["items"]:
            left = True
            if "deletionTimestamp" not in obj["metadata"]:
                await _delete(api, resource, obj)
    return left


async def _delete(api: Api, resource: Resource, obj: Object) -> None:
    metadata = obj["metadata"]
    try:
        await api.delete(
            resource,
            metadata["namespace"],
            metadata["name"],
            user=NAMESPACE_CONTROLLER,
            propagation="Background",
        )
    except StatusError:
        return  # gone already, or refused by a webhook: the next round will tell
