"""A Job that starts again on another flavor, where its controller leaves the start time: Kubernetes up to 1.35.

Nothing is played, so the start time stays; what 1.36 allows all the same is refused by a rule of these tests.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from tests.client.scripted import until
from tests.service.stage import Stage, job, stage
from webhook.cluster.errors import Unavailable
from webhook.sandbox import strategies
from webhook.sandbox.strategies.fields import immutable

POLICY = """
flavor blue {
  node "pool" = "blue"
}
flavor red {
  node "pool" = "red"
}
queue a {
  quota blue { cpu 2 }
  quota red { cpu 2 }
}
queue plain {
  quota { cpu 2 }
}
"""
HOLD = "tidegate.dev/hold"
RAN = {
    "startTime": "2026-01-01T00:00:00Z",
    "conditions": [{"type": "Suspended", "status": "True"}],
}


def fixed_while_it_has_started(resource: Any, old: Any, new: Any, subresource: str) -> list[Any]:
    """The template is immutable as long as there is a start time, suspended or not."""
    causes = strategies.validate_update(resource, old, new, subresource)
    if resource.kind == "Job" and not subresource and old.get("status", {}).get("startTime"):
        causes += immutable("spec.template", new["spec"]["template"], old["spec"]["template"])
    return causes


OLDER = SimpleNamespace(
    prepare_create=strategies.prepare_create,
    prepare_update=strategies.prepare_update,
    validate_create=strategies.validate_create,
    validate_update=fixed_while_it_has_started,
)


@asynccontextmanager
async def older(folder) -> AsyncIterator[Stage]:
    async with stage(folder, POLICY) as s:
        s.sandbox.api._writer._strategy = OLDER
        yield s


async def ran(s: Stage, name: str = "j", queue: str = "a") -> None:
    """Started, stopped by its user, who holds it, and reported by its controller."""
    await s.create(job(name, cpu="2", queue=queue))
    await s.until_started(name)
    await s.change(name, {"spec": {"suspend": True}, "metadata": {"annotations": {HOLD: "a look"}}})
    await s.change(name, {"status": RAN}, sub="status")
    await s.at_rest()


async def displaced(s: Stage) -> None:
    """It ran on blue, where another one runs now."""
    await ran(s)
    await s.create(job("other", cpu="2", at=1))
    await s.until_started("other")
    s.sandbox.faults.requests.clear()


async def release(s: Stage, name: str = "j") -> None:
    await s.change(name, {"metadata": {"annotations": {HOLD: None}}})


async def selector(s: Stage, name: str = "j") -> Any:
    return (await s.get(name))["spec"]["template"]["spec"].get("nodeSelector")


def writes(s: Stage) -> tuple[int, int]:
    """Of the loop, since it was displaced: starts, and writes to the status."""
    made = s.sandbox.faults.requests
    return made.get(("patch", "jobs"), 0), made.get(("patch", "jobs/status"), 0)


async def test_on_another_flavor_it_is_opened_first_and_has_only_the_new_keys(tmp_path):
    async with older(tmp_path) as s:
        await displaced(s)
        await release(s)
        await s.until_started("j", "other")
        assert await selector(s) == {"pool": "red"}
        assert writes(s) == (1, 1)
        assert s.count("reopened") == 1
        assert s.used() == 4


@pytest.mark.parametrize("queue", ["a", "plain"])
async def test_on_the_same_flavor_it_is_one_write(tmp_path, queue):
    async with older(tmp_path) as s:
        await ran(s, queue=queue)
        before = await selector(s)
        s.sandbox.faults.requests.clear()
        await release(s)
        await s.until_started("j")
        assert await selector(s) == before
        assert writes(s) == (1, 0)
        assert (await s.get("j"))["status"]["startTime"] == RAN["startTime"]


async def test_a_refusal_delays_that_one_only_and_says_so(tmp_path, caplog):
    async with older(tmp_path) as s:
        await displaced(s)
        s.sandbox.faults.fail("patch", "jobs/status", 403, times=2, message="jobs/status: no right")
        await release(s)
        await s.create(job("next", queue="plain", at=2))
        await s.until_started("j", "other", "next")
        assert s.count("refused") == 2
        assert "reopening of Job default/j refused" in caplog.text
        assert "no right" in caplog.text


async def test_a_lost_race_is_read_and_planned_anew(tmp_path):
    async with older(tmp_path) as s:
        await displaced(s)
        s.sandbox.faults.fail("patch", "jobs/status", 409)
        await release(s)
        await s.until_started("j", "other")
        assert s.count("conflict") == 1
        assert await selector(s) == {"pool": "red"}


async def test_it_is_locked_so_that_whoever_came_between_is_not_overlooked(tmp_path):
    async with older(tmp_path) as s:
        await displaced(s)
        s.sandbox.faults.latency_seconds = 0.1
        await release(s)
        await until(lambda: s.inner._starter._tasks)
        await s.change("j", {"metadata": {"annotations": {HOLD: "another look"}}})
        s.sandbox.faults.latency_seconds = 0.0
        await s.at_rest()
        assert await s.started() == {"other"}
        assert (await s.get("j"))["status"]["startTime"] == RAN["startTime"]
        await release(s)
        await s.until_started("j", "other")


@pytest.mark.parametrize("written", [False, True], ids=["not written", "written"])
async def test_without_an_answer_it_stays_charged_until_it_is_known(tmp_path, written):
    async with older(tmp_path) as s:
        await displaced(s)
        real, lost = s.client.patch, iter([True])
        charged: list[float] = []

        async def patch(*args, **more):
            if more.get("subresource") != "status" or not next(lost, False):
                return await real(*args, **more)
            if written:
                await real(*args, **more)
            raise Unavailable("the connection broke")

        read = s.client.get

        async def get(*args, **more):
            charged.append(s.used())
            return await read(*args, **more)

        s.client.patch, s.client.get = patch, get  # type: ignore[method-assign]
        await release(s)
        await s.until_started("j", "other")
        assert s.count("unknown") == (2 if written else 1)
        assert set(charged) == {4}
        assert writes(s) == (1, 1)


async def test_a_loop_that_dies_between_the_two_writes_leaves_nothing_undone(tmp_path):
    async with older(tmp_path) as s:
        await displaced(s)
        s.sandbox.faults.fail("patch", "jobs", 422, times=1000)
        await release(s)
        await until(lambda: s.count("reopened") == 1)
        await s.kill()
        s.sandbox.faults.clear()
        await s.open()
        await s.until_started("j", "other")
        assert await selector(s) == {"pool": "red"}
        assert s.count("reopened") == 1
