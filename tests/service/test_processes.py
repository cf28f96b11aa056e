"""The processes as they are run: started by the command, killed, ended, and what they say."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import ssl
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest

from tests.apiservers import Client, running_sandbox
from tests.client.scripted import until
from webhook.sandbox.server import Sandbox

TIDEGATE = Path(sys.executable).with_name("tidegate")
POLICY = "queue a {\n  quota { cpu 2 }\n}\n"


class Process:
    """One process, and what it said on standard error."""

    def __init__(self, child: asyncio.subprocess.Process) -> None:
        self.child = child
        self.lines: list[str] = []
        self.reader = asyncio.create_task(self._read())

    async def _read(self) -> None:
        assert self.child.stderr is not None
        async for line in self.child.stderr:
            self.lines.append(line.decode().rstrip())

    @property
    def url(self) -> str:
        return next((line.split()[2] for line in self.lines if line.startswith("ready ")), "")

    async def ready(self) -> str:
        await until(lambda: self.url or self.child.returncode is not None, seconds=60)
        assert self.url, self.lines
        return self.url

    async def end(self, by: signal.Signals = signal.SIGTERM) -> int:
        if self.child.returncode is None:
            self.child.send_signal(by)
        code = await asyncio.wait_for(self.child.wait(), 30)
        await self.reader
        return code


@asynccontextmanager
async def running(*arguments: str | Path) -> AsyncIterator[Process]:
    child = await asyncio.create_subprocess_exec(
        TIDEGATE,
        "serve",
        *map(str, arguments),
        stderr=asyncio.subprocess.PIPE,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    process = Process(child)
    try:
        yield process
    finally:
        await process.end(signal.SIGKILL)


def loop_flags(sandbox: Sandbox, folder: Path) -> Sequence[str | Path]:
    (folder / "p.tide").write_text(POLICY)
    access = ("--kubeconfig", sandbox.kubeconfig("loop"))
    return ("loop", "--policies", folder / "p.tide", *access, "--status-listen", "127.0.0.1:0")


def started(client: Client) -> set[str]:
    items = client.get(client.path("jobs")).json["items"]
    return {item["metadata"]["name"] for item in items if not item["spec"]["suspend"]}


def submit(client: Client, name: str) -> None:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    client.created(
        "jobs",
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": name, "labels": {"tidegate.dev/queue": "a"}},
            "spec": {
                "suspend": True,
                "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
            },
        },
    )


def finish(client: Client, name: str) -> None:
    conditions = [{"type": kind, "status": "True"} for kind in ("SuccessCriteriaMet", "Complete")]
    status = {
        "conditions": conditions,
        "startTime": "2026-01-01T00:00:00Z",
        "completionTime": "2026-01-01T00:01:00Z",
        "succeeded": 1,
    }
    path = client.path("jobs", name) + "/status"
    answer = client.patch(path, {"status": status}, "application/merge-patch+json")
    assert answer.code == 200, answer.body


async def test_a_loop_that_is_killed_again_and_again_starts_everything_and_never_too_much(tmp_path):
    with running_sandbox(players=False) as sandbox:
        client = Client(sandbox, "default")
        for n in range(6):
            submit(client, f"j{n}")
        done: set[str] = set()
        for turn in range(3):
            async with running(*loop_flags(sandbox, tmp_path)) as loop:
                await loop.ready()
                await until(lambda: len(started(client) - done) == 2)
                for name in sorted(started(client) - done):
                    finish(client, name)
                    done.add(name)
                await asyncio.sleep(0.01 * turn)
                assert await loop.end(signal.SIGKILL) == -signal.SIGKILL
            assert len(started(client) - done) <= 2
        assert len(done) == 6


async def test_the_loop_tells_its_status_and_ends_in_order(tmp_path):
    with running_sandbox(players=False) as sandbox:
        async with running(*loop_flags(sandbox, tmp_path), "--log-format", "json") as loop:
            url = await loop.ready()
            assert url.startswith("http://127.0.0.1:")
            async with aiohttp.ClientSession() as session:
                async with session.get(f"{url}/status?once") as response:
                    assert set(json.loads(await response.read())["queues"]) == {"a"}
                async with session.get(f"{url}/readyz") as response:
                    assert response.status == 200
                async with session.get(f"{url}/metrics") as response:
                    assert "tidegate_synced 1.0" in await response.text()
            assert await loop.end() == 0
        told = [line for line in loop.lines if not line.startswith("ready ")]
        assert all(json.loads(line)["message"] for line in told)


async def test_the_webhook_answers_the_instant_it_is_ready_and_ends_in_order(tmp_path):
    with running_sandbox(players=False) as sandbox:
        (tmp_path / "p.tide").write_text(POLICY)
        flags = ("--policies", tmp_path / "p.tide", "--kubeconfig", sandbox.kubeconfig("loop"))
        listen = ("--listen", "127.0.0.1:0", "--self-signed-dir", tmp_path / "certs")
        async with running("webhook", *flags, *listen, "--drain", "0.2") as webhook:
            url = await webhook.ready()
            trusted = ssl.create_default_context(cafile=str(tmp_path / "certs" / "ca.crt"))
            async with aiohttp.ClientSession() as session:
                async with session.get(f"{url}/readyz", ssl=trusted) as response:
                    assert response.status == 200
                async with session.post(f"{url}/mutate", data=b"{", ssl=trusted) as response:
                    assert response.status == 400
                webhook.child.terminate()
                await until(lambda: any("shutting down" in line for line in webhook.lines))
                async with session.get(f"{url}/readyz", ssl=trusted) as response:
                    assert response.status == 503
            assert await asyncio.wait_for(webhook.child.wait(), 30) == 0


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        (["loop", "--policies", "nowhere"], "error: nowhere: no such file or directory"),
        (["loop", "--policies", "broken.tide"], "broken.tide:1"),
        (
            ["loop", "--policies", "p.tide", "--kubeconfig", "none"],
            "error: no kubeconfig at `none`",
        ),
        (["loop", "--policies", "p.tide", "--status-listen", "0.0.0.0:1"], "loopback"),
        (["loop", "--policies", "p.tide", "--status-listen", "x"], "`x` is not HOST:PORT"),
        (["webhook", "--policies", "p.tide"], "--self-signed-dir"),
        (
            ["webhook", "--policies", "p.tide", "--tls-cert", "none", "--tls-key", "none"],
            "error: cannot read `none`: No such file or directory",
        ),
        (
            ["webhook", "--policies", "p.tide", "--self-signed-dir", "p.tide/certs"],
            "error: cannot keep certificates in",
        ),
    ],
)
async def test_what_cannot_work_ends_with_2_and_says_why(tmp_path, monkeypatch, flags, complaint):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.tide").write_text(POLICY)
    (tmp_path / "broken.tide").write_text("quue a { }\n")
    (tmp_path / "kubeconfig").write_text(KUBECONFIG)
    if "--kubeconfig" not in flags:
        flags = [*flags, "--kubeconfig", "kubeconfig"]
    async with running(*flags) as process:
        await until(lambda: process.child.returncode is not None, seconds=60)
        await process.reader
        assert process.child.returncode == 2
        assert any(complaint in line for line in process.lines), process.lines
        assert not any("Traceback" in line for line in process.lines)
        assert sum("broken.tide:1" in line for line in process.lines) <= 1


KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: c
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
"""
