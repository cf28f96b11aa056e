"""The fixtures of the sandbox's tests; those that run against both servers are shared."""

import asyncio
from collections.abc import Iterator

import pytest

from tests.apiservers import api_server, client, is_sandbox, kubectl

__all__ = ["api_server", "client", "is_sandbox", "kubectl"]


@pytest.fixture(scope="session", autouse=True)
def _loop_of_the_main_thread() -> Iterator[None]:
    """looptime asks for it before a test runs; where there is none, Python makes one to leak."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()
