"""The sandbox as a whole: faults to order, restarts, the forgotten past, kubeconfig files."""

from __future__ import annotations

import asyncio
import ssl
import stat
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import aiohttp
import orjson
import pytest
import yaml

from tests.apiservers import MERGE_PATCH, Client, config_map, job, running_sandbox
from webhook.sandbox.server import Sandbox


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with running_sandbox(players=False, ring=5) as sandbox:
        yield sandbox


@pytest.fixture
def alone(sandbox: Sandbox) -> Client:
    return Client(sandbox, "default")


def test_the_next_requests_can_be_made_to_fail(sandbox: Sandbox, alone: Client):
    alone.created("jobs", job("t1"))
    sandbox.faults.fail("patch", "jobs", 409, times=2)
    path, patch = alone.path("jobs", "t1"), {"metadata": {"labels": {"a": "b"}}}
    codes = [alone.patch(path, patch, MERGE_PATCH).code for _ in range(3)]
    assert codes == [409, 409, 200]
    assert sandbox.faults.requests["patch", "jobs"] == 3


def test_too_many_requests_say_when_to_come_back(sandbox: Sandbox, alone: Client):
    sandbox.faults.fail("list", "*", 429)
    answer = alone.get(alone.path("jobs"))
    assert (answer.code, answer.headers["Retry-After"]) == (429, "1")


def test_a_past_beyond_the_ring_is_gone(alone: Client):
    version = alone.created("configmaps", config_map("a"))["metadata"]["resourceVersion"]
    for number in range(7):
        patch = {"data": {"a": str(number)}}
        alone.patch(alone.path("configmaps", "a"), patch, MERGE_PATCH)
    query = f"watch=1&timeoutSeconds=5&resourceVersion={version}"
    (event,) = alone.get(f"{alone.path('configmaps')}?{query}").lines
    assert event["type"] == "ERROR"
    assert (event["object"]["code"], event["object"]["reason"]) == (410, "Expired")
    assert event["object"]["message"].startswith(f"too old resource version: {version} (")


def test_the_past_can_be_forgotten_at_once(sandbox: Sandbox, alone: Client):
    version = alone.created("configmaps", config_map("a"))["metadata"]["resourceVersion"]
    alone.created("configmaps", config_map("b"))
    page = alone.get(alone.path("configmaps") + "?limit=1").json
    sandbox.api.compact()
    query = f"watch=1&timeoutSeconds=5&resourceVersion={version}"
    (event,) = alone.get(f"{alone.path('configmaps')}?{query}").lines
    assert event["object"]["code"] == 410
    token = page["metadata"]["continue"]
    expired = alone.get(f"{alone.path('configmaps')}?limit=1&continue={token}")
    assert (expired.code, expired.json["reason"]) == (410, "Expired")


def test_a_version_from_the_future_is_a_timeout(alone: Client):
    answer = alone.get(alone.path("configmaps") + "?watch=1&resourceVersion=99999")
    assert (answer.code, answer.json["reason"]) == (504, "Timeout")


@dataclass(frozen=True, slots=True)
class Here:
    """A sandbox in the loop of the test, and a session that is let in."""

    sandbox: Sandbox
    session: aiohttp.ClientSession


@pytest.fixture
async def here() -> AsyncIterator[Here]:
    async with (
        Sandbox(players=False) as sandbox,
        aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(ssl=ssl.create_default_context(cafile=sandbox.ca_file)),
            headers={"Authorization": f"Bearer {sandbox.token('admin')}"},
            trust_env=False,
        ) as session,
    ):
        yield Here(sandbox, session)


async def test_a_restart_keeps_data_and_port_and_cuts_watches(here: Here):
    url = here.sandbox.url
    path = f"{url}/api/v1/namespaces/default/configmaps"
    async with here.session.post(path, json=config_map("a")) as made:
        assert made.status == 201
    async with here.session.get(f"{path}?watch=1") as watching:
        assert b"ADDED" in await watching.content.readline()
        await here.sandbox.restart()
        with pytest.raises(aiohttp.ClientError):
            await watching.content.readline()
    assert here.sandbox.url == url
    async with here.session.get(f"{path}/a") as found:
        assert found.status == 200


async def test_watches_can_be_dropped(here: Here):
    async with here.session.get(f"{here.sandbox.url}/api/v1/namespaces?watch=1") as watching:
        await watching.content.readline()
        assert here.sandbox.faults.drop_watches() == 1
        with pytest.raises(aiohttp.ClientError):
            while await watching.content.readline():
                pass


async def test_requests_can_be_made_to_hang(here: Here):
    async def status() -> int:
        async with here.session.get(f"{here.sandbox.url}/api/v1/namespaces") as answer:
            return answer.status

    with here.sandbox.faults.hang():
        asked = asyncio.create_task(status())
        done, _ = await asyncio.wait([asked], timeout=0.05)
        assert not done
    assert await asked == 200


async def test_writers_at_the_same_time_lose_nothing(here: Here):
    """Patches without a version are applied again to what came in between."""
    path = f"{here.sandbox.url}/api/v1/namespaces/default/configmaps"

    async def write(number: int) -> int:
        body = orjson.dumps({"data": {f"k{number}": "x"}})
        headers = {"Content-Type": MERGE_PATCH}
        async with here.session.patch(f"{path}/a", data=body, headers=headers) as answer:
            return answer.status

    async with here.session.post(path, json=config_map("a")) as made:
        assert made.status == 201
    assert set(await asyncio.gather(*map(write, range(20)))) == {200}
    async with here.session.get(f"{path}/a") as found:
        assert len((await found.json())["data"]) == 21


def test_a_kubeconfig_is_for_its_owner_only(sandbox: Sandbox):
    path = sandbox.kubeconfig("alice")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    config = yaml.safe_load(path.read_text())
    assert config["clusters"][0]["cluster"]["server"] == sandbox.url
    assert config["users"][0]["user"]["token"] == sandbox.token("alice")
