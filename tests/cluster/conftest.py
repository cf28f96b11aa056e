"""The control plane as fixtures: started once for a run, when the first test asks for it."""

from __future__ import annotations

import os
import secrets
from collections.abc import AsyncIterator, Iterator

import pytest

from tests.cluster import bootstrap, build
from tests.cluster.controlplane import ControlPlane
from tests.cluster.player import PodPlayer

# Set in CI, where a tier that skips itself would go unnoticed.
REQUIRED_VARIABLE = "TIDEGATE_REQUIRE_CLUSTER"


@pytest.fixture(scope="session")
def control_plane() -> Iterator[ControlPlane]:
    """One for all tests of the run, each in a namespace of its own; skips if none is built."""
    try:
        binaries = build.ready()
    except build.UnavailableError as reason:
        if os.environ.get(REQUIRED_VARIABLE):
            raise
        pytest.skip(str(reason))
    with ControlPlane(binaries) as plane:
        yield plane


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
