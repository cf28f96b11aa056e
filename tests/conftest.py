"""How the tests run everywhere: properties find new examples at home and repeat the same in CI."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

# No deadline in either: on a busy machine it would report the neighbours, not the code.
settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

# Set in CI, where a tier that skips itself would go unnoticed.
REQUIRED_VARIABLE = "TIDEGATE_REQUIRE_CLUSTER"


@pytest.fixture(scope="session")
def control_plane() -> Iterator[Any]:
    """The real control plane, one for all tests of the run; they skip if none is built."""
    from tests.cluster import build
    from tests.cluster.controlplane import ControlPlane

    try:
        binaries = build.ready()
    except build.UnavailableError as reason:
        if os.environ.get(REQUIRED_VARIABLE):
            raise
        pytest.skip(str(reason))
    with ControlPlane(binaries) as plane:
        yield plane
