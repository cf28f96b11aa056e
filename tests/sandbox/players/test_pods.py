"""How pods are played: bound, run, ended, let go; and that nothing moves when nothing happens."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import pytest

from tests.sandbox.manifests import job, jobset, pod, pod_template, replicated_job
from webhook.sandbox import strategies
from webhook.sandbox.api import Api
from webhook.sandbox.players import Players
from webhook.sandbox.players.pods import play_seconds
from webhook.sandbox.resources import JOBS, JOBSETS, PODS, Object, Resource, User

ALICE = User("alice")
MERGE_PATCH = "application/merge-patch+json"
GATE = {"name": "tidegate.dev/quota"}


@asynccontextmanager
async def playing(**options: Any) -> AsyncIterator[tuple[Api, Players]]:
    api = Api(strategy=strategies)
    players = Players(api, **options)
    task = asyncio.create_task(players.run())
    try:
        async with asyncio.timeout(20):
            yield api, players
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def until(api: Api, resource: Resource, test: Callable[[Object], bool]) -> Object:
    """The first object of a kind, new or changed, that passes a test."""
    async for event in api.watch(resource):
        if event.type != "DELETED" and test(event.object):
            return event.object
    raise AssertionError("the watch ended")


async def until_gone(api: Api, resource: Resource) -> None:
    async for event in api.watch(resource):
        if event.type == "DELETED":
            return


def in_phase(phase: str) -> Callable[[Object], bool]:
    return lambda pod: pod["status"].get("phase") == phase


def holds(name: str) -> Callable[[Object], bool]:
    def test(obj: Object) -> bool:
        conditions = obj["status"].get("conditions") or []
        return any(c["type"] == name and c["status"] == "True" for c in conditions)

    return test


async def test_a_pod_is_bound_and_gets_ready_and_stays():
    async with playing() as (api, _):
        await api.create(PODS, "default", pod("p"), user=ALICE)
        ready = await until(api, PODS, holds("Ready"))
        assert ready["spec"]["nodeName"]
        assert ready["status"]["phase"] == "Running"
        assert ready["status"]["containerStatuses"][0]["state"]["running"]["startedAt"]


async def test_a_gated_pod_waits():
    async with playing() as (api, _):
        await api.create(PODS, "default", pod("gated", schedulingGates=[GATE]), user=ALICE)
        await api.create(PODS, "default", pod("free"), user=ALICE)
        await until(api, PODS, holds("Ready"))
        gated = await api.get(PODS, "default", "gated")
        assert "nodeName" not in gated["spec"]
        open_ = {"spec": {"schedulingGates": None}}
        await api.patch(PODS, "default", "gated", open_, patch_type=MERGE_PATCH, user=ALICE)
        await until(api, PODS, lambda p: p["metadata"]["name"] == "gated" and holds("Ready")(p))


async def test_pods_run_as_long_as_they_say_at_the_speed_asked_for():
    begun = time.monotonic()
    async with playing(speed=1000) as (api, _):
        body = job("t", template=pod_template(seconds=100), parallelism=2, completions=4)
        await api.create(JOBS, "default", body, user=ALICE)
        done = await until(api, JOBS, holds("Complete"))
        assert done["status"]["succeeded"] == 4
    assert 0.2 <= time.monotonic() - begun < 10


async def test_an_outcome_may_be_failure():
    async with playing() as (api, _):
        marks = {"tidegate.dev/play-outcome": "fail"}
        template = pod_template(seconds=0, annotations=marks)
        await api.create(JOBS, "default", job("t", template=template, backoffLimit=1), user=ALICE)
        failed = await until(api, JOBS, holds("Failed"))
        assert failed["status"]["failed"] == 2


async def test_finish_ends_the_pods_there_are_and_those_to_come():
    async with playing() as (api, players):
        await api.create(JOBS, "default", job("t", parallelism=1, completions=3), user=ALICE)
        await until(api, PODS, in_phase("Running"))
        await players.pods.finish("default", "t")
        assert (await until(api, JOBS, holds("Complete")))["status"]["succeeded"] == 3


@pytest.mark.parametrize(("succeed", "end"), [(True, "Completed"), (False, "Failed")])
async def test_finish_knows_jobsets(succeed: bool, end: str):
    async with playing() as (api, players):
        body = jobset("js", replicated_job(replicas=2, backoffLimit=0))
        await api.create(JOBSETS, "default", body, user=ALICE)
        await until(api, PODS, in_phase("Running"))
        await players.pods.finish("default", "js", succeed=succeed)
        await until(api, JOBSETS, holds(end))


async def test_a_pod_lingers_while_its_job_is_suspended():
    async with playing(linger_seconds=0.2) as (api, _):
        await api.create(JOBS, "default", job("t"), user=ALICE)
        await until(api, PODS, in_phase("Running"))
        stop = {"spec": {"suspend": True}}
        await api.patch(JOBS, "default", "t", stop, patch_type=MERGE_PATCH, user=ALICE)
        stopped = await until(api, JOBS, holds("Suspended"))
        assert stopped["status"]["terminating"] == 1
        assert "active" not in stopped["status"]
        await until_gone(api, PODS)
        await until(api, JOBS, lambda j: holds("Suspended")(j) and j["status"]["terminating"] == 0)


async def test_a_replacement_waits_for_the_pod_before_it_where_the_policy_says_so():
    async with playing(linger_seconds=0.2) as (api, _):
        body = job("t", podReplacementPolicy="Failed")
        await api.create(JOBS, "default", body, user=ALICE)
        first = await until(api, PODS, in_phase("Running"))
        await api.delete(PODS, "default", first["metadata"]["name"], user=ALICE)
        await until_gone(api, PODS)
        pods = (await api.list(PODS))["items"]
        assert first["metadata"]["uid"] not in {p["metadata"]["uid"] for p in pods}
        await until(api, PODS, in_phase("Running"))


async def test_players_rest_when_nothing_happens():
    async with playing() as (api, _):
        await api.create(JOBS, "default", job("t"), user=ALICE)
        await until(api, JOBS, lambda j: j["status"].get("ready") == 1)
        revision, begun = api.store.revision, time.process_time()
        await asyncio.sleep(0.5)
        assert api.store.revision == revision
        assert time.process_time() - begun < 0.2


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("3", 3.0), ("0.5", 0.5), ("-1", 0.0), (None, None), ("soon", None), ("inf", None)],
)
def test_how_long_a_pod_is_played(text: str | None, seconds: float | None):
    assert play_seconds(text) == seconds
