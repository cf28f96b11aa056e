"""A workload as a value: what it asks for, where it waits, what it holds.

One object of a managed kind becomes one ``Workload`` each time it is seen (``workloads`` reads it); nothing in it is
remembered from an earlier sight, so a restart of everything loses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Any, NewType

from webhook.model.kinds import Kind
from webhook.model.quantity import NOTHING, Amount, Amounts, add, times

Uid = NewType("Uid", str)
_NO_LABELS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class PodSet:
    """Pods of one template. ``requests`` is per pod; ``count`` is how many run at once.

    ``min_count``: it may start with so few where not all fit. ``flavors``, resource → flavor, are those it must take,
    because pods of it run there already.
    """

    name: str
    count: int
    requests: Amounts
    node_selector: Mapping[str, str] = field(default_factory=lambda: _NO_LABELS)
    min_count: int | None = None
    flavors: Mapping[str, str] | None = None

    @property
    def total(self) -> Amounts:
        """What all its pods ask for together."""
        return times(self.requests, self.count)

    @property
    def fewest(self) -> int:
        """With how many pods it may start."""
        return self.count if self.min_count is None else min(self.min_count, self.count)


@dataclass(frozen=True, slots=True)
class Injected:
    """What a start wrote into one pod template; taken out again, to the letter, before another start."""

    nodes: Mapping[str, str] = field(default_factory=lambda: _NO_LABELS)
    tolerations: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Assigned:
    """One pod set of an admission: how many pods, which flavor for which resource, and the amounts charged in all.

    ``done`` counts pods that had succeeded before this start; what has succeeded since was ready once.
    """

    name: str
    count: int
    flavors: Mapping[str, str]
    amounts: Amounts
    injected: Injected = Injected()
    done: int = 0


@dataclass(frozen=True, slots=True)
class Admission:
    """The record of a start, annotation ``tidegate.dev/admission``.

    ``at`` is RFC 3339 with microseconds; so is ``ready_at``, when all its pods were first ready, which is noted only
    in queues that ask for it and empty till then.
    """

    queue: str
    pod_sets: tuple[Assigned, ...]
    at: str
    revision: str
    ready_at: str = ""


class Cause(Enum):
    """Why we stopped what ran."""

    PREEMPTED = "preempted"
    DRAINED = "drained"
    NOT_READY = "not-ready"


@dataclass(frozen=True, slots=True)
class Evicted:
    """The record of the latest stop of ours, annotation ``tidegate.dev/evicted``. Times are seconds since the epoch.

    ``count`` is how often in a row its pods were not ready in time, ``not_before`` when it may start again for that,
    ``place`` the place it has in the line since. ``by`` names the workload it made room for.
    """

    cause: Cause
    at: float
    by: str = ""
    count: int = 0
    not_before: float | None = None
    place: float | None = None


class Phase(Enum):
    """Where in its life a workload is. Finished beats suspended in every rule."""

    WAITING = "waiting"
    """suspended, and no pod of it is left"""
    STARTED = "started"
    """not suspended, not finished"""
    STOPPING = "stopping"
    """suspended or finished, but pods of it are left: still charged"""
    FINISHED = "finished"
    """done for good and no pod is left: charged nothing"""


@dataclass(frozen=True, slots=True)
class Workload:
    """One root object in a queue, as last seen.

    ``asks`` is what a start would need; ``holds`` maps pod set names to the number of pods charged now (empty while
    waiting and when finished). ``place`` orders the queue: seconds since the epoch with microseconds, from
    ``submitted``, else the creation time. ``admission`` is the record of the latest start, kept while it waits again;
    ``evicted`` that of the latest stop of ours. ``owner`` is what controls it, as messages name it
    (``CronJob team-a/nightly``), or empty.

    Of a started one: ``started_at`` is when it was started, in seconds since the epoch, None where nobody can tell;
    ``ready``, that all its pods are ready now; ``ready_at``, when they first were, as far as the record says;
    ``growth``, the pods it asks for beyond those it was granted.
    """

    uid: Uid
    kind: Kind
    namespace: str
    name: str
    queue: str
    priority: int
    place: float
    phase: Phase
    asks: tuple[PodSet, ...]
    holds: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    admission: Admission | None = None
    hold: str | None = None
    stamped: bool = True
    submitted_by: str = ""
    owner: str = ""
    labels: Mapping[str, str] = field(default_factory=lambda: _NO_LABELS)
    resource_version: str = ""
    deleting: bool = False
    started_at: float | None = None
    ready: bool = False
    ready_at: float | None = None
    evicted: Evicted | None = None
    growth: tuple[PodSet, ...] = ()

    @property
    def total(self) -> Mapping[str, Amount]:
        """What it asks for in all, over all pod sets."""
        return add(*(pods.total for pods in self.asks)) if self.asks else NOTHING

    @property
    def least(self) -> Mapping[str, Amount]:
        """The same with as few pods as it may start with."""
        return (
            add(*(times(pods.requests, pods.fewest) for pods in self.asks))
            if self.asks
            else NOTHING
        )

    @property
    def jobs(self) -> int:
        """As how many workloads it counts under a limit: as none where it is the growth of another."""
        return 0 if any(pods.flavors is not None for pods in self.asks) else 1

    @property
    def title(self) -> str:
        """How messages name it: ``Job team-a/train``."""
        return f"{self.kind.name} {self.namespace}/{self.name}"
