"""From fields to a workload: the parts of reading that no kind does differently."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from webhook.model.kinds import Key, Kind, Object
from webhook.model.workload import Phase, PodSet, Uid, Workload
from webhook.workloads.objects import (
    controller,
    labels,
    metadata,
    notes,
    place_in_line,
    read_time,
)
from webhook.workloads.record import admission_of
from webhook.workloads.stops import evicted_of


@dataclass(frozen=True, slots=True)
class Life:
    """What a kind's adapter found: is it done, is it suspended, how many pods of each set are left or may come."""

    finished: bool
    suspended: bool
    ending: bool
    """no new pods will be made, though it is not yet done"""
    live: Mapping[str, int]
    """pod set → pods that exist, or that its controller may still be making"""
    granted: Mapping[str, int]
    """pod set → pods it may run while started"""
    ready: bool = False
    """all pods it should run are ready, or have been and are done"""
    started_at: float | None = None
    """when its controller says that it began, in seconds since the epoch"""

    def phase(self, *, deleting: bool) -> Phase:
        """Finished, or about to be, beats suspended; whoever has pods left while it should have none is stopping."""
        left = any(self.live.values())
        if self.finished or deleting:
            return Phase.STOPPING if left or (deleting and not self._idle) else Phase.FINISHED
        if self.ending:
            return Phase.STOPPING
        if self.suspended:
            return Phase.STOPPING if left else Phase.WAITING
        return Phase.STARTED

    @property
    def _idle(self) -> bool:
        return self.suspended or self.finished or self.ending

    def holds(self, phase: Phase) -> Mapping[str, int]:
        """Pod set → pods charged in this phase."""
        if phase in (Phase.WAITING, Phase.FINISHED):
            return {}
        if phase is Phase.STOPPING and self._idle:
            return {name: number for name, number in self.live.items() if number}
        return self.granted


def workload(
    kind: Kind, obj: Object, asks: tuple[PodSet, ...], life: Life, *, queue: str, priority: int
) -> Workload:
    """The value the quota core is given."""
    about, marks = metadata(obj), notes(obj)
    deleting = bool(about.get("deletionTimestamp"))
    phase = life.phase(deleting=deleting)
    record, evicted = admission_of(obj), evicted_of(obj)
    since = read_time(record.at) if record is not None else None
    began = since if since is not None else life.started_at
    behind = evicted.place if evicted is not None else None
    return Workload(
        uid=Uid(str(about.get("uid") or "")),
        kind=kind,
        namespace=str(about.get("namespace") or ""),
        name=str(about.get("name") or ""),
        queue=queue,
        priority=priority,
        place=place_in_line(obj) if behind is None else behind,
        phase=phase,
        asks=asks,
        holds=life.holds(phase),
        admission=record,
        hold=marks.get(Key.HOLD),
        stamped=Key.SUBMITTED in marks,
        submitted_by=str(marks.get(Key.SUBMITTED_BY) or ""),
        owner=controller(obj),
        labels=labels(obj),
        resource_version=str(about.get("resourceVersion") or ""),
        deleting=deleting,
        started_at=began if phase is Phase.STARTED else None,
        ready=life.ready and phase is Phase.STARTED,
        ready_at=read_time(record.ready_at) if record is not None else None,
        evicted=evicted,
    )
