"""Generated policies and histories: a small cluster that changes, and what a watch shows of it.

A history is a list of plain integers, so that it shrinks; what they mean depends on what there is at
that moment. Quotas are small and requests of their size, so that most of the time they are full.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any, TypeAlias

from hypothesis import strategies as st

from tests.quota.building import cohort, job, pods, quotas, running, share, stopping
from webhook.model.queues import (
    Cohort,
    Flavor,
    FlavorQuota,
    Order,
    Queue,
    Quotas,
    Share,
)
from webhook.model.workload import Admission, Phase, Uid, Workload
from webhook.quota.news import Start

FLAVORS = (
    Flavor("alpha", {"zone": "a"}),
    Flavor("beta", {"zone": "b"}),
    Flavor("gamma"),
)
SHAPES = [
    (pods(cpu=1),),
    (pods(cpu=2),),
    (pods(cpu=3, gpu=1),),
    (pods(count=2, cpu=2),),
    (pods(gpu=2),),
    (pods("lead", cpu=1), pods("work", count=2, cpu=1, gpu=1)),
    (pods("lead", cpu=3), pods("work", cpu=2)),
    (pods(cpu=5),),
    (pods(cpu=1, selector={"zone": "b"}),),
    (pods(count=0, cpu=1),),
    (pods(gpu=1, memory=4),),
    (pods("lead", cpu=1, gpu=2), pods("work", cpu=3)),
    (pods("lead", cpu=1, gpu=3), pods("work", cpu=2, gpu=1)),
    (pods("lead", gpu=2), pods("work", cpu=2, gpu=1)),
]
Step: TypeAlias = tuple[int, int, int, int]


def _share(random: Random) -> Share:
    borrow, lend = (random.choice([None, None, 0, 1, 2, 4]) for _ in range(2))
    return share(random.randint(0, 6), borrow, lend)


def _blocks(random: Random) -> tuple[FlavorQuota, ...]:
    names = random.sample(["alpha", "beta", "gamma"], random.randint(0, 3))
    resources = [["cpu"], ["cpu"], ["nvidia.com/gpu"], ["cpu", "nvidia.com/gpu"]]
    return tuple(
        FlavorQuota(name, {r: _share(random) for r in random.choice(resources)}) for name in names
    )


def any_policy(random: Random) -> Quotas:
    """Up to three cohorts, one below the other or not, and up to five queues."""
    cohorts: list[Cohort] = []
    for name in ("c1", "c2", "c3")[: random.randint(0, 3)]:
        parent = random.choice([None, *(each.name for each in cohorts)])
        caps = {("alpha", "cpu"): random.randint(0, 8), ("gamma", "cpu"): random.randint(0, 8)}
        cap = dict(random.sample(sorted(caps.items()), random.choice([0, 0, 1, 2])))
        cohorts.append(cohort(name, parent, *_blocks(random), cap=cap))
    names: list[str | None] = [each.name for each in cohorts] or [None]
    queues = [
        Queue(name, random.choice([*names, *names, None]), _blocks(random), _order(random))
        for name in ("q1", "q2", "q3", "q4", "q5")[: random.randint(1, 5)]
    ]
    return quotas(*queues, *cohorts, flavors=FLAVORS)


def tight_policy(random: Random) -> Quotas:
    """One cohort, one flavor, one resource: everybody is in everybody's way."""
    queues = [
        Queue(name, "c1", (FlavorQuota("gamma", {"cpu": _share(random)}),), _order(random))
        for name in ("q1", "q2", "q3")
    ]
    return quotas(*queues, cohort("c1"), flavors=FLAVORS)


def choosy_policy(random: Random) -> Quotas:
    """Two flavors of two resources, so that pod sets get in each other's way."""

    def both(most: int) -> tuple[FlavorQuota, ...]:
        return tuple(
            FlavorQuota(
                name, {r: share(random.randint(0, most)) for r in ("cpu", "nvidia.com/gpu")}
            )
            for name in random.sample(["beta", "gamma"], 2)
        )

    queues = [Queue(name, "c1", both(3), _order(random)) for name in ("q1", "q2", "q3")]
    return quotas(*queues, cohort("c1", None, *both(5)), flavors=FLAVORS)


def _order(random: Random) -> Order:
    return random.choice(list(Order))


seeds = st.integers(0, 2**32)
steps = st.lists(
    st.tuples(st.integers(0, 22), st.integers(0, 7), st.integers(0, 13), st.integers(0, 2)),
    min_size=5,
    max_size=60,
)


class Cluster:
    """The truth, and who is told of it."""

    def __init__(self, *listeners: Any) -> None:
        self.listeners = listeners
        self.objects: dict[Uid, Workload] = {}
        self.admissions: dict[Uid, Admission] = {}
        self.shown: list[Workload] = []
        self.version = 0
        self.born = 0

    def tell(self, name: str, *args: Any) -> None:
        for listener in self.listeners:
            getattr(listener, name)(*args)

    def show(self, workload: Workload) -> None:
        """The object changes and the watch shows it."""
        self.version += 1
        workload = replace(workload, resource_version=str(self.version))
        self.objects[workload.uid] = workload
        self.shown.append(workload)
        self.tell("see", workload)

    def take(self, starts: tuple[Start, ...]) -> None:
        """Starts of ours, on their way to the API server."""
        for start in starts:
            self.admissions[start.workload.uid] = start.admission

    def step(self, step: Step) -> None:
        kind, a, b, c = step
        actions: list[Callable[[int, int, int], None]] = [
            self.arrive, self.arrive, self.arrive, self.arrive, self.arrive, self.arrive,
            self.arrive, self.begin, self.begin, self.begin, self.begin, self.finish, self.finish,
            self.stop, self.stop, self.pods_go, self.delete, self.refuse, self.hold,
            self.delay, self.change, self.replay, self.write,
        ]  # fmt: skip
        actions[kind](a, b, c)

    def pick(self, at: int, *phases: Phase, granted: bool = False) -> Workload | None:
        found = [
            w
            for w in self.objects.values()
            if w.phase in phases and (w.uid in self.admissions) == granted
        ]
        return found[at % len(found)] if found else None

    def arrive(self, a: int, b: int, c: int) -> None:
        self.born += 1
        place = float(self.born if a % 4 else a)
        asks = SHAPES[b % len(SHAPES)]
        queue = self.queue(a)
        self.show(job(f"w{self.born:03}", queue, *asks, priority=c, place=place))

    def queue(self, at: int) -> str:
        """Mostly one that exists, if the first listener knows."""
        names = sorted(self.listeners[0].quotas.queues)
        return "gone" if at == 7 else names[at % len(names)]

    def begin(self, a: int, b: int, c: int) -> None:
        one = self.pick(a, Phase.WAITING, granted=True)
        if one is not None:
            self.show(running(one, self.admissions.pop(one.uid)))

    def write(self, a: int, b: int, c: int) -> None:
        """The write is confirmed; perhaps somebody suspends it again before anybody sees it run."""
        one = self.pick(a, Phase.WAITING, granted=True)
        if one is not None:
            self.version += 1
            self.tell("confirm", one.uid, str(self.version))
            if c == 2:
                del self.admissions[one.uid]
                self.show(one)

    def finish(self, a: int, b: int, c: int) -> None:
        one = self.pick(a, Phase.STARTED)
        if one is not None:
            self.show(replace(one, phase=Phase.FINISHED, holds={}))
            del self.objects[one.uid]

    def delete(self, a: int, b: int, c: int) -> None:
        if self.objects:
            uid = sorted(self.objects)[a % len(self.objects)]
            del self.objects[uid]
            self.admissions.pop(uid, None)
            self.tell("forget", uid)

    def refuse(self, a: int, b: int, c: int) -> None:
        one = self.pick(a, Phase.WAITING, granted=True)
        if one is not None:
            del self.admissions[one.uid]
            self.tell("refused", one.uid, float(self.now + c))

    now = 0

    def stop(self, a: int, b: int, c: int) -> None:
        one = self.pick(a, Phase.STARTED)
        if one is not None:
            self.show(stopping(one))

    def pods_go(self, a: int, b: int, c: int) -> None:
        one = self.pick(a, Phase.STOPPING)
        if one is not None and c == 0:
            self.show(replace(one, holds={name: max(0, k - 1) for name, k in one.holds.items()}))
        elif one is not None:
            self.show(replace(one, phase=Phase.WAITING, holds={}))

    def hold(self, a: int, b: int, c: int) -> None:
        one = self.pick(a, Phase.WAITING)
        if one is not None:
            self.show(replace(one, hold=None if one.hold is not None else "asked for"))

    def delay(self, a: int, b: int, c: int) -> None:
        one = self.pick(a, Phase.WAITING)
        if one is not None:
            self.tell("refused", one.uid, float(self.now + b))

    def change(self, a: int, b: int, c: int) -> None:
        """Somebody edits a waiting one: its queue, its priority, what it asks for."""
        one = self.pick(a, Phase.WAITING)
        if one is not None:
            edits: list[dict[str, Any]] = [
                {"queue": self.queue(b)},
                {"priority": b % 3},
                {"asks": SHAPES[b % len(SHAPES)]},
            ]
            self.show(replace(one, **edits[c]))

    def replay(self, a: int, b: int, c: int) -> None:
        """The watch repeats itself, or shows something late."""
        late = [w for w in self.shown[-12:] if w.uid in self.objects]
        if late:
            self.tell("see", late[(a + b) % len(late)])
