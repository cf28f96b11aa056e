"""A watch as a stream of lines: one JSON object an event, until somebody ends it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, suppress

from aiohttp import ClientConnectionResetError, web

from webhook.sandbox.api import Api
from webhook.sandbox.faults import Faults
from webhook.sandbox.negotiation import Form, encode
from webhook.sandbox.resources import Object
from webhook.sandbox.routes import Target
from webhook.sandbox.tables import partial, table
from webhook.sandbox.watching import Event


async def stream_watch(
    request: web.Request,
    api: Api,
    target: Target,
    events: AsyncIterator[Event],
    form: Form,
    include: str,
    faults: Faults,
) -> web.StreamResponse:
    """Send events in the form asked for until they end or the client is gone."""
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    response.enable_chunked_encoding()
    await response.prepare(request)

    def cut() -> None:
        if request.transport is not None:
            request.transport.abort()

    shaper = _Shaper(api, target, form, include)
    with faults.stream(cut), suppress(ClientConnectionResetError):
        async with aclosing(events):  # type: ignore[type-var]
            async for event in events:
                await response.write(shaper.line(event))
    return response


class _Shaper:
    """Gives each event its form; only the first Table of a stream names its columns."""

    def __init__(self, api: Api, target: Target, form: Form, include: str) -> None:
        self._api = api
        self._target = target
        self._form = form
        self._include = include
        self._columns = True

    def line(self, event: Event) -> bytes:
        obj = event.object if event.type == "ERROR" else self._shaped(event)
        return encode({"type": event.type, "object": obj}) + b"\n"

    def _shaped(self, event: Event) -> Object:
        if self._form.as_kind == "PartialObjectMetadata":
            return partial(event.object)
        if self._form.as_kind != "Table":
            return event.object
        metadata = event.object["metadata"]
        made = table(
            self._target.resource,
            [] if event.type == "BOOKMARK" else [event.object],
            {"resourceVersion": metadata["resourceVersion"]},
            self._api.clock(),
            include=self._include,
            with_columns=self._columns,
        )
        self._columns = False
        return made
