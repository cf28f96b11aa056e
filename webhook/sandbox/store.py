"""Objects, revisions and the recent past: what etcd and the watch cache are to a real server.

One counter numbers every write, whatever the kind. Each kind remembers its last ``ring`` changes,
so that a watch may begin in the past; what is older is gone (410). Stored objects are replaced,
never mutated. Everything here happens in one event loop and never waits, except for a change.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from webhook.sandbox.resources import Object

Kind = tuple[str, str]  # Resource.storage
Key = tuple[str, str]  # namespace, name


class StaleError(Exception):
    """The object is no longer the one the writer has read."""


class TooOldError(Exception):
    """The past before this revision is forgotten."""

    def __init__(self, oldest: int) -> None:
        super().__init__(oldest)
        self.oldest = oldest


@dataclass(frozen=True, slots=True)
class Change:
    """A write: ``old`` is None for a new object, ``new`` is None for one that is gone."""

    revision: int
    key: Key
    old: Object | None
    new: Object | None


class Subscription:
    """The changes of one kind from now on, in order; nothing is dropped."""

    def __init__(self) -> None:
        self._changes: list[Change] = []
        self._wake = asyncio.Event()

    def push(self, change: Change) -> None:
        self._changes.append(change)
        self._wake.set()

    async def wait(self, timeout_seconds: float | None) -> None:
        """Return when there is a change, or in any case in time."""
        try:
            async with asyncio.timeout(timeout_seconds):
                await self._wake.wait()
        except TimeoutError:
            return

    def take(self) -> list[Change]:
        """The changes that have come since the last call."""
        taken, self._changes = self._changes, []
        self._wake.clear()
        return taken


class _Shelf:
    """What is kept of one kind."""

    def __init__(self, ring: int) -> None:
        self.objects: dict[Key, Object] = {}
        self.recent: deque[Change] = deque(maxlen=ring)
        self.forgotten = 0  # changes up to this revision are gone
        self.subscriptions: set[Subscription] = set()

    def record(self, change: Change) -> None:
        if len(self.recent) == self.recent.maxlen:
            self.forgotten = self.recent[0].revision
        self.recent.append(change)
        for subscription in self.subscriptions:
            subscription.push(change)


class Store:
    """The objects of every kind; ``ring`` is how many changes a kind remembers."""

    def __init__(self, *, ring: int = 10_000) -> None:
        self.revision = 1
        self._ring = ring
        self._shelves: dict[Kind, _Shelf] = {}

    def get(self, kind: Kind, namespace: str, name: str) -> Object | None:
        return self._shelf(kind).objects.get((namespace, name))

    def items(self, kind: Kind, namespace: str = "") -> list[Object]:
        """The objects of a kind as they are now, ordered by namespace and name."""
        objects = self._shelf(kind).objects
        return [objects[key] for key in sorted(objects) if not namespace or key[0] == namespace]

    def put(self, kind: Kind, new: Object, *, old: Object | None) -> Object:
        """Store ``new`` in the place of ``old``; raises StaleError if that is not what is stored."""
        shelf, key = self._shelf(kind), _key(new)
        if shelf.objects.get(key) is not old:
            raise StaleError
        self.revision += 1
        stored = _stamped(new, self.revision)
        shelf.objects[key] = stored
        shelf.record(Change(self.revision, key, old, stored))
        return stored

    def remove(self, kind: Kind, old: Object, *, last: Object | None = None) -> Object:
        """Remove ``old``, whose last state was ``last``; raises StaleError if it is not stored."""
        shelf, key = self._shelf(kind), _key(old)
        if shelf.objects.get(key) is not old:
            raise StaleError
        self.revision += 1
        final = _stamped(last or old, self.revision)
        del shelf.objects[key]
        shelf.record(Change(self.revision, key, final, None))
        return final

    def since(self, kind: Kind, revision: int) -> list[Change]:
        """The changes after a revision; raises TooOldError."""
        shelf = self._shelf(kind)
        if revision < shelf.forgotten:
            raise TooOldError(shelf.forgotten)
        return [change for change in shelf.recent if change.revision > revision]

    @contextmanager
    def subscription(self, kind: Kind) -> Iterator[Subscription]:
        subscriptions = self._shelf(kind).subscriptions
        subscription = Subscription()
        subscriptions.add(subscription)
        try:
            yield subscription
        finally:
            subscriptions.discard(subscription)

    def compact(self) -> None:
        """Forget the past: a watch from an older revision now gets 410."""
        self.revision += 1
        for shelf in self._shelves.values():
            shelf.recent.clear()
            shelf.forgotten = self.revision

    def _shelf(self, kind: Kind) -> _Shelf:
        shelf = self._shelves.get(kind)
        if shelf is None:
            shelf = self._shelves[kind] = _Shelf(self._ring)
        return shelf


def _key(obj: Object) -> Key:
    metadata = obj["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


def _stamped(obj: Object, revision: int) -> Object:
    return obj | {"metadata": obj["metadata"] | {"resourceVersion": str(revision)}}
