"""What the webhook knows of the cluster: memory kept by watches, so that no decision waits for the API server.

The one exception is a parent that is not in memory yet, because controllers create children a few
milliseconds after the parent: it is asked for once, live and briefly, before the decision.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Protocol

from webhook.admission.knowledge import ParentRef, QueueNews
from webhook.cluster.client import Client
from webhook.cluster.errors import ApiError, NotFound
from webhook.cluster.watch import Pace, Trouble, ignore_trouble, list_then_watch, version_of
from webhook.model.event import Event, Gone, Seen, Synced
from webhook.model.kinds import JOBSET, NAMESPACE, PRIORITY_CLASS, Kind, Object

log = logging.getLogger(__name__)

WATCHED = (NAMESPACE, PRIORITY_CLASS, JOBSET)
PARENTS = (JOBSET,)

Place = tuple[str, str, str]
"""Kind, namespace and name."""


class News(Protocol):
    """Where the loop's numbers come from."""

    def queue_news(self, queue: str) -> QueueNews | None:
        """What was last said of a queue; None when that is too long ago."""


class Silence:
    """No loop beside us."""

    def queue_news(self, queue: str) -> QueueNews | None:
        """Nothing is ever said."""
        return None


class ClusterMemory:
    """Implements ``admission.Knowledge``; fed by ``take``."""

    def __init__(self, watched: Sequence[Kind] = WATCHED, *, news: News | None = None) -> None:
        self._objects: dict[Place, Object] = {}
        self._unsynced = {kind.name for kind in watched}
        self._watched = tuple(watched)
        self._news = news or Silence()
        self.synced = asyncio.Event()

    def namespace_object(self, name: str) -> Object | None:
        """The namespace as last seen."""
        return self._objects.get((NAMESPACE.name, "", name))

    def priority_class(self, name: str) -> int | None:
        """The value of a PriorityClass."""
        found = self._objects.get((PRIORITY_CLASS.name, "", name))
        value = found.get("value") if found else None
        return value if isinstance(value, int) else None

    def parent(self, ref: ParentRef) -> Object | None:
        """The live object a reference names, if it bears that uid."""
        found = self._objects.get((ref.kind.name, ref.namespace, ref.name))
        return found if found and found["metadata"].get("uid") == ref.uid else None

    def queue_news(self, queue: str) -> QueueNews | None:
        """What the loop last said of a queue."""
        return self._news.queue_news(queue)

    def take(self, event: Event) -> None:
        """Learn from a watch."""
        if isinstance(event, Synced):
            self._unsynced.discard(event.kind.name)
            if not self._unsynced:
                self.synced.set()
        elif isinstance(event, Seen):
            self._remember(event.kind, event.object)
        else:
            self._forget(event)

    async def follow(
        self,
        client: Client,
        *,
        pace: Pace | None = None,
        on_trouble: Trouble = ignore_trouble,
        changed: Callable[[Kind], None] = lambda kind: None,
    ) -> None:
        """Watch for ever."""

        async def one(kind: Kind) -> None:
            async for event in list_then_watch(
                client, kind, trim=_trim, pace=pace, on_trouble=on_trouble
            ):
                self.take(event)
                changed(kind)

        async with asyncio.TaskGroup() as group:
            for kind in self._watched:
                group.create_task(one(kind), name=f"watch-{kind.plural}")

    async def look_up(self, client: Client, ref: ParentRef, *, seconds: float) -> bool:
        """Ask for a parent now and remember what is found; False where nobody could tell."""
        try:
            found = await client.get(ref.kind, ref.namespace, ref.name, seconds=seconds)
        except NotFound:
            self._objects.pop((ref.kind.name, ref.namespace, ref.name), None)
        except ApiError as error:
            log.warning(
                "look-up of %s %s/%s: %s", ref.kind.name, ref.namespace, ref.name, error.describe()
            )
            return False
        else:
            self._remember(ref.kind, _trim(found))
        return True

    def _remember(self, kind: Kind, obj: Object) -> None:
        place = _place(kind, obj)
        known = self._objects.get(place)
        if known is None or _other(known, obj) or version_of(obj) >= version_of(known):
            self._objects[place] = obj

    def _forget(self, event: Gone) -> None:
        """Only the very object that is gone, not its successor of the same name."""
        place = _place(event.kind, event.object)
        known = self._objects.get(place)
        if known is not None and not _other(known, event.object):
            del self._objects[place]


def _place(kind: Kind, obj: Object) -> Place:
    about = obj["metadata"]
    return kind.name, str(about.get("namespace") or ""), str(about.get("name") or "")


def _other(known: Object, obj: Object) -> bool:
    return bool(known["metadata"].get("uid") != obj["metadata"].get("uid"))


def _trim(obj: Object) -> Object:
    """Of a parent's status only its conditions are read (has it finished?), and statuses are long."""
    status = obj.pop("status", None) or {}
    if "conditions" in status:
        obj["status"] = {"conditions": status["conditions"]}
    return obj
