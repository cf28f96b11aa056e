"""The planner as the text says it, in the plainest way: everything from scratch, every time.

Shares no code with ``webhook.quota`` but the values that go in and out. Slow, and that is the point:
nothing here is remembered between two questions but what was seen, granted and planned.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tests.quota.arithmetic import Amounts, Arithmetic, Holdings
from webhook.model.queues import FlavorQuota, FlavorResource, Order, Queue, Quotas
from webhook.model.workload import Phase, PodSet, Workload

IGNORED = {"cpu", "memory", "ephemeral-storage", "pods"}


@dataclass
class Plannee:
    workload: Workload
    flavors: list[dict[str, str]]
    amounts: Amounts


@dataclass
class Reference:
    quotas: Quotas
    waiting: dict[str, Workload] = field(default_factory=dict)
    delays: dict[str, float] = field(default_factory=dict)
    planned: list[Plannee] = field(default_factory=list)
    granted: dict[str, Plannee] = field(default_factory=dict)
    charged: dict[str, Workload] = field(default_factory=dict)
    latest: dict[str, Workload] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.math = Arithmetic(self.quotas)

    def see(self, workload: Workload) -> None:
        uid = workload.uid
        known = self.latest.get(uid)
        if known and int(workload.resource_version) < int(known.resource_version):
            return
        self.latest[uid] = workload
        waits = workload.phase is Phase.WAITING
        if uid in self.granted and waits and not self._undone(uid):
            return
        before = next((p for p in self.planned if p.workload.uid == uid), None)
        if before and waits and not workload.hold and _same(before.workload, workload):
            before.workload = workload
            return
        delay = self.delays.get(uid) if uid in self.waiting and waits else None
        self.forget(uid)
        if workload.phase is Phase.FINISHED:
            return
        self.latest[uid] = workload
        if workload.queue in self.quotas.queues:
            (self.waiting if waits else self.charged)[uid] = workload
            if delay is not None:
                self.delays[uid] = delay

    def _undone(self, uid: str) -> bool:
        written = self.versions.get(uid)
        return written is not None and written < int(self.latest[uid].resource_version)

    def forget(self, uid: str) -> None:
        self.planned = [p for p in self.planned if p.workload.uid != uid]
        for known in (self.waiting, self.delays, self.granted, self.charged, self.latest):
            known.pop(uid, None)
        self.versions.pop(uid, None)

    def confirm(self, uid: str, version: str) -> None:
        if uid in self.granted:
            self.versions[uid] = int(version)
            self.see(self.latest[uid])

    def refused(self, uid: str, until: float) -> None:
        latest = self.latest.get(uid)
        if uid in self.granted or any(p.workload.uid == uid for p in self.planned):
            assert latest is not None
            self.forget(uid)
            self.see(latest)
        if uid in self.waiting:
            self.delays[uid] = until

    def replace(self, quotas: Quotas) -> None:
        self.quotas, self.math = quotas, Arithmetic(quotas)
        everything, delays = dict(self.latest), dict(self.delays)
        self.planned, self.waiting, self.charged, self.delays = [], {}, {}, {}
        for uid, workload in everything.items():
            if uid not in self.granted:
                del self.latest[uid]
                self.see(workload)
        self.delays = {uid: at for uid, at in delays.items() if uid in self.waiting}

    def runs(self) -> Holdings:
        held = [(p.workload.queue, p.amounts) for p in self.granted.values()]
        known = [(queue, amounts) for queue, amounts in held if queue in self.quotas.queues]
        live = (w for w in self.charged.values() if w.phase is Phase.STARTED)
        return known + [(w.queue, self._held(w)) for w in live]

    def _held(self, workload: Workload) -> Amounts:
        """Everybody in these histories has a record; the policy may have changed since."""
        total: dict[FlavorResource, int] = {}
        assert workload.admission is not None
        for one, pods in zip(workload.admission.pod_sets, workload.asks, strict=True):
            flavors = dict(one.flavors)
            for blocks in _groups(self.quotas.queues[workload.queue]):
                mine = [b for b in blocks if b.flavor in one.flavors.values()] or blocks
                new = [r for r in pods.requests if r not in one.flavors]
                new = [r for r in new if any(r in b.shares for b in blocks)]
                for r in new:
                    whole = [b for b in mine if r in b.shares and set(new) <= set(b.shares)]
                    for block in (whole or [b for b in mine if r in b.shares])[:1]:
                        flavors[r] = block.flavor
            for resource, flavor in flavors.items():
                fr = FlavorResource(flavor, resource)
                amount = pods.requests[resource] * workload.holds[pods.name]
                total[fr] = total.get(fr, 0) + amount
        return total

    def stopping(self) -> Holdings:
        gone = (w for w in self.charged.values() if w.phase is Phase.STOPPING)
        return [(w.queue, self._held(w)) for w in gone]

    def afterwards(self) -> Holdings:
        return self.runs() + [(p.workload.queue, p.amounts) for p in self.planned]

    def line(self, queue: str) -> list[Workload]:
        mine = (w for w in self.waiting.values() if w.queue == queue and w.hold is None)
        there = [w for w in mine if w.uid not in self.delays]
        return sorted(there, key=lambda w: (-w.priority, w.place, w.uid))

    def held_back(self, queues: Iterable[str]) -> dict[str, Amounts]:
        """What blocked strict queues in cohorts keep of their own; empty where it comes to naught."""
        found: dict[str, Amounts] = {}
        after = self.afterwards()
        for name in queues:
            queue, line = self.quotas.queues[name], self.line(name)
            if queue.order is not Order.STRICT or self.math.parent(name) is None or not line:
                continue
            if self.has_planned(name) or self.assign(line[0], after) is not None:
                continue
            own = self._assign(line[0], lambda fr, name=name: self.least_own(name, fr))
            ideal = own or self.assign(line[0], [])
            if ideal is not None:
                found[name] = {
                    fr: min(n, self.math.share(name, fr).nominal - self.math.used(name, fr, after))
                    for fr, n in ideal.amounts.items()
                    if self.math.share(name, fr).nominal > self.math.used(name, fr, after)
                }
        return found

    def least_own(self, queue: str, fr: FlavorResource) -> int:
        return min(self.math.share(queue, fr).nominal, self.math.available(queue, fr, []))

    def has_planned(self, queue: str) -> bool:
        return any(p.workload.queue == queue for p in self.planned)

    def assign(self, workload: Workload, held: Holdings) -> Plannee | None:
        return self._assign(workload, lambda fr: self.math.available(workload.queue, fr, held))

    def _assign(self, workload, free) -> Plannee | None:
        queue = self.quotas.queues[workload.queue]
        total: dict[FlavorResource, int] = {}
        flavors = []
        for pods in workload.asks:
            mine: dict[str, str] = {}
            for blocks in _groups(queue):
                asked = {
                    r: n for r, n in pods.total.items() if n and any(r in b.shares for b in blocks)
                }
                if not asked:
                    continue
                for block in blocks:
                    named = {
                        FlavorResource(block.flavor, r): n
                        for r, n in asked.items()
                        if r in block.shares
                    }
                    if (
                        named
                        and all(r in block.shares or r in IGNORED for r in asked)
                        and self._nodes_agree(block, pods, mine.values())
                        and all(n + total.get(fr, 0) <= free(fr) for fr, n in named.items())
                    ):
                        break
                else:
                    return None
                for fr, n in named.items():
                    total[fr] = total.get(fr, 0) + n
                    mine[fr.resource] = fr.flavor
            if any(n and r not in IGNORED and r not in mine for r, n in pods.total.items()):
                return None
            flavors.append(mine)
        return Plannee(workload, flavors, total)

    def _nodes_agree(self, block: FlavorQuota, pods: PodSet, chosen: Iterable[str]) -> bool:
        wanted = [pods.node_selector, *(self.quotas.flavors[name].nodes for name in chosen)]
        nodes = self.quotas.flavors[block.flavor].nodes.items()
        return all(labels.get(key, value) == value for labels in wanted for key, value in nodes)

    def best(self, queues: list[str]) -> Plannee | None:
        after, back = self.afterwards(), self.held_back(queues)
        found = []
        for name in queues:
            strict = self.quotas.queues[name].order is Order.STRICT
            if strict and self.has_planned(name):
                continue
            for workload in self.line(name)[: 1 if strict else None]:
                if strict and self.math.parent(name) and self.assign(workload, after) is None:
                    continue
                one = self.assign(workload, after + list(back.items()))
                if one is not None:
                    height = self.math.height(name, one.amounts, after)
                    found.append(((height, -workload.priority, workload.place, workload.uid), one))
                    break
        return min(found, key=lambda each: each[0])[1] if found else None

    def plan(self, now: float) -> list[Plannee]:
        self.delays = {uid: until for uid, until in self.delays.items() if until > now}
        begun: list[Plannee] = []
        tops = {self.math.up(queue)[-1] for queue in self.quotas.queues}
        for root in sorted(tops, key=lambda name: (name in self.quotas.cohorts, name)):
            queues = [queue for queue in self.quotas.queues if self.math.up(queue)[-1] == root]
            begun += self._pass(queues)
        return begun

    def _pass(self, queues: list[str]) -> list[Plannee]:
        begun = [p for p in list(self.planned) if p.workload.queue in queues and self._begin(p)]
        if not any(queue in queues for queue, _ in self.stopping()):
            for p in [p for p in self.planned if p.workload.queue in queues]:
                self.planned.remove(p)
                self.waiting[p.workload.uid] = p.workload
        while (best := self.best(queues)) is not None:
            del self.waiting[best.workload.uid]
            self.planned.append(best)
            if self._begin(best):
                begun.append(best)
        return begun

    def _begin(self, one: Plannee) -> bool:
        held = self.runs() + self.stopping()
        queue = one.workload.queue
        if any(self.math.available(queue, fr, held) < n for fr, n in one.amounts.items()):
            return False
        self.planned.remove(one)
        self.granted[one.workload.uid] = one
        return True


def _same(one: Workload, other: Workload) -> bool:
    return all(
        getattr(one, each) == getattr(other, each)
        for each in ("queue", "priority", "place", "asks")
    )


def _groups(queue: Queue) -> list[list[FlavorQuota]]:
    """Blocks connected by shared resources: colours spread until nothing changes."""
    colour = list(range(len(queue.quotas)))
    for _round in queue.quotas:
        for i, one in enumerate(queue.quotas):
            for j, other in enumerate(queue.quotas):
                if set(one.shares) & set(other.shares):
                    colour[i] = colour[j] = min(colour[i], colour[j])
    return [
        [b for b, c in zip(queue.quotas, colour, strict=True) if c == each]
        for each in sorted(set(colour))
    ]
