"""Webhook and loop as real processes against an API server: started, registered, killed, started again.

Nothing of the product runs inside the test process, so SIGKILL means what it says. Free of pytest, as the control
plane is; the demo of a fault and a benchmark can use it as well.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import ssl
import sys
from collections import deque
from collections.abc import Coroutine, Iterable
from pathlib import Path
from typing import Protocol

import aiohttp

from webhook.service.registration import Reach, registrations

TIDEGATE = Path(sys.executable).with_name("tidegate")
READY_SECONDS = 30.0
ANYWHERE = "127.0.0.1:0"
CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1"


class Server(Protocol):
    """What the rig needs of an API server; the sandbox and the real control plane have it."""

    @property
    def url(self) -> str: ...
    @property
    def ca_file(self) -> Path: ...
    def token(self, user: str) -> str: ...
    def kubeconfig(self, user: str = "admin") -> Path: ...


class Process:
    """One process of ours, with the last lines it said."""

    def __init__(self, name: str, arguments: Iterable[str | Path]) -> None:
        self.name = name
        self.arguments = [str(argument) for argument in arguments]
        self.lines: deque[str] = deque(maxlen=400)
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()
        self.address = ""

    async def start(self) -> None:
        """Returns when it says that it is ready; raises RuntimeError with its words if it does not."""
        self._ready.clear()
        self._process = await asyncio.create_subprocess_exec(
            TIDEGATE,
            *self.arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )
        self._reader = asyncio.create_task(self._read())
        try:
            await asyncio.wait_for(self._ready.wait(), READY_SECONDS)
        except TimeoutError:
            said = "\n".join(self.lines)
            await self.kill()
            raise RuntimeError(f"{self.name} did not get ready:\n{said}") from None

    def settle(self, address: str) -> None:
        """Listen there from the next start on, instead of anywhere."""
        place = address.rpartition("/")[2]
        self.arguments = [place if part == ANYWHERE else part for part in self.arguments]

    async def kill(self) -> None:
        """SIGKILL: no goodbye."""
        await self._end(signal.SIGKILL)

    async def stop(self) -> int:
        """SIGTERM, and its exit code."""
        return await self._end(signal.SIGTERM)

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.returncode is None

    async def _end(self, sign: signal.Signals) -> int:
        if self._process is None:
            return 0
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(sign)
        code = await asyncio.wait_for(self._process.wait(), 30)
        if self._reader is not None:
            await self._reader
        return code

    async def _read(self) -> None:
        assert self._process is not None
        assert self._process.stderr is not None
        async for raw in self._process.stderr:
            line = raw.decode(errors="replace").rstrip()
            self.lines.append(line)
            if line.startswith("ready "):
                self.address = line.split()[2]
                self._ready.set()


class Rig:
    """Both processes, registered with the server, between ``async with`` and its end."""

    def __init__(
        self,
        server: Server,
        policies: Path,
        folder: Path,
        *,
        failure_policy: str = "Fail",
        flags: Iterable[str] = (),
    ) -> None:
        self.server, self.policies, self.folder = server, policies, folder
        self._turning: asyncio.AbstractEventLoop | None = None
        self._failure_policy = failure_policy
        common: list[str | Path] = ["--policies", policies, *flags]
        kubeconfig = server.kubeconfig("loop")
        loop: list[str | Path] = ["serve", "loop", *common, "--kubeconfig", kubeconfig]
        self.loop = Process("loop", [*loop, "--status-listen", ANYWHERE])
        webhook: list[str | Path] = ["serve", "webhook", *common, "--kubeconfig", kubeconfig]
        webhook += ["--listen", ANYWHERE, "--drain", "0"]
        self._webhook_flags = [*webhook, "--self-signed-dir", folder / "certs"]
        self.webhook = Process("webhook", self._webhook_flags)

    def restart_webhook(self) -> None:
        """SIGKILL and a new one, asked for from another thread than the rig's own."""
        self._from_outside(self._restart(self.webhook))

    def restart_loop(self) -> None:
        """The same for the loop."""
        self._from_outside(self._restart(self.loop))

    def _from_outside(self, work: Coroutine[None, None, None]) -> None:
        assert self._turning is not None
        asyncio.run_coroutine_threadsafe(work, self._turning).result(60)

    async def _restart(self, process: Process) -> None:
        await process.kill()
        await process.start()

    async def __aenter__(self) -> Rig:
        self._turning = asyncio.get_running_loop()
        await self.loop.start()
        self.loop.settle(self.loop.address)
        self.webhook = Process("webhook", [*self._webhook_flags, "--status-url", self.loop.address])
        await self.webhook.start()
        # each is known to somebody by its port, so it comes back at the same one
        self.webhook.settle(self.webhook.address)
        await self.register()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.unregister()
        await self.webhook.stop()
        await self.loop.stop()

    async def register(self) -> None:
        """Tells the API server of the webhook, and waits until it asks it."""
        authority = (self.folder / "certs" / "ca.crt").read_bytes()
        reach = Reach(ca=authority, url=self.webhook.address)
        for body in registrations(reach, failure_policy=self._failure_policy):  # type: ignore[arg-type]
            await self._post(f"{CONFIGURATIONS}/{_plural(body['kind'])}", body)
        await self._until_asked()

    async def unregister(self) -> None:
        for kind in ("mutatingwebhookconfigurations", "validatingwebhookconfigurations"):
            await self._call("DELETE", f"{CONFIGURATIONS}/{kind}/tidegate")

    async def _until_asked(self) -> None:
        """A dry run of an unknown queue is refused from the moment the configuration is in force."""
        body = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"generateName": "probe-", "labels": {"tidegate.dev/queue": "no-such"}},
            "spec": {"template": {"spec": _PROBE_POD}},
        }
        async with asyncio.timeout(READY_SECONDS):
            while True:
                path = "/apis/batch/v1/namespaces/default/jobs?dryRun=All"
                status, text = await self._call("POST", path, body)
                if status == 403 and "no queue named" in text:
                    return
                await asyncio.sleep(0.05)

    async def _post(self, path: str, body: object) -> None:
        status, text = await self._call("POST", path, body)
        if status not in (200, 201):
            raise RuntimeError(f"{path}: {status} {text}")

    async def _call(self, method: str, path: str, body: object = None) -> tuple[int, str]:
        headers = {"Authorization": f"Bearer {self.server.token('admin')}"}
        tls = ssl.create_default_context(cafile=str(self.server.ca_file))
        async with (
            aiohttp.ClientSession(trust_env=False, headers=headers) as session,
            session.request(method, self.server.url + path, json=body, ssl=tls) as answer,
        ):
            return answer.status, await answer.text()


_PROBE_POD = {
    "restartPolicy": "Never",
    "containers": [{"name": "probe", "image": "probe", "resources": {"requests": {"cpu": "1m"}}}],
}


def _plural(kind: str) -> str:
    return f"{kind.lower()}s"
