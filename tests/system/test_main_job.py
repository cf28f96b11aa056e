"""The main job, end to end: submitted with kubectl, queued, started in order as quota frees, until all is done.

The laws are asked of the API server's own history afterwards (verdict.py), never of our ledger. The same scenario is
run undisturbed, and with the loop killed twenty times and the API server restarted twice.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.controlplane import ControlPlane
from tests.cluster.kubectl import Kubectl
from tests.cluster.player import PodPlayer
from tests.system import crowd
from tests.system.history import Recorder, finished, is_child, save, suspended
from tests.system.rig import Rig
from tests.system.sources import Etcd
from tests.system.verdict import idle, judge

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]
JOBS, JOBSETS = 200, 20
KILLS, RESTARTS = 20, 2
CATCH_UP_SECONDS = 30.0


async def test_two_hundred_jobs_run_in_order_and_never_over_quota(
    control_plane: ControlPlane, tmp_path: Path
) -> None:
    await scenario(control_plane, tmp_path, seed=1, trouble=None)


async def test_the_same_with_the_loop_killed_and_the_api_server_restarted(
    control_plane: ControlPlane, tmp_path: Path
) -> None:
    await scenario(control_plane, tmp_path, seed=2, trouble=Trouble(control_plane, seed=2).run)


async def scenario(
    plane: ControlPlane,
    folder: Path,
    *,
    seed: int,
    trouble: Callable[[Rig, Run], Awaitable[None]] | None,
) -> None:
    policies = folder / "policies"
    policies.mkdir()
    (policies / "crowd.tide").write_text(crowd.POLICY)
    for namespace in crowd.namespaces(seed):
        plane.add_namespace(namespace)
    run = Run(plane, seed)
    async with (
        Recorder(Etcd(plane.etcd_url), crowd.namespaces(seed)) as recorder,
        Rig(plane, policies, folder) as rig,
        PodPlayer.of(plane) as player,
    ):
        run.recorder, run.player = recorder, player
        await run.submit()
        finishing = asyncio.create_task(run.finish_at_random())
        if trouble is not None:
            await trouble(rig, run)
        await finishing
        await recorder.quiet(2.0, within=60)
    save(recorder.entries, folder / "history.jsonl")  # for whoever has to find out why
    run.check()
    run.clean_up()


class Run:
    """One crowd on its way through the queues."""

    def __init__(self, plane: ControlPlane, seed: int) -> None:
        self.plane, self.random = plane, random.Random(seed)
        self.seed = seed
        self.recorder: Recorder
        self.player: PodPlayer
        self.quiet_moments = 0
        self.idle: list[str] = []

    async def submit(self) -> None:
        """Everything with kubectl, as three people, in batches that interleave."""
        items = crowd.jobs(JOBS, self.seed) + crowd.jobsets(JOBSETS, self.seed)
        self.random.shuffle(items)
        for number in range(0, len(items), 20):
            user = ("alice", "bob", "argocd")[number // 20 % 3]
            for namespace in crowd.namespaces(self.seed):
                part = [
                    o
                    for o in items[number : number + 20]
                    if o["metadata"]["namespace"] == namespace
                ]
                batch = json.dumps({"apiVersion": "v1", "kind": "List", "items": part})
                kubectl = Kubectl(self.plane.kubeconfig(user), namespace, timeout_seconds=120)
                if part:
                    await asyncio.to_thread(kubectl.ok, "create", "-f", "-", stdin=batch)

    async def finish_at_random(self) -> None:
        """Ends what runs, in any order; now and then holds still until the loop must have caught up."""
        turn = 0
        while not self.all_done():
            running = [obj for obj in self.roots() if not suspended(obj) and not finished(obj)]
            for obj in self.random.sample(running, k=max(1, len(running) // 3)) if running else ():
                await self._finish(obj)
            turn += 1
            if turn % 12 == 0:
                await self.hold_still()
            await self.recorder.until(self._something_runs, within=120, what="a start")

    async def hold_still(self) -> None:
        """When nothing ends any more, nothing that fits goes on waiting; a loop that was killed comes back first."""
        limit = time.monotonic() + CATCH_UP_SECONDS
        while True:
            await self.recorder.quiet(2.0, within=60)
            left = idle(self.recorder.entries, crowd.policy())
            if not left or time.monotonic() > limit:
                break
        self.quiet_moments += 1
        self.idle += left

    def roots(self) -> list[dict[str, Any]]:
        found = [*self.recorder.latest("Job").values(), *self.recorder.latest("JobSet").values()]
        return [obj for obj in found if not is_child(obj)]

    def all_done(self) -> bool:
        roots = self.roots()
        return len(roots) == JOBS + JOBSETS and all(finished(obj) for obj in roots)

    def check(self) -> None:
        verdict = judge(self.recorder.entries, crowd.policy())
        print(
            f"{verdict.versions} versions, {verdict.starts} starts, {self.quiet_moments} quiet moments"
        )
        assert verdict.over == []
        assert verdict.out_of_order == []
        assert verdict.writes == []
        assert verdict.starts == JOBS + JOBSETS
        assert self.quiet_moments > 2
        assert self.idle == []

    def clean_up(self) -> None:
        kubectl = Kubectl(self.plane.kubeconfig(), timeout_seconds=120)
        for namespace in crowd.namespaces(self.seed):
            kubectl.run("delete", "namespace", namespace, "--wait=false")

    async def _finish(self, obj: dict[str, Any]) -> None:
        metadata = obj["metadata"]
        end = self.player.finish_jobset if obj["kind"] == "JobSet" else self.player.finish
        await end(metadata["namespace"], metadata["name"])

    def _something_runs(self) -> bool:
        return self.all_done() or any(not suspended(o) and not finished(o) for o in self.roots())


class Trouble:
    """Twenty SIGKILLs of the loop at random moments, and two restarts of the API server."""

    def __init__(self, plane: ControlPlane, seed: int) -> None:
        self.plane, self.random = plane, random.Random(seed)

    async def run(self, rig: Rig, run: Run) -> None:
        restarts = set(self.random.sample(range(2, KILLS), RESTARTS))
        for number in range(KILLS):
            await asyncio.sleep(self.random.uniform(0.0, 1.5))  # a random moment is the point
            await rig.loop.kill()
            if number in restarts:
                await asyncio.to_thread(self.plane.restart_apiserver, kill=number % 2 == 0)
            await rig.loop.start()
        assert not run.all_done(), "the trouble came too late to matter"
