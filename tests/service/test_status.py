"""What the loop says of its queues arrives at the webhook, and silence is not taken for news."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import aiohttp
import pytest
from aiohttp import web

from tests.client.scripted import until
from webhook.model.quantity import NANO
from webhook.model.queues import FlavorResource
from webhook.quota.news import Balance, QueueStatus
from webhook.service.status import StatusBoard, StatusReader, read_status, render_status

HUGE = 8 * 1024**4 * NANO
GPU = FlavorResource("a100", "nvidia.com/gpu")


def queue(available: int = 3, waiting: int = 2) -> QueueStatus:
    balance = Balance(nominal=HUGE, used=HUGE - available, available=available, potential=HUGE)
    return QueueStatus("vision", {GPU: balance}, {100: waiting, 0: 1}, started=4)


@asynccontextmanager
async def served(board: StatusBoard, port: int = 0):
    app = web.Application()
    app.router.add_get("/status", board.serve)
    runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port, reuse_address=True).start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


def test_a_line_is_read_as_it_was_written_beyond_64_bits():
    revision, news = read_status(render_status("abc", [queue(available=HUGE - 1)]))
    assert revision == "abc"
    room = news["vision"].rooms[GPU]
    assert (room.available, room.nominal) == (HUGE - 1, HUGE)
    assert news["vision"].ahead(100) == 2
    assert news["vision"].ahead(0) == 3


@pytest.mark.parametrize("line", [b"", b"[]", b"{}", b'{"revision":"a","queues":{"q":7}}', b"{{"])
def test_what_is_no_status_is_a_value_error(line):
    with pytest.raises(ValueError):
        read_status(line)


async def test_the_reader_learns_of_changes_and_connects_again():
    board = StatusBoard(quiet_seconds=0.01)
    board.post(render_status("one", [queue(available=1)]))
    async with served(board) as port:
        reader = StatusReader(
            f"http://127.0.0.1:{port}", clock=asyncio.get_running_loop().time, retry_seconds=0.01
        )
        assert reader.queue_news("vision") is None
        task = asyncio.create_task(reader.follow())
        await until(lambda: reader.revision == "one")
        board.post(render_status("two", [queue(available=2)]))
        await until(lambda: reader.revision == "two")
    board.post(render_status("three", []))
    async with served(board, port):
        await until(lambda: reader.revision == "three")
    assert reader.queue_news("vision") is None
    task.cancel()


async def test_what_was_said_long_ago_is_not_believed():
    now = 0.0
    board = StatusBoard(quiet_seconds=0.01)
    board.post(render_status("one", [queue()]))
    async with served(board) as port:
        reader = StatusReader(f"http://127.0.0.1:{port}", clock=lambda: now)
        task = asyncio.create_task(reader.follow())
        await until(lambda: reader.is_fresh)
        assert reader.queue_news("vision") is not None
        now = 31.0
        assert reader.queue_news("vision") is None
        task.cancel()


async def test_whoever_reads_is_let_go_at_the_end():
    board = StatusBoard(quiet_seconds=5)
    async with (
        served(board) as port,
        aiohttp.ClientSession() as session,
        session.get(f"http://127.0.0.1:{port}/status") as response,
        asyncio.timeout(5),
    ):
        assert await response.content.readline() == b"\n"
        await board.end(web.Application())
        assert await response.read() == b""


async def test_changes_are_told_at_most_once_in_the_quiet_time():
    board = StatusBoard(quiet_seconds=0.2)
    board.post(b'{"n":0}\n')
    async with served(board) as port, aiohttp.ClientSession() as session:
        async with session.get(f"http://127.0.0.1:{port}/status") as response:
            assert await response.content.readline() == b'{"n":0}\n'
            for n in range(1, 50):
                board.post(b'{"n":%d}\n' % n)
            assert await response.content.readline() == b'{"n":49}\n'
        async with session.get(f"http://127.0.0.1:{port}/status?once") as response:
            assert await response.read() == b'{"n":49}\n'
