"""Who is next: one tree after the other, one workload after the other, until nobody fits.

A queue's nominee is the first of its line that fits; in a strict queue the very first or nobody.
Across the queues of a tree the next is the nominee with the least (height, −priority, place, uid),
judged anew after every step. Queues are asked in the order of a lower bound of that key, so that
most are not asked at all; capacity only shrinks during a pass, so what did not fit is not asked twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import TypeAlias

from webhook.model.quantity import Amount, Amounts
from webhook.model.workload import Uid, Workload
from webhook.quota.flavors import Choice
from webhook.quota.ledger import Ledger, Stage
from webhook.quota.line import Group, Place, Waiting
from webhook.quota.order import Lines
from webhook.quota.partial import taken, within
from webhook.quota.seat import Seat
from webhook.quota.shape import Shape

Key: TypeAlias = tuple[int, Place]
Heap: TypeAlias = list[tuple[Key, int]]


@dataclass(frozen=True, slots=True)
class Nominee:
    """The best of one queue. ``key`` orders nominees of different queues."""

    key: Key
    queue: int
    entry: Waiting
    choice: Choice


@dataclass(frozen=True, slots=True)
class Planned:
    """One that has its capacity. It begins as soon as it fits beside those who are stopping."""

    queue: int
    workload: Workload
    choice: Choice


class Contest:
    """The planner's state between passes: who is planned, and which queues are worth a question."""

    def __init__(self, ledger: Ledger, lines: Lines) -> None:
        self.ledger, self.lines, self.tree = ledger, lines, ledger.tree
        self.seats = [
            Seat(queue, ledger, lines.menus[queue], lines.lines[queue])
            for queue in self.tree.queues
        ]
        self.planned: dict[int, dict[Uid, Planned]] = {}
        """By root, in the order in which they were planned."""
        self.verdicts = 0
        """How often quota was asked about a shape: the measure of the planner's work."""
        self._awake: dict[int, set[int]] = {}
        self._known: dict[int, tuple[int, int]] = {}
        members: dict[int, list[Seat]] = {}
        for seat in self.seats:
            members.setdefault(seat.root, []).append(seat)
        self._members = members
        self._keepers = {
            root: [seat for seat in seats if self.tree.strict[seat.queue]]
            for root, seats in members.items()
            if len(self.tree.paths[seats[0].queue]) > 1
        }

    def wake(self, queue: int) -> None:
        """Something changed in its line."""
        self._awake.setdefault(self.tree.roots[queue], set()).add(queue)

    def account(self, queue: int, workload: Workload, amounts: Amounts) -> None:
        """Count what it holds under the limits of its queue."""
        self._look_at(self.lines.account(queue, workload, amounts))

    def discount(self, uid: Uid) -> None:
        """It holds nothing any more under any limit."""
        self._look_at(self.lines.discount(uid))

    def _look_at(self, queue: int | None) -> None:
        if queue is not None:
            self.wake(queue)

    def roots(self) -> list[int]:
        """Trees in which anything may have changed since the last pass; forgets them."""
        found = sorted(self.ledger.touched.union(self._awake))
        self.ledger.touched.clear()
        return found

    def run(self, root: int) -> list[Planned]:
        """One pass over one tree: those who begin, charged."""
        begun = self._begin(root)
        if not self.ledger.stopping[root]:
            self._give_up(root)
        begun += self._plan(root)
        self._awake.pop(root, None)
        self._known[root] = (self.ledger.returns[root], self.ledger.shifts[root])
        self.ledger.touched.discard(root)
        return begun

    def unplan(self, uid: Uid) -> Planned | None:
        """It has no capacity any more; whoever calls says where it goes."""
        charge = self.ledger.charge_of(uid)
        if charge is None or charge.stage is not Stage.PLANNED:
            return None
        self.ledger.release(uid)
        self.discount(uid)
        self.seats[charge.queue].planned -= 1
        return self.planned[self.tree.roots[charge.queue]].pop(uid)

    def planned_of(self, uid: Uid) -> Planned | None:
        """What is planned for it."""
        charge = self.ledger.charge_of(uid)
        if charge is None or charge.stage is not Stage.PLANNED:
            return None
        return self.planned[self.tree.roots[charge.queue]][uid]

    def replan(self, workload: Workload) -> None:
        """The same planned one, as it is seen now."""
        old = self.planned_of(workload.uid)
        if old is not None:
            fresh = Planned(old.queue, workload, old.choice)
            self.planned[self.tree.roots[old.queue]][workload.uid] = fresh

    def _begin(self, root: int) -> list[Planned]:
        waiting = self.planned.get(root, {})
        return [one for one in list(waiting.values()) if self._try_to_begin(one)]

    def _try_to_begin(self, one: Planned) -> bool:
        if not self.ledger.now.fits(one.queue, one.choice.charges):
            return False
        self.ledger.begin(one.workload.uid)
        del self.planned[self.tree.roots[one.queue]][one.workload.uid]
        self.seats[one.queue].planned -= 1
        if self.tree.strict[one.queue]:
            self.wake(one.queue)
        return True

    def _give_up(self, root: int) -> None:
        """Nothing is stopping and still they do not fit: the quota is not what it was."""
        for uid in list(self.planned.get(root, {})):
            one = self.unplan(uid)
            if one is not None:
                self.lines.add(one.workload)

    def _plan(self, root: int) -> list[Planned]:
        begun: list[Planned] = []
        self._settle(root)
        heap, returned = self._opened(root), self.ledger.returns[root]
        while (best := self._best(heap)) is not None:
            one = self._take(best)
            if self._try_to_begin(one):
                begun.append(one)
            self._settle(root, after=best.queue)
            if self.ledger.returns[root] != returned:
                heap, returned = self._heap(self._members[root]), self.ledger.returns[root]
            else:
                self._open_again(heap, best, root)
        return begun

    def _opened(self, root: int) -> Heap:
        """The queues that may have a nominee: all, if anything was given back since the last pass."""
        returned, shifted = self._known.get(root, (-1, -1))
        if self.ledger.returns[root] != returned:
            return self._heap(self._members[root])
        awake = self._awake.get(root, set())
        shaken = self.ledger.shifts[root] != shifted
        seats = self._members[root]
        return self._heap(s for s in seats if s.queue in awake or (shaken and s.line.fickle))

    def _heap(self, seats: Iterable[Seat]) -> Heap:
        heap = [(self._bound(seat), seat.queue) for seat in seats if self._hopeful(seat)]
        heapify(heap)
        return heap

    @staticmethod
    def _hopeful(seat: Seat) -> bool:
        line = seat.line
        return bool(line.blocks) and not seat.blocked and seat.may_fit(line.need(), seat.free())

    def _open_again(self, heap: Heap, best: Nominee, root: int) -> None:
        """After a step: the queue that made it, and those in which less can be more."""
        seat = self.seats[best.queue]
        if seat.line.blocks:
            heappush(heap, (self._bound(seat, best.entry.place), best.queue))
        asked = {queue for _bound, queue in heap}
        for other in self._members[root]:
            if other.line.fickle and other.queue not in asked:
                heappush(heap, (self._bound(other), other.queue))

    def _bound(self, seat: Seat, after: Place | None = None) -> Key:
        """No nominee of this queue has a lesser key. ``after``: nobody before that place fits."""
        line = seat.line
        if after is None or line.fickle:
            after = line.blocks[0].places[0]
        if line.fickle or seat.may_fit(line.need(), seat.own()):
            return (0, after)
        return (1 if len(self.tree.paths[seat.queue]) > 1 else 0, after)

    def _best(self, heap: Heap) -> Nominee | None:
        """Ask in the order of the bounds until the best answer beats the next bound."""
        best: Nominee | None = None
        answers: list[tuple[Key, Nominee]] = []
        while heap and (best is None or heap[0][0] < best.key):
            bound, queue = heappop(heap)
            nominee = self.nominee(self.seats[queue])
            if nominee is not None:
                answers.append((bound, nominee))
                if best is None or nominee.key < best.key:
                    best = nominee
        for bound, nominee in answers:
            if nominee is not best:
                fickle = self.seats[nominee.queue].line.fickle
                after = bound if fickle else (bound[0], nominee.entry.place)
                heappush(heap, (after, nominee.queue))
        return best

    def nominee(self, seat: Seat) -> Nominee | None:
        """The first of its line that fits."""
        if self.tree.strict[seat.queue]:
            entry = None if seat.planned or seat.blocked else seat.line.first()
            choice = self.judge(seat, entry.shape) if entry is not None else None
            return self._nominate(seat, entry, choice)
        while (group := self._first_that_fits(seat)) is not None:
            entry = seat.line.offer(group)
            if entry is not None:
                return self._nominate(seat, entry, group.shape.choice)
        return None

    def _first_that_fits(self, seat: Seat) -> Group | None:
        """The first group that does; its first may still be at a limit, which the line is asked."""
        free, shift = seat.free(), self.ledger.shifts[seat.root]
        for block in seat.line.blocks:
            if not seat.may_fit(block.need(), free):
                continue
            for group in block.groups:
                shape = group.shape
                choice = shape.choice if shape.shift == shift else self.judge(seat, shape)
                if choice is not None:
                    return group
        return None

    def _nominate(self, seat: Seat, entry: Waiting | None, choice: Choice | None) -> Nominee | None:
        if entry is None or choice is None:
            return None
        bounds = self.lines.accounts.bounds[seat.queue]
        if bounds is not None and entry.shape.partial is not None:
            choice = within(bounds, entry.workload, choice)
        height = self.ledger.afterwards.height(seat.queue, choice.charges)
        return Nominee((height, entry.place), seat.queue, entry, choice)

    def judge(self, seat: Seat, shape: Shape) -> Choice | None:
        """The choice with which a workload of this shape could start; remembered while it holds."""
        shift = self.ledger.shifts[seat.root]
        if shape.shift == shift:
            return shape.choice
        returned = self.ledger.returns[seat.root]
        if shape.hopeless or (
            shape.choice is None and shape.returned == returned and not shape.fickle
        ):
            return None
        self.verdicts += 1
        shape.choice = shape.assign(seat.free())
        shape.shift, shape.returned = shift, returned
        return shape.choice

    def _take(self, best: Nominee) -> Planned:
        one = Planned(best.queue, best.entry.workload, best.choice)
        self.lines.remove(one.workload.uid)
        self.lines.note_start(one.queue, best.entry)
        self.ledger.hold(one.workload.uid, one.queue, one.choice.charges, stage=Stage.PLANNED)
        self.account(one.queue, one.workload, taken(one.workload, one.choice))
        self.seats[one.queue].planned += 1
        self.planned.setdefault(self.tree.roots[one.queue], {})[one.workload.uid] = one
        return one

    def _settle(self, root: int, *, after: int | None = None) -> None:
        """Let every blocked strict queue of the tree hold back what its first needs of its own.

        Blocked is whose first does not fit although nobody held anything back: so two queues
        never block each other by what they hold back alone. ``after``: nothing has happened since
        the last time but a start in that queue, which unblocks nobody else.
        """
        moves, refunds = self.ledger.moves[root], self.ledger.refunds[root]
        for seat in self._keepers.get(root, ()):
            if after is not None and seat.queue != after and seat.blocked and not seat.line.fickle:
                continue
            first = None if seat.planned else seat.line.first()
            known = seat.settled
            if known is None or known[0] is not first or (known[1] != moves and first is not None):
                same = known is not None and known[0] is first and known[2] == refunds
                self._hold_back(seat, first, still=same)
                seat.settled = (first, moves, refunds)

    def _hold_back(self, seat: Seat, first: Waiting | None, *, still: bool) -> None:
        """``still``: the same one is first, and nothing was given back since."""
        held: list[tuple[int, Amount]] = []
        shape = first.shape if first is not None and not first.shape.hopeless else None
        if shape is None:
            seat.blocked = False
        elif not (still and seat.blocked and not shape.fickle):
            self.verdicts += 1
            seat.blocked = shape.assign(seat.bare()) is None
        if shape is not None and seat.blocked and shape.ideal is not None:
            own = seat.own()
            ours = ((number, min(amount, own[number])) for number, amount in shape.ideal.charges)
            held = [(number, amount) for number, amount in ours if amount > 0]
        if held:
            self.ledger.hold(seat.keeper, seat.queue, tuple(held), stage=Stage.HELD_BACK)
        else:
            self.ledger.release(seat.keeper)
