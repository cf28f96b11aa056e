"""The sandbox as a whole: data, certificates, users, the port; an async context manager.

    async with Sandbox() as sandbox:
        print(sandbox.kubeconfig("alice"))

Whoever has a token may do everything: there is no RBAC. The data live as long as the object does,
also through ``restart()``, which closes the port and opens it again.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import socket
import tempfile
from collections.abc import Coroutine, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from aiohttp import web

from webhook.sandbox import certificates, strategies
from webhook.sandbox.api import Api
from webhook.sandbox.faults import Faults
from webhook.sandbox.http import Front
from webhook.sandbox.identity import MASTERS, user_named
from webhook.sandbox.kubeconfig import kubeconfig_text
from webhook.sandbox.namespaces import empty_terminating
from webhook.sandbox.players import Players
from webhook.sandbox.resources import User
from webhook.sandbox.store import Store
from webhook.sandbox.webhooks import AdmissionChain

USERS: Mapping[str, User] = {
    "admin": user_named("admin", [MASTERS]),
    "alice": user_named("alice"),
    "bob": user_named("bob"),
    "argocd": user_named("argocd"),
    "loop": user_named("system:serviceaccount:tidegate-system:tidegate"),
}
_SHUTDOWN_SECONDS = 0.5

log = logging.getLogger(__name__)


def _report(task: asyncio.Task[None]) -> None:
    """A player that fails leaves a cluster that stands still: say so at once."""
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("a controller of the sandbox has failed", exc_info=error)


class Sandbox:
    """A running API server; ``players`` makes Jobs and pods move as a cluster would.

    ``speed`` is how much faster than real time pods run, ``ring`` how many changes of a kind are
    remembered for watches; port 0 is any that is free.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        players: bool = True,
        speed: float = 1.0,
        ring: int = 10_000,
        bookmark_seconds: float = 60.0,
        users: Mapping[str, User] = USERS,
    ) -> None:
        self.api = Api(Store(ring=ring), strategy=strategies, bookmark_seconds=bookmark_seconds)
        self.faults = Faults()
        self.url = ""
        self.port = port
        self._users = users
        self._tokens = {name: f"{name}-{secrets.token_urlsafe(16)}" for name in users}
        self._with_players = players
        self._folder = tempfile.TemporaryDirectory(prefix="tidegate-sandbox-")
        self._certificates = certificates.create(Path(self._folder.name))
        self._front = Front(
            self.api, {self._tokens[name]: user for name, user in users.items()}, self.faults
        )
        self._runner: web.AppRunner | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self.players = Players(self.api, speed=speed)
        self.admission = AdmissionChain(self.api)
        self.api.use_admission(self.admission)

    @property
    def ca_file(self) -> Path:
        return self._certificates.ca_file

    @property
    def versions(self) -> Mapping[str, str]:
        return {"kubernetes": "sandbox"}

    def token(self, user: str) -> str:
        """The bearer token of one of the users."""
        return self._tokens[user]

    def kubeconfig(self, user: str = "admin", *, path: Path | None = None) -> Path:
        """Write a kubeconfig of a user and return where it is."""
        path = path or Path(self._folder.name) / f"{user}.kubeconfig"
        text = kubeconfig_text(self.url, self.ca_file.read_bytes(), user, self.token(user))
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(opened, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    async def __aenter__(self) -> Self:
        try:
            await self._open()
        except OSError:  # the port is taken
            await self.__aexit__(None, None, None)
            raise
        self._run(empty_terminating(self.api))
        if self._with_players:
            self._run(self.players.run())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)  # reported when they failed
        await self._close()
        await self.admission.close()
        self._folder.cleanup()

    def _run(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        task.add_done_callback(_report)
        self._tasks.append(task)

    async def restart(self) -> None:
        """Close the port, cutting every connection, and open it again with the same data."""
        await self._close()
        await self._open()

    async def _open(self) -> None:
        listening = socket.create_server(("127.0.0.1", self.port))
        runner = web.AppRunner(
            self._front.application(),
            access_log=None,
            handler_cancellation=True,
            shutdown_timeout=_SHUTDOWN_SECONDS,
        )
        await runner.setup()
        context = self._certificates.server_context()
        await web.SockSite(runner, listening, ssl_context=context).start()
        self.port = listening.getsockname()[1]
        self.url = f"https://127.0.0.1:{self.port}"
        self._runner = runner

    async def _close(self) -> None:
        self.faults.drop_watches()
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None
