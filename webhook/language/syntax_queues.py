"""The trees of cohorts and queues: who owns what, who goes first, who may enter."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Literal, TypeAlias

from webhook.language.leaves import Bound, Number, Span, Text, Word
from webhook.language.records import dataclass

if TYPE_CHECKING:  # conditions have spans, too
    from webhook.language.expression import Expression


@dataclass(frozen=True, slots=True)
class Share:
    """One entry of a quota, pool or cap: ``gpu 64 borrow 16 lend none``."""

    resource: Word
    amount: Number
    borrow: Bound | None
    lend: Bound | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Block:
    """``quota``, ``pool`` or ``cap`` with its entries; without a flavor's name it means ``default``."""

    keyword: Literal["quota", "pool", "cap"]
    flavor: Word | None
    shares: tuple[Share, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Order:
    """``order strict``."""

    way: Word
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Weight:
    """``weight 2`` in a queue or cohort."""

    value: Number
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Sharing:
    """``share by weight`` in a root cohort."""

    way: Word
    span: Span = field(compare=False, repr=False)


Scope: TypeAlias = Literal["within", "from", "to"]


@dataclass(frozen=True, slots=True)
class Preempt:
    """``preempt WHOM within queue``, ``… from borrowers`` or ``… to borrow [below PRIORITY]``."""

    whom: Word
    scope: Scope
    below: Word | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Prefer:
    """``prefer next-flavor over borrowing over preempting``; any number of ways as written."""

    ways: tuple[Word, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Bounded:
    """One entry of a limit, or of amounts in a test: ``gpu 64``, ``jobs 20``."""

    resource: Word
    amount: Number
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Limit:
    """``limit gpu 64 jobs 20 per user``; ``subject`` None: ``per label "KEY"``."""

    entries: tuple[Bounded, ...]
    subject: Word | None
    label: Text | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Uncovered:
    """``uncovered refuse``."""

    way: Word
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Accept:
    """``accept when CONDITION``."""

    condition: Expression
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Hold:
    """``hold [TEXT]``, or ``drain [TEXT]``."""

    keyword: Literal["hold", "drain"]
    reason: Text | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Deadline:
    """``ready within 15m retries 3``."""

    within: Number
    retries: Number | None
    span: Span = field(compare=False, repr=False)


InQueue: TypeAlias = (
    Block | Order | Weight | Preempt | Prefer | Limit | Uncovered | Accept | Hold | Deadline
)


@dataclass(frozen=True, slots=True)
class Queue:
    """``queue vision in research { … }``."""

    name: Word
    parent: Word | None
    body: tuple[InQueue, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Cohort:
    """``cohort research { … }``."""

    name: Word
    parent: Word | None
    body: tuple[Block | Cohort | Queue | Sharing | Weight, ...]
    span: Span = field(compare=False, repr=False)
