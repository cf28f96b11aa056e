"""The pod player on the sandbox: that it runs on any API server, and what it lives through."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from tests.cluster import podstatus
from tests.cluster.player import JOB_NAME, JOB_UID, PLAY_SECONDS, PodPlayer
from tests.cluster.rest import Rest, RestError
from webhook.sandbox.server import Sandbox

PODS = "/api/v1/namespaces/default/pods"
GATE = {"name": "tidegate.dev/quota"}


def pod(name: str, *, job: str = "", play: str = "", gated: bool = False) -> dict[str, Any]:
    labels = {JOB_NAME: job, JOB_UID: f"uid-of-{job}"} if job else {}
    spec: dict[str, Any] = {"containers": [{"name": "main", "image": "example/train"}]}
    if gated:
        spec["schedulingGates"] = [GATE]
    annotations = {PLAY_SECONDS: play} if play else {}
    metadata = {"name": name, "labels": labels, "annotations": annotations}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


@pytest.fixture
async def sandbox() -> AsyncIterator[Sandbox]:
    async with Sandbox(players=False) as sandbox:
        yield sandbox


@pytest.fixture
def rest(sandbox: Sandbox) -> Rest:
    return Rest(sandbox.url, sandbox.ca_file, sandbox.token("admin"))


@pytest.fixture
async def player(sandbox: Sandbox) -> AsyncIterator[PodPlayer]:
    async with PodPlayer.of(sandbox) as player:
        yield player


async def create(rest: Rest, body: dict[str, Any]) -> None:
    await asyncio.to_thread(rest.create, PODS, body)


async def phase(rest: Rest, name: str) -> str:
    return podstatus.phase(await asyncio.to_thread(rest.get, f"{PODS}/{name}"))


async def until(condition: Callable[[], Any]) -> None:
    """Poll the server beside the player."""
    deadline = time.monotonic() + 20
    while not await asyncio.to_thread(condition):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


def is_gone(rest: Rest, name: str) -> bool:
    try:
        rest.get(f"{PODS}/{name}")
    except RestError as error:
        return error.code == 404
    return False


async def test_a_pod_runs_for_the_seconds_it_asks_for(rest, player):
    started = time.monotonic()
    await create(rest, pod("a", play="0.4"))
    await until(lambda: podstatus.has_ended(rest.get(f"{PODS}/a")))
    assert time.monotonic() - started >= 0.4
    assert await phase(rest, "a") == "Succeeded"


async def test_a_pod_without_seconds_runs_until_it_is_told(rest, player):
    await create(rest, pod("a", job="train"))
    await create(rest, pod("b", job="train"))
    await player.running("default", "train", 2)
    assert await player.finish("default", "train") == 2
    assert {await phase(rest, name) for name in "ab"} == {"Succeeded"}
    await create(rest, pod("c", job="train"))  # a later pod of the same Job
    await until(lambda: podstatus.has_ended(rest.get(f"{PODS}/c")))


async def test_only_the_pods_that_run_fail(rest, player):
    await create(rest, pod("a", job="train"))
    assert await player.fail("default", "train", exit_code=137) == 1
    assert await phase(rest, "a") == "Failed"
    await create(rest, pod("b", job="train"))
    assert [one["metadata"]["name"] for one in await player.running("default", "train")] == ["b"]


async def test_a_gated_pod_waits_for_its_gate(rest, player):
    await create(rest, pod("gated", job="gated", gated=True))
    await create(rest, pod("free", job="free"))
    await player.running("default", "free")
    assert await phase(rest, "gated") == "Pending"
    ungated: dict[str, Any] = {"spec": {"schedulingGates": []}}
    await asyncio.to_thread(rest.merge, f"{PODS}/gated", ungated)
    await player.running("default", "gated")


async def test_place_decides_who_finds_room(sandbox, rest):
    room: set[str] = set()

    def place(pod: podstatus.Pod) -> str | None:
        return "big-node" if pod["metadata"]["name"] in room else None

    async with PodPlayer.of(sandbox, place=place) as player:
        await create(rest, pod("a", job="a"))
        await until(lambda: player.pods("default", "a"))
        assert await phase(rest, "a") == "Pending"
        room.add("a")
        player.place_again()
        (running,) = await player.running("default", "a")
        assert running["spec"]["nodeName"] == "big-node"


async def test_a_deleted_pod_lingers_as_long_as_it_is_told(sandbox, rest):
    async with PodPlayer.of(sandbox, linger_seconds=0.5) as player:
        await create(rest, pod("a", job="a"))
        await player.running("default", "a")
        deleted = time.monotonic()
        await asyncio.to_thread(rest.delete, f"{PODS}/a")
        assert podstatus.is_deleting(await asyncio.to_thread(rest.get, f"{PODS}/a"))
        await until(lambda: is_gone(rest, "a"))
        assert time.monotonic() - deleted >= 0.5


async def test_a_pod_of_the_same_name_is_another_pod(rest, player):
    await create(rest, pod("a", job="train"))
    await player.finish_pod("default", "a")
    await asyncio.to_thread(rest.delete, f"{PODS}/a")
    await create(rest, pod("a", job="train"))
    await player.running("default", "train")


async def test_a_second_player_goes_on_where_the_first_stopped(sandbox, rest):
    await create(rest, pod("a", job="train", play="0.5"))
    async with PodPlayer.of(sandbox) as first:
        await first.running("default", "train")
    assert await phase(rest, "a") == "Running"
    async with PodPlayer.of(sandbox):
        await until(lambda: podstatus.has_ended(rest.get(f"{PODS}/a")))


@pytest.mark.parametrize(
    "trouble",
    [
        pytest.param(lambda s: s.faults.drop_watches(), id="a dropped watch"),
        pytest.param(lambda s: s.faults.fail("create", "pods/binding", 503), id="no binding"),
        pytest.param(lambda s: s.faults.fail("patch", "pods/status", 429), id="too many"),
        pytest.param(
            lambda s: (s.faults.fail("watch", "pods", 410), s.faults.drop_watches()), id="410"
        ),
        pytest.param(
            lambda s: (s.faults.fail("list", "pods", 500, times=2), s.faults.drop_watches()),
            id="no list",
        ),
    ],
)
async def test_it_survives(sandbox, rest, player, trouble):
    await create(rest, pod("before", job="before"))
    await player.running("default", "before")
    trouble(sandbox)
    await create(rest, pod("after", job="after"))
    async with asyncio.timeout(20):
        await player.running("default", "after")


async def test_it_survives_a_restart_of_the_server(sandbox, rest, player):
    await create(rest, pod("before", job="before"))
    await player.running("default", "before")
    await sandbox.restart()
    await create(rest, pod("after", job="after"))
    async with asyncio.timeout(20):
        await player.running("default", "after")
        await player.finish("default", "before")


async def test_what_it_cannot_mend_is_told(sandbox, rest):
    sandbox.faults.fail("patch", "pods/status", 400)
    with pytest.raises(ExceptionGroup) as told:
        async with PodPlayer.of(sandbox) as player:
            await create(rest, pod("a", job="train"))
            await player.finish("default", "train")
    assert "injected" in str(told.value.exceptions[0])
