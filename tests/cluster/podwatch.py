"""Follow the pods of a cluster for the player: list, watch, and list again after any trouble.

Not the product's own watch, on purpose: what is under test must not move the pods as well.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any

import aiohttp
import orjson

from tests.cluster import podstatus
from tests.cluster.podstatus import Pod

PATH = "/api/v1/pods"
PAGE = 500
WATCH_SECONDS = 240
FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 1.0

log = logging.getLogger(__name__)


class WatchLostError(Exception):
    """The server cannot go on from where we are, or not now: list again."""


class PodWatch:
    """Calls ``seen`` for each pod that appears or changes, ``gone`` with the uid of a lost one."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        *,
        seen: Callable[[Pod], None],
        gone: Callable[[str], None],
    ) -> None:
        self._session = session
        self._seen = seen
        self._gone = gone
        self._known: set[str] = set()
        self._pause_seconds = FIRST_PAUSE_SECONDS

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            try:
                await self._list_then_watch()
            except (aiohttp.ClientError, TimeoutError, WatchLostError) as trouble:
                log.info("pods are listed again: %r", trouble)
                await asyncio.sleep(self._pause_seconds)
                self._pause_seconds = min(2 * self._pause_seconds, LONGEST_PAUSE_SECONDS)

    async def _list_then_watch(self) -> None:
        """Ends only by an exception; a watch that closes in the ordinary way is taken up again."""
        version = await self._list()
        self._pause_seconds = FIRST_PAUSE_SECONDS
        while True:
            async for event in self._events(version):
                version = self._take(event)

    async def _list(self) -> str:
        """Report every pod, forget those that are gone; returns the list's resource version."""
        listed: set[str] = set()
        query: dict[str, str | int] = {"limit": PAGE}
        while True:
            page = await self._page(query)
            for pod in page["items"] or []:
                listed.add(podstatus.uid(pod))
                self._seen(pod)
            if not (more := page["metadata"].get("continue")):
                break
            query = {"limit": PAGE, "continue": more}
        for uid in self._known - listed:
            self._gone(uid)
        self._known = listed
        return str(page["metadata"]["resourceVersion"])

    async def _page(self, query: dict[str, str | int]) -> dict[str, Any]:
        async with self._session.get(PATH, params=query) as answer:
            await _check(answer)
            page: dict[str, Any] = orjson.loads(await answer.read())
            return page

    async def _events(self, version: str) -> AsyncIterator[dict[str, Any]]:
        query: dict[str, str | int] = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": version,
            "timeoutSeconds": WATCH_SECONDS,
        }
        patience = aiohttp.ClientTimeout(total=WATCH_SECONDS + 30)
        async with self._session.get(PATH, params=query, timeout=patience) as answer:
            await _check(answer)
            async for line in _lines(answer.content):
                yield orjson.loads(line)

    def _take(self, event: dict[str, Any]) -> str:
        """Act on one event; returns its resource version, raises WatchLostError for an ERROR."""
        kind, thing = event["type"], event["object"]
        if kind == "ERROR":
            raise WatchLostError(thing.get("message", ""))
        if kind in ("ADDED", "MODIFIED"):
            self._known.add(podstatus.uid(thing))
            self._seen(thing)
        elif kind == "DELETED":
            self._known.discard(podstatus.uid(thing))
            self._gone(podstatus.uid(thing))
        return str(thing["metadata"]["resourceVersion"])


async def _check(answer: aiohttp.ClientResponse) -> None:
    if answer.status >= 400:
        raise WatchLostError(f"{answer.status}: {(await answer.text())[:256]}")


async def _lines(stream: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """Lines of any length: the reader's own have a limit that a large pod exceeds."""
    rest = b""
    async for chunk in stream.iter_any():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if line:
                yield line
