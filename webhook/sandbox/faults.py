"""Faults to order: what a client has to live through, at the moment a test chooses.

They are a matter of the HTTP layer: the players, who call the Api directly, never meet them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from webhook.sandbox.status import StatusError

_REASONS = {
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    410: "Expired",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
}


@dataclass(slots=True)
class _Failure:
    verb: str
    resource: str
    error: StatusError
    times: int

    def hits(self, verb: str, resource: str) -> bool:
        return self.times > 0 and self.verb in ("*", verb) and self.resource in ("*", resource)


class Faults:
    """What goes wrong; nothing, unless it is asked for."""

    def __init__(self) -> None:
        self.latency_seconds = 0.0
        self.requests: dict[tuple[str, str], int] = {}  # (verb, resource): how often asked
        self._failures: list[_Failure] = []
        self._streams: set[Callable[[], None]] = set()
        self._open = asyncio.Event()
        self._open.set()

    def fail(
        self,
        verb: str,
        resource: str,
        code: int,
        *,
        times: int = 1,
        message: str = "injected by the sandbox",
    ) -> None:
        """Answer the next ``times`` such requests with a Status.

        ``verb`` is get, list, watch, create, update, patch, delete or ``*``; ``resource`` is a
        plural, ``jobs/status`` for a subresource, or ``*``.
        """
        error = StatusError(code, _REASONS.get(code, "Unknown"), message)
        self._failures.append(_Failure(verb, resource, error, times))

    def clear(self) -> None:
        """Nothing goes wrong any more."""
        self._failures.clear()
        self.latency_seconds = 0.0
        self._open.set()

    @contextmanager
    def hang(self) -> Iterator[None]:
        """Requests that arrive meanwhile are answered only afterwards."""
        self._open.clear()
        try:
            yield
        finally:
            self._open.set()

    def drop_watches(self) -> int:
        """Cut the connection of every watch that runs; returns how many there were."""
        streams = list(self._streams)
        for cut in streams:
            cut()
        return len(streams)

    @contextmanager
    def stream(self, cut: Callable[[], None]) -> Iterator[None]:
        """A watch that runs, and how to cut it."""
        self._streams.add(cut)
        try:
            yield
        finally:
            self._streams.discard(cut)

    async def before(self, verb: str, resource: str) -> None:
        """Called for each request, before it is served; raises what was ordered."""
        key = (verb, resource)
        self.requests[key] = self.requests.get(key, 0) + 1
        await self._open.wait()
        if self.latency_seconds:
            await asyncio.sleep(self.latency_seconds)
        for failure in self._failures:
            if failure.hits(verb, resource):
                failure.times -= 1
                raise failure.error
