"""Offsets in code points, as the language counts, to lines and characters, as editors count, and back.

The protocol counts lines from 0 and characters in UTF-16 units unless client and server agree on something else: an
emoji in a comment is one code point here and two characters there.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

_WIDTHS: Final[Mapping[str, Callable[[str], int]]] = {
    "utf-8": lambda char: len(char.encode("utf-8", "surrogatepass")),
    "utf-16": lambda char: 2 if char > "\uffff" else 1,
    "utf-32": lambda char: 1,
}
ENCODINGS: Final = tuple(_WIDTHS)


class Place(NamedTuple):
    """A line and a character in it, both from 0, in the units that were agreed upon."""

    line: int
    character: int


def place_of(text: str, offset: int, *, encoding: str = "utf-16") -> Place:
    """Where an offset stands."""
    starts = _starts(text)
    line = bisect_right(starts, offset) - 1
    return Place(line, _units(text[starts[line] : offset], encoding))


def offset_of(text: str, place: Place, *, encoding: str = "utf-16") -> int:
    """The offset of a place; one behind the end of a line or of the text is moved to that end."""
    starts = _starts(text)
    if place.line >= len(starts):
        return len(text)
    start = starts[place.line]
    end = starts[place.line + 1] if place.line + 1 < len(starts) else len(text)
    line = text[start:end].rstrip("\r\n")
    return start + _points(line, place.character, encoding)


def _units(text: str, encoding: str) -> int:
    return len(text) if text.isascii() else sum(map(_WIDTHS[encoding], text))


def _points(line: str, units: int, encoding: str) -> int:
    if line.isascii():
        return min(units, len(line))
    passed = 0
    for at, char in enumerate(line):
        if passed >= units:
            return at
        passed += _WIDTHS[encoding](char)
    return len(line)


@lru_cache(maxsize=256)
def _starts(text: str) -> list[int]:
    return [0, *(at + 1 for at, char in enumerate(text) if char == "\n")]
