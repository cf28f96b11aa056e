"""The writes of the pod player, and what their failures mean.

A pod that changed or went away while we wrote is not an error: the watch tells what it is now.
"""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

import aiohttp
import orjson

from tests.cluster import podstatus
from tests.cluster.podstatus import Pod

JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"

GONE_OR_CHANGED = (404, 409)
# 403: the namespace is being deleted, or the server has just started and knows no rights yet.
NOT_NOW = (403, 429, 500, 502, 503, 504)


class TryAgainError(Exception):
    """The server is away or busy; the same call may work later."""


class PodCalls:
    """One session to one API server."""

    def __init__(self, url: str, *, token: str, ca_file: Path | None, connections: int) -> None:
        self._url = url
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._tls = ssl.create_default_context(cafile=str(ca_file)) if ca_file else None
        self._connections = connections

    def open(self) -> aiohttp.ClientSession:
        """To be called in the loop that will use it; the session is shared with the watch."""
        self._session = aiohttp.ClientSession(
            self._url,
            headers=self._headers,
            connector=aiohttp.TCPConnector(ssl=self._tls or True, limit=self._connections),
            timeout=aiohttp.ClientTimeout(total=30),
        )
        return self._session

    async def close(self) -> None:
        await self._session.close()

    async def bind(self, pod: Pod, node: str) -> bool:
        """Give the pod a node; False if it has one, is gated or is gone. May raise TryAgainError."""
        meta = pod["metadata"]
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {key: meta[key] for key in ("name", "namespace", "uid")},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        }
        return await self._call("POST", f"{_path(pod)}/binding", body) is not None

    async def set_status(self, pod: Pod, status: podstatus.Status) -> Pod | None:
        """The pod as it is now; None if it is gone or another. May raise TryAgainError."""
        body = {"metadata": {"uid": podstatus.uid(pod)}, "status": status}
        return await self._call("PATCH", f"{_path(pod)}/status", body, MERGE_PATCH)

    async def delete(self, pod: Pod) -> None:
        """What a kubelet does when the containers have stopped. May raise TryAgainError."""
        body = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "gracePeriodSeconds": 0,
            "preconditions": {"uid": podstatus.uid(pod)},
        }
        await self._call("DELETE", _path(pod), body)

    async def _call(
        self, method: str, path: str, body: dict[str, Any], kind: str = JSON
    ) -> dict[str, Any] | None:
        data, headers = orjson.dumps(body), {"Content-Type": kind}
        try:
            async with self._session.request(method, path, data=data, headers=headers) as answer:
                text = await answer.read()
        except (aiohttp.ClientError, TimeoutError) as trouble:
            raise TryAgainError(str(trouble)) from trouble
        if answer.status in GONE_OR_CHANGED:
            return None
        if answer.status in NOT_NOW:
            raise TryAgainError(f"{answer.status}: {text[:256]!r}")
        if answer.status >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status}: {text[:512]!r}")
        result: dict[str, Any] = orjson.loads(text)
        return result


def _path(pod: Pod) -> str:
    meta = pod["metadata"]
    return f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
