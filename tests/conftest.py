"""How the tests run everywhere: properties find new examples at home and repeat the same in CI."""

import asyncio
import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

# No deadline in either: on a busy machine it would report the neighbours, not the code.
settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")

VERSIONS = pytest.StashKey[dict[str, str]]()

# Set in CI, where a tier that skips itself would go unnoticed.
REQUIRED_VARIABLE = "TIDEGATE_REQUIRE_CLUSTER"


@pytest.fixture(scope="session", autouse=True)
def _loop_of_the_main_thread() -> Iterator[None]:
    """Plugins ask for it before a test runs; where there is none, Python 3.11 makes one, to leak."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    yield
    asyncio.set_event_loop(None)
    loop.close()


@pytest.fixture(scope="session")
def control_plane(pytestconfig: pytest.Config) -> Iterator[Any]:
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
        pytestconfig.stash[VERSIONS] = plane.versions
        yield plane


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say what a run against the real control plane ran against."""
    for component, version in config.stash.get(VERSIONS, {}).items():
        terminalreporter.write_line(f"ran against {component} {version}")
