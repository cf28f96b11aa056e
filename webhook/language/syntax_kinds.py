"""The tree of ``kind``: a kind of workload that is not built in, and where its fields stand."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal, TypeAlias

from webhook.language.leaves import Number, Path, Span, Text, Word
from webhook.language.records import dataclass

if TYPE_CHECKING:  # conditions have spans, too
    from webhook.language.expression import Expression


@dataclass(frozen=True, slots=True)
class Api:
    """``api "ray.io/v1" [kind "RayJob"] plural "rayjobs"``."""

    version: Text
    kind: Text | None
    plural: Text
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FieldPath:
    """``suspend PATH``, ``inject PATH`` or ``priority-class PATH``."""

    keyword: Literal["suspend", "inject", "priority-class"]
    path: Path
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Children:
    """``children Job, Pod``: the kinds of what it makes."""

    kinds: tuple[Word, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Measure:
    """``cpu coreRequest``: a resource and the field that says how much of it."""

    resource: Word
    source: Word
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PodsFrom:
    """``pods NAME [from PATH] [times 2 * replicas] [requests { … }]``."""

    name: Word
    template: Path | None
    times: tuple[Number | Word, ...]
    requests: tuple[Measure, ...] | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PodsFromChild:
    """``pods from child KIND``."""

    kind: Word
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class State:
    """``finished when``, ``active when`` or ``ready when`` with its condition."""

    keyword: Literal["finished", "active", "ready"]
    condition: Expression
    span: Span = field(compare=False, repr=False)


InKind: TypeAlias = Api | FieldPath | Children | PodsFrom | PodsFromChild | State


@dataclass(frozen=True, slots=True)
class KindOf:
    """``kind RayJob { … }``."""

    name: Word
    body: tuple[InKind, ...]
    span: Span = field(compare=False, repr=False)
