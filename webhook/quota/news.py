"""What the core answers with: who starts, who stops, and how the queues stand.

Plain values, so that a loop writes them to a cluster, a simulation to a report and a test compares
them. They carry the workload as it was last seen, never a reference into the core's memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from webhook.model.quantity import Amount
from webhook.model.queues import FlavorResource
from webhook.model.workload import Admission, Evicted, Uid, Workload


@dataclass(frozen=True, slots=True)
class Start:
    """One workload to be started; it is charged already.

    ``admission`` is complete but for what only the writer knows: ``at`` is empty and nothing is
    ``injected``.
    """

    workload: Workload
    admission: Admission


@dataclass(frozen=True, slots=True)
class Eviction:
    """One workload to be stopped; it counts as stopping already, and is told once.

    ``record`` is to be written to it, ``hold`` as well where it may not be tried again. ``by`` is
    whom it makes room for, if anybody.
    """

    workload: Workload
    record: Evicted
    text: str
    by: Uid | None = None
    hold: str | None = None


@dataclass(frozen=True, slots=True)
class Growth:
    """More pods for a started workload; what they need is charged already.

    ``uid`` is that of the growth, for ``confirm`` and ``refused``; ``admission`` is the record of
    the whole workload from then on.
    """

    uid: Uid
    workload: Workload
    admission: Admission


@dataclass(frozen=True, slots=True)
class Plan:
    """The outcome of one pass. ``again_at``: when the next backoff or deadline ends.

    ``ready``: workloads that are ready for the first time, in whose records that is to be noted.
    """

    starts: tuple[Start, ...] = ()
    evictions: tuple[Eviction, ...] = ()
    again_at: float | None = None
    ready: tuple[Workload, ...] = ()
    growths: tuple[Growth, ...] = ()


@dataclass(frozen=True, slots=True)
class Balance:
    """One flavor and resource of a queue. All in nano-units; ``available`` below 0 is "over by"."""

    nominal: Amount
    used: Amount
    available: Amount
    potential: Amount

    @property
    def over(self) -> Amount:
        """By how much more is held than the policy grants today."""
        return max(0, -self.available)


@dataclass(frozen=True, slots=True)
class QueueStatus:
    """How one queue stands. ``waiting`` counts by priority, highest first, whatever stops them.

    ``bypassed`` are those that run without a record of ours: charged, by a guess of the flavor.
    """

    queue: str
    balances: Mapping[FlavorResource, Balance]
    waiting: Mapping[int, int] = field(default_factory=lambda: MappingProxyType({}))
    planned: int = 0
    started: int = 0
    stopping: int = 0
    bypassed: tuple[Uid, ...] = ()

    @property
    def over(self) -> Mapping[FlavorResource, Amount]:
        """Where more is held than the policy grants, and by how much."""
        return {fr: one.over for fr, one in self.balances.items() if one.over}
