"""The whole history of a run, as the server's own storage or watch tells it, and what it must never show.

A recorder follows Jobs, JobSets and Pods from before the first submission to after the last end and keeps every
event. Afterwards the events are put in the order of their resourceVersions (one counter for all kinds) and walked
through: at each of them no subtree may be above what the policy grants, and each start is judged.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.system.sources import Source

KINDS = ("Job", "JobSet", "Pod")
QUEUE = "tidegate.dev/queue"


@dataclass(frozen=True)
class Entry:
    """One event: when it came to the recorder, and the object as it then was."""

    version: int
    at: float
    kind: str
    type: str
    object: dict[str, Any]

    @property
    def uid(self) -> str:
        return str(self.object["metadata"]["uid"])


class Recorder:
    """Keeps every event between ``async with`` and its end; what the source cannot tell is an error, no relist.

    Of these namespaces only: what other tests have left behind may still be on its way out.
    """

    def __init__(self, source: Source, namespaces: Iterable[str]) -> None:
        self._source, self._namespaces = source, frozenset(namespaces)
        self.entries: list[Entry] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._changed = asyncio.Event()

    async def __aenter__(self) -> Recorder:
        await self._source.open()
        self._tasks = [asyncio.create_task(self._record(kind)) for kind in KINDS]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        results = await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._source.close()
        faults = [r for r in results if isinstance(r, Exception)]
        if faults:
            raise faults[0]

    async def quiet(self, seconds: float, *, within: float) -> None:
        """Returns once nothing was recorded for so long."""
        limit = time.monotonic() + within
        while time.monotonic() < limit:
            self._raise_faults()
            self._changed.clear()
            try:
                await asyncio.wait_for(self._changed.wait(), seconds)
            except TimeoutError:
                return
        raise TimeoutError(f"no quiet of {seconds} s within {within} s")

    async def until(self, true: Callable[[], bool], *, within: float, what: str) -> None:
        """Returns once the condition holds, asked after every event."""
        limit = time.monotonic() + within
        while not true():
            self._raise_faults()
            if time.monotonic() > limit:
                raise TimeoutError(f"{what}: not within {within} s")
            self._changed.clear()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._changed.wait(), 1.0)

    def latest(self, kind: str) -> dict[str, dict[str, Any]]:
        """Uid → the live object as last seen."""
        found: dict[str, dict[str, Any]] = {}
        for entry in self.entries:
            if entry.kind == kind:
                found[entry.uid] = entry.object
                if entry.type == "DELETED":
                    del found[entry.uid]
        return found

    def _raise_faults(self) -> None:
        for task in self._tasks:
            if task.done() and task.exception():
                raise task.exception()  # type: ignore[misc]

    async def _record(self, kind: str) -> None:
        async for version, change, obj in self._source.follow(kind):
            if obj["metadata"]["namespace"] in self._namespaces:
                self.entries.append(Entry(version, time.monotonic(), kind, change, obj))
                self._changed.set()


def save(entries: Iterable[Entry], path: Path) -> None:
    """One event a line, in order."""
    with path.open("w") as file:
        for entry in in_order(entries):
            file.write(json.dumps(asdict(entry)) + "\n")


def load(path: Path) -> list[Entry]:
    """The reverse."""
    return [Entry(**json.loads(line)) for line in path.read_text().splitlines()]


def in_order(entries: Iterable[Entry]) -> list[Entry]:
    """By resourceVersion, each once: a reconnected watch may repeat what it told before."""
    unique = {(entry.version, entry.uid, entry.type): entry for entry in entries}
    return sorted(unique.values(), key=lambda entry: entry.version)


@dataclass
class World:
    """The cluster at one resourceVersion."""

    objects: dict[str, dict[str, Any]] = field(default_factory=dict)
    pods: dict[str, dict[str, dict[str, Any]]] = field(default_factory=lambda: defaultdict(dict))
    charges: dict[str, int] = field(default_factory=dict)
    usage: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    queues: dict[str, str] = field(default_factory=dict)
    waiting_since: dict[str, float] = field(default_factory=dict)

    def take(self, entry: Entry) -> str | None:
        """Applies one event; the uid of the root it concerns, None if it is none of ours."""
        if entry.kind == "Pod":
            return self._take_pod(entry)
        if is_child(entry.object):
            return None
        if QUEUE not in entry.object["metadata"].get("labels", {}):
            return None
        self.objects[entry.uid] = entry.object
        if entry.type == "DELETED":
            del self.objects[entry.uid]
        self._recharge(entry.uid)
        waits = entry.uid in self.objects and suspended(entry.object) and not finished(entry.object)
        if waits:
            self.waiting_since.setdefault(entry.uid, entry.at)
        else:
            self.waiting_since.pop(entry.uid, None)
        return entry.uid

    def _take_pod(self, entry: Entry) -> str | None:
        labels = entry.object["metadata"].get("labels", {})
        root = labels.get("jobset.sigs.k8s.io/jobset-uid") or labels.get(
            "batch.kubernetes.io/controller-uid"
        )
        if root is None:
            return None
        ended = entry.object.get("status", {}).get("phase") in ("Succeeded", "Failed")
        if entry.type == "DELETED" or ended:
            self.pods[root].pop(entry.uid, None)
        else:
            self.pods[root][entry.uid] = entry.object
        self._recharge(root)
        return root

    def _recharge(self, uid: str) -> None:
        obj = self.objects.get(uid)
        if obj is not None:
            self.queues[uid] = obj["metadata"]["labels"][QUEUE]
        queue = self.queues.get(uid)
        if queue is None:
            return
        held = sum(cpu(pod["spec"]) for pod in self.pods[uid].values())
        by_spec = need(obj) if obj and not suspended(obj) and not finished(obj) else 0
        charge = max(held, by_spec)
        self.usage[queue] += charge - self.charges.get(uid, 0)
        self.charges[uid] = charge

    def waiting(self) -> Iterator[dict[str, Any]]:
        for uid in self.waiting_since:
            yield self.objects[uid]


def is_child(obj: dict[str, Any]) -> bool:
    return any(o.get("controller") for o in obj["metadata"].get("ownerReferences", []))


def suspended(obj: dict[str, Any]) -> bool:
    return obj["spec"].get("suspend") is True


def finished(obj: dict[str, Any]) -> bool:
    return any(
        c["type"] in ("Complete", "Failed", "Completed") and c["status"] == "True"
        for c in obj.get("status", {}).get("conditions", [])
    )


def cpu(pod_spec: dict[str, Any]) -> int:
    """Thousandths of a cpu one pod asks for; the manifests of these tests use whole numbers and ``m``."""
    total = 0
    for container in pod_spec["containers"]:
        text = str(container["resources"]["requests"]["cpu"])
        total += int(text[:-1]) if text.endswith("m") else int(text) * 1000
    return total


def need(obj: dict[str, Any]) -> int:
    """Thousandths of a cpu it would hold if it ran now."""
    if obj["kind"] == "Job":
        return _job_pods(obj["spec"], obj.get("status", {})) * cpu(obj["spec"]["template"]["spec"])
    done = {
        s["name"]: s.get("succeeded", 0)
        for s in obj.get("status", {}).get("replicatedJobsStatus", [])
    }
    total = 0
    for item in obj["spec"]["replicatedJobs"]:
        spec = item["template"]["spec"]
        left = item.get("replicas", 1) - done.get(item["name"], 0)
        total += left * _job_pods(spec, {}) * cpu(spec["template"]["spec"])
    return total


def _job_pods(spec: dict[str, Any], status: dict[str, Any]) -> int:
    parallelism = spec.get("parallelism", 1)
    # ended pods on their way from one field of the status to the other are done for good in both
    uncounted = len(status.get("uncountedTerminatedPods", {}).get("succeeded", []))
    left = spec.get("completions", parallelism) - status.get("succeeded", 0) - uncounted
    return max(0, min(parallelism, left))


def place(obj: dict[str, Any], priorities: dict[str, int], default: int) -> tuple[int, str, str]:
    """The order within a queue: priority first, then time of submission, then uid."""
    metadata = obj["metadata"]
    label = metadata["labels"].get("tidegate.dev/priority")
    priority = priorities[label] if label else default
    return (-priority, metadata["annotations"]["tidegate.dev/submitted"], metadata["uid"])
