"""The core: sights of workloads go in, plans come out.

Everything that decides by quota drives this one class: the live loop, simulations, a policy's own
tests. It reads no clock and writes nothing; it remembers what was seen last and what it has
granted, and nothing that a fresh list of the cluster would not bring back.
"""

from __future__ import annotations

from collections.abc import Mapping

from webhook.model.queues import Quotas
from webhook.model.workload import Phase, Uid, Workload
from webhook.quota import explain
from webhook.quota.charging import admission_of, counted, counted_at_start, granted, held
from webhook.quota.contest import Contest, Planned
from webhook.quota.grants import Grant, is_later, is_older
from webhook.quota.growth import grown, shows, uid_of_growth, uid_that_grows, wish
from webhook.quota.ledger import Ledger, Stage
from webhook.quota.news import Eviction, Growth, Plan, QueueStatus, Start
from webhook.quota.order import Lines
from webhook.quota.reasons import Next, Reason
from webhook.quota.stops import Stop, Stops
from webhook.quota.tree import Tree


class Core:
    """Queues, who waits in them and what is held, for one policy at a time.

    Life of a workload: ``see`` it waiting → ``plan`` returns its start, which is charged from then
    on → the loop writes it and calls ``confirm`` (or ``refused``) → ``see`` it started → ``see``
    it stopping or finished, or ``forget`` it. A stop goes the same way: ``plan`` returns its
    eviction, which is told once and counts as stopping from then on.
    """

    def __init__(self, quotas: Quotas) -> None:
        self._grants: dict[Uid, Grant] = {}
        self._charged: dict[Uid, Workload] = {}
        self._orphans: dict[Uid, Workload] = {}
        self._stopped: dict[Uid, Stop] = {}
        self._growing: set[Uid] = set()
        self._stops = Stops(quotas)
        self._build(quotas)

    def _build(self, quotas: Quotas) -> None:
        self._quotas = quotas
        self._tree = Tree(quotas)
        self._ledger = Ledger(self._tree)
        self._lines = Lines(self._tree)
        self._contest = Contest(self._ledger, self._lines)
        self._stops.obey(quotas)
        self._tallies = [explain.Tally() for _ in self._tree.queues]

    @property
    def quotas(self) -> Quotas:
        """The policy in force."""
        return self._quotas

    @property
    def ledger(self) -> Ledger:
        """What is held; for tests and for whoever prints it, not to be changed."""
        return self._ledger

    @property
    def verdicts(self) -> int:
        """How often quota was asked about a shape since the policy is in force."""
        return self._contest.verdicts

    def see(self, workload: Workload) -> None:
        """Take in a workload as the cluster shows it; its phase says what becomes of it.

        Idempotent by uid. A sight older than the last one of the same uid is ignored (resource
        versions compare as numbers). While a start of ours is unconfirmed, a sight as waiting
        does not release its charge unless it is newer than the write ``confirm`` told of.
        """
        uid = workload.uid
        known = self._last_sight(uid)
        if known is not None and is_older(workload.resource_version, known.resource_version):
            return
        grant = self._grants.get(uid)
        waits = workload.phase is Phase.WAITING
        if grant is not None and waits and not grant.is_undone_by(workload):
            grant.latest = workload
        elif workload.phase is Phase.FINISHED or (waits and workload.deleting):
            self.forget(uid)
        elif workload.queue not in self._quotas.queues:
            self.forget(uid)
            self._orphans[uid] = workload
        elif waits:
            self._see_waiting(workload)
        else:
            self._see_charged(workload)

    def _last_sight(self, uid: Uid) -> Workload | None:
        entry = self._lines.entry(uid)
        if entry is not None:
            return entry.workload
        grant = self._grants.get(uid)
        if grant is not None:
            return grant.latest
        planned = self._contest.planned_of(uid)
        if planned is not None:
            return planned.workload
        return self._charged.get(uid) or self._orphans.get(uid)

    def _see_waiting(self, workload: Workload) -> None:
        planned = self._contest.planned_of(workload.uid)
        if planned is not None and self._same_wish(planned.workload, workload):
            self._contest.replan(workload)
        elif workload.uid in self._lines:
            self._wait(workload)
        else:
            self.forget(workload.uid)
            self._wait(workload)

    def _same_wish(self, planned: Workload, sight: Workload) -> bool:
        return sight.hold is None and self._lines.alike(planned, sight)

    def _wait(self, workload: Workload) -> None:
        before = self._lines.entry(workload.uid)
        if before is not None and before.workload.queue != workload.queue:
            self._wake_if_strict(before.workload)
        stood = before is not None and before.group is not None
        if self._lines.add(workload) or stood:
            self._contest.wake(self._tree.nodes[workload.queue])

    def _see_charged(self, workload: Workload) -> None:
        """It runs, or its pods are still going."""
        uid, node = workload.uid, self._tree.nodes[workload.queue]
        self._leave_line(uid)
        self._contest.unplan(uid)
        self._grants.pop(uid, None)
        self._orphans.pop(uid, None)
        self._drop_charged(uid)
        going = workload.phase is Phase.STOPPING or workload.deleting
        if going or self._runs_again(workload):
            self._stopped.pop(uid, None)
        if going:
            self._stops.forget(uid)
        elif uid not in self._stopped:
            self._stops.watch(workload)
        going = going or uid in self._stopped
        queue = self._quotas.queues[workload.queue]
        charges = self._ledger.number_of(held(queue, workload))
        stage = Stage.STOPPING if going else Stage.RUNS
        self._ledger.hold(uid, node, charges, stage=stage)
        self._contest.account(node, workload, counted(workload))
        self._charged[uid] = workload
        self._tallies[node].count(workload, 1)
        if going:
            self._grow_no_more(uid)
        elif workload.growth or uid in self._growing:
            self._see_growth(workload)

    def _see_growth(self, workload: Workload) -> None:
        """What it asks for on top waits as if it were another; until our grant of it is shown, that is kept."""
        uid, more = uid_of_growth(workload.uid), wish(workload)
        grant = self._grants.get(uid)
        if grant is not None and grant.grown is not None and shows(workload, grant.grown):
            self.forget(uid)
            grant = None
        if more is not None:
            self._growing.add(workload.uid)
            self.see(more)
        elif grant is None:
            self._grow_no_more(workload.uid)

    def _grow_no_more(self, uid: Uid) -> None:
        if uid in self._growing:
            self._growing.discard(uid)
            self.forget(uid_of_growth(uid))

    def _runs_again(self, sight: Workload) -> bool:
        """Somebody undid our stop."""
        stop = self._stopped.get(sight.uid)
        return stop is not None and is_later(sight, stop.version)

    def _drop_charged(self, uid: Uid) -> None:
        old = self._charged.pop(uid, None)
        if old is not None:
            self._tallies[self._tree.nodes[old.queue]].count(old, -1)

    def _leave_line(self, uid: Uid) -> None:
        entry = self._lines.remove(uid)
        if entry is not None:
            self._wake_if_strict(entry.workload)

    def _wake_if_strict(self, workload: Workload) -> None:
        """Whoever left may have been the one the others stood behind."""
        node = self._tree.nodes[workload.queue]
        if self._tree.strict[node]:
            self._contest.wake(node)

    def forget(self, uid: Uid) -> None:
        """The object is gone and so are its pods: whatever it held is free. Unknown uids are fine."""
        self._leave_line(uid)
        self._contest.unplan(uid)
        self._grants.pop(uid, None)
        self._orphans.pop(uid, None)
        self._stopped.pop(uid, None)
        self._stops.forget(uid)
        self._grow_no_more(uid)
        self._drop_charged(uid)
        self._ledger.release(uid)
        self._contest.discount(uid)

    def confirm(self, uid: Uid, resource_version: str) -> None:
        """The start, or the stop, was written, as this version of the object.

        It stays charged until a sight shows it started, or shows it waiting in a newer version; or
        stopping until a sight shows that, or shows it running in a newer version.
        """
        if uid in self._stopped:
            self._stopped[uid].version = resource_version
            self._see_charged(self._charged[uid])
        grant = self._grants.get(uid)
        if grant is None:
            return
        grant.version = resource_version
        if grant.is_undone_by(grant.latest):
            self.see(grant.latest)

    def refused(self, uid: Uid, until: float) -> None:
        """The start was not written: give back its charge; it waits again, in backoff till then.

        In backoff it blocks nobody, not even a strict queue; it keeps its place in the line.
        Without a start to take back (a planned or waiting one), it is only the backoff. If it was
        a stop that was not written, it runs on, and is not told to stop again before that.
        """
        if uid in self._charged:
            self._stopped.pop(uid, None)
            self._stops.postpone(uid, until)
            self._see_charged(self._charged[uid])
            return
        grant = self._grants.get(uid)
        planned = self._contest.planned_of(uid)
        if grant is not None or planned is not None:
            latest = grant.latest if grant is not None else planned.workload if planned else None
            whole = self._charged.get(uid_that_grows(uid))
            self.forget(uid)
            if whole is not None:
                self.see(whole)
            elif latest is not None:
                self.see(latest)
        if uid in self._lines:
            workload = self._lines.entry(uid)
            self._lines.delay(uid, until)
            if workload is not None:
                self._wake_if_strict(workload.workload)

    def replace(self, quotas: Quotas) -> None:
        """Change the policy: everything known is judged anew; starts of ours stay charged."""
        waiting = [*self._lines.workloads()]
        waiting += [
            one.workload for each in self._contest.planned.values() for one in each.values()
        ]
        others = [*self._charged.values(), *self._orphans.values()]
        delays = self._lines.delays()
        self._charged, self._orphans = {}, {}
        self._build(quotas)
        for uid, grant in self._grants.items():
            self._charge_grant(uid, grant)
        for workload in (*waiting, *others):
            self.see(workload)
        for uid, until in delays.items():
            self._lines.delay(uid, until)

    def _charge_grant(self, uid: Uid, grant: Grant) -> None:
        node = self._tree.nodes.get(grant.admission.queue)
        if node is not None and grant.admission.queue in self._quotas.queues:
            self._ledger.hold(uid, node, self._ledger.number_of(granted(grant.admission)))
            amounts = counted_at_start(grant.latest, grant.admission)
            self._contest.account(node, grant.latest, amounts)

    def plan(self, now: float) -> Plan:
        """One pass: decide to the fixed point, then start what fits beside what is stopping."""
        for queue in self._lines.due(now):
            self._contest.wake(queue)
        evictions = [self._stop(eviction) for eviction in self._stops.due(now)]
        begun = [one for root in self._contest.roots() for one in self._contest.run(root)]
        growths = [self._let_grow(one) for one in begun if not one.workload.jobs]
        starts = [self._grant(one) for one in begun if one.workload.jobs]
        moments = [m for m in (self._lines.next_due(), self._stops.next_due()) if m is not None]
        again_at, ready = min(moments, default=None), self._stops.unmarked(now)
        return Plan(tuple(starts), tuple(evictions), again_at, ready, tuple(growths))

    def _stop(self, eviction: Eviction) -> Eviction:
        """From now on it counts as stopping."""
        self._stopped[eviction.workload.uid] = Stop(eviction)
        self._see_charged(eviction.workload)
        return eviction

    def _grant(self, one: Planned) -> Start:
        admission = admission_of(one.workload, one.choice, self._quotas.revision)
        self._grants[one.workload.uid] = Grant(admission, one.workload, one.workload.uid)
        return Start(one.workload, admission)

    def _let_grow(self, one: Planned) -> Growth:
        uid = one.workload.uid
        more = admission_of(one.workload, one.choice, self._quotas.revision)
        whole = self._charged[uid_that_grows(uid)]
        record = grown(whole, more)
        self._grants[uid] = Grant(more, one.workload, whole.uid, record)
        return Growth(uid, whole, record)

    def reason(self, uid: Uid, now: float) -> Reason:
        """Why it does not run, as things stand now; ``Because.STARTED`` if it does."""
        if uid in self._grants:
            return explain.starting(self._grants[uid].admission)
        if uid in self._stopped:
            return explain.evicted(self._stopped[uid].eviction)
        if uid in self._growing and self._charged[uid].growth:
            growth = uid_of_growth(uid)
            if growth not in self._grants:
                return explain.growing(self._contest, growth, now, self._charged[uid])
        if uid in self._charged:
            return explain.charged(self._charged[uid])
        if uid in self._orphans:
            return explain.queue_gone(self._orphans[uid])
        return explain.waiting(self._contest, uid, now)

    def ahead(self, queue: str, priority: int) -> int:
        """How many in the line would go before a newcomer of this priority."""
        if queue not in self._quotas.queues:
            return 0
        return self._lines.ahead(self._tree.nodes[queue], priority)

    def waiting(self, queue: str) -> Mapping[tuple[int, str], int]:
        """(Number of a limit on how many may wait in the queue, subject) → how many wait."""
        if queue not in self._quotas.queues:
            return {}
        return dict(self._lines.by_subject[self._tree.nodes[queue]])

    def status(self) -> tuple[QueueStatus, ...]:
        """How every queue stands; its cost does not depend on how many wait."""
        granted_in: dict[str, int] = {}
        for grant in (each for each in self._grants.values() if each.grown is None):
            queue = grant.admission.queue
            granted_in[queue] = granted_in.get(queue, 0) + 1
        return tuple(
            explain.status(self._contest, seat, self._tallies[seat.queue], granted_in)
            for seat in self._contest.seats
        )

    def front(self, count: int, now: float) -> Mapping[str, tuple[Next, ...]]:
        """By queue the first few who wait, and why; its cost does not depend on how many wait."""
        names, seats = self._tree.names, self._contest.seats
        return {names[s.queue]: explain.front(self._contest, s, count, now) for s in seats}

    def unconfirmed(self) -> tuple[Uid, ...]:
        """Workloads whose start, growth or stop no sight has shown yet: the loop asks after a while."""
        return (*(grant.of for grant in self._grants.values()), *self._stopped)

    def orphans(self) -> tuple[Workload, ...]:
        """Workloads whose queue the policy does not have: charged nowhere, never started."""
        return tuple(self._orphans.values())
