"""Requests to the API server, with objects as plain JSON.

The kubernetes client builds a model object for every field, which makes a list of 5,000 Jobs ten
times as slow; here bytes become dictionaries and nothing more. Every failure is an ApiError.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
import orjson

from webhook.cluster.access import Access
from webhook.cluster.decode import read_list
from webhook.cluster.errors import Unavailable, error_of
from webhook.model.kinds import Kind, Object
from webhook.model.patch import Op, Patch

FIELD_MANAGER = "tidegate"
PAGE = 500
REQUEST_SECONDS = 30.0
_JSON_PATCH = "application/json-patch+json"
_MERGE_PATCH = "application/merge-patch+json"
_NETWORK = (aiohttp.ClientError, asyncio.TimeoutError, OSError)

Query = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list; the last one has no ``rest``."""

    items: Sequence[Object]
    resource_version: str
    rest: str


class Client:
    """One API server, one session. Make it inside a running event loop; close it."""

    def __init__(self, access: Access, *, user_agent: str = FIELD_MANAGER) -> None:
        self._access = access
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=100, ssl=access.tls if access.tls else True),
            headers={"User-Agent": user_agent, "Accept": "application/json"},
            trust_env=False,
        )

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Give connections and tasks back."""
        await self._session.close()
        await self._access.close()

    async def get(
        self, kind: Kind, namespace: str, name: str, *, seconds: float = REQUEST_SECONDS
    ) -> Object:
        """The object as it is now."""
        return await self._call("GET", path_of(kind, namespace, name), seconds=seconds)

    async def pages(
        self,
        kind: Kind,
        *,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
        limit: int = PAGE,
    ) -> AsyncIterator[Page]:
        """The list, page by page; decoding lets others run in between. Gone: begin anew."""
        query = _selectors(label_selector, field_selector) | {"limit": str(limit)}
        path = list_path(kind, namespace)
        while True:
            body = await self._bytes("GET", path, query=query)
            items, meta = await read_list(body)
            rest = str(meta.get("continue") or "")
            yield Page(items, str(meta.get("resourceVersion") or ""), rest)
            if not rest:
                return
            query["continue"] = rest

    async def patch(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        patch: Patch,
        *,
        resource_version: str | None = None,
        subresource: str = "",
    ) -> Object:
        """A JSON patch; with ``resource_version`` it is refused by 409 if the object changed."""
        if resource_version is not None:
            patch = (Op("replace", "/metadata/resourceVersion", resource_version), *patch)
        path = path_of(kind, namespace, name, subresource)
        return await self._write("PATCH", path, [op.as_json() for op in patch], _JSON_PATCH)

    async def merge(
        self, kind: Kind, namespace: str, name: str, change: Object, *, subresource: str = ""
    ) -> Object:
        """A merge patch."""
        path = path_of(kind, namespace, name, subresource)
        return await self._write("PATCH", path, change, _MERGE_PATCH)

    async def post(self, kind: Kind, namespace: str, obj: Object) -> Object:
        """Create the object."""
        return await self._write("POST", list_path(kind, namespace), obj, "application/json")

    async def delete(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        *,
        uid: str | None = None,
        propagation: str = "Background",
    ) -> Object:
        """Delete it; with ``uid`` only that very object."""
        options: Object = {
            "kind": "DeleteOptions",
            "apiVersion": "v1",
            "propagationPolicy": propagation,
        }
        if uid is not None:
            options["preconditions"] = {"uid": uid}
        path = path_of(kind, namespace, name)
        return await self._write("DELETE", path, options, "application/json")

    @asynccontextmanager
    async def stream(
        self, path: str, query: Query, *, seconds: float
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """The body of a GET in pieces as they come; it may last ``seconds`` in all."""
        try:
            async with await self._request("GET", path, query=query, seconds=seconds) as response:
                if response.status >= 400:
                    raise await _error(response)
                yield response.content.iter_any()
        except _NETWORK as error:
            raise _no_answer(error) from error

    async def _write(self, method: str, path: str, body: Any, content_type: str) -> Object:
        query = {} if method == "DELETE" else {"fieldManager": FIELD_MANAGER}
        return await self._call(
            method, path, query=query, body=orjson.dumps(body), content_type=content_type
        )

    async def _call(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: bytes | None = None,
        content_type: str = "",
        seconds: float = REQUEST_SECONDS,
    ) -> Object:
        answer = await self._bytes(
            method, path, query=query, body=body, content_type=content_type, seconds=seconds
        )
        try:
            obj = orjson.loads(answer)
        except orjson.JSONDecodeError as error:
            raise Unavailable(f"{method} {path}: the answer is not JSON") from error
        if not isinstance(obj, dict):
            raise Unavailable(f"{method} {path}: the answer is not an object")
        return obj

    async def _bytes(self, method: str, path: str, **request: Any) -> bytes:
        try:
            async with await self._request(method, path, **request) as response:
                if response.status >= 400:
                    raise await _error(response)
                return await response.read()
        except _NETWORK as error:
            raise _no_answer(error) from error

    async def _request(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: bytes | None = None,
        content_type: str = "",
        seconds: float = REQUEST_SECONDS,
    ) -> aiohttp.ClientResponse:
        headers = {"Content-Type": content_type} if content_type else {}
        if authorization := await self._access.authorization():
            headers["Authorization"] = authorization
        return await self._session.request(
            method,
            self._access.server + path,
            params=query or None,
            data=body,
            headers=headers,
            timeout=aiohttp.ClientTimeout(total=seconds, sock_connect=min(seconds, 10.0)),
            proxy=self._access.proxy,
            server_hostname=self._access.server_name,
            allow_redirects=False,
        )


async def _error(response: aiohttp.ClientResponse) -> Exception:
    return error_of(
        response.status, await response.read(), retry_after=response.headers.get("Retry-After")
    )


def _no_answer(error: BaseException) -> Unavailable:
    return Unavailable(str(error) or type(error).__name__)


def _selectors(label_selector: str, field_selector: str) -> dict[str, str]:
    given = {"labelSelector": label_selector, "fieldSelector": field_selector}
    return {key: value for key, value in given.items() if value}


def path_of(kind: Kind, namespace: str, name: str, subresource: str = "") -> str:
    """The path of one object, also of kinds that have no namespace."""
    path = kind.path_of(namespace, name) if namespace else f"{kind.path}/{name}"
    return f"{path}/{subresource}" if subresource else path


def list_path(kind: Kind, namespace: str = "") -> str:
    """The path of the list: of all namespaces, or of one."""
    return kind.path_of(namespace, "").rstrip("/") if namespace else kind.path
