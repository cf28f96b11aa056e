"""What was deleted while it held something stays charged until its pods are gone.

The event that an object was deleted says nothing about its pods: with background deletion they go
on for their grace period, orphaned ones for ever. Watches of pods may lag or miss pods without our
label, so the API server is asked, by the owner's uid, until it says that nothing is left.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from webhook.cluster.client import Client
from webhook.cluster.errors import ApiError
from webhook.model.kinds import POD, Object
from webhook.model.workload import Uid
from webhook.service.pods import selector_of, trim_pod
from webhook.service.sight import Departed

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Departures:
    """One question at a time for each deleted workload. ``told`` is given every answer."""

    client: Client
    slots: asyncio.Semaphore
    told: Callable[[Uid, list[Object]], bool]
    """returns True while something is left"""
    ask_again_seconds: float
    _tasks: dict[Uid, asyncio.Task[None]] = field(default_factory=dict)

    def follow(self, uid: Uid, departed: Departed) -> None:
        """Ask for its pods now and again, until there are none."""
        if uid in self._tasks:
            return
        task = asyncio.create_task(self._follow(uid, departed), name=f"pods-of-{uid}")
        self._tasks[uid] = task
        task.add_done_callback(lambda _: self._tasks.pop(uid, None))

    async def close(self) -> None:
        """Stop asking."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _follow(self, uid: Uid, departed: Departed) -> None:
        delay = self.ask_again_seconds
        while True:
            try:
                pods = await self._ask(uid, departed)
            except ApiError as error:
                log.warning("pods of %s: %s", departed.last.title, error.describe())
                await asyncio.sleep(min(delay, 1.0))
                continue
            if not self.told(uid, pods):
                return
            await asyncio.sleep(delay)

    async def _ask(self, uid: Uid, departed: Departed) -> list[Object]:
        async with self.slots:
            return [
                trim_pod({"kind": POD.name, "apiVersion": POD.api_version} | pod)
                async for page in self.client.pages(
                    POD,
                    namespace=departed.last.namespace,
                    label_selector=selector_of(departed.kind, uid),
                )
                for pod in page.items
            ]
