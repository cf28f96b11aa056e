"""Webhook and loop at work against both servers: the sandbox, and the real control plane."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.apiservers import running_sandbox
from tests.system.rig import Rig, Server

POLICY = """
resource gpu = nvidia.com/gpu
priority urgent 1000
priority normal  100 default

flavor a100 {
  node "accelerator" = "a100"
  tolerate "nvidia.com/gpu" = "present" : NoSchedule
}

queue gpus { quota a100 { gpu 8, cpu 64 } }
queue full { quota { cpu 2 } }

deny too-big for Job, JobSet when requests.gpu > 4 {
  message "one workload may ask for at most 4 GPUs, this one asks for {requests.gpu}"
}

flavor spot   { node "capacity" = "spot" }
flavor steady { node "capacity" = "steady" }
queue two {
  quota spot   { cpu 2 }
  quota steady { cpu 2 }
}
"""


@pytest.fixture(
    scope="session", params=["sandbox", pytest.param("real", marks=pytest.mark.cluster)]
)
def server(request: pytest.FixtureRequest) -> Iterator[Any]:
    """An API server with its controllers and two teams' namespaces."""
    if request.param == "sandbox":
        with running_sandbox(players=True) as sandbox:
            yield sandbox
    else:
        yield request.getfixturevalue("control_plane")


@contextmanager
def running_rig(server: Server, folder: Path, policy: str) -> Iterator[Rig]:
    """A rig driven from a thread of its own, so that a plain test may call kubectl and wait."""
    policies = folder / "policies"
    policies.mkdir()
    (policies / "teams.tide").write_text(policy)
    ready, stop = threading.Event(), asyncio.Event()
    made: list[Any] = []

    async def drive() -> None:
        try:
            async with Rig(server, policies, folder) as rig:
                made.extend([rig, asyncio.get_running_loop()])
                ready.set()
                await stop.wait()
        finally:
            ready.set()

    thread = threading.Thread(target=lambda: asyncio.run(drive()), name="rig")
    thread.start()
    ready.wait()
    if not made:
        thread.join()
        raise RuntimeError("the rig did not start")
    rig, loop = made
    try:
        yield rig
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(60)


@pytest.fixture(scope="module")
def rig(server: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """Both processes, registered, for the tests of one file; other files find the server as it was."""
    with running_rig(server, tmp_path_factory.mktemp("rig"), POLICY) as rig:
        yield rig
