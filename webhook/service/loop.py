"""The loop: events in, plans in the middle, starts out.

It turns on events and on nothing else: a workload that ends leads to the next start without
waiting for a tick. What has arrived is taken in as a whole, then one plan is made. Everything it
knows is rebuilt from lists, so it may be killed at any moment.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from webhook.cluster.client import Client
from webhook.cluster.errors import ApiError
from webhook.cluster.watch import Pace, Trim, as_is, list_then_watch
from webhook.model.event import Event, Seen, Synced
from webhook.model.kinds import JOB, JOBSET, POD, PRIORITY_CLASS, Key, Kind, Object
from webhook.model.queues import Flavor
from webhook.model.workload import Phase, Uid
from webhook.quota.plan import Core
from webhook.quota.reasons import Next
from webhook.service.adoption import Adoption
from webhook.service.departures import Departures
from webhook.service.knowledge import ClusterMemory
from webhook.service.metrics import Metrics
from webhook.service.pods import trim_pod
from webhook.service.policies import PolicySource
from webhook.service.sight import Sight, trim
from webhook.service.starts import Starter
from webhook.service.status import StatusBoard, render_status

log = logging.getLogger(__name__)

DRAIN_SECONDS = 20.0
ADOPTION_SECONDS = 30.0
SLICE = 128
"""So many objects are read before others get their turn."""
PUBLISH_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Source:
    """One watched kind, and how."""

    kind: Kind
    label_selector: str = ""
    trim: Trim = as_is


SOURCES = (
    # without a selector: an object that loses its label must not look as if it were deleted
    Source(JOB, trim=trim),
    Source(JOBSET),
    Source(POD, label_selector=Key.QUEUE, trim=trim_pod),
    Source(PRIORITY_CLASS),
)


class Loop:
    """One per cluster. Two at once are harmless, but waste each other's time: writes are locked."""

    def __init__(
        self,
        client: Client,
        policies: PolicySource,
        *,
        metrics: Metrics,
        board: StatusBoard,
        max_writes: int = 16,
        retry_seconds: float = 1.0,
        ask_again_seconds: float = 10.0,
        pace: Pace | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if policies.current is None:
            raise ValueError("the loop needs a policy that is in force")
        self._policies, self._policy = policies, policies.current
        self._client, self._metrics, self._board = client, metrics, board
        self._pace, self._clock, self._ask_again = pace, clock, ask_again_seconds
        self._memory = ClusterMemory((PRIORITY_CLASS,))
        self.core = Core(self._policy.quotas)
        self.sight = Sight(self._memory, self._policy)
        slots = asyncio.Semaphore(max_writes)
        self._starter = Starter(client, self, metrics, slots, clock, retry_seconds)
        self._adoption = Adoption(client, metrics, slots, self._answered, retry_seconds)
        self._departures = Departures(client, slots, self._told, ask_again_seconds)
        self._inbox: asyncio.Queue[Event | None] = asyncio.Queue()
        self._unsynced = {source.kind.name for source in SOURCES}
        self._unread = True
        self._bypassed: set[Uid] = set()
        self._alarm: asyncio.TimerHandle | None = None
        self._publishing: asyncio.TimerHandle | None = None
        self._published = float("-inf")
        self.synced = asyncio.Event()

    async def run(self, stop: asyncio.Event) -> None:
        """Until ``stop`` is set; writes under way are let to end."""
        tasks = [asyncio.create_task(self._watch(source)) for source in SOURCES]
        tasks += [asyncio.create_task(self._turn()), asyncio.create_task(self._ask_unconfirmed())]
        stopped = asyncio.create_task(stop.wait())
        try:
            done, _ = await asyncio.wait([*tasks, stopped], return_when=asyncio.FIRST_COMPLETED)
            for task in done - {stopped}:
                task.result()
        finally:
            await self._close([*tasks, stopped])

    async def _close(self, tasks: Iterable[asyncio.Task[object]]) -> None:
        tasks = list(tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for timer in (self._alarm, self._publishing):
            if timer is not None:
                timer.cancel()
        await self._starter.drain(seconds=DRAIN_SECONDS)
        await self._adoption.close()
        await self._departures.close()

    def wake(self) -> None:
        """Something changed that no event tells: plan again."""
        self._inbox.put_nowait(None)

    def front(self, count: int) -> Mapping[str, tuple[Next, ...]]:
        """The first few who wait in each queue, and why."""
        return self.core.front(count, self._clock())

    # what starts tell us (starts.Books)

    def sighted(self, event: Event) -> None:
        """An object as an answer showed it."""
        self._learn(event)
        self.wake()

    def confirmed(self, uid: Uid, resource_version: str) -> None:
        """The start was written."""
        self.core.confirm(uid, resource_version)

    def refused(self, uid: Uid, until: float) -> None:
        """The start was not written."""
        self.core.refused(uid, until)
        self.wake()

    def object(self, uid: Uid) -> Object | None:
        """The object as last seen."""
        return self.sight.object(uid)

    def family(self, uid: Uid) -> tuple[Object, ...]:
        """Its child Jobs."""
        found = self.sight.object(uid)
        return self.sight.family(uid, found["metadata"]["namespace"]) if found else ()

    def forget_child(self, uid: Uid, child: Object) -> None:
        """A child that was deleted."""
        self.sight.forget_child(uid, child)

    @property
    def revision(self) -> str:
        """The policy in force."""
        return self._policy.revision

    @property
    def flavors(self) -> dict[str, Flavor]:
        """The flavors in force."""
        return dict(self._policy.quotas.flavors)

    # the turning

    async def _watch(self, source: Source) -> None:
        async for event in list_then_watch(
            self._client,
            source.kind,
            label_selector=source.label_selector,
            trim=source.trim,
            pace=self._pace,
            on_trouble=lambda kind, _: self._metrics.count(
                "tidegate_watch_failures_total", kind.name
            ),
        ):
            self._inbox.put_nowait(event)

    async def _turn(self) -> None:
        while True:
            batch = [await self._inbox.get()]
            while not self._inbox.empty():
                batch.append(self._inbox.get_nowait())
            for at, event in enumerate(batch):
                if event is not None:
                    self._learn(event)
                if at % SLICE == SLICE - 1:
                    await asyncio.sleep(0)
            self._follow_policy()
            if self._unread and not self._unsynced:
                await self._read_everything()
            if self.synced.is_set():
                self._plan()
            self._publish_soon()

    def _learn(self, event: Event) -> None:
        """Until everything is listed nothing is read: children cannot be told from roots before."""
        if isinstance(event, Synced):
            self._unsynced.discard(event.kind.name)
        elif event.kind == PRIORITY_CLASS:
            self._memory.take(event)
            self._unread = True
        else:
            touched = self.sight.take(event)
            if self.synced.is_set():
                self._read_again(touched)
            else:
                self._unread = True

    async def _read_everything(self) -> None:
        """After the first lists, and whenever what every workload depends on has changed."""
        if self.synced.is_set():
            await self._read_all()
            return
        log.info("all kinds are listed objects=%d", len(self.sight.objects))
        self.sight.find_orphans()
        await self._read_all()
        # what is adopted has its place in the line by its age, so it is stamped before the first plan
        await self._adoption.settle(seconds=ADOPTION_SECONDS)
        await self._read_all()
        self.synced.set()
        self._metrics.set("tidegate_synced", 1)

    async def _read_all(self) -> None:
        self._unread = False
        for at, uid in enumerate(self.sight.roots()):
            self._read_again((uid,))
            if at % SLICE == SLICE - 1:
                await asyncio.sleep(0)

    def _read_again(self, uids: Iterable[Uid]) -> None:
        for uid in uids:
            workload = self.sight.workload(uid)
            departed = self.sight.departed.get(uid)
            if departed is not None and (workload or self._starter.is_busy(uid)):
                self._departures.follow(uid, departed)
            elif workload is None:
                self._forget(uid)
                continue
            if workload is None:
                continue
            if self.sight.unstamped(uid):
                self._adoption.begin(uid, *self.sight.objects[uid])
                if workload.phase is Phase.WAITING:
                    continue  # it takes its place in the line once it is stamped
            # nobody writes growth yet, so it may neither be charged nor stand in anybody's way
            self.core.see(replace(workload, growth=()) if workload.growth else workload)

    def _forget(self, uid: Uid) -> None:
        self.core.forget(uid)
        self.sight.depart(uid)
        self._starter.forget(uid)

    def _answered(self, kind: Kind, obj: Object) -> None:
        self.sighted(Seen(kind, obj))

    def _told(self, uid: Uid, pods: list[Object]) -> bool:
        """The pods a deleted workload has left; False once there are none."""
        self._read_again(self.sight.told_pods(uid, pods))
        self.wake()
        return uid in self.sight.departed

    def _follow_policy(self) -> None:
        policy = self._policies.current
        if policy is None or policy is self._policy:
            return
        self._policy = self.sight.policy = policy
        self.core.replace(policy.quotas)
        self._unread = True

    def _plan(self) -> None:
        began, now = time.perf_counter(), self._clock()
        plan = self.core.plan(now)
        self._metrics.observe("tidegate_plan_seconds", time.perf_counter() - began)
        for start in plan.starts:
            self._starter.begin(start)
        self._wake_at(plan.again_at)

    def _wake_at(self, moment: float | None) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm = None
        if moment is not None:
            delay = max(0.0, moment - self._clock()) + 0.001
            self._alarm = asyncio.get_running_loop().call_later(delay, self.wake)

    async def _ask_unconfirmed(self) -> None:
        """Starts that no sight has shown, and that nobody is finding out about, are read."""
        while True:
            await asyncio.sleep(self._ask_again)
            for uid in self.core.unconfirmed():
                found = self.sight.objects.get(uid)
                if found is not None and not self._starter.is_busy(uid):
                    await self._ask(*found)

    async def _ask(self, kind: Kind, obj: Object) -> None:
        about = obj["metadata"]
        try:
            self._answered(kind, await self._client.get(kind, about["namespace"], about["name"]))
        except ApiError as error:
            log.warning("asking for %s/%s: %s", about["namespace"], about["name"], error.describe())

    def _publish_soon(self) -> None:
        """At once, unless that was done a moment ago: it costs more than a plan."""
        if self._publishing is None:
            turning = asyncio.get_running_loop()
            at = max(turning.time(), self._published + PUBLISH_SECONDS)
            self._publishing = turning.call_at(at, self._publish)

    def _publish(self) -> None:
        self._publishing = None
        self._published = asyncio.get_running_loop().time()
        queues = self.core.status()
        self._board.post(render_status(self._policy.revision, queues))
        self._metrics.queues(queues)
        self._metrics.set("tidegate_queue_gone", len(self.core.orphans()))
        self._report_bypassed({uid for queue in queues for uid in queue.bypassed})

    def _report_bypassed(self, bypassed: set[Uid]) -> None:
        """Each once, for as long as it is one."""
        for uid in sorted(bypassed - self._bypassed):
            obj = self.sight.object(uid)
            if obj is not None:
                about = obj["metadata"]
                log.warning(
                    "bypassed: %s %s/%s runs without a start of ours; it is charged",
                    obj["kind"],
                    about.get("namespace"),
                    about.get("name"),
                )
        self._bypassed = bypassed
