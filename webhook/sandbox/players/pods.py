"""Plays kubelet and scheduler: binds pods without gates, runs them, ends them.

How long a pod runs is on the pod: ``tidegate.dev/play-seconds``, divided by ``speed``; without it
the pod runs until ``finish`` is told. ``tidegate.dev/play-outcome: fail`` makes it end as Failed.
A pod that is being deleted goes after ``linger_seconds``, as one whose process takes its time.
There are no nodes with limits: every pod without a gate finds a place.
"""

from __future__ import annotations

import asyncio
import math

from webhook.sandbox.api import Api
from webhook.sandbox.metadata import rfc3339
from webhook.sandbox.players.informer import Informer, Key, key_of, uid_of
from webhook.sandbox.players.job_progress import ended, going, phase
from webhook.sandbox.players.workqueue import WorkQueue
from webhook.sandbox.resources import JOBS, JOBSETS, PODS, Object, User
from webhook.sandbox.status import StatusError
from webhook.sandbox.strategies.fields import items, section
from webhook.sandbox.strategies.job import CONTROLLER_UID

NODE = "sandbox"
KUBELET = User(f"system:node:{NODE}", ("system:nodes",))
SCHEDULER = User("system:kube-scheduler")
SECONDS = "tidegate.dev/play-seconds"
OUTCOME = "tidegate.dev/play-outcome"
JOBSET_UID = "jobset.sigs.k8s.io/jobset-uid"


class PodPlayer:
    """Plays all pods; ``run`` never ends."""

    def __init__(
        self, api: Api, pods: Informer, *, speed: float = 1.0, linger_seconds: float = 0.0
    ) -> None:
        self.speed = speed
        self.linger_seconds = linger_seconds
        self._api = api
        self._pods = pods
        self._ends: dict[str, float] = {}  # uid -> time of the event loop at which it ends
        self._told: dict[str, bool] = {}  # uid of a Job or JobSet -> whether its pods succeed
        self._queue: WorkQueue[Key] = WorkQueue(self._sync)
        pods.listen(self._changed)

    async def run(self) -> None:
        await self._queue.run()

    async def finish(self, namespace: str, name: str, *, succeed: bool = True) -> None:
        """End the pods of a Job or JobSet, those that are there and those that will be."""
        for resource in (JOBS, JOBSETS):
            try:
                owner = await self._api.get(resource, namespace, name)
            except StatusError as error:
                if error.code != 404:
                    raise
                continue
            self._told[uid_of(owner)] = succeed
        for pod in self._pods:
            if _owner_uids(pod) & self._told.keys():
                self._queue.add(key_of(pod))

    def _changed(self, before: Object | None, after: Object | None) -> None:
        if after is not None:
            self._queue.add(key_of(after))
        elif before is not None:
            self._ends.pop(uid_of(before), None)

    async def _sync(self, key: Key) -> None:
        """One step of the life of a pod; the change it makes leads to the next."""
        pod = self._pods.get(key)
        if pod is None:
            return
        spec = section(pod, "spec")
        if going(pod):
            await self._remove(pod)
        elif items(spec, "schedulingGates") or ended(pod):
            return
        elif not spec.get("nodeName"):
            await self._api.bind(*key, NODE, user=SCHEDULER)
        elif phase(pod) != "Running":
            await self._set_status(pod, _running(pod, rfc3339(self._api.clock())))
        else:
            await self._run_on(pod)

    async def _remove(self, pod: Object) -> None:
        """Let a pod go: at once, or once it has lingered."""
        left = self._left(f"{uid_of(pod)}/going", self.linger_seconds)
        if left > 0 and not ended(pod):
            self._queue.add_after(key_of(pod), left)
            return
        self._ends.pop(f"{uid_of(pod)}/going", None)
        try:
            await self._api.delete(
                PODS,
                *key_of(pod),
                user=KUBELET,
                grace_seconds=0,
                preconditions={"uid": uid_of(pod)},
            )
        except StatusError as error:
            if error.code not in (404, 409):
                raise

    async def _run_on(self, pod: Object) -> None:
        uid = uid_of(pod)
        annotations = section(pod, "metadata", "annotations")
        told = [self._told[owner] for owner in _owner_uids(pod) & self._told.keys()]
        if told:
            await self._set_status(pod, _ended(pod, all(told), self._now()))
            return
        seconds = play_seconds(annotations.get(SECONDS))
        if seconds is None:
            return
        left = self._left(uid, seconds / self.speed)
        if left > 0:
            self._queue.add_after(key_of(pod), left)
        else:
            succeed = annotations.get(OUTCOME) != "fail"
            await self._set_status(pod, _ended(pod, succeed, self._now()))

    def _now(self) -> str:
        return rfc3339(self._api.clock())

    def _left(self, name: str, seconds: float) -> float:
        """Seconds until something is over that began when it was first asked about."""
        now = asyncio.get_running_loop().time()
        return self._ends.setdefault(name, now + seconds) - now

    async def _set_status(self, pod: Object, status: Object) -> None:
        new = pod | {"status": status}
        self._pods.note(
            await self._api.update(PODS, *key_of(pod), new, user=KUBELET, subresource="status")
        )


def _owner_uids(pod: Object) -> set[str]:
    """The uids of the Job and the JobSet a pod says it belongs to."""
    labels = section(pod, "metadata", "labels")
    return {str(labels[name]) for name in (CONTROLLER_UID, JOBSET_UID) if name in labels}


def play_seconds(text: object) -> float | None:
    """The seconds a pod is played for; None where the annotation says nothing usable."""
    try:
        seconds = float(str(text))
    except ValueError:
        return None
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _conditions(pod: Object, ready: bool, reason: str, now: str) -> list[Object]:
    kept = [c for c in items(pod, "status", "conditions") if c.get("type") == "PodScheduled"]
    made: list[Object] = []
    for name in ("Initialized", "Ready", "ContainersReady"):
        true = ready or name == "Initialized"
        one: Object = {"type": name, "status": "True" if true else "False"}
        one |= {"lastProbeTime": None, "lastTransitionTime": now}
        made.append(one if true else one | {"reason": reason})
    return [*made, *kept]


def _containers(pod: Object, state: Object, ready: bool) -> list[Object]:
    return [
        {
            "name": container.get("name"),
            "image": container.get("image"),
            "imageID": "",
            "ready": ready,
            "started": ready,
            "restartCount": 0,
            "state": state,
        }
        for container in items(pod, "spec", "containers")
    ]


def _running(pod: Object, now: str) -> Object:
    return section(pod, "status") | {
        "phase": "Running",
        "startTime": now,
        "conditions": _conditions(pod, True, "", now),
        "containerStatuses": _containers(pod, {"running": {"startedAt": now}}, True),
    }


def _ended(pod: Object, succeed: bool, now: str) -> Object:
    reason = "Completed" if succeed else "Error"
    state = {
        "terminated": {
            "exitCode": 0 if succeed else 1,
            "reason": reason,
            "startedAt": section(pod, "status").get("startTime"),
            "finishedAt": now,
        }
    }
    outcome = "PodCompleted" if succeed else "PodFailed"
    return section(pod, "status") | {
        "phase": "Succeeded" if succeed else "Failed",
        "conditions": _conditions(pod, False, outcome, now),
        "containerStatuses": _containers(pod, state, False),
    }
