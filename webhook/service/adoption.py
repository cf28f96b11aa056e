"""Stamping what no webhook has seen: it is older than the installation, or the webhook was down.

The stamp is the place in the line, by the time of creation, and the mark of a root. Nobody can say
any more who submitted it, and what the object itself says of that is not believed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from webhook.cluster.client import Client
from webhook.cluster.errors import ApiError, Conflict, NotFound
from webhook.model.kinds import Key, Kind, Object
from webhook.model.patch import Op, Patch, put
from webhook.model.workload import Uid
from webhook.service.metrics import Metrics
from webhook.workloads.objects import labels, metadata, notes, place_in_line, write_time
from webhook.workloads.registry import ADAPTERS
from webhook.workloads.start import label_templates, locked

log = logging.getLogger(__name__)

ADOPTED = "tidegate:adopted"


@dataclass(slots=True)
class Adoption:
    """Writes stamps in the background; an object that moved on meanwhile is tried at its next sight."""

    client: Client
    metrics: Metrics
    slots: asyncio.Semaphore
    seen: Callable[[Kind, Object], None]
    retry_seconds: float
    _tasks: dict[Uid, asyncio.Task[None]] = field(default_factory=dict)

    def begin(self, uid: Uid, kind: Kind, obj: Object) -> None:
        """Stamp it, unless that is under way."""
        if uid not in self._tasks:
            task = asyncio.create_task(self._stamp(kind, obj), name=f"adopt-{uid}")
            self._tasks[uid] = task
            task.add_done_callback(lambda _: self._tasks.pop(uid, None))

    async def settle(self, *, seconds: float) -> None:
        """Until everything that is under way has ended, or is too slow."""
        if tasks := list(self._tasks.values()):
            await asyncio.wait(tasks, timeout=seconds)

    async def close(self) -> None:
        """Let nobody wait for the rest."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _stamp(self, kind: Kind, obj: Object) -> None:
        about = metadata(obj)
        namespace, name = str(about["namespace"]), str(about["name"])
        try:
            async with self.slots:
                answer = await self.client.patch(kind, namespace, name, stamp(kind, obj))
        except (Conflict, NotFound):
            return  # the watch will show what it is now
        except ApiError as error:
            log.warning("cannot adopt %s %s/%s: %s", kind.name, namespace, name, error.describe())
            await asyncio.sleep(self.retry_seconds)
            return
        log.info("adopted %s %s/%s", kind.name, namespace, name)
        self.metrics.count("tidegate_adopted_total")
        self.seen(kind, answer)


def stamp(kind: Kind, obj: Object) -> Patch:
    """Both annotations in one map, since the map may be absent; and the label for its pods."""
    marks = {Key.SUBMITTED: write_time(place_in_line(obj)), Key.SUBMITTED_BY: ADOPTED}
    patch: tuple[Op, ...] = (locked(obj),)
    patch += put(obj, ("metadata", "annotations"), {**notes(obj), **marks})
    adapter = ADAPTERS[kind.name]
    if adapter.template_open(obj):
        patch += label_templates(adapter, obj, labels(obj)[Key.QUEUE])
    return patch
