"""What one start costs as the number of those who wait grows: ``make bench`` prints the table.

100 queues in ten cohorts, two flavors of two resources, seven shapes at three priorities, everything
full: one workload ends, one pass, its successors arrive. The count of verdicts does not depend on
the machine; the microseconds do, so no test asserts them.
"""

from __future__ import annotations

import gc
from dataclasses import replace
from itertools import pairwise
from random import Random
from time import process_time
from typing import NamedTuple

import pytest

from tests.quota.building import amounts, cohort, job, pods, queue, quota, quotas, running
from webhook.model.queues import Flavor, Limit, Quotas, Subject
from webhook.model.workload import Phase, PodSet, Workload
from webhook.quota.plan import Core

SIZES = (1_000, 10_000, 100_000)
SHAPES: tuple[tuple[PodSet, ...], ...] = tuple(
    (pods(cpu=cpu, memory=memory),)
    for cpu, memory in ((1, 1), (1, 4), (2, 2), (4, 4), (8, 8), (4, 16), (16, 16))
)


PER_USER = Limit(Subject.USER, None, amounts(cpu=40), jobs=20)


def policy(
    queues: int = 100, members: int = 10, *, strict: bool = False, limits: tuple[Limit, ...] = ()
) -> Quotas:
    """Cohorts of some members each; every member owns two flavors and may borrow and lend."""
    cohorts = [cohort(f"c{number}") for number in range(-(-queues // members))]
    leaves = [
        queue(
            f"q{number:04}",
            quota("one", cpu=40, memory=60),
            quota("two", cpu=20, memory=20),
            cohort=f"c{number // members}",
            strict=strict,
            limits=limits,
        )
        for number in range(queues)
    ]
    return quotas(*cohorts, *leaves, flavors=[Flavor("one"), Flavor("two")])


class Figures(NamedTuple):
    """One row of the table."""

    waiting: int
    starts: int
    verdicts: float
    microseconds: float
    idle_microseconds: float


class Load:
    """A core that is full, and what keeps it so."""

    def __init__(self, quotas: Quotas, waiting: int) -> None:
        self.random = Random(7)
        self.core = Core(quotas)
        self.queues = sorted(quotas.queues)
        self.born = 0
        self.live: list[Workload] = []
        for _ in range(waiting):
            self.core.see(self.arrival(self.random.choice(self.queues)))
        while starts := self.core.plan(0.0).starts:
            self.refill(starts)

    def arrival(self, queue: str) -> Workload:
        self.born += 1
        return job(
            f"{self.born:08}-0000-4000-8000-000000000000",
            queue,
            *self.random.choice(SHAPES),
            priority=self.random.choice((0, 100, 1000)),
            place=float(self.born),
            submitted_by=f"user-{self.born % 10}",
        )

    def refill(self, starts) -> None:
        """The starts are shown, and as many arrive."""
        for start in starts:
            workload = running(start.workload, start.admission)
            self.core.see(workload)
            self.live.append(workload)
            self.core.see(self.arrival(workload.queue))

    def finish_one(self) -> None:
        at = self.random.randrange(len(self.live))
        self.live[at], self.live[-1] = self.live[-1], self.live[at]
        self.core.see(replace(self.live.pop(), phase=Phase.FINISHED, holds={}))

    def churn(self, starts: int) -> int:
        """Let so many start, one after the other ends."""
        done = 0
        while done < starts:
            self.finish_one()
            plan = self.core.plan(0.0)
            self.refill(plan.starts)
            done += len(plan.starts)
        return done


def memory_of_those_who_wait(waiting: int, limits: tuple[Limit, ...] = ()) -> float:
    """Bytes each of them adds, its own value included, by the operating system's count."""
    gc.collect()
    before = _resident()
    load = Load(policy(limits=limits), 0)
    for _ in range(waiting):
        load.core.see(load.arrival(load.queues[load.born % len(load.queues)]))
    return (_resident() - before) / waiting


def _resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
        return int(file.read().split()[1]) * 4096


def measure(
    waiting: int,
    *,
    starts: int = 2_000,
    strict: bool = False,
    limits: tuple[Limit, ...] = (),
) -> Figures:
    """The best of five chunks, so that a neighbour's work does not count as ours."""
    load = Load(policy(strict=strict, limits=limits), waiting)
    load.churn(starts // 4)
    gc.collect()
    gc.freeze()
    gc.disable()
    verdicts, done, times = load.core.verdicts, 0, []
    try:
        for _chunk in range(5):
            began = process_time()
            some = load.churn(starts // 5)
            times.append((process_time() - began) / some)
            done += some
    finally:
        gc.enable()
        gc.unfreeze()
    verdicts = load.core.verdicts - verdicts
    load.core.plan(0.0)
    began = process_time()
    for _ in range(100):
        load.core.plan(0.0)
    idle = (process_time() - began) / 100
    return Figures(waiting, done, verdicts / done, min(times) * 1e6, idle * 1e6)


@pytest.mark.bench
def test_what_a_start_costs() -> None:
    each = [memory_of_those_who_wait(100_000, limits) for limits in ((), (PER_USER,))]
    for name, strict, limits in (
        ("first-fit", False, ()),
        ("strict", True, ()),
        ("first-fit with limits per user", False, (PER_USER,)),
    ):
        rows = [measure(waiting, strict=strict, limits=limits) for waiting in SIZES]
        print(f"\n{name}, 100 queues in 10 cohorts")
        print(
            f"{'waiting':>9} {'starts':>7} {'verdicts/start':>15} {'CPU us/start':>13} {'idle us':>8}"
        )
        for row in rows:
            print(
                f"{row.waiting:>9,} {row.starts:>7,} {row.verdicts:>15.1f}"
                f" {row.microseconds:>13.0f} {row.idle_microseconds:>8.1f}"
            )
        for small, large in pairwise(rows):
            print(
                f"{small.waiting:>9,} -> {large.waiting:,}: verdicts x"
                f"{large.verdicts / small.verdicts:.2f}, CPU x"
                f"{large.microseconds / small.microseconds:.2f}"
            )
    print(f"\n{each[0]:.0f} bytes a waiting workload, the workload itself included")
    print(f"{each[1]:.0f} with limits per user")
