"""Answers to "why does it wait" and "how do the queues stand", from what the planner knows.

Asked one by one, of a person or once a second for all queues; so nothing here is kept up to date in
advance, and nothing walks over those who wait.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from types import MappingProxyType

from webhook.model.quantity import Amount
from webhook.model.workload import Admission, Phase, Uid, Workload
from webhook.quota.contest import Contest, Planned
from webhook.quota.flavors import Option
from webhook.quota.limits import OverLimit
from webhook.quota.line import Waiting
from webhook.quota.news import Balance, Eviction, QueueStatus
from webhook.quota.reasons import Because, Lack, Next, Reason
from webhook.quota.seat import Seat
from webhook.quota.shape import Shape


@dataclass(slots=True)
class Tally:
    """Counts of one queue that would cost a walk otherwise."""

    started: int = 0
    stopping: int = 0
    bypassed: dict[Uid, None] = field(default_factory=dict)

    def count(self, workload: Workload, step: int) -> None:
        """A charged workload came, or went."""
        if workload.phase is Phase.STOPPING or workload.deleting:
            self.stopping += step
            return
        self.started += step
        if workload.admission is None and step > 0:
            self.bypassed[workload.uid] = None
        else:
            self.bypassed.pop(workload.uid, None)


def status(
    contest: Contest, seat: Seat, tally: Tally, granted_in: Mapping[str, int]
) -> QueueStatus:
    """One queue."""
    tree, queue = contest.tree, seat.queue
    name = tree.names[queue]
    used = contest.ledger.now.used[queue]
    counted = [n for n in range(len(tree.pairs)) if n in seat.menu.numbers or used[n]]
    counts, free = contest.lines.counts[queue], seat.frees(counted)
    return QueueStatus(
        queue=name,
        balances=MappingProxyType(
            {tree.pairs[n]: _balance(contest, seat, n, free[n][0]) for n in counted}
        ),
        waiting=MappingProxyType({p: counts[p] for p in sorted(counts, reverse=True)}),
        planned=seat.planned,
        started=tally.started + granted_in.get(name, 0),
        stopping=tally.stopping,
        bypassed=tuple(sorted(tally.bypassed)),
    )


def _balance(contest: Contest, seat: Seat, number: int, available: Amount) -> Balance:
    tree, queue = contest.tree, seat.queue
    return Balance(
        nominal=tree.nominal[queue][number],
        used=contest.ledger.now.used[queue][number],
        available=available,
        potential=seat.potential(number),
    )


def front(contest: Contest, seat: Seat, count: int, now: float) -> tuple[Next, ...]:
    """The first of a queue that differ in what they ask for: those planned, then those in line."""
    planned = contest.planned.get(contest.tree.roots[seat.queue], {}) if seat.planned else {}
    mine = [(one.workload, 0) for one in planned.values() if one.queue == seat.queue]
    groups = islice(seat.line.groups(), count)
    line = [(group.example().workload, group.live - 1) for group in groups]
    return tuple(
        Next(workload, alike, waiting(contest, workload.uid, now))
        for workload, alike in (mine + line)[:count]
    )


def starting(admission: Admission) -> Reason:
    """Its start is on the way to the cluster."""
    return Reason(Because.STARTED, f"starting in {admission.queue}")


def charged(workload: Workload) -> Reason:
    """It runs, or it did."""
    if workload.phase is Phase.STOPPING or workload.deleting:
        pods = sum(workload.holds.values())
        return Reason(Because.STOPPING, f"stopping: {_pods(pods)} of it not gone yet")
    return Reason(Because.STARTED, f"started in {workload.queue}")


def growing(contest: Contest, growth: Uid, now: float, workload: Workload) -> Reason:
    """It runs, and waits for more pods."""
    inner = waiting(contest, growth, now)
    more = _pods(sum(pods.count for pods in workload.growth))
    text = f"started in {workload.queue}, {more} more: {inner.text}"
    return replace(inner, kind=Because.STARTED, text=text)


def evicted(eviction: Eviction) -> Reason:
    """We have told it to stop."""
    return Reason(Because.STOPPING, f"stopping: {eviction.text}")


def queue_gone(workload: Workload) -> Reason:
    """No policy knows its queue."""
    return Reason(Because.QUEUE_GONE, f"queue {workload.queue} is in no policy")


def waiting(contest: Contest, uid: Uid, now: float) -> Reason:
    """Whoever waits: planned, beside the line, or in it."""
    planned = contest.planned_of(uid)
    if planned is not None:
        return _victims(contest, planned)
    entry = contest.lines.entry(uid)
    if entry is None:
        return Reason(Because.UNKNOWN, "not known here")
    return _beside(contest, entry.workload, now) or _in_line(contest, entry)


def _beside(contest: Contest, workload: Workload, now: float) -> Reason | None:
    """On hold itself, or its queue, or in backoff."""
    halt = contest.lines.menus[contest.lines.node(workload)].queue.halt
    if workload.hold is not None:
        return Reason(Because.HOLD, _because("on hold", workload.hold))
    if halt is not None:
        verb = "drains" if halt.drains else "is on hold"
        return Reason(Because.HOLD, _because(f"queue {workload.queue} {verb}", halt.reason))
    until = contest.lines.until(workload.uid)
    if until is None:
        return None
    late = workload.evicted.count if workload.evicted is not None else 0
    text = f"tried again in {max(0, round(until - now))} s"
    if late:
        text += f", not ready in time {late} {'time' if late == 1 else 'times'}"
    return Reason(Because.BACKOFF, text, until=until)


def _because(what: str, why: str) -> str:
    return f"{what}: {why}" if why else what


def _victims(contest: Contest, planned: Planned) -> Reason:
    """It has its capacity as soon as those who stop are gone."""
    usage, queue = contest.ledger.now, planned.queue
    lacks = [
        _lack(contest, contest.seats[queue], number, amount, usage.available(queue, number))
        for number, amount in planned.choice.charges
        if usage.available(queue, number) < amount
    ]
    wants = ", ".join(f"{lack.asks}, {lack.text}" for lack in lacks)
    text = f"waits for pods that are stopping: needs {wants}" if lacks else "starts next"
    return Reason(Because.VICTIMS, text, lacks=tuple(lacks))


def _in_line(contest: Contest, entry: Waiting) -> Reason:
    seat = contest.seats[contest.lines.node(entry.workload)]
    shape = entry.shape
    ahead = contest.lines.ahead(seat.queue, entry.workload.priority + 1)
    if not shape.covered:
        return Reason(Because.NEVER_FITS, _uncovered(seat, entry.workload))
    if shape.never is not None:
        return Reason(Because.NEVER_FITS, shape.never.text)
    over = _over(contest, seat, entry.workload)
    if over is not None:
        return Reason(Because.LIMIT, over.text, ahead=ahead, over=over)
    behind = _behind(contest, seat, entry)
    if behind is not None:
        text = f"waits behind {behind.title} in {behind.queue}"
        return Reason(Because.ORDER, text, behind=behind.uid, ahead=ahead)
    lacks = _lacks(contest, seat, shape)
    if not lacks:
        return Reason(Because.ORDER, "fits, next in a moment", ahead=ahead)
    passed, since = contest.lines.passed_over(entry)
    text = _least(shape, quota_text(lacks))
    return Reason(
        Because.QUOTA, text, lacks=lacks, ahead=ahead, passed_over=passed, passed_since=since
    )


def _uncovered(seat: Seat, workload: Workload) -> str:
    asked = {r for pods in workload.asks for r, amount in pods.total.items() if amount > 0}
    missing = sorted(r for r in asked - seat.menu.resources if not seat.menu.may_ignore(r))
    return f"no quota of {workload.queue} names {', '.join(missing)}"


def _over(contest: Contest, seat: Seat, workload: Workload) -> OverLimit | None:
    bounds = contest.lines.accounts.bounds[seat.queue]
    return bounds.over(workload, workload.least, workload.jobs) if bounds is not None else None


def _behind(contest: Contest, seat: Seat, entry: Waiting) -> Workload | None:
    """In a strict queue, the one that everybody else waits for."""
    if not contest.tree.strict[seat.queue]:
        return None
    if seat.planned:
        planned = contest.planned[seat.root].values()
        return next(one.workload for one in planned if one.queue == seat.queue)
    first = seat.line.first()
    return None if first is None or first is entry else first.workload


def quota_text(lacks: Sequence[Lack]) -> str:
    """``needs 8 nvidia.com/gpu, 3 free of 64``; of several flavors, what each of them lacks."""
    if len({lack.asks for lack in lacks}) == 1:
        return f"needs {lacks[0].asks}, " + "; ".join(lack.text for lack in lacks)
    return "; ".join(f"needs {lack.asks}, {lack.text}" for lack in lacks)


def _least(shape: Shape, text: str) -> str:
    """Who may start with fewer pods needs what these need."""
    return text.replace("needs ", "needs at least ") if shape.partial is not None else text


def _lacks(contest: Contest, seat: Seat, shape: Shape) -> tuple[Lack, ...]:
    """What the first pod set that finds no flavor is short of, on each flavor it tried."""
    numbers = {
        n for want in shape.least_wants for o in want.groups for each in o for n, _ in each.charges
    }
    frees = seat.frees(sorted(numbers))
    free = {number: amount for number, (amount, _held_back) in frees.items()}
    taken: dict[int, Amount] = {}
    for want in shape.least_wants:
        mine: list[Option] = []
        for options in want.groups:
            fitting = [o for o in options if not _short(free, o, taken)]
            agreed = [o for o in fitting if all(seat.menu.agree(o.flavor, m.flavor) for m in mine)]
            if not agreed:
                return tuple(_shortest(contest, seat, o, taken, frees) for o in options)
            for number, amount in agreed[0].charges:
                taken[number] = taken.get(number, 0) + amount
            mine.append(agreed[0])
    return ()


def _short(
    free: Mapping[int, Amount], option: Option, taken: Mapping[int, Amount]
) -> list[tuple[int, Amount]]:
    """(number, asked) of the option that is not free."""
    wanted = ((n, amount + taken.get(n, 0)) for n, amount in option.charges)
    return [(n, amount) for n, amount in wanted if free[n] < amount]


def _shortest(
    contest: Contest,
    seat: Seat,
    option: Option,
    taken: Mapping[int, Amount],
    frees: Mapping[int, tuple[Amount, Amount]],
) -> Lack:
    """The resource that is scarcest for what is asked of it."""
    free = {number: amount for number, (amount, _held_back) in frees.items()}
    short = _short(free, option, taken) or list(option.charges)
    number, asked = min(short, key=lambda each: free[each[0]] / each[1])
    return _lack(contest, seat, number, asked, *frees[number])


def _lack(
    contest: Contest, seat: Seat, number: int, asked: Amount, free: Amount, held_back: Amount = 0
) -> Lack:
    """Out of its own quota, or of all it could have where it has more than its own free."""
    flavor, resource = contest.tree.pairs[number]
    nominal = contest.tree.nominal[seat.queue][number]
    out_of = nominal if nominal and nominal >= free else seat.potential(number)
    return Lack(flavor, resource, asked, free, out_of, held_back)


def _pods(count: int) -> str:
    return "1 pod" if count == 1 else f"{count} pods"
