"""All objects of a kind as the last watch event left them, and whoever wants to hear of changes.

What a player writes it may ``note`` at once, so that it never acts on a state from before its own
write. A watch that ends, for whatever reason, is followed by a new list; what the list no longer
holds counts as deleted.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from typing import TypeAlias, cast

from webhook.sandbox.api import Api, Event
from webhook.sandbox.resources import Object, Resource
from webhook.sandbox.strategies.fields import items

Key: TypeAlias = tuple[str, str]  # namespace, name
Changed: TypeAlias = Callable[[Object | None, Object | None], None]  # before, after

RELIST_SECONDS = 0.1


def key_of(obj: Object) -> Key:
    metadata = obj["metadata"]
    return str(metadata.get("namespace") or ""), str(metadata["name"])


def uid_of(obj: Object) -> str:
    return str(obj["metadata"]["uid"])


def owners_of(obj: Object) -> list[Object]:
    return items(obj, "metadata", "ownerReferences")


def controller_of(obj: Object) -> Object | None:
    """The owner reference of the controller, if there is one."""
    return next((owner for owner in owners_of(obj) if owner.get("controller") is True), None)


def _version(obj: Object) -> int:
    return int(obj["metadata"]["resourceVersion"])


class Informer:
    """The objects of one kind; by key and by the uid of any owner."""

    def __init__(self, api: Api, resource: Resource) -> None:
        self.resource = resource
        self._api = api
        self._objects: dict[Key, Object] = {}
        self._owned: dict[str, dict[Key, None]] = {}
        self._listeners: list[Changed] = []

    def listen(self, changed: Changed) -> None:
        """From now on call ``changed`` with the state before and after each change."""
        self._listeners.append(changed)

    def get(self, key: Key) -> Object | None:
        return self._objects.get(key)

    def owned_by(self, uid: str) -> list[Object]:
        """The objects that name this uid as an owner, in the order they became known."""
        return [self._objects[key] for key in self._owned.get(uid, ())]

    def __iter__(self) -> Iterator[Object]:
        return iter(list(self._objects.values()))

    def note(self, obj: Object) -> None:
        """Take what a write returned, unless something newer is known."""
        known = self._objects.get(key_of(obj))
        if known is None or _version(known) < _version(obj):
            self._set(obj)

    def forget(self, obj: Object) -> None:
        """The object is gone, as the answer to a DELETE said."""
        known = self._objects.get(key_of(obj))
        if known is not None and uid_of(known) == uid_of(obj):
            self._drop(known)

    async def run(self) -> None:
        """List, watch, and list again, for ever."""
        while True:
            listing = await self._api.list(self.resource)
            self._replace(listing["items"])
            await self._follow(str(listing["metadata"]["resourceVersion"]))
            await asyncio.sleep(RELIST_SECONDS)

    async def _follow(self, since: str) -> None:
        watch = self._api.watch(self.resource, since=since)
        async with aclosing(cast("_Closable", watch)) as events:
            async for event in events:
                if event.type == "ERROR":
                    return
                if event.type == "DELETED":
                    self.forget(event.object)
                elif event.type != "BOOKMARK":
                    self.note(event.object)

    def _replace(self, listed: list[Object]) -> None:
        present = {key_of(obj) for obj in listed}
        for key in [key for key in self._objects if key not in present]:
            self._drop(self._objects[key])
        for obj in listed:
            self.note(obj)

    def _set(self, obj: Object) -> None:
        key = key_of(obj)
        before = self._objects.get(key)
        if before is not None:
            self._unlink(before)
        self._objects[key] = obj
        for owner in owners_of(obj):
            self._owned.setdefault(str(owner.get("uid")), {})[key] = None
        self._tell(before, obj)

    def _drop(self, obj: Object) -> None:
        self._unlink(obj)
        del self._objects[key_of(obj)]
        self._tell(obj, None)

    def _unlink(self, obj: Object) -> None:
        for owner in owners_of(obj):
            uid = str(owner.get("uid"))
            if uid in self._owned:
                self._owned[uid].pop(key_of(obj), None)
                if not self._owned[uid]:
                    del self._owned[uid]

    def _tell(self, before: Object | None, after: Object | None) -> None:
        for changed in self._listeners:
            changed(before, after)


class _Closable(AsyncIterator[Event]):
    """What a watch is: an async generator."""

    async def aclose(self) -> None: ...
