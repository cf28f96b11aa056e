"""The tree of ``test``: the scene, one submission, what is expected of it."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, TypeAlias

from webhook.language.leaves import Number, Path, Span, Text, Word
from webhook.language.records import dataclass
from webhook.language.syntax_queues import Bounded

if TYPE_CHECKING:  # conditions have spans, too
    from webhook.language.expression import Expression


@dataclass(frozen=True, slots=True)
class Label:
    """``team "vision"``: the key bare or quoted."""

    key: Word | Text
    value: Text
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class GivenNamespace:
    """``given namespace "x" labels { team "vision" }``."""

    name: Text
    labels: tuple[Label, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class On:
    """``on FLAVOR``."""

    flavor: Word
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class By:
    """``by "ana"``: a user."""

    user: Text
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OfPriority:
    """``priority urgent``."""

    name: Word
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class InNamespace:
    """``in "vision-prod"``."""

    name: Text
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Groups:
    """``groups "ml", "staff"``."""

    names: tuple[Text, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Labels:
    """``labels { team "vision" }``."""

    labels: tuple[Label, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Pods:
    """``pods 4 each { gpu 1 }``; ``count`` None: ``requests { gpu 4 }``, one pod with all of it."""

    count: Number | None
    amounts: tuple[Bounded, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class GivenQueue:
    """``given queue Q running { gpu 8 } …``; the clauses as written."""

    queue: Word
    running: bool
    amounts: tuple[Bounded, ...]
    clauses: tuple[On | By | OfPriority, ...]
    span: Span = field(compare=False, repr=False)


Clause: TypeAlias = InNamespace | By | Groups | Labels | OfPriority | Pods


@dataclass(frozen=True, slots=True)
class Submit:
    """``submit Job in "ns" … requests { … }``; the clauses as written, in any order."""

    kind: Word
    clauses: tuple[Clause, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SubmitFile:
    """``submit file "job.yaml"``, a path relative to the policy file."""

    path: Text
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ExpectQueue:
    """``expect queue Q``."""

    queue: Word
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ExpectRule:
    """``expect denied|warned [by RULE] [TEXT]``."""

    warned: bool
    rule: Word | None
    text: Text | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ExpectRefused:
    """``expect refused [because REASON] [TEXT]``."""

    reason: Word | None
    text: Text | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ExpectStarts:
    """``expect starts [on FLAVOR]``."""

    flavor: Word | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ExpectWaiting:
    """``expect waiting [because REASON]``."""

    reason: Word | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ExpectPreempts:
    """``expect preempts N``."""

    count: Number
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ExpectSet:
    """``expect set PATH = VALUE``."""

    path: Path
    value: Expression
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ExpectIgnored:
    """``expect ignored``."""

    span: Span = field(compare=False, repr=False)


Expect: TypeAlias = (
    ExpectQueue
    | ExpectRule
    | ExpectRefused
    | ExpectStarts
    | ExpectWaiting
    | ExpectPreempts
    | ExpectSet
    | ExpectIgnored
)
InTest: TypeAlias = GivenNamespace | GivenQueue | Submit | SubmitFile | Expect


@dataclass(frozen=True, slots=True)
class Test:
    """``test "name" { … }``."""

    __test__ = False
    name: Text
    body: tuple[InTest, ...]
    span: Span = field(compare=False, repr=False)
