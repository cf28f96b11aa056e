"""A cache that outlives its watches."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, cast

from webhook.sandbox.api import Api, Event
from webhook.sandbox.players.informer import Informer
from webhook.sandbox.resources import JOBS, Object

ENDED = Event("ERROR", {"kind": "Status", "code": 410})


def job(name: str, version: int, owner: str = "") -> Object:
    metadata: Object = {"name": name, "namespace": "a", "uid": f"uid-{name}"}
    metadata["resourceVersion"] = str(version)
    if owner:
        metadata["ownerReferences"] = [{"kind": "JobSet", "uid": owner}]
    return {"kind": "Job", "metadata": metadata}


class Script:
    """An Api whose lists and watches are written beforehand; the last watch never ends."""

    def __init__(self, *rounds: tuple[list[Object], list[Event]]) -> None:
        self._rounds = list(rounds)
        self._events: list[Event] = []
        self.since: list[str] = []
        self.quiet = asyncio.Event()

    async def list(self, _: Any) -> Object:
        items, self._events = self._rounds.pop(0)
        return {"metadata": {"resourceVersion": "10"}, "items": items}

    async def watch(self, _: Any, *, since: str) -> AsyncIterator[Event]:
        self.since.append(since)
        for event in self._events:
            yield event
        if not self._rounds:
            self.quiet.set()
            await asyncio.Event().wait()


async def changes(script: Script) -> tuple[Informer, list[tuple[str, str]]]:
    """What was told until the last watch is quiet: names before and after."""
    informer = Informer(cast("Api", script), JOBS)
    told: list[tuple[str, str]] = []

    def version(obj: Object | None) -> str:
        return f"{obj['metadata']['name']}{obj['metadata']['resourceVersion']}" if obj else ""

    informer.listen(lambda before, after: told.append((version(before), version(after))))
    task = asyncio.create_task(informer.run())
    async with asyncio.timeout(5):
        await script.quiet.wait()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    return informer, told


async def test_after_a_watch_ended_a_list_tells_what_was_missed():
    first = ([job("a", 1), job("b", 2)], [Event("MODIFIED", job("a", 3)), ENDED])
    second = ([job("a", 3), job("c", 9)], [Event("ADDED", job("d", 11))])
    script = Script(first, second)
    informer, told = await changes(script)
    assert told == [
        ("", "a1"),
        ("", "b2"),
        ("a1", "a3"),
        ("b2", ""),
        ("", "c9"),
        ("", "d11"),
    ]
    assert script.since == ["10", "10"]
    assert informer.get(("a", "d")) == job("d", 11)
    assert informer.get(("a", "b")) is None


async def test_nothing_older_than_what_is_known_is_taken():
    script = Script(([job("a", 5)], [Event("MODIFIED", job("a", 4))]))
    informer, told = await changes(script)
    assert told == [("", "a5")]
    informer.note(job("a", 7))
    assert informer.get(("a", "a")) == job("a", 7)


async def test_owners_are_indexed_and_unindexed():
    events = [Event("ADDED", job("a", 11, "x")), Event("MODIFIED", job("a", 12, "y"))]
    informer, _ = await changes(Script(([], events)))
    assert informer.owned_by("x") == []
    assert informer.owned_by("y") == [job("a", 12, "y")]
    informer.forget(job("a", 13, "y"))
    assert informer.owned_by("y") == []
