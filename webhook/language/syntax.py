"""The tree of a policy file: what was written, each part with its place, nothing judged yet.

Frozen values. A span does not count in equality, so two texts that say the same are equal trees: the formatter and
the tests rest on that. Names, amounts and words are kept as written; the checker reads them, because only it knows
what stands where (``64GB`` beside memory, ``Vision`` as a name).
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:  # conditions have spans, too
    from webhook.language.expression import Expression


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of one file: offsets in code points, the end exclusive; lines and columns count from 1."""

    path: str
    start: int
    end: int
    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def place(self) -> str:
        """As messages name it: ``policies/ml.tide:31``."""
        return f"{self.path}:{self.line}"


class Source:
    """The text of one file, and where its lines begin."""

    __slots__ = ("_starts", "path", "text")

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self._starts = [0]
        self._starts.extend(at + 1 for at, char in enumerate(text) if char == "\n")

    def span(self, start: int, end: int) -> Span:
        """The span of these offsets, cut to what the text has."""
        start = max(0, min(start, len(self.text)))
        end = max(start, min(end, len(self.text)))
        return Span(self.path, start, end, *self._position(start), *self._position(end))

    def line(self, number: int) -> str:
        """The text of a line, without its end; "" where there is none."""
        if not 1 <= number <= len(self._starts):
            return ""
        start = self._starts[number - 1]
        end = self._starts[number] if number < len(self._starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")

    def _position(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


@dataclass(frozen=True, slots=True)
class Word:
    """A bare word as written: a name, a resource, a kind, a way."""

    text: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Number:
    """Anything that begins as a number does: an amount or an integer, by its position."""

    text: str
    span: Span = field(compare=False, repr=False)


Bound: TypeAlias = Number | Word
"""What stands behind ``borrow`` and ``lend``: an amount, ``any`` or ``none``."""


@dataclass(frozen=True, slots=True)
class Text:
    """A quoted text as written, with quotes and escapes (`texts.py` reads it)."""

    raw: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Alias:
    """``resource gpu = nvidia.com/gpu``."""

    name: Word
    resource: Word
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Node:
    """``node "key" = "value"`` in a flavor."""

    key: Text
    value: Text
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Tolerate:
    """``tolerate "key" = "value" : NoSchedule`` in a flavor."""

    key: Text
    value: Text | None
    effect: Word | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Flavor:
    """``flavor a100 { … }``."""

    name: Word
    landings: tuple[Node | Tolerate, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Priority:
    """``priority normal 100 default``."""

    name: Word
    value: Number
    default: bool
    span: Span = field(compare=False, repr=False)


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
class Queue:
    """``queue vision in research { … }``."""

    name: Word
    parent: Word | None
    body: tuple[Block | Order, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Cohort:
    """``cohort research { … }``."""

    name: Word
    parent: Word | None
    body: tuple[Block | Cohort | Queue, ...]
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Route:
    """``route vision for Job when … to vision audit``."""

    name: Word | None
    kinds: tuple[Word, ...]
    condition: Expression | None
    queue: Word
    audit: bool
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Otherwise:
    """``route otherwise to QUEUE | deny TEXT | ignore``; neither queue nor message is ``ignore``."""

    queue: Word | None
    message: Text | None
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Deny:
    """``deny too-big for Job when … { message "…" }``."""

    name: Word
    kinds: tuple[Word, ...]
    condition: Expression
    audit: bool
    message: Text
    span: Span = field(compare=False, repr=False)


Statement: TypeAlias = Alias | Flavor | Priority | Cohort | Queue | Route | Otherwise | Deny


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment, from ``#`` to the end of its line."""

    text: str
    span: Span = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class File:
    """One file. ``unread`` are the stretches whose mistakes kept them from being read."""

    path: str
    statements: tuple[Statement, ...]
    comments: tuple[Comment, ...]
    source: Source = field(compare=False, repr=False)
    unread: tuple[Span, ...] = field(default=(), compare=False, repr=False)
    unbalanced: bool = field(default=False, compare=False)
    """True where braces do not match, so that nobody knows what stands in which block."""

    @property
    def text(self) -> str:
        """The text it was read from."""
        return self.source.text
