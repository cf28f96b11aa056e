"""What a condition may read: the variables by name, their shapes, and how each is read from a request.

Admission builds one ``Scope`` a request; a policy's checker builds one ``Names`` a rule. Both name the same
variables, and this table is where the two meet.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Final

from webhook.language.records import dataclass
from webhook.language.schemas import object_shape, record
from webhook.language.shapes import INT, REQUESTS, STRING, ListOf, MapOf, Shape
from webhook.model.kinds import BUILT_IN, Kind
from webhook.model.quantity import Amount


@dataclass(frozen=True, slots=True)
class Scope:
    """Everything a condition may read. ``requests``: totals over all pods, by resource, in nano-units.

    ``old_object`` is None at CREATE, ``queue`` while it is not known; ``priority`` is a name, None where there is none.
    """

    object: Mapping[str, Any]
    old_object: Mapping[str, Any] | None
    request: Mapping[str, Any]
    namespace_object: Mapping[str, Any] | None
    namespace: str
    name: str
    kind: str
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    user: str
    groups: Sequence[str]
    queue: str | None
    priority: str | None
    pods: int
    requests: Mapping[str, Amount]


@dataclass(frozen=True, slots=True)
class Variable:
    """One name: what it is and how it is read."""

    shape: Callable[[Sequence[Kind]], Shape]
    read: Callable[[Any], Any]


def _always(shape: Shape) -> Callable[[Sequence[Kind]], Shape]:
    return lambda kinds: shape


def _schema(name: str) -> Callable[[Sequence[Kind]], Shape]:
    return lambda kinds: record(name)


def _or_empty(attribute: str) -> Callable[[Any], Any]:
    read = attrgetter(attribute)
    return lambda scope: read(scope) or ""


_TEXTS: Final = _always(MapOf(STRING))
VARIABLES: Final[Mapping[str, Variable]] = MappingProxyType(
    {
        "object": Variable(object_shape, attrgetter("object")),
        "oldObject": Variable(object_shape, attrgetter("old_object")),
        "request": Variable(_schema("Request"), attrgetter("request")),
        "namespaceObject": Variable(_schema("Namespace"), attrgetter("namespace_object")),
        "namespace": Variable(_always(STRING), attrgetter("namespace")),
        "name": Variable(_always(STRING), attrgetter("name")),
        "kind": Variable(_always(STRING), attrgetter("kind")),
        "labels": Variable(_TEXTS, attrgetter("labels")),
        "annotations": Variable(_TEXTS, attrgetter("annotations")),
        "user": Variable(_always(STRING), attrgetter("user")),
        "groups": Variable(_always(ListOf(STRING)), attrgetter("groups")),
        "queue": Variable(_always(STRING), _or_empty("queue")),
        "priority": Variable(_always(STRING), _or_empty("priority")),
        "pods": Variable(_always(INT), attrgetter("pods")),
        "requests": Variable(_always(REQUESTS), attrgetter("requests")),
    }
)

EVERYWHERE: Final = frozenset(VARIABLES)
IN_ROUTES: Final = EVERYWHERE - {"queue"}
"""A route chooses the queue, so none is known there."""
IN_KINDS: Final = frozenset({"object"})
OWN: Final = EVERYWHERE - {"object", "oldObject", "request", "namespaceObject"}
"""Short forms of Tide, which no CEL knows."""

NATIVE: Final = ("cpu", "memory", "ephemeral-storage")


@dataclass(frozen=True, slots=True)
class Names:
    """What a condition may name where it stands: the kinds its rule is for, variables, aliases of resources."""

    kinds: tuple[Kind, ...] = BUILT_IN
    variables: frozenset[str] = EVERYWHERE
    aliases: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def resource(self, name: str) -> str | None:
        """The resource a name in ``requests`` stands for; None where there is no such resource."""
        if name in self.aliases:
            return self.aliases[name]
        known = name in NATIVE or name.startswith("hugepages-") or "/" in name.strip("/")
        return name if known else None
