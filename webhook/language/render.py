"""A problem as text for people: the line, a mark under the mistake, what is related, what to do.

The form is that of compilers people like. Columns are counted as a terminal shows them, so the mark stands under the
mistake also behind tabs and wide characters; a very long line is cut around it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from webhook.language.problems import Problem, Severity
from webhook.language.syntax import Source, Span

MOST: Final = 50
"""So many problems are shown; then a count."""
TAB: Final = 4
WIDEST: Final = 160
_RESET: Final = "\x1b[0m"
_COLORS: Final = {
    Severity.ERROR: "\x1b[1;31m",
    Severity.WARNING: "\x1b[1;33m",
    Severity.STYLE: "\x1b[1;36m",
}
_BOLD: Final = "\x1b[1m"
_BLUE: Final = "\x1b[1;34m"


def render_text(
    problems: Sequence[Problem], sources: Mapping[str, Source], *, color: bool = False
) -> str:
    """All problems, one block each, at most fifty; "" where there are none."""
    paint = _Paint(color)
    blocks = ["\n".join(_block(p, sources, paint)) + "\n" for p in problems[:MOST]]
    hidden = len(problems) - MOST
    if hidden > 0:
        blocks.append(f"and {hidden} more\n")
    return "\n".join(blocks)


def colored(severity: Severity, text: str, *, color: bool) -> str:
    """A text in the colour of a severity."""
    return _Paint(color)(_COLORS[severity], text)


class _Paint:
    """Colours, or none."""

    def __init__(self, color: bool) -> None:
        self._color = color

    def __call__(self, code: str, text: str) -> str:
        return f"{code}{text}{_RESET}" if self._color and text else text


def _block(found: Problem, sources: Mapping[str, Source], paint: _Paint) -> Iterator[str]:
    color = _COLORS[found.severity]
    others = sorted(found.others, key=lambda other: (other[0].path, other[0].start))
    width = max(len(str(span.line)) for span in (found.span, *(span for span, _ in others)))
    head = paint(color, f"{found.severity.value}[{found.code}]")
    yield f"{head}{paint(_BOLD, f': {found.message}')}"
    yield f"{' ' * width}{paint(_BLUE, '-->')} {_where(found.span)}"
    yield _bar(width, paint)
    yield from _excerpt(found.span, found.label, "^", color, width, sources, paint)
    if others:
        yield _bar(width, paint)
    for span, label in others:
        yield f"{' ' * width}{paint(_BLUE, ':::')} {_where(span)}"
        yield from _excerpt(span, label, "-", _BLUE, width, sources, paint)
    for note in found.notes:
        yield f" {paint(_BOLD, 'note')}: {note}"
    if found.help:
        yield f" {paint(_BOLD, 'help')}: {found.help}"


def _where(span: Span) -> str:
    return f"{span.path}:{span.line}:{span.column}"


def _bar(width: int, paint: _Paint) -> str:
    return f"{' ' * width} {paint(_BLUE, '|')}"


def _excerpt(
    span: Span, label: str, mark: str, color: str, width: int,
    sources: Mapping[str, Source], paint: _Paint,
) -> Iterator[str]:  # fmt: skip
    """The line of a span and the mark below it."""
    source = sources.get(span.path)
    text = source.line(span.line) if source is not None else ""
    end = span.end_column if span.end_line == span.line else len(text) + 1
    line, before, marked = _cut(text, span.column - 1, max(end - 1, span.column))
    gutter, bar = paint(_BLUE, f"{span.line:>{width}}"), paint(_BLUE, "|")
    yield f"{gutter} {bar} {line}".rstrip()
    marks = mark * marked + (f" {label}" if label else "")
    yield f"{_bar(width, paint)} {' ' * before}{paint(color, marks)}"


def _cut(text: str, start: int, end: int) -> tuple[str, int, int]:
    """The line as shown, columns before the mark, columns of the mark."""
    first = 0
    if len(text) > WIDEST:
        first = max(0, min(start - WIDEST // 4, len(text) - WIDEST))
    last = min(len(text), first + WIDEST)
    ahead, behind = ("…" if first else ""), ("…" if last < len(text) else "")
    before = _shown(text[first:start])
    marked = _width(_shown(text[start : min(end, last)], column=_width(before)))
    line = ahead + _shown(text[first:last]) + behind
    return line, _width(ahead + before), max(1, marked)


def _shown(text: str, *, column: int = 0) -> str:
    """Tabs as blanks, and what a terminal would act on as a box."""
    shown: list[str] = []
    for char in text:
        piece = char
        if char == "\t":
            piece = " " * (TAB - column % TAB)
        elif unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp", "Cs"):
            piece = "\ufffd"
        shown.append(piece)
        column += _width(piece)
    return "".join(shown)


def _width(text: str) -> int:
    """Columns of a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(char) else 2 if unicodedata.east_asian_width(char) in "WF" else 1
        for char in text
    )
