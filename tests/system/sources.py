"""Where a history comes from: etcd itself where there is one, else the watch of the API server.

The real API server answers 410 to any watch from before its own start, so a run that restarts it cannot be followed
through it. etcd keeps every revision, and a revision is what Kubernetes calls a resourceVersion.
"""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Protocol

import aiohttp

PATHS = {
    "Job": "/apis/batch/v1/jobs",
    "JobSet": "/apis/jobset.x-k8s.io/v1alpha2/jobsets",
    "Pod": "/api/v1/pods",
}
PREFIXES = {
    "Job": "/registry/jobs/",
    "JobSet": "/registry/jobset.x-k8s.io/jobsets/",
    "Pod": "/registry/pods/",
}
Change = tuple[int, str, dict[str, Any]]
"""resourceVersion; ADDED, MODIFIED or DELETED; the object."""
FOREVER = aiohttp.ClientTimeout(total=None)


class Source(Protocol):
    """Tells every change of a kind from ``open`` on."""

    async def open(self) -> None: ...
    async def close(self) -> None: ...
    def follow(self, kind: str) -> AsyncIterator[Change]: ...


class Etcd:
    """The stored history, by etcd's JSON gateway; survives every restart of the API server."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def open(self) -> None:
        self._session = aiohttp.ClientSession(trust_env=False, timeout=FOREVER)
        where = {"key": _b64("/registry/"), "count_only": True, "range_end": _b64("/registry0")}
        async with self._session.post(f"{self._url}/v3/kv/range", json=where) as answer:
            self._since = int((await answer.json())["header"]["revision"]) + 1

    async def close(self) -> None:
        await self._session.close()

    async def follow(self, kind: str) -> AsyncIterator[Change]:
        prefix = PREFIXES[kind]
        create = {
            "key": _b64(prefix),
            "range_end": _b64(prefix[:-1] + "0"),
            "start_revision": str(self._since),
            "prev_kv": True,
        }
        body = {"create_request": create}
        async with self._session.post(f"{self._url}/v3/watch", json=body) as answer:
            async for line in _lines(answer):
                for event in json.loads(line)["result"].get("events", ()):
                    yield _change(event)


class Watch:
    """The API server's own watch, for the sandbox; a gap is an error."""

    def __init__(self, url: str, token: str, ca_file: Path) -> None:
        self._url, self._headers = url, {"Authorization": f"Bearer {token}"}
        self._tls = ssl.create_default_context(cafile=str(ca_file))

    async def open(self) -> None:
        self._session = aiohttp.ClientSession(
            trust_env=False, timeout=FOREVER, headers=self._headers
        )
        async with self._session.get(self._url + PATHS["Pod"], ssl=self._tls) as answer:
            self._since = str((await answer.json())["metadata"]["resourceVersion"])

    async def close(self) -> None:
        await self._session.close()

    async def follow(self, kind: str) -> AsyncIterator[Change]:
        version = self._since
        while True:
            query = {"watch": "1", "resourceVersion": version}
            url = self._url + PATHS[kind]
            async with self._session.get(url, params=query, ssl=self._tls) as answer:
                assert answer.status == 200, await answer.text()
                async for line in _lines(answer):
                    event = json.loads(line)
                    assert event["type"] in ("ADDED", "MODIFIED", "DELETED"), event
                    version = str(event["object"]["metadata"]["resourceVersion"])
                    yield int(version), event["type"], event["object"]
            await asyncio.sleep(0)


async def _lines(answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    rest = b""
    async for chunk in answer.content.iter_any():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if line.strip():
                yield line


def _change(event: dict[str, Any]) -> Change:
    gone = event.get("type") == "DELETE"
    stored = event["prev_kv"] if gone else event["kv"]
    obj = json.loads(base64.b64decode(stored["value"]))
    version = int(event["kv"]["mod_revision"])
    obj["metadata"]["resourceVersion"] = str(version)
    first = event["kv"].get("create_revision") == event["kv"]["mod_revision"]
    return version, "DELETED" if gone else "ADDED" if first else "MODIFIED", obj


def _b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
