"""Every moment of a run in the order of the API server, and whether more was held than the policy grants.

Two watches tell of one cluster, and one may be behind the other, so moments are put in the order of
their resource versions (one counter for all kinds) before they are judged. What comes late is put
in its place and judged again.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from webhook.cli.demonstration.grants import Grants
from webhook.model.quantity import Amount
from webhook.model.queues import FlavorResource, Quotas

Held = Mapping[FlavorResource, Amount]


@dataclass(frozen=True, slots=True, order=True)
class Moment:
    """From this version on, the workload holds this in its queue."""

    version: int
    uid: str
    queue: str = field(compare=False)
    held: Held = field(compare=False)


@dataclass(slots=True)
class Findings:
    """What was seen so far. ``most`` is by queue and resource, over all flavors."""

    over_moments: int = 0
    worst: str = ""
    most: dict[str, dict[str, Amount]] = field(default_factory=dict)
    usage: dict[str, dict[FlavorResource, Amount]] = field(default_factory=dict)
    holders: dict[str, Moment] = field(default_factory=dict)
    over: frozenset[tuple[str, FlavorResource]] = frozenset()


class Audit:
    """Moments in, findings out."""

    def __init__(self, quotas: Quotas) -> None:
        self._grants = Grants(quotas)
        self._moments: list[Moment] = []
        self._judged = 0
        self._findings = Findings()

    def record(self, moment: Moment) -> None:
        """Take a moment in; the same one twice is no second one."""
        if moment.queue not in self._grants.nodes:
            return
        last = self._moments[self._judged - 1] if self._judged else None
        if last is not None and moment <= last:
            self._judged, self._findings = 0, Findings()
        insort(self._moments, moment)

    def findings(self, until: int | None = None) -> Findings:
        """Judge what is new, up to a version: later ones may lack what the other watch has yet to tell."""
        for moment in self._fresh(until):
            self._apply(moment)
        return self._findings

    def _fresh(self, until: int | None) -> Iterator[Moment]:
        while self._judged < len(self._moments):
            if until is not None and self._moments[self._judged].version > until:
                return
            moment = self._moments[self._judged]
            self._judged += 1
            yield moment

    def _apply(self, moment: Moment) -> None:
        found = self._findings
        before = found.holders.get(moment.uid)
        if before is not None and (before.queue, before.held) == (moment.queue, moment.held):
            return
        changed = dict.fromkeys([*moment.held, *(before.held if before else ())])
        if before is not None:
            self._add(before, -1)
        self._add(moment, 1)
        found.holders[moment.uid] = moment
        self._judge(moment, changed)

    def _add(self, moment: Moment, sign: int) -> None:
        held = self._findings.usage.setdefault(moment.queue, {})
        for pair, amount in moment.held.items():
            held[pair] = held.get(pair, 0) + sign * amount

    def _judge(self, moment: Moment, changed: Mapping[FlavorResource, None]) -> None:
        found, family = self._findings, self._grants.family(moment.queue)
        still = {one for one in found.over if one[0] not in family or one[1] not in changed}
        found.over = frozenset(still) | self._grants.over(moment.queue, changed, found.usage)
        if found.over:
            found.over_moments += 1
            found.worst = found.worst or _words(moment, found.over)
        totals: dict[str, Amount] = {}
        for pair, amount in found.usage[moment.queue].items():
            totals[pair.resource] = totals.get(pair.resource, 0) + amount
        most = found.most.setdefault(moment.queue, {})
        for resource, amount in totals.items():
            most[resource] = max(most.get(resource, 0), amount)


def _words(moment: Moment, over: frozenset[tuple[str, FlavorResource]]) -> str:
    queue, pair = sorted(over)[0]
    return f"{queue} over its {pair.resource} on {pair.flavor} at version {moment.version}"
