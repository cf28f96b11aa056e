"""Carrying out the starts of a plan, each by one write, and finding out what became of it.

A start is charged from the moment it is planned; here it is decided when that charge may end. Only
proof ends it: a conflict, a refusal, an object that is gone. Where no answer came the write may
have happened or may still happen, so the object is read, and as long as it is in the version the
write is locked to, the same write is sent again: at most one of them can win.

Up to Kubernetes 1.35 a Job that ran keeps its template until its start time is taken away. Where a start has to change
the template that is a write of its own, under the same rules; the start is planned anew from its answer.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

from webhook.cluster.client import Client
from webhook.cluster.errors import (
    ApiError,
    Conflict,
    NotFound,
    TooManyRequests,
    Unavailable,
)
from webhook.model.event import Event, Seen
from webhook.model.event import Gone as Left
from webhook.model.kinds import Object
from webhook.model.patch import Patch
from webhook.model.quantity import format_quantity
from webhook.model.queues import Flavor
from webhook.model.workload import Admission, Uid, Workload
from webhook.quota.news import Start
from webhook.service.children import Leftovers, leftovers, reset
from webhook.service.metrics import Metrics
from webhook.workloads.objects import metadata, write_time
from webhook.workloads.record import admission_of
from webhook.workloads.registry import ADAPTERS
from webhook.workloads.start import reopen
from webhook.workloads.start import start as start_patch

log = logging.getLogger(__name__)

LONGEST_BACKOFF_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Write:
    """One write on the way to a start: the start itself, or what has to come before it."""

    workload: Workload
    admission: Admission
    patch: Patch
    reopens: bool = False
    """It only lets the template change again, and goes to the status"""

    @property
    def what(self) -> str:
        """For a line of the log."""
        return f"{'reopening' if self.reopens else 'start'} of {self.workload.title}"


class Books(Protocol):
    """The loop's memory, as far as starts change it."""

    def sighted(self, event: Event) -> None:
        """An object as an answer showed it."""

    def confirmed(self, uid: Uid, resource_version: str) -> None:
        """The start was written."""

    def refused(self, uid: Uid, until: float) -> None:
        """The start was not written."""

    def object(self, uid: Uid) -> Object | None:
        """The object as last seen."""

    def family(self, uid: Uid) -> tuple[Object, ...]:
        """Its child Jobs."""

    def forget_child(self, uid: Uid, child: Object) -> None:
        """A child that was deleted."""

    @property
    def revision(self) -> str:
        """The policy in force."""

    @property
    def flavors(self) -> dict[str, Flavor]:
        """The flavors in force."""


@dataclass(slots=True)
class Starter:
    """Runs starts side by side, at most ``slots`` writes at a time."""

    client: Client
    books: Books
    metrics: Metrics
    slots: asyncio.Semaphore
    clock: Callable[[], float]
    retry_seconds: float = 1.0
    _tasks: dict[Uid, asyncio.Task[None]] = field(default_factory=dict)
    _failures: dict[Uid, int] = field(default_factory=dict)

    def begin(self, start: Start) -> None:
        """Carry it out in the background."""
        uid = start.workload.uid
        task = asyncio.create_task(self._carry_out(start), name=f"start-{uid}")
        self._tasks[uid] = task
        self.metrics.set("tidegate_starts_in_flight", len(self._tasks))
        task.add_done_callback(lambda done: self._done(uid, done))

    def is_busy(self, uid: Uid) -> bool:
        """A start of it is under way."""
        return uid in self._tasks

    def forget(self, uid: Uid) -> None:
        """The object is gone."""
        self._failures.pop(uid, None)

    async def drain(self, *, seconds: float) -> None:
        """Let writes that are under way end; whatever is left is found by the next loop's list."""
        tasks = list(self._tasks.values())
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=seconds)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)

    def _done(self, uid: Uid, task: asyncio.Task[None]) -> None:
        if self._tasks.get(uid) is task:
            del self._tasks[uid]
        self.metrics.set("tidegate_starts_in_flight", len(self._tasks))
        if not task.cancelled() and (error := task.exception()):
            log.error("start of %s failed by a mistake of ours", uid, exc_info=error)
            self.books.refused(uid, self.clock() + LONGEST_BACKOFF_SECONDS)

    async def _carry_out(self, start: Start) -> None:
        """Once; and again for as long as nobody can know whether it happened."""
        workload = start.workload
        async with self.slots:
            obj = self._planned_for(start)
            if obj is None:
                self._abandon(workload)
                return
            if left := self._leftovers(start, obj):
                await self._reset(workload, obj, left)
                return
            write = self._next_write(start, obj)
            known = await self._send(write)
        while not known and await self._may_still_happen(write):
            async with self.slots:
                known = await self._send(write)

    def _next_write(self, start: Start, obj: Object) -> Write:
        """The start; or, where the template it has to change is closed, what opens it."""
        workload = start.workload
        admission = replace(start.admission, at=write_time(self.clock()))
        adapter = ADAPTERS[workload.kind.name]
        patch = start_patch(adapter, obj, admission, self.books.flavors)
        first = reopen(adapter, obj, patch)
        return Write(workload, admission, first or patch, reopens=bool(first))

    def _planned_for(self, start: Start) -> Object | None:
        """The object, if it and the policy still are what the plan was made for."""
        workload = start.workload
        obj = self.books.object(workload.uid)
        if obj is None or self.books.revision != start.admission.revision:
            return None
        return obj if _version(obj) == workload.resource_version else None

    def _abandon(self, workload: Workload) -> None:
        self.metrics.count("tidegate_starts_total", "abandoned")
        self.books.refused(workload.uid, self.clock())

    async def _send(self, write: Write) -> bool:
        """False if the outcome is not known."""
        at = write.workload
        where = "status" if write.reopens else ""
        try:
            answer = await self.client.patch(
                at.kind, at.namespace, at.name, write.patch, subresource=where
            )
        except (Conflict, NotFound) as error:
            log.info("%s lost a race: %s", write.what, error)
            self._conclude(write, await self._get(at), "conflict")
        except Unavailable as error:
            log.warning("%s: %s", write.what, error.describe())
            self.metrics.count("tidegate_starts_total", "unknown")
            return False
        except ApiError as error:
            self._is_refused(write, error)
        else:
            self._is_written(write, answer)
        return True

    async def _may_still_happen(self, write: Write) -> bool:
        """True while the object is as it was, and the write, if it still comes, would win."""
        workload = write.workload
        await asyncio.sleep(self._backoff(workload.uid))
        obj = await self._get(workload)
        same = obj is not None and _version(obj) == workload.resource_version
        if same and self.books.revision == write.admission.revision:
            return True
        self._conclude(write, obj, "unknown")
        return False

    def _is_written(self, write: Write, answer: Object) -> None:
        if write.reopens:
            self._plan_anew(write, answer, "reopened")
        else:
            self._is_started(write.workload.uid, write.workload, answer)

    def _plan_anew(self, write: Write, obj: Object, outcome: str) -> None:
        """Not started: it waits as it is now, and its turn may come at once."""
        self.metrics.count("tidegate_starts_total", outcome)
        self.books.sighted(Seen(write.workload.kind, obj))
        self.books.refused(write.workload.uid, self.clock())

    def _is_started(self, uid: Uid, workload: Workload, answer: Object) -> None:
        log.info("started %s queue=%s", workload.title, workload.queue)
        self.metrics.count("tidegate_starts_total", "started")
        self._failures.pop(uid, None)
        self.books.confirmed(uid, str(metadata(answer).get("resourceVersion") or ""))
        self.books.sighted(Seen(workload.kind, answer))

    def _is_gone(self, workload: Workload) -> None:
        """What is known of it is its last state; its pods, if any, are asked for by the loop."""
        self.metrics.count("tidegate_starts_total", "gone")
        obj = self.books.object(workload.uid)
        if obj is not None:
            self.books.sighted(Left(workload.kind, obj))

    def _is_refused(self, write: Write, error: ApiError) -> None:
        """Ours to report, with the numbers; nobody else waits for it."""
        uid = write.workload.uid
        wait = self._backoff(uid)
        if isinstance(error, TooManyRequests):
            wait = max(wait, error.retry_after_seconds or 0.0)
        self.metrics.count("tidegate_starts_total", "refused")
        log.error(
            "%s refused, again in %.1f s: %s; it would take %s",
            write.what,
            wait,
            error.describe(),
            _amounts(write.admission),
        )
        self.books.refused(uid, self.clock() + wait)

    def _conclude(self, write: Write, obj: Object | None, outcome: str) -> None:
        if obj is None:
            self._is_gone(write.workload)
            return
        record = admission_of(obj)
        if record is not None and record.at == write.admission.at:
            self._is_started(write.workload.uid, write.workload, obj)
        else:
            self._plan_anew(write, obj, outcome)

    async def _get(self, workload: Workload) -> Object | None:
        """The object now, however long that takes; None if it, by uid, is gone."""
        while True:
            try:
                obj = await self.client.get(workload.kind, workload.namespace, workload.name)
            except NotFound:
                return None
            except ApiError as error:
                log.warning("reading %s again: %s", workload.title, error.describe())
                await asyncio.sleep(self._backoff(workload.uid))
            else:
                return obj if metadata(obj).get("uid") == workload.uid else None

    def _leftovers(self, start: Start, obj: Object) -> Leftovers | None:
        flavors = self.books.flavors
        return leftovers(obj, start, self.books.family(start.workload.uid), flavors)

    async def _reset(self, workload: Workload, obj: Object, left: Leftovers) -> None:
        """Before a start on another flavor; the start itself is planned anew afterwards."""
        try:
            cleaned = await reset(self.client, workload, obj, left)
        except ApiError as error:
            wait = self._backoff(workload.uid)
            log.warning("reset of %s: %s", workload.title, error.describe())
            self.books.refused(workload.uid, self.clock() + wait)
            return
        for child in left.children:
            self.books.forget_child(workload.uid, child)
        if cleaned is not None:
            self.books.sighted(Seen(workload.kind, cleaned))
        self.books.refused(workload.uid, self.clock())

    def _backoff(self, uid: Uid) -> float:
        failures = self._failures[uid] = min(self._failures.get(uid, 0) + 1, 30)
        bound = min(LONGEST_BACKOFF_SECONDS, self.retry_seconds * 2.0 ** (failures - 1))
        return bound * random.uniform(0.5, 1.0)  # noqa: S311 - jitter is no secret


def _version(obj: Object) -> str:
    return str(metadata(obj).get("resourceVersion") or "")


def _amounts(admission: Admission) -> str:
    return "; ".join(
        f"{pods.name} "
        + ", ".join(f"{format_quantity(a, r)} {r}" for r, a in sorted(pods.amounts.items()))
        for pods in admission.pod_sets
    )
