"""From changes to the events of one watch: selection, the past, bookmarks, the end.

An object that enters the selection is ADDED, one that leaves it is DELETED with its last selected
state: a watcher sees the selection, not the store.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

from webhook.sandbox.events import served_form
from webhook.sandbox.metadata import with_metadata
from webhook.sandbox.resources import Object, Resource
from webhook.sandbox.selectors import Predicate, field_predicate, label_predicate
from webhook.sandbox.status import StatusError, expired
from webhook.sandbox.store import Change, Store, Subscription, TooOldError

INITIAL_EVENTS_END = "k8s.io/initial-events-end"


@dataclass(frozen=True, slots=True)
class Event:
    """One line of a watch: ADDED, MODIFIED, DELETED, BOOKMARK or ERROR, and its object."""

    type: str
    object: Object


@dataclass(frozen=True, slots=True)
class Selection:
    """The objects a list or a watch is about."""

    resource: Resource
    namespace: str = ""
    labels: Predicate | None = None
    fields: Predicate | None = None

    def of(self, stored: Object) -> Object | None:
        """The object as it is served, or None when it is not selected."""
        if self.namespace and stored["metadata"].get("namespace") != self.namespace:
            return None
        obj = served_form(self.resource, stored)
        if self.labels and not self.labels(obj):
            return None
        return None if self.fields and not self.fields(obj) else obj

    def event(self, change: Change) -> Event | None:
        """What this change means to who watches the selection."""
        before = self.of(change.old) if change.old else None
        after = self.of(change.new) if change.new else None
        if after is not None:
            return Event("MODIFIED" if before is not None else "ADDED", after)
        if before is None:
            return None
        return Event("DELETED", with_metadata(before, resourceVersion=str(change.revision)))


def selection(
    resource: Resource, namespace: str, label_selector: str, field_selector: str
) -> Selection:
    """Read the selectors; raises StatusError 400."""
    labels = label_predicate(label_selector)
    return Selection(resource, namespace, labels, field_predicate(resource, field_selector))


@dataclass(frozen=True, slots=True)
class Watch:
    """One watch; ``since`` is a resourceVersion, or empty or 0 for the present state first."""

    store: Store
    selection: Selection
    since: str = ""
    bookmark_seconds: float | None = None  # None: the client asked for no bookmarks
    timeout_seconds: float | None = None
    initial_events: bool = False  # end the present state with a bookmark that says so

    async def events(self) -> AsyncIterator[Event]:
        """Run until the timeout or an ERROR."""
        kind = self.selection.resource.storage
        with self.store.subscription(kind) as subscription:
            try:
                for event in self._beginning():
                    yield event
            except TooOldError as error:
                yield Event("ERROR", too_old(self.since, error.oldest).status())
                return
            async for event in self._live(subscription):
                yield event

    def _beginning(self) -> Iterator[Event]:
        resource, revision = self.selection.resource, self.store.revision
        if self.since not in ("", "0") and not self.initial_events:
            for change in self.store.since(resource.storage, int(self.since)):
                if event := self.selection.event(change):
                    yield event
            return
        for stored in self.store.items(resource.storage, self.selection.namespace):
            if (obj := self.selection.of(stored)) is not None:
                yield Event("ADDED", obj)
        if self.initial_events:
            yield self._bookmark(revision, annotations={INITIAL_EVENTS_END: "true"})

    async def _live(self, subscription: Subscription) -> AsyncIterator[Event]:
        clock = asyncio.get_running_loop().time
        end = None if self.timeout_seconds is None else clock() + self.timeout_seconds
        while True:
            pause = self.bookmark_seconds
            if end is not None:
                left = max(end - clock(), 0.0)
                pause = left if pause is None else min(pause, left)
            await subscription.wait(pause)
            changes, revision = subscription.take(), self.store.revision
            for change in changes:
                if event := self.selection.event(change):
                    yield event
            finished = end is not None and clock() >= end
            if self.bookmark_seconds is not None and (finished or not changes):
                yield self._bookmark(revision)
            if finished:
                return

    def _bookmark(self, revision: int, **metadata: object) -> Event:
        """``revision``: all that happened up to it has been told."""
        resource = self.selection.resource
        version = {"resourceVersion": str(revision), "creationTimestamp": None}
        return Event(
            "BOOKMARK",
            {
                "kind": resource.kind,
                "apiVersion": resource.api_version,
                "metadata": version | metadata,
            },
        )


def too_old(since: str, oldest: int) -> StatusError:
    return expired(f"too old resource version: {since} ({oldest})")


def check_since(since: str, revision: int) -> None:
    """Raise StatusError for a revision that is yet to come."""
    if since and int(since) > revision:
        message = f"Too large resource version: {since}, current: {revision}"
        raise StatusError(504, "Timeout", message)
