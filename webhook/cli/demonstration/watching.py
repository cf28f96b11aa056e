"""The demo's own watch of Jobs and JobSets: who waits, who runs, who is done, and what each holds.

It reads what any client of the API server can read, so that the demo shows what is, and not what
the loop believes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from webhook.cli.demonstration.audit import Audit, Held, Moment
from webhook.cluster.client import Client
from webhook.cluster.watch import list_then_watch, uid_of, version_of
from webhook.model.event import Event, Seen, Synced
from webhook.model.kinds import JOB, JOBSET, Key, Kind, Object
from webhook.model.quantity import Amount
from webhook.model.queues import FlavorResource, Quotas
from webhook.model.workload import Phase, Workload
from webhook.workloads.objects import BadObject, labels
from webhook.workloads.registry import ADAPTERS, controller_of

WATCHED = (JOB, JOBSET)
SETTLE_SECONDS = 1.0
"""After so long both watches have told of a moment."""


class Sort(Enum):
    """What happened to a workload, or to a submission."""

    STARTED = "started"
    FINISHED = "finished"
    FAILED = "failed"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Happening:
    """One line of what happened last; ``at`` counts the hours of the day."""

    at: float
    sort: Sort
    queue: str
    title: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Sight:
    """A workload as last seen."""

    uid: str
    queue: str
    title: str
    phase: Phase
    held: Held
    failed: bool = False


@dataclass(slots=True)
class World:
    """All workloads that are in a queue; ``clock`` counts the seconds of the day."""

    quotas: Quotas
    clock: Callable[[], float]
    hour_seconds: float
    sights: dict[str, Sight] = field(default_factory=dict)
    started: set[str] = field(default_factory=set)
    finished: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    happenings: deque[Happening] = field(default_factory=lambda: deque(maxlen=50))
    audit: Audit = field(init=False)
    _arrivals: deque[tuple[float, int]] = field(default_factory=deque)
    _settled: int = 0

    def __post_init__(self) -> None:
        self.audit = Audit(self.quotas)

    def take(self, event: Event) -> None:
        """One event of a watch."""
        if isinstance(event, Synced) or controller_of(event.object) is not None:
            return
        queue = str(labels(event.object).get(Key.QUEUE) or "")
        if not queue or queue not in self.quotas.queues:
            return
        sight = self._read(event.kind, event.object, queue)
        if sight is None:
            return
        version = version_of(event.object)
        self._arrivals.append((self.clock(), version))
        if isinstance(event, Seen):
            self.audit.record(Moment(version, sight.uid, queue, sight.held))
            self._tell(sight)
            self.sights[sight.uid] = sight
        else:
            self.audit.record(Moment(version, sight.uid, queue, {}))
            self.sights.pop(sight.uid, None)

    def refused(self, queue: str, title: str, text: str) -> None:
        """A submission was refused."""
        at = self.clock() / self.hour_seconds
        self.happenings.append(Happening(at, Sort.REFUSED, queue, title, text))

    def over_moments(self) -> int:
        """Moments over quota, as far as both watches have told."""
        until = self.clock() - SETTLE_SECONDS
        while self._arrivals and self._arrivals[0][0] <= until:
            self._settled = max(self._settled, self._arrivals.popleft()[1])
        return self.audit.findings(self._settled).over_moments

    def usage(self, queue: str) -> Mapping[FlavorResource, Amount]:
        """What the workloads of a queue hold at this moment."""
        total: dict[FlavorResource, Amount] = {}
        for sight in self.sights.values():
            if sight.queue == queue:
                for pair, amount in sight.held.items():
                    total[pair] = total.get(pair, 0) + amount
        return total

    def count(self, queue: str, phase: Phase) -> int:
        """How many of a queue are in a phase."""
        return sum(one.queue == queue and one.phase is phase for one in self.sights.values())

    def _read(self, kind: Kind, obj: Object, queue: str) -> Sight | None:
        try:
            workload = ADAPTERS[kind.name].read(obj, queue=queue, priority=0)
        except BadObject:
            return None
        failed = any(
            one.get("type") == "Failed" and one.get("status") == "True"
            for one in obj.get("status", {}).get("conditions") or ()
        )
        return Sight(
            uid_of(obj), queue, workload.title, workload.phase, held(workload), failed=failed
        )

    def _tell(self, sight: Sight) -> None:
        """Started and ended once each; what ended before it was seen to run has run."""
        gone = sight.phase is Phase.FINISHED
        if (gone or sight.phase is Phase.STARTED) and sight.uid not in self.started:
            self.started.add(sight.uid)
            self._happened(Sort.STARTED, sight)
        if gone and sight.uid not in self.finished:
            self.finished.add(sight.uid)
            if sight.failed:
                self.failed.add(sight.uid)
            self._happened(Sort.FAILED if sight.failed else Sort.FINISHED, sight)

    def _happened(self, sort: Sort, sight: Sight) -> None:
        text = holding(sight.held) if sort is Sort.STARTED else ""
        at = self.clock() / self.hour_seconds
        self.happenings.append(Happening(at, sort, sight.queue, sight.title, text))


def held(workload: Workload) -> dict[FlavorResource, Amount]:
    """Pods that run, times what each asks, on the flavor that the record of the start names."""
    if workload.admission is None:
        return {}
    flavors = {one.name: one.flavors for one in workload.admission.pod_sets}
    total: dict[FlavorResource, Amount] = {}
    for pods in workload.asks:
        count = workload.holds.get(pods.name, 0)
        for resource, amount in pods.requests.items():
            flavor = flavors.get(pods.name, {}).get(resource)
            if flavor is not None and count:
                pair = FlavorResource(flavor, resource)
                total[pair] = total.get(pair, 0) + amount * count
    return total


def holding(held: Held) -> str:
    """The flavors that were given, if they have names."""
    return ", ".join(dict.fromkeys(pair.flavor for pair in held if pair.flavor != "default"))


async def follow(client: Client, kind: Kind, world: World, wake: Callable[[], None]) -> None:
    """Feed the world for ever."""
    async for event in list_then_watch(client, kind):
        world.take(event)
        wake()
