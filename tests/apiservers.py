"""One fixture, two API servers: a test that takes ``api_server`` holds for the sandbox and for
the real thing, or the sandbox is wrong.

The sandbox runs in a thread of its own, so that a test may call kubectl and wait for it.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import ssl
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest

from tests.cluster.kubectl import Kubectl
from webhook.sandbox.server import Sandbox

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"

Object = dict[str, Any]


class ApiServer(Protocol):
    """What both servers offer."""

    @property
    def url(self) -> str: ...
    @property
    def ca_file(self) -> Path: ...
    def token(self, user: str) -> str: ...
    def kubeconfig(self, user: str) -> Path: ...


@dataclass(frozen=True, slots=True)
class Answer:
    """A response; ``json`` is the object or the Status."""

    code: int
    body: bytes
    headers: Any

    @property
    def json(self) -> Object:
        value: Object = json.loads(self.body)
        return value

    @property
    def lines(self) -> list[Object]:
        """The events of a watch that has ended."""
        return [json.loads(line) for line in self.body.splitlines()]

    @property
    def message(self) -> str:
        return str(self.json["message"])


class Client:
    """HTTP calls in one namespace of a server; a Status is an answer, never an exception."""

    def __init__(self, server: ApiServer, namespace: str, user: str = "admin") -> None:
        self.server = server
        self.namespace = namespace
        self.user = user
        self._tls = ssl.create_default_context(cafile=str(server.ca_file))
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=self._tls)
        )

    def path(self, plural: str, name: str = "") -> str:
        root = {"jobs": "/apis/batch/v1", "jobsets": "/apis/jobset.x-k8s.io/v1alpha2"}
        where = f"{root.get(plural, '/api/v1')}/namespaces/{self.namespace}/{plural}"
        return f"{where}/{name}" if name else where

    def call(
        self, method: str, path: str, body: object = None, kind: str = "", **headers: str
    ) -> Answer:
        """A request with JSON; ``headers`` are written with underscores."""
        data = None if body is None else json.dumps(body).encode()
        return self.send(method, path, data, kind, **headers)

    def send(
        self, method: str, path: str, data: bytes | None, kind: str = "", **headers: str
    ) -> Answer:
        """A request with any bytes."""
        sent = {
            "Authorization": f"Bearer {self.server.token(self.user)}",
            "Accept": "application/json",
            **({"Content-Type": kind or "application/json"} if data is not None else {}),
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        request = urllib.request.Request(
            self.server.url + path, data=data, headers=sent, method=method
        )
        try:
            with self._opener.open(request, timeout=30) as answer:
                return Answer(answer.status, answer.read(), answer.headers)
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, error.read(), error.headers)

    def get(self, path: str, **headers: str) -> Answer:
        return self.call("GET", path, **headers)

    def create(self, plural: str, obj: Object, query: str = "") -> Answer:
        return self.call("POST", self.path(plural) + query, obj)

    def created(self, plural: str, obj: Object) -> Object:
        answer = self.create(plural, obj)
        assert answer.code == 201, answer.body
        return answer.json

    def patch(self, path: str, body: object, kind: str) -> Answer:
        return self.call("PATCH", path, body, kind)


@contextmanager
def running_sandbox(**options: Any) -> Iterator[Sandbox]:
    """A sandbox that runs in a thread until the block ends."""
    ready: threading.Event = threading.Event()
    made: list[Any] = []

    async def serve() -> None:
        stop = asyncio.Event()
        async with Sandbox(**options) as sandbox:
            made.extend([sandbox, asyncio.get_running_loop(), stop])
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), name="sandbox")
    thread.start()
    assert ready.wait(20), "the sandbox did not start"
    sandbox, loop, stop = made
    try:
        yield sandbox
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(20)
        assert not thread.is_alive(), "the sandbox did not end"


@pytest.fixture(
    scope="session", params=["sandbox", pytest.param("real", marks=pytest.mark.cluster)]
)
def api_server(request: pytest.FixtureRequest) -> Iterator[ApiServer]:
    """First the sandbox, then the real API server; started once for a run."""
    if request.param == "sandbox":
        with running_sandbox(players=False) as sandbox:
            yield sandbox
    else:
        yield request.getfixturevalue("control_plane")


@pytest.fixture
def is_sandbox(api_server: ApiServer) -> bool:
    return isinstance(api_server, Sandbox)


@pytest.fixture
def client(api_server: ApiServer) -> Iterator[Client]:
    """Calls of the administrator in a new namespace, which is deleted afterwards."""
    name = f"test-{secrets.token_hex(4)}"
    if isinstance(api_server, Sandbox):
        namespace = {"metadata": {"name": name}}
        assert Client(api_server, "").call("POST", "/api/v1/namespaces", namespace).code == 201
    else:
        api_server.add_namespace(name)  # type: ignore[attr-defined]
    client = Client(api_server, name)
    yield client
    client.call("DELETE", f"/api/v1/namespaces/{name}")


@pytest.fixture
def kubectl(client: Client) -> Kubectl:
    """kubectl as the administrator in the namespace of ``client``."""
    return Kubectl(client.server.kubeconfig("admin"), client.namespace)


def job(name: str = "", *, suspend: bool = True, **metadata: Any) -> Object:
    """A small Job."""
    pod = {
        "restartPolicy": "Never",
        "containers": [
            {"name": "main", "image": "example/train", "env": [{"name": "A", "value": "1"}]}
        ],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, **metadata} if name else metadata,
        "spec": {"suspend": suspend, "template": {"spec": pod}},
    }


def config_map(name: str = "", data: dict[str, str] | None = None, **metadata: Any) -> Object:
    """The smallest object there is."""
    named = {"name": name, **metadata} if name else metadata
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": named, "data": data or {"a": "1"}}
