"""Queues, cohorts and flavors as the quota core sees them: plain values, no policy text behind them.

A policy's checker builds one ``Quotas``; simulations, tests and the live loop hand the same value to the same core.
Absent (None) and zero differ everywhere: ``borrow=None`` is "as much as there is", ``borrow=0`` is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import NamedTuple

from webhook.model.quantity import Amount

DEFAULT_FLAVOR = "default"


class FlavorResource(NamedTuple):
    """What quota is counted by: a flavor and a resource."""

    flavor: str
    resource: str


@dataclass(frozen=True, slots=True)
class Toleration:
    """One toleration a flavor injects; ``value`` None tolerates any value, ``effect`` "" any effect."""

    key: str
    value: str | None = None
    effect: str = ""


@dataclass(frozen=True, slots=True)
class Flavor:
    """Where pods land that are charged to this flavor. The flavor ``default`` injects nothing."""

    name: str
    nodes: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    tolerations: tuple[Toleration, ...] = ()


@dataclass(frozen=True, slots=True)
class Share:
    """A node's own quota of one flavor and resource, in nano-units; None is without bound."""

    nominal: Amount
    borrow: Amount | None = None
    lend: Amount | None = None


@dataclass(frozen=True, slots=True)
class FlavorQuota:
    """One ``quota`` or ``pool`` block: a flavor and what the node owns of it."""

    flavor: str
    shares: Mapping[str, Share]


class Order(Enum):
    """How a queue goes on when its first workload does not fit."""

    FIRST_FIT = "first-fit"
    STRICT = "strict"


class Way(Enum):
    """What a workload may do when a flavor does not fit in own quota (`prefer`)."""

    NEXT_FLAVOR = "next-flavor"
    BORROWING = "borrowing"
    PREEMPTING = "preempting"


class Whom(Enum):
    """Whom a waiting workload may displace (`preempt`)."""

    LOWER_PRIORITY = "lower-priority"
    LOWER_OR_NEWER = "lower-or-newer"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Preemption:
    """The `preempt` lines of a queue; None: nobody there. ``below`` bounds the victims of `to borrow` by priority."""

    within_queue: Whom | None = None
    from_borrowers: Whom | None = None
    to_borrow: bool = False
    below: int | None = None


class Subject(Enum):
    """Whose running work a limit adds up."""

    USER = "user"
    NAMESPACE = "namespace"
    OWNER = "owner"
    LABEL = "label"


@dataclass(frozen=True, slots=True)
class Limit:
    """What one subject may run at a time in a queue, all flavors together; None: no bound. ``label`` is the key."""

    subject: Subject
    label: str | None = None
    resources: Mapping[str, Amount] = field(default_factory=lambda: MappingProxyType({}))
    jobs: int | None = None
    waiting: int | None = None
    place: str = ""

    @property
    def per(self) -> str:
        """As it is written: ``per user``, ``per label "team"``."""
        label = f' "{self.label}"' if self.subject is Subject.LABEL else ""
        return f"per {self.subject.value}{label}"


@dataclass(frozen=True, slots=True)
class Halt:
    """A queue that starts nothing more; ``drains`` also stops what runs."""

    drains: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Deadline:
    """How long pods may take to be ready; ``retries`` None: tried without end."""

    seconds: int
    retries: int | None = None


@dataclass(frozen=True, slots=True)
class Cohort:
    """An inner node of the tree. ``parent`` None: a root. ``place`` is ``file:line`` for messages."""

    name: str
    parent: str | None = None
    pools: tuple[FlavorQuota, ...] = ()
    caps: Mapping[FlavorResource, Amount] = field(default_factory=lambda: MappingProxyType({}))
    weight: int = 1
    by_weight: bool = False
    place: str = ""


@dataclass(frozen=True, slots=True)
class Queue:
    """A leaf of the tree: where workloads wait. ``quotas`` stand in the order in which flavors are tried."""

    name: str
    cohort: str | None = None
    quotas: tuple[FlavorQuota, ...] = ()
    order: Order = Order.FIRST_FIT
    weight: int = 1
    prefer: tuple[Way, Way, Way] = (Way.NEXT_FLAVOR, Way.BORROWING, Way.PREEMPTING)
    refuse_uncovered: bool | None = None
    preempts: Preemption = Preemption()
    limits: tuple[Limit, ...] = ()
    halt: Halt | None = None
    deadline: Deadline | None = None
    place: str = ""


@dataclass(frozen=True, slots=True)
class Quotas:
    """Everything the core needs of a policy. ``revision`` names the policy text it came from."""

    queues: Mapping[str, Queue]
    cohorts: Mapping[str, Cohort]
    flavors: Mapping[str, Flavor]
    revision: str = ""
