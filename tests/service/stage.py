"""The loop inside the test's own event loop, against the sandbox, with no players unless asked for."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.client.scripted import until
from webhook.cluster.access import find_access
from webhook.cluster.client import Client
from webhook.cluster.watch import Pace
from webhook.sandbox.api import CONTROLLER
from webhook.sandbox.resources import JOBS, JOBSETS, PODS, Resource, User
from webhook.sandbox.server import Sandbox
from webhook.sandbox.status import StatusError
from webhook.service.loop import Loop
from webhook.service.metrics import Metrics
from webhook.service.policies import PolicySource
from webhook.service.status import StatusBoard
from webhook.workloads.objects import write_time

NAMESPACE = "default"
ALICE = User("alice")
MERGE = "application/merge-patch+json"
QUICK = Pace(first_delay=0.02, longest_delay=0.2)
COMPLETE: dict[str, Any] = {"conditions": [{"type": "Complete", "status": "True"}]}

Object = dict[str, Any]


def job(
    name: str, *, cpu: str = "1", queue: str = "a", at: float | None = 0, **spec: Any
) -> Object:
    """As the webhook leaves it: suspended, labelled, stamped; ``at`` None: no webhook saw it."""
    marks = {} if at is None else {"tidegate.dev/submitted": write_time(1_700_000_000 + at)}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "labels": {"tidegate.dev/queue": queue},
            "annotations": marks,
        },
        "spec": {"suspend": True, **spec, "template": template(cpu, queue)},
    }


def template(cpu: str, queue: str) -> Object:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    return {
        "metadata": {"labels": {"tidegate.dev/queue": queue}},
        "spec": {"restartPolicy": "Never", "containers": [container]},
    }


def jobset(name: str, *, cpu: str = "1", queue: str = "a", at: float = 0, pods: int = 1) -> Object:
    inner = {
        "parallelism": pods,
        "completions": pods,
        "completionMode": "Indexed",
        "backoffLimit": 0,
        "template": template(cpu, queue),
    }
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "labels": {"tidegate.dev/queue": queue},
            "annotations": {"tidegate.dev/submitted": write_time(1_700_000_000 + at)},
        },
        "spec": {
            "suspend": True,
            "replicatedJobs": [{"name": "w", "replicas": 1, "template": {"spec": inner}}],
        },
    }


def pod_of(owner: Object, name: str, *, cpu: str = "1", queue: str | None = "a") -> Object:
    """A pod as its controller would make it; without a queue its label was never copied."""
    key = {"Job": "batch.kubernetes.io/controller-uid", "JobSet": "jobset.sigs.k8s.io/jobset-uid"}
    labels = {key[owner["kind"]]: owner["metadata"]["uid"]}
    pod = template(cpu, "")
    pod["metadata"] = {
        "name": name,
        "namespace": NAMESPACE,
        "labels": labels | ({"tidegate.dev/queue": queue} if queue else {}),
    }
    return {"apiVersion": "v1", "kind": "Pod", **pod}


@dataclass
class Stage:
    """The sandbox, and the loop that is turning (or one after another)."""

    sandbox: Sandbox
    client: Client
    policies: PolicySource
    folder: Path
    metrics: Metrics = field(default_factory=Metrics)
    loop: Loop | None = None
    _stop: asyncio.Event = field(default_factory=asyncio.Event)
    _task: asyncio.Task[None] | None = None

    async def create(self, obj: Object, *, user: User = ALICE) -> Object:
        return await self.sandbox.api.create(_resource(obj["kind"]), NAMESPACE, obj, user=user)

    async def get(self, name: str, resource: Resource = JOBS) -> Object:
        return await self.sandbox.api.get(resource, NAMESPACE, name)

    async def change(
        self, name: str, change: Object, *, resource: Resource = JOBS, sub: str = ""
    ) -> Object:
        return await self.sandbox.api.patch(
            resource,
            NAMESPACE,
            name,
            change,
            patch_type=MERGE,
            user=CONTROLLER,
            subresource=sub,
        )

    async def finish(self, name: str) -> None:
        done: Object = COMPLETE | {"startTime": "2026-01-01T00:00:00Z"}
        done |= {"completionTime": "2026-01-01T00:01:00Z", "succeeded": 1}
        more = {"type": "SuccessCriteriaMet", "status": "True"}
        done["conditions"] = [more, *COMPLETE["conditions"]]
        await self.change(name, {"status": done}, sub="status")

    async def delete(self, name: str, resource: Resource = JOBS) -> None:
        await self.sandbox.api.delete(
            resource, NAMESPACE, name, user=CONTROLLER, propagation="Background", grace_seconds=0
        )

    async def started(self, resource: Resource = JOBS) -> set[str]:
        items = (await self.sandbox.api.list(resource, NAMESPACE))["items"]
        return {
            item["metadata"]["name"] for item in items if not item["spec"].get("suspend", False)
        }

    async def until_started(self, *names: str, resource: Resource = JOBS) -> None:
        """Exactly these run, and the loop has come to rest."""
        async with asyncio.timeout(20):
            while await self.started(resource) != set(names):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        await self.at_rest()
        assert await self.started(resource) == set(names)

    async def at_rest(self) -> None:
        """Nothing in its inbox, nothing under way, and what the watches still carry has arrived."""
        for _ in range(3):
            await until(lambda: self.inner._inbox.empty() and not self.inner._starter._tasks)
            await asyncio.sleep(0.03)

    @property
    def inner(self) -> Loop:
        assert self.loop is not None
        return self.loop

    def used(self, queue: str = "a") -> float:
        """CPUs the core holds for a queue."""
        for one in self.inner.core.status():
            if one.queue == queue:
                return sum(b.used for at, b in one.balances.items() if at.resource == "cpu") / 1e9
        raise AssertionError(queue)

    def count(self, outcome: str) -> float:
        value = self.metrics.registry.get_sample_value(
            "tidegate_starts_total", {"outcome": outcome}
        )
        return value or 0.0

    async def open(self) -> None:
        """A new loop, which knows nothing."""
        self._stop = asyncio.Event()
        self.loop = Loop(
            self.client,
            self.policies,
            metrics=self.metrics,
            board=StatusBoard(quiet_seconds=0.01),
            retry_seconds=0.05,
            ask_again_seconds=0.1,
            pace=QUICK,
        )
        self._task = asyncio.create_task(self.loop.run(self._stop))
        async with asyncio.timeout(20):
            await self.loop.synced.wait()

    async def close(self) -> None:
        self._stop.set()
        if self._task is not None:
            await self._task
        self._task = None

    async def kill(self) -> None:
        """As near to SIGKILL as one process gets: nothing is let to end."""
        assert self._task is not None
        for task in list(self.inner._starter._tasks.values()):
            task.cancel()
        self._stop.set()
        await self._task
        self._task = None

    async def policy(self, text: str) -> None:
        (self.folder / "p.tide").write_text(text)
        assert await self.policies.poll()
        self.inner.wake()


def _resource(kind: str) -> Resource:
    return {"Job": JOBS, "JobSet": JOBSETS, "Pod": PODS}[kind]


@asynccontextmanager
async def stage(folder: Path, policy: str, *, begin: bool = True) -> AsyncIterator[Stage]:
    policies_at = folder / "policies"
    policies_at.mkdir()
    (policies_at / "p.tide").write_text(policy)
    policies = PolicySource([policies_at])
    await policies.load()
    async with Sandbox(players=False) as sandbox:
        access = await find_access(sandbox.kubeconfig("loop"))
        async with Client(access) as client:
            made = Stage(sandbox, client, policies, policies_at)
            try:
                if begin:
                    await made.open()
                yield made
            finally:
                sandbox.faults.clear()
                await made.close()


async def is_gone(stage: Stage, name: str, resource: Resource) -> bool:
    try:
        await stage.get(name, resource)
    except StatusError as error:
        return error.code == 404
    return False
