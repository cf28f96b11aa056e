"""What every tree of a policy is made of: places in a file, and words, numbers and texts as written."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import field
from typing import TypeAlias

from webhook.language.records import dataclass


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
class Path:
    """Where a field stands in an object, as written: ``spec.a``, ``metadata.labels["a/b"]``, ``list[*].x``."""

    text: str
    span: Span = field(compare=False, repr=False)
