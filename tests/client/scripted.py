"""An API server that does what a test tells it, request by request, over plain HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

from webhook.cluster.access import Access
from webhook.cluster.client import Client
from webhook.model.kinds import Object

Step = Callable[[web.Request], Awaitable[web.StreamResponse]]


def job(name: str, version: int, **spec: object) -> Object:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": "n",
            "uid": f"uid-{name}",
            "resourceVersion": str(version),
            "managedFields": [{"manager": "kubectl"}],
        },
        "spec": spec,
    }


def answer(body: object, *, status: int = 200, headers: dict[str, str] | None = None) -> Step:
    async def step(request: web.Request) -> web.StreamResponse:
        text = body if isinstance(body, str) else json.dumps(body)
        return web.Response(text=text, status=status, headers=headers)

    return step


def listed(*items: Object, version: int, rest: str = "") -> Step:
    plain = [{k: v for k, v in item.items() if k not in ("kind", "apiVersion")} for item in items]
    meta = {"resourceVersion": str(version)} | ({"continue": rest} if rest else {})
    return answer({"kind": "JobList", "apiVersion": "batch/v1", "metadata": meta, "items": plain})


def status(code: int, reason: str = "", **more: object) -> Object:
    return {"kind": "Status", "status": "Failure", "code": code, "reason": reason, **more}


def event(kind: str, obj: Object) -> bytes:
    return json.dumps({"type": kind, "object": obj}).encode() + b"\n"


def stream(*pieces: bytes, hang: bool = False, cut: bool = False) -> Step:
    """Pieces, then the end; or silence; or a connection that breaks."""

    async def step(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for piece in pieces:
            await response.write(piece)
        if hang:
            await asyncio.Event().wait()
        if cut and request.transport:
            request.transport.abort()
        return response

    return step


async def until(condition: Callable[[], object], *, seconds: float = 20.0) -> None:
    """Wait for what another task, or another process, brings about."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 - nobody could set an event here
            await asyncio.sleep(0.005)


@dataclass
class Script:
    """Lists and watches each have their own queue of steps; the last step repeats."""

    lists: list[Step] = field(default_factory=list)
    watches: list[Step] = field(default_factory=list)
    others: list[Step] = field(default_factory=list)
    seen: list[web.Request] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    url: str = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.seen.append(request)
        self.bodies.append(await request.read())
        steps = self.others
        if request.method == "GET" and not self.others:
            steps = self.watches if "watch" in request.query else self.lists
        step = steps.pop(0) if len(steps) > 1 else steps[0]
        return await step(request)

    @property
    def listings(self) -> list[web.Request]:
        return [r for r in self.seen if r.method == "GET" and "watch" not in r.query]

    @property
    def streams(self) -> list[web.Request]:
        return [r for r in self.seen if "watch" in r.query]


@asynccontextmanager
async def served(script: Script) -> AsyncIterator[Client]:
    app = web.Application(client_max_size=2**24)
    app.router.add_route("*", "/{path:.*}", script.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    script.url = f"http://{host}:{port}"
    try:
        async with Client(Access(server=script.url)) as client:
            yield client
    finally:
        await runner.cleanup()
