"""The day as it goes: submissions at their time, and how far everything is.

What is refused is told with the words of the webhook. Only the demo's own submissions are counted
here; a reader who joins in with kubectl is seen on the screen, and is not waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from webhook.cli.demonstration.picture import Progress
from webhook.cli.demonstration.summary import Summary, peaks
from webhook.cli.demonstration.watching import World
from webhook.cli.demonstration.workday import Submission, clock_text
from webhook.cluster.client import Client
from webhook.cluster.errors import ApiError, Unavailable

TRIES = 5


@dataclass(slots=True)
class Day:
    """Submits ``plan`` in ``seconds``; ``clock`` counts from its beginning."""

    plan: Sequence[Submission]
    seconds: float
    clock: Callable[[], float]
    world: World
    submitted: int = 0
    refused: int = 0
    own: set[str] = field(default_factory=set)
    """uids of what was let in"""
    unexpected: list[str] = field(default_factory=list)

    async def submit(self, client: Client) -> None:
        """One after the other, each at its time or as soon after as it goes."""
        for one in self.plan:
            await asyncio.sleep(max(0.0, one.at * self.seconds - self.clock()))
            await self._submit(client, one)

    async def _submit(self, client: Client, one: Submission) -> None:
        title = f"{one.kind.name} {one.namespace}/{one.name}"
        self.submitted += 1
        try:
            created = await _posted(client, one)
        except ApiError as error:
            self.refused += 1
            line = refusal_text(str(error))
            self.world.refused(one.namespace, title, line)
            if not one.doomed:
                self.unexpected.append(f"{title}: {line}")
            return
        self.own.add(created["metadata"]["uid"])
        if one.doomed:
            self.unexpected.append(f"{title} was let in")

    @property
    def done(self) -> bool:
        """Everything is submitted, and what was let in has ended."""
        return self.submitted == len(self.plan) and self.own <= self.world.finished

    def progress(self) -> Progress:
        """How far it is."""
        part = self.clock() / self.seconds
        return Progress(
            clock=clock_text(self.clock() / self.world.hour_seconds),
            part=part,
            submitted=self.submitted,
            planned=len(self.plan),
            started=len(self.own & self.world.started),
            finished=len(self.own & self.world.finished),
            refused=self.refused,
            over_moments=self.world.over_moments(),
        )

    def summary(self) -> Summary:
        """How it went."""
        found = self.world.audit.findings()
        return Summary(
            planned=len(self.plan),
            submitted=self.submitted,
            started=len(self.own & self.world.started),
            finished=len(self.own & self.world.finished),
            failed=len(self.own & self.world.failed),
            refused=self.refused,
            unexpected=tuple(self.unexpected),
            over_quota_moments=found.over_moments,
            worst=found.worst,
            seconds=self.clock(),
            queues=peaks(self.world.quotas, found.most),
        )


async def _posted(client: Client, one: Submission) -> dict[str, dict[str, str]]:
    """A server that is busy is asked again; a refusal is an answer."""
    for _ in range(TRIES):
        try:
            return await client.post(one.kind, one.namespace, one.object)
        except Unavailable:
            await asyncio.sleep(0.5)
    return await client.post(one.kind, one.namespace, one.object)


def refusal_text(message: str) -> str:
    """The webhook's own words, without what the API server says around them."""
    _, found, words = message.partition("denied the request: ")
    return words if found else message
