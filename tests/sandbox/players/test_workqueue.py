"""Each key by one task at a time, never lost, never spinning."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from webhook.sandbox.players.workqueue import WorkQueue
from webhook.sandbox.status import StatusError


@asynccontextmanager
async def running(work: Callable[[str], Awaitable[None]]) -> AsyncIterator[WorkQueue[str]]:
    queue: WorkQueue[str] = WorkQueue(work)
    task = asyncio.create_task(queue.run())
    try:
        yield queue
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_a_key_added_while_it_is_worked_on_is_worked_on_once_more():
    begun, go_on, twice = asyncio.Event(), asyncio.Event(), asyncio.Event()
    runs = at_once = 0

    async def work(_: str) -> None:
        nonlocal runs, at_once
        at_once += 1
        assert at_once == 1
        begun.set()
        await go_on.wait()
        runs += 1
        at_once -= 1
        if runs == 2:
            twice.set()

    async with running(work) as queue:
        queue.add("a")
        queue.add("a")
        await begun.wait()
        for _ in range(3):
            queue.add("a")
        go_on.set()
        async with asyncio.timeout(5):
            await twice.wait()
        await asyncio.sleep(0)
    assert runs == 2


async def test_what_is_refused_is_tried_again():
    tries: list[str] = []
    done = asyncio.Event()

    async def work(key: str) -> None:
        tries.append(key)
        if len(tries) < 3:
            raise StatusError(409, "Conflict", "again")
        done.set()

    async with running(work) as queue, asyncio.timeout(5):
        queue.add("a")
        await done.wait()
    assert tries == ["a"] * 3


async def test_the_earliest_of_several_times_counts():
    done = asyncio.Event()

    async def work(_: str) -> None:
        done.set()

    async with running(work) as queue, asyncio.timeout(5):
        queue.add_after("a", 3600)
        queue.add_after("a", 0.01)
        queue.add_after("a", 1800)
        await done.wait()


async def test_a_fault_of_our_own_is_not_hidden():
    async def work(_: str) -> None:
        raise RuntimeError("broken")

    queue: WorkQueue[str] = WorkQueue(work)
    queue.add("a")
    with pytest.raises(ExceptionGroup):
        await queue.run()
