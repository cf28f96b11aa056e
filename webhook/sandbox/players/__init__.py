"""The controllers a cluster has, played over the verbs of the Api: Jobs, JobSets, pods, collector.

They use nothing but what any client may: lists, watches and writes, as their own users, through
admission like everybody else.
"""

from __future__ import annotations

import asyncio

from webhook.sandbox.api import Api
from webhook.sandbox.players.collector import COLLECTED, Collector
from webhook.sandbox.players.informer import Informer
from webhook.sandbox.players.jobs import JobController
from webhook.sandbox.players.jobsets import JobSetController
from webhook.sandbox.players.pods import PodPlayer
from webhook.sandbox.resources import JOBS, JOBSETS, PODS

__all__ = ["Players", "play"]


class Players:
    """All players; ``speed``: how much faster than real time pods run."""

    def __init__(self, api: Api, *, speed: float = 1.0, linger_seconds: float = 0.0) -> None:
        self._informers = {resource: Informer(api, resource) for resource in COLLECTED}
        jobs, pods = self._informers[JOBS], self._informers[PODS]
        self.jobs = JobController(api, jobs, pods)
        self.jobsets = JobSetController(api, self._informers[JOBSETS], jobs)
        self.pods = PodPlayer(api, pods, speed=speed, linger_seconds=linger_seconds)
        self.collector = Collector(api, list(self._informers.values()))

    async def run(self) -> None:
        """Play until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for informer in self._informers.values():
                tasks.create_task(informer.run())
            for player in (self.jobs, self.jobsets, self.pods, self.collector):
                tasks.create_task(player.run())


async def play(api: Api, *, speed: float = 1.0) -> None:
    """Play everything until cancelled."""
    await Players(api, speed=speed).run()
