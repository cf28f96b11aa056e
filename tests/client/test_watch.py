"""A watch survives everything a server and a network do to it, and never tells a lie about it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from tests.client.scripted import Script, answer, event, job, listed, served, status, stream, until
from webhook.cluster.watch import Pace, list_then_watch
from webhook.model.event import Event, Seen, Synced
from webhook.model.kinds import JOB

FAST = Pace(watch=(0.3, 0.4), margin=0.1, first_delay=0.01, longest_delay=0.05, absent=0.02)


def short(happened: Event) -> str:
    """``+a1`` seen at version 1, ``-a1`` gone, ``=9`` whole at 9."""
    if isinstance(happened, Synced):
        return f"={happened.resource_version}"
    meta = happened.object["metadata"]
    sign = "+" if isinstance(happened, Seen) else "-"
    return f"{sign}{meta['name']}{meta['resourceVersion']}"


async def told(script: Script, *, count: int, pace: Pace = FAST) -> list[str]:
    """The first ``count`` events."""
    got: list[str] = []
    async with served(script) as client, asyncio.timeout(20):
        async for happened in list_then_watch(client, JOB, pace=pace):
            got.append(short(happened))
            if len(got) == count:
                break
    return got


async def test_a_list_then_the_changes():
    script = Script(
        lists=[listed(job("a", 1), version=5)],
        watches=[
            stream(
                event("ADDED", job("b", 6)),
                event("BOOKMARK", {"metadata": {"resourceVersion": "9"}}),
                event("MODIFIED", job("a", 10)),
                event("DELETED", job("b", 11)),
                hang=True,
            )
        ],
    )
    assert await told(script, count=5) == ["+a1", "=5", "+b6", "+a10", "-b11"]
    query = script.streams[0].query
    assert query["resourceVersion"] == "5"
    assert query["allowWatchBookmarks"] == "true"


async def test_objects_have_their_kind_and_lose_what_nobody_reads():
    script = Script(lists=[listed(job("a", 1), version=5)], watches=[stream(hang=True)])
    async with served(script) as client:
        async for happened in list_then_watch(client, JOB, pace=FAST):
            assert isinstance(happened, Seen)
            assert happened.object["kind"] == "Job"
            assert happened.object["apiVersion"] == "batch/v1"
            assert "managedFields" not in happened.object["metadata"]
            break


async def test_a_stream_that_ends_is_resumed_from_the_last_version_and_bookmark():
    script = Script(
        lists=[listed(version=5)],
        watches=[
            stream(event("ADDED", job("a", 6))),
            stream(event("BOOKMARK", {"metadata": {"resourceVersion": "9"}})),
            stream(event("ADDED", job("b", 10)), hang=True),
        ],
    )
    assert await told(script, count=3) == ["=5", "+a6", "+b10"]
    assert [r.query["resourceVersion"] for r in script.streams] == ["5", "6", "9"]
    assert len(script.listings) == 1


@pytest.mark.parametrize(
    "failure",
    [
        pytest.param(answer(status(410, "Expired"), status=410), id="410-as-status"),
        pytest.param(stream(event("ERROR", status(410, "Expired"))), id="410-in-a-200-stream"),
        pytest.param(stream(event("ERROR", status(500, "InternalError"))), id="error-in-a-stream"),
        pytest.param(stream(), id="immediate-empty-200"),
        pytest.param(stream(b"\n"), id="empty-line"),
        pytest.param(stream(hang=True), id="silence"),
        pytest.param(stream(event("ADDED", job("a", 6))[:40], cut=True), id="cut-mid-line"),
        pytest.param(stream(b"{not json}\n"), id="junk"),
        pytest.param(stream(b'{"type":"ADDED","object":7}\n'), id="no-object"),
        pytest.param(stream(b'{"type":"ADDED","object":{}}\n'), id="no-metadata"),
        pytest.param(answer(status(503), status=503), id="503"),
        pytest.param(answer("<html>", status=502), id="proxy"),
    ],
)
async def test_every_shape_of_failure_leads_to_a_fresh_list_and_to_what_vanished(failure):
    script = Script(
        lists=[
            listed(job("a", 1), job("b", 2), version=5),
            listed(job("b", 2), version=50),
        ],
        watches=[failure] * 3 + [stream(hang=True)],
    )
    got = await told(script, count=6)
    assert got == ["+a1", "+b2", "=5", "+b2", "-a1", "=50"]


async def test_a_list_that_fails_is_asked_for_again_with_growing_patience():
    bad = answer(status(500), status=500)
    script = Script(lists=[bad, bad, bad, listed(job("a", 1), version=5)], watches=[stream()])
    began = asyncio.get_running_loop().time()
    assert await told(script, count=2) == ["+a1", "=5"]
    assert asyncio.get_running_loop().time() - began >= 0.5 * (0.01 + 0.02 + 0.04)


async def test_a_stream_that_ends_at_once_for_ever_does_not_spin():
    script = Script(lists=[listed(version=5)], watches=[stream()])
    async with served(script) as client:
        task = asyncio.create_task(_drain(list_then_watch(client, JOB, pace=FAST)))
        await asyncio.sleep(0.5)
        task.cancel()
    # at most one request each 25 ms once patience has grown, and lists among them
    assert len(script.streams) < 25
    assert len(script.listings) >= 2


async def _drain(events: AsyncIterator[Event]) -> None:
    async for _ in events:
        pass


async def test_events_out_of_order_and_twice_do_not_bring_back_the_past():
    script = Script(
        lists=[listed(version=5)],
        watches=[
            stream(
                event("MODIFIED", job("a", 8)),
                event("ADDED", job("a", 6)),
                event("MODIFIED", job("a", 8)),
                event("DELETED", job("a", 9)),
                event("MODIFIED", job("a", 8)),
                event("DELETED", job("a", 9)),
                event("ADDED", job("b", 10)),
                hang=True,
            )
        ],
    )
    assert await told(script, count=5) == ["=5", "+a8", "+a8", "-a9", "+b10"]


async def test_an_object_that_leaves_the_selection_may_come_back():
    script = Script(
        lists=[listed(job("a", 1), version=5)],
        watches=[stream(event("DELETED", job("a", 6)), event("ADDED", job("a", 7)), hang=True)],
    )
    assert await told(script, count=4) == ["+a1", "=5", "-a6", "+a7"]


async def test_the_same_name_with_another_uid_is_another_object():
    second = job("a", 6)
    second["metadata"]["uid"] = "second"
    script = Script(
        lists=[listed(job("a", 1), version=5)],
        watches=[stream(event("ADDED", second), event("DELETED", job("a", 7)), hang=True)],
    )
    assert await told(script, count=4) == ["+a1", "=5", "+a6", "-a7"]


async def test_a_kind_that_is_not_served_is_an_empty_list_until_it_is():
    missing = answer(status(404), status=404)
    script = Script(
        lists=[missing, missing, listed(job("a", 1), version=5)], watches=[stream(hang=True)]
    )
    assert await told(script, count=4) == ["=", "=", "+a1", "=5"]


async def test_a_page_that_expires_starts_the_list_anew_and_loses_nobody():
    script = Script(
        lists=[
            listed(job("a", 1), version=5, rest="more"),
            answer(status(410), status=410),
            listed(job("b", 2), version=6),
        ],
        watches=[stream(hang=True)],
    )
    assert await told(script, count=4) == ["+a1", "+b2", "-a1", "=6"]


async def test_a_line_has_no_longest_length():
    big = job("big", 6, pad="x" * 5_000_000)
    script = Script(lists=[listed(version=5)], watches=[stream(event("ADDED", big), hang=True)])
    assert await told(script, count=2, pace=Pace()) == ["=5", "+big6"]


async def test_a_consumer_that_leaves_closes_the_stream():
    script = Script(lists=[listed(version=5)], watches=[stream(hang=True)])
    async with served(script) as client:
        async with aclosing(list_then_watch(client, JOB, pace=FAST)) as events:
            async for _ in events:
                break
        task = asyncio.create_task(_drain(list_then_watch(client, JOB)))
        await until(lambda: len(script.streams) > 0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
