"""What the screen shows, as values: made from the world, the policy and what the loop says of its front.

Nothing here knows how it is drawn, and nothing there where it comes from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from webhook.cli.demonstration.grants import Grants, held_below, used
from webhook.cli.demonstration.summary import owned
from webhook.cli.demonstration.watching import Happening, World
from webhook.language.policy import Policy
from webhook.model.quantity import Amount
from webhook.model.queues import DEFAULT_FLAVOR, FlavorResource
from webhook.model.workload import Phase


@dataclass(frozen=True, slots=True)
class Bar:
    """One resource of a queue: ``own`` and ``borrowed`` are held, ``most`` is what it could hold at best."""

    label: str
    resource: str
    own: Amount
    borrowed: Amount
    nominal: Amount
    most: Amount


@dataclass(frozen=True, slots=True)
class Waits:
    """Somebody at the front of a queue: who, how many ask for the same behind, and why.

    Of a lack of quota ``why`` says what is asked, and what is free of it.
    """

    title: str
    alike: int
    why: str


@dataclass(frozen=True, slots=True)
class QueuePicture:
    """One row."""

    name: str
    order: str
    bars: tuple[Bar, ...]
    running: int
    waiting: int
    finished: int
    front: tuple[Waits, ...]


@dataclass(frozen=True, slots=True)
class SharedPicture:
    """What queues of a cohort share: a pool or a cap, and how much of it is held."""

    what: str
    label: str
    resource: str
    held: Amount
    of: Amount


@dataclass(frozen=True, slots=True)
class CohortPicture:
    """Queues that stand together."""

    name: str
    shared: tuple[SharedPicture, ...]
    queues: tuple[QueuePicture, ...]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the day is. ``part`` above 1: work goes on after the last submission."""

    clock: str
    part: float
    submitted: int
    planned: int
    started: int
    finished: int
    refused: int
    over_moments: int


@dataclass(frozen=True, slots=True)
class Picture:
    """The whole screen."""

    progress: Progress
    cohorts: tuple[CohortPicture, ...]
    happenings: tuple[Happening, ...]
    reader: str
    note: str = ""


Fronts = Mapping[str, Sequence[Mapping[str, Any]]]
"""The loop's /waiting: by queue, who is next."""


class Painter:
    """Paints one policy."""

    def __init__(self, policy: Policy) -> None:
        self._policy, self._quotas = policy, policy.quotas
        self._grants = Grants(policy.quotas)
        self._short = {resource: alias for alias, resource in policy.aliases.items()}

    def paint(
        self, world: World, fronts: Fronts, progress: Progress, *, reader: str, note: str = ""
    ) -> Picture:
        """The world as it is now."""
        usage = {name: world.usage(name) for name in self._quotas.queues}
        groups: dict[str, list[str]] = {}
        for name, queue in self._quotas.queues.items():
            groups.setdefault(queue.cohort or "", []).append(name)
        cohorts = tuple(
            CohortPicture(
                cohort,
                tuple(self._shared(cohort, usage)) if cohort else (),
                tuple(self._queue(name, world, usage, fronts.get(name, ())) for name in names),
            )
            for cohort, names in groups.items()
        )
        return Picture(progress, cohorts, tuple(world.happenings), reader, note)

    def _queue(
        self,
        name: str,
        world: World,
        usage: Mapping[str, Mapping[FlavorResource, Amount]],
        front: Sequence[Mapping[str, Any]],
    ) -> QueuePicture:
        return QueuePicture(
            name,
            self._quotas.queues[name].order.value,
            tuple(self._bar(name, resource, usage[name]) for resource in owned(self._quotas, name)),
            running=world.count(name, Phase.STARTED) + world.count(name, Phase.STOPPING),
            waiting=world.count(name, Phase.WAITING),
            finished=world.count(name, Phase.FINISHED),
            front=tuple(map(self._waits, front)),
        )

    def _bar(self, queue: str, resource: str, usage: Mapping[FlavorResource, Amount]) -> Bar:
        own = borrowed = nominal = most = 0
        for quota in self._quotas.queues[queue].quotas:
            share = quota.shares.get(resource)
            if share is None:
                continue
            pair = FlavorResource(quota.flavor, resource)
            here = usage.get(pair, 0)
            own += min(here, share.nominal)
            borrowed += max(0, here - share.nominal)
            nominal += share.nominal
            most += max(share.nominal, self._grants.most(queue, pair))
        return Bar(self.short(resource), resource, own, borrowed, nominal, most)

    def _waits(self, one: Mapping[str, Any]) -> Waits:
        text = str(one["text"]).removeprefix("needs ")
        for resource, short in self._short.items():
            text = text.replace(resource, short)
        return Waits(str(one["name"]), int(one["alike"]), text)

    def _shared(
        self, cohort: str, usage: Mapping[str, Mapping[FlavorResource, Amount]]
    ) -> list[SharedPicture]:
        node = self._grants.nodes[cohort]
        found = [
            SharedPicture(
                "cap", self._where(pair), pair.resource, held_below(node, pair, usage), cap
            )
            for pair, cap in node.caps.items()
        ]
        return found + [
            SharedPicture("pool", self._where(pair), pair.resource, used(node, pair, usage), amount)
            for pair, amount in node.owns.items()
            if amount
        ]

    def _where(self, pair: FlavorResource) -> str:
        flavor = "" if pair.flavor == DEFAULT_FLAVOR else f"{pair.flavor} "
        return f"{flavor}{self.short(pair.resource)}"

    def short(self, resource: str) -> str:
        """The policy's own word for it."""
        return self._short.get(resource, resource)
