"""Play the part of the scheduler and the kubelets: pods are bound, run and end without a node.

Works by the public API only, against anything that serves pods, pods/binding and pods/status. A
pod without scheduling gates is bound and made ready at once; the annotation
``tidegate.dev/play-seconds`` says how long it runs then, without it the test decides by ``finish``
and ``fail``. A pod that is being deleted goes away as from a kubelet that has stopped its
containers. Gated pods are never touched, as no scheduler would.

Survives whatever a watch can meet: its end, 410, an API server that is away for a while. Any other
failure of its own ends every wait with an error and is raised when the player is closed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Protocol, TypeVar

from tests.cluster import podstatus
from tests.cluster.podcalls import PodCalls, TryAgainError
from tests.cluster.podstatus import Pod
from tests.cluster.podwatch import PodWatch

PLAY_SECONDS = "tidegate.dev/play-seconds"
JOB_NAME = "batch.kubernetes.io/job-name"
JOB_UID = "batch.kubernetes.io/controller-uid"
JOBSET_NAME = "jobset.sigs.k8s.io/jobset-name"
JOBSET_UID = "jobset.sigs.k8s.io/jobset-uid"

WORKERS = 16
RETRY_SECONDS = 0.2

T = TypeVar("T")


class Endpoint(Protocol):
    """What a server that pods are played on has to offer; ControlPlane does."""

    @property
    def url(self) -> str: ...
    @property
    def ca_file(self) -> Path | None: ...
    def token(self, user: str) -> str: ...


class PlayerStoppedError(RuntimeError):
    """Somebody waits for pods, but the player runs no more; closing it tells why."""


def anywhere(_pod: Pod) -> str | None:
    """The default for ``place``: there is always room."""
    return "play-node"


class PodPlayer:
    """Plays every pod of a cluster between ``async with`` and its end."""

    def __init__(
        self,
        url: str,
        *,
        token: str = "",
        ca_file: Path | None = None,
        linger_seconds: float = 0.0,
        place: Callable[[Pod], str | None] = anywhere,
    ) -> None:
        """``linger_seconds``: how long a bound pod stays Terminating, as in its grace period.

        ``place`` names the node for a pod; None leaves it pending until ``place_again``.
        """
        self._calls = PodCalls(url, token=token, ca_file=ca_file, connections=WORKERS + 1)
        self._linger_seconds = linger_seconds
        self._place = place
        self._pods: dict[str, Pod] = {}  # by uid, as last seen
        self._told: dict[str, int] = {}  # by uid of a pod: the exit code it was told to end with
        self._finishing: set[str] = set()  # uids of the Jobs and JobSets told to finish
        self._ends_at: dict[str, float] = {}  # by uid, in loop time, as all of these
        self._goes_at: dict[str, float] = {}  # of a deleted pod: when it has lingered enough
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self._queues: list[asyncio.Queue[str]] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._changed = asyncio.Event()

    @classmethod
    def of(
        cls,
        endpoint: Endpoint,
        *,
        linger_seconds: float = 0.0,
        place: Callable[[Pod], str | None] = anywhere,
    ) -> PodPlayer:
        """A player with an administrator's rights, on a ControlPlane for instance."""
        return cls(
            endpoint.url,
            token=endpoint.token("admin"),
            ca_file=endpoint.ca_file,
            linger_seconds=linger_seconds,
            place=place,
        )

    async def __aenter__(self) -> PodPlayer:
        session = self._calls.open()
        # A queue for each worker: what concerns one pod happens in order.
        self._queues = [asyncio.Queue() for _ in range(WORKERS)]
        watch = PodWatch(session, seen=self._see, gone=self._forget)
        self._tasks = [asyncio.create_task(watch.run())]
        self._tasks += [asyncio.create_task(self._work(queue)) for queue in self._queues]
        for task in self._tasks:
            task.add_done_callback(lambda _: self._notify())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for timer in self._timers.values():
            timer.cancel()
        for task in self._tasks:
            task.cancel()
        ends = await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._calls.close()
        faults = [end for end in ends if isinstance(end, Exception)]
        if faults and (error is None or isinstance(error, PlayerStoppedError)):
            raise ExceptionGroup("the pod player failed", faults)

    def pods(self, namespace: str, job_name: str) -> list[Pod]:
        """The pods of a Job as the player sees them now."""
        return self._labelled(namespace, JOB_NAME, job_name)

    async def running(self, namespace: str, job_name: str, count: int = 1) -> list[Pod]:
        """Wait until at least so many pods of a Job run, and return those that do."""

        def enough() -> list[Pod]:
            pods = [pod for pod in self.pods(namespace, job_name) if _runs(pod)]
            return pods if len(pods) >= count else []

        return await self._wait_for(enough)

    async def finish(self, namespace: str, job_name: str) -> int:
        """Let the pods of a Job succeed, those that it creates later included.

        Waits for its first pod, and until those that there are now have ended; returns how many.
        """
        return await self._finish(namespace, JOB_NAME, job_name, JOB_UID)

    async def finish_jobset(self, namespace: str, name: str) -> int:
        """The same for all the pods of a JobSet."""
        return await self._finish(namespace, JOBSET_NAME, name, JOBSET_UID)

    async def finish_pod(self, namespace: str, name: str, *, exit_code: int = 0) -> None:
        """Let one pod end, whoever owns it; waits until it runs first, and until it has ended."""

        def named() -> list[Pod]:
            meta = (namespace, name)
            return [pod for pod in self._pods.values() if _runs(pod) and _place_of(pod) == meta]

        await self._end(await self._wait_for(named), exit_code)

    async def fail(self, namespace: str, job_name: str, *, exit_code: int = 1) -> int:
        """Let the pods of a Job that run now fail, at least one; those that replace them run."""
        pods = await self.running(namespace, job_name)
        await self._end(pods, exit_code)
        return len(pods)

    def place_again(self) -> None:
        """Look again at the pods that ``place`` had no node for."""
        for uid, pod in self._pods.items():
            if not podstatus.is_bound(pod):
                self._look_at(uid)

    async def _finish(self, namespace: str, label: str, value: str, owner_label: str) -> int:
        pods = await self._wait_for(lambda: self._labelled(namespace, label, value))
        self._finishing |= {podstatus.labels(pod)[owner_label] for pod in pods}
        pods = [pod for pod in pods if not podstatus.is_gated(pod) and not podstatus.has_ended(pod)]
        await self._end(pods, 0)
        return len(pods)

    async def _end(self, pods: Iterable[Pod], exit_code: int) -> None:
        """Tell pods to end and wait until they have, or are gone."""
        uids = [podstatus.uid(pod) for pod in pods]
        for uid in uids:
            self._told[uid] = exit_code
            self._look_at(uid)
        await self._wait_for(lambda: not self._told.keys() & uids)

    async def _wait_for(self, condition: Callable[[], T]) -> T:
        """The first true value of the condition; asked again whenever a pod changes."""
        while not (value := condition()):
            if any(task.done() for task in self._tasks):
                raise PlayerStoppedError("the pod player has stopped")
            await self._changed.wait()
        return value

    def _notify(self) -> None:
        """Wake whoever waits now; who waits later gets a new event."""
        self._changed.set()
        self._changed = asyncio.Event()

    def _labelled(self, namespace: str, label: str, value: str) -> list[Pod]:
        return [
            pod
            for pod in self._pods.values()
            if pod["metadata"]["namespace"] == namespace
            and podstatus.labels(pod).get(label) == value
        ]

    def _see(self, pod: Pod) -> None:
        """A pod as the server tells it; what is older than what we know is dropped."""
        uid = podstatus.uid(pod)
        known = self._pods.get(uid)
        if known is not None and podstatus.version(pod) <= podstatus.version(known):
            return
        self._pods[uid] = pod
        self._look_at(uid)
        self._notify()

    def _forget(self, uid: str) -> None:
        for known in (self._pods, self._told, self._ends_at, self._goes_at):
            known.pop(uid, None)
        if timer := self._timers.pop(uid, None):
            timer.cancel()
        self._notify()

    def _look_at(self, uid: str) -> None:
        self._queues[hash(uid) % WORKERS].put_nowait(uid)

    def _look_later(self, uid: str, seconds: float) -> None:
        """One timer a pod: the latest call counts."""
        if timer := self._timers.pop(uid, None):
            timer.cancel()
        self._timers[uid] = asyncio.get_running_loop().call_later(seconds, self._look_at, uid)

    async def _work(self, queue: asyncio.Queue[str]) -> None:
        while True:
            uid = await queue.get()
            if (pod := self._pods.get(uid)) is None:
                continue
            try:
                await self._play(uid, pod)
            except TryAgainError:
                self._look_later(uid, RETRY_SECONDS)

    async def _play(self, uid: str, pod: Pod) -> None:
        """One step or several of a pod's life; whatever is missing then, an event will ask for."""
        if podstatus.is_deleting(pod):
            await self._let_go(uid, pod)
        elif podstatus.has_ended(pod):
            self._told.pop(uid, None)
            self._notify()
        elif podstatus.is_bound(pod) or await self._bind(pod):
            if podstatus.phase(pod) == "Pending":
                self._ends_at[uid] = _loop_time() + (_play_seconds(pod) or 0.0)
                await self._set_status(pod, podstatus.running(pod, podstatus.now()))
            elif (code := self._exit_code(uid, pod)) is not None:
                await self._set_status(pod, podstatus.ended(pod, code, podstatus.now()))

    async def _bind(self, pod: Pod) -> bool:
        if podstatus.is_gated(pod):
            return False
        node = self._place(pod)
        return node is not None and await self._calls.bind(pod, node)

    async def _let_go(self, uid: str, pod: Pod) -> None:
        """A deleted pod: gone once it has lingered; without a node it goes by itself."""
        if podstatus.is_released(pod) or not podstatus.is_bound(pod):
            self._told.pop(uid, None)
            self._notify()
        elif self._is_due(uid, self._goes_at, self._linger_seconds):
            await self._calls.delete(pod)

    async def _set_status(self, pod: Pod, status: podstatus.Status) -> None:
        """The answer is seen like an event, so that nothing is done twice."""
        if (changed := await self._calls.set_status(pod, status)) is not None:
            self._see(changed)

    def _exit_code(self, uid: str, pod: Pod) -> int | None:
        """How a running pod is to end now; None lets it run, with a timer if its time is known."""
        if uid in self._told:
            return self._told[uid]
        labels = podstatus.labels(pod)
        if self._finishing & {labels.get(JOB_UID, ""), labels.get(JOBSET_UID, "")}:
            return 0
        if (seconds := _play_seconds(pod)) is None:
            return None
        # Only of a pod that ran before we came: status times are whole seconds.
        left = seconds - podstatus.running_seconds(pod, podstatus.now())
        return 0 if self._is_due(uid, self._ends_at, left) else None

    def _is_due(self, uid: str, known: dict[str, float], seconds: float) -> bool:
        """Whether its time has come; sets a timer if not. ``seconds`` if no time is known yet."""
        now = _loop_time()
        left = known.setdefault(uid, now + seconds) - now
        if left > 0:
            self._look_later(uid, left)
        return left <= 0


def _runs(pod: Pod) -> bool:
    return podstatus.phase(pod) == "Running" and not podstatus.is_deleting(pod)


def _play_seconds(pod: Pod) -> float | None:
    seconds = podstatus.annotation(pod, PLAY_SECONDS)
    return None if seconds is None else float(seconds)


def _loop_time() -> float:
    return asyncio.get_running_loop().time()


def _place_of(pod: Pod) -> tuple[str, str]:
    return pod["metadata"]["namespace"], pod["metadata"]["name"]
