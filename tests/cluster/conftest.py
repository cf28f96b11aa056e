"""What the tests of the control plane itself need; the control plane is a fixture of all tests."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterator

import pytest

from tests.cluster import bootstrap
from tests.cluster.controlplane import ControlPlane
from tests.cluster.player import PodPlayer


@pytest.fixture
def namespace(control_plane: ControlPlane) -> Iterator[str]:
    """A new namespace that takes pods; deleted afterwards, without waiting for its end."""
    name = f"test-{secrets.token_hex(4)}"
    control_plane.add_namespace(name)
    yield name
    control_plane.rest().delete(bootstrap.namespace(name)[0])


@pytest.fixture
async def player(control_plane: ControlPlane) -> AsyncIterator[PodPlayer]:
    """Plays the pods of all namespaces while the test runs."""
    async with PodPlayer.of(control_plane) as player:
        yield player
