"""The loop under every player: keys that want attention, each worked on by one task at a time.

A key that is added while it is worked on is worked on again afterwards; one added twice before is
worked on once. What the API refuses is tried again after a growing pause; nothing ever spins.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

from webhook.sandbox.status import StatusError

log = logging.getLogger(__name__)

K = TypeVar("K", bound=Hashable)

WORKERS = 8
FIRST_RETRY_SECONDS = 0.02
LAST_RETRY_SECONDS = 5.0


class WorkQueue(Generic[K]):
    """Calls ``work`` with each key that was added; ``work`` may raise StatusError."""

    def __init__(self, work: Callable[[K], Awaitable[None]]) -> None:
        self._work = work
        self._ready: asyncio.Queue[K] = asyncio.Queue()
        self._waiting: set[K] = set()
        self._busy: set[K] = set()
        self._again: set[K] = set()
        self._failures: dict[K, int] = {}
        self._timers: dict[K, asyncio.TimerHandle] = {}

    def add(self, key: K) -> None:
        if key in self._busy:
            self._again.add(key)
        elif key not in self._waiting:
            self._waiting.add(key)
            self._ready.put_nowait(key)

    def add_after(self, key: K, seconds: float) -> None:
        """Add a key later; of several such times for one key the earliest counts."""
        loop = asyncio.get_running_loop()
        at, known = loop.time() + max(seconds, 0.0), self._timers.get(key)
        if known is not None:
            if known.when() <= at:
                return
            known.cancel()
        self._timers[key] = loop.call_at(at, self._due, key)

    def _due(self, key: K) -> None:
        self._timers.pop(key, None)
        self.add(key)

    async def run(self) -> None:
        """Work for ever."""
        try:
            async with asyncio.TaskGroup() as tasks:
                for _ in range(WORKERS):
                    tasks.create_task(self._worker())
        finally:
            for timer in self._timers.values():
                timer.cancel()
            self._timers.clear()

    async def _worker(self) -> None:
        while True:
            key = await self._ready.get()
            self._waiting.discard(key)
            self._busy.add(key)
            try:
                await self._attempt(key)
            finally:
                self._busy.discard(key)
            if key in self._again:
                self._again.discard(key)
                self.add(key)

    async def _attempt(self, key: K) -> None:
        try:
            await self._work(key)
        except StatusError as error:
            failures = self._failures[key] = self._failures.get(key, 0) + 1
            pause = min(FIRST_RETRY_SECONDS * 2 ** min(failures, 20), LAST_RETRY_SECONDS)
            if error.code not in (404, 409):
                log.info("%s: trying again in %.2f s: %s", key, pause, error.message[:256])
            self.add_after(key, pause)
        else:
            self._failures.pop(key, None)
