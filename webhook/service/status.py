"""The loop tells the webhook beside it how the queues stand: one line of JSON, at most once a second.

Nothing but warnings depends on it. The loop serves it on loopback only; the webhook connects again
for ever, and what was said too long ago counts as nothing.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import aiohttp
from aiohttp import web

from webhook.admission.knowledge import QueueNews, Room
from webhook.cluster.decode import lines
from webhook.model.queues import FlavorResource
from webhook.quota.news import QueueStatus
from webhook.quota.reasons import Next

log = logging.getLogger(__name__)

QUIET_SECONDS = 1.0
HEARTBEAT_SECONDS = 10.0
TOO_OLD_SECONDS = 30.0
FEW = 3
"""How many of a queue `/waiting` tells of."""

Front = Callable[[int], Mapping[str, Sequence[Next]]]
"""So many of each queue who wait at its front."""


def render_status(revision: str, queues: Sequence[QueueStatus]) -> bytes:
    """One line. Amounts are beyond 64 bits, which JSON of the standard library does not mind."""
    body = {"revision": revision, "queues": {one.queue: _queue_json(one) for one in queues}}
    return json.dumps(body, separators=(",", ":")).encode() + b"\n"


def _queue_json(queue: QueueStatus) -> dict[str, Any]:
    return {
        "rooms": [
            [at.flavor, at.resource, one.available, one.nominal, one.used]
            for at, one in queue.balances.items()
        ],
        "waiting": {str(priority): count for priority, count in queue.waiting.items()},
        "planned": queue.planned,
        "started": queue.started,
        "stopping": queue.stopping,
        "bypassed": len(queue.bypassed),
    }


def read_status(line: bytes) -> tuple[str, Mapping[str, QueueNews]]:
    """The reverse, as far as the webhook needs it. Raises ValueError."""
    try:
        body = json.loads(line)
        queues = {str(name): _queue_news(one) for name, one in body["queues"].items()}
        return str(body["revision"]), queues
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("not a line of the loop's status") from error


def _queue_news(raw: Mapping[str, Any]) -> QueueNews:
    rooms = {
        FlavorResource(flavor, resource): Room(available, nominal)
        for flavor, resource, available, nominal, *_ in raw["rooms"]
    }
    return QueueNews(rooms, {int(level): count for level, count in raw["waiting"].items()})


class StatusBoard:
    """The loop's side: the newest line, and whoever waits for the next one."""

    def __init__(self, *, quiet_seconds: float = QUIET_SECONDS) -> None:
        self._line = b""
        self._changed = asyncio.Event()
        self._ended = asyncio.Event()
        self._quiet = quiet_seconds

    def post(self, line: bytes) -> None:
        """Replace the line; readers see it after a second of quiet."""
        if line != self._line:
            self._line = line
            self._changed.set()
            self._changed = asyncio.Event()

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """GET /status: lines until the reader leaves. With ``?once`` only the newest."""
        if "once" in request.query:
            return web.Response(body=self._line, content_type="application/x-ndjson")
        response = web.StreamResponse(headers={"Content-Type": "application/x-ndjson"})
        await response.prepare(request)
        try:
            while not self._ended.is_set():
                changed = self._changed
                await response.write(self._line or b"\n")
                await _within(self._ended, self._quiet)
                await _within(changed, HEARTBEAT_SECONDS)
        except ConnectionError:
            pass
        return response

    async def end(self, _: web.Application) -> None:
        """At the end of the process: a reader that is never let go would hold it up for seconds."""
        self._ended.set()
        self._changed.set()


def render_waiting(front: Mapping[str, Sequence[Next]]) -> bytes:
    """Who is next in each queue, and why not yet."""
    return json.dumps({queue: [*map(_next_json, few)] for queue, few in front.items()}).encode()


def _next_json(one: Next) -> dict[str, Any]:
    workload = one.workload
    return {
        "kind": workload.kind.name,
        "namespace": workload.namespace,
        "name": workload.name,
        "priority": workload.priority,
        "alike": one.alike,
        "reason": one.reason.kind.value,
        "text": one.reason.text,
    }


def serve_waiting(front: Front) -> Callable[[web.Request], Awaitable[web.Response]]:
    """GET /waiting: worked out when asked, so it costs nothing otherwise."""

    async def serve(_: web.Request) -> web.Response:
        return web.Response(body=render_waiting(front(FEW)), content_type="application/json")

    return serve


async def _within(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return


class StatusReader:
    """The webhook's side: reads the loop's lines, connects again for ever."""

    def __init__(
        self,
        url: str,
        *,
        clock: Callable[[], float],
        retry_seconds: float = 1.0,
    ) -> None:
        self.revision = ""
        self._url = url.rstrip("/") + "/status"
        self._clock = clock
        self._retry = retry_seconds
        self._queues: Mapping[str, QueueNews] = {}
        self._heard = float("-inf")

    def queue_news(self, queue: str) -> QueueNews | None:
        """What was last said of a queue; None when that is too long ago."""
        return self._queues.get(queue) if self.is_fresh else None

    @property
    def is_fresh(self) -> bool:
        """The loop spoke lately."""
        return self._clock() - self._heard <= TOO_OLD_SECONDS

    async def follow(self) -> None:
        """Read for ever."""
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=2.0, sock_read=TOO_OLD_SECONDS)
        async with aiohttp.ClientSession(timeout=timeout, trust_env=False) as session:
            while True:
                try:
                    await self._read(session)
                except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
                    log.debug("the loop's status: %s", error)
                await asyncio.sleep(self._retry)

    async def _read(self, session: aiohttp.ClientSession) -> None:
        async with session.get(self._url) as response:
            response.raise_for_status()
            async for line in lines(response.content.iter_any()):
                self.revision, self._queues = read_status(line)
                self._heard = self._clock()
