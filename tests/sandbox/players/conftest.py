"""Clients of servers with controllers at work: the sandbox with its players, and the real ones.

On the real control plane nobody plays pods: a test writes their status itself, on both.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest

from tests.apiservers import ApiServer, Client, running_sandbox
from webhook.sandbox.server import Sandbox


@pytest.fixture(scope="session")
def controlled_server(api_server: ApiServer) -> Iterator[ApiServer]:
    if isinstance(api_server, Sandbox):
        with running_sandbox() as sandbox:
            yield sandbox
    else:
        yield api_server


@pytest.fixture
def client(controlled_server: ApiServer) -> Iterator[Client]:
    """Calls of the administrator in a new namespace, which is deleted afterwards."""
    name = f"test-{secrets.token_hex(4)}"
    if isinstance(controlled_server, Sandbox):
        namespace = {"metadata": {"name": name}}
        assert (
            Client(controlled_server, "").call("POST", "/api/v1/namespaces", namespace).code == 201
        )
    else:
        controlled_server.add_namespace(name)  # type: ignore[attr-defined]
    client = Client(controlled_server, name)
    yield client
    client.call("DELETE", f"/api/v1/namespaces/{name}")
