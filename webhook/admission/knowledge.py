"""What the webhook knows of the cluster when it answers: memory only, filled by watches elsewhere.

``decide`` asks for nothing else, so a decision is a function of a request, a policy and this; tests hand in plain
values. The one live look-up there is (a parent not yet seen) happens before ``decide`` is called.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from webhook.model.kinds import Kind, Object
from webhook.model.quantity import Amount
from webhook.model.queues import FlavorResource


@dataclass(frozen=True, slots=True)
class Room:
    """How much of one flavor and resource a queue may still take, of how much of its own; nano-units."""

    available: Amount
    nominal: Amount


@dataclass(frozen=True, slots=True)
class QueueNews:
    """What the loop beside this webhook last said of one queue. Shown in warnings, decides nothing."""

    rooms: Mapping[FlavorResource, Room]
    waiting: Mapping[int, int] = field(default_factory=dict)
    """priority → how many wait with it"""

    def ahead(self, priority: int) -> int:
        """How many wait that a newcomer of this priority stands behind."""
        return sum(count for level, count in self.waiting.items() if level >= priority)


@dataclass(frozen=True, slots=True)
class ParentRef:
    """The controller owner reference of an object, where it names a kind we manage."""

    kind: Kind
    namespace: str
    name: str
    uid: str


class Knowledge(Protocol):
    """Answers at once, from memory; None is "not known"."""

    def namespace_object(self, name: str) -> Object | None:
        """The namespace as last seen."""

    def priority_class(self, name: str) -> int | None:
        """The value of a PriorityClass."""

    def parent(self, ref: ParentRef) -> Object | None:
        """The live object a reference names, if it bears that uid."""

    def queue_news(self, queue: str) -> QueueNews | None:
        """What the loop last said of a queue."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who we are in the cluster: the loop's user name, and the namespace we live in and never touch."""

    loop_user: str = "system:serviceaccount:tidegate-system:tidegate"
    own_namespace: str = "tidegate-system"

    def leaves_alone(self, namespace: str) -> bool:
        """Namespaces no rule of ours reaches, whatever the registration says."""
        return namespace in (self.own_namespace, "kube-system", "kube-public", "kube-node-lease")
