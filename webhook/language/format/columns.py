"""Lines to text: what stands one below the other is lined up, as far as that can be decided by the lines alone.

Lined up are the first words of neighbouring lines of one sort, the values of neighbouring priorities, and the
comments behind neighbouring lines. An empty line ends a neighbourhood, so does a line of another sort.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

PRIORITY: Final = "priority"
"""The sort of lines whose second cell is a number, lined up at its end."""
WIDE: Final = 80
"""A line longer than this does not push the comments of its neighbours."""


@dataclass(slots=True)
class Line:
    """One line. ``cells`` may be lined up with those of neighbours of the same ``sort``, but for the last."""

    indent: int
    cells: list[str]
    sort: str = ""
    remark: str | None = None
    blank: bool = False
    """An empty line stands above it."""

    @property
    def is_remark(self) -> bool:
        """True for a comment on a line of its own."""
        return not self.cells


def write_lines(lines: list[Line], newline: str) -> str:
    """The text of a file."""
    for run in _neighbours(lines):
        _line_up(run)
    texts = [" " * line.indent + " ".join(line.cells) for line in lines]
    _add_remarks(lines, texts)
    return "".join(
        (newline if line.blank else "") + text + newline
        for line, text in zip(lines, texts, strict=True)
    )


def _neighbours(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """Runs of lines of one sort; comments of their own between them do not part them."""
    run: list[Line] = []
    for line in lines:
        if run and (line.blank or not (line.is_remark or _alike(run[-1], line))):
            yield run
            run = []
        if line.sort:
            run.append(line)
    yield run


def _alike(one: Line, other: Line) -> bool:
    return one.sort == other.sort and one.indent == other.indent


def _line_up(run: list[Line]) -> None:
    if run and run[0].sort == PRIORITY:
        width = max(len(line.cells[1]) for line in run)
        for line in run:
            line.cells[1] = line.cells[1].rjust(width)
    for column in range(max((len(line.cells) - 1 for line in run), default=0)):
        lines = [line for line in run if len(line.cells) > column + 1]
        width = max(len(line.cells[column]) for line in lines)
        for line in lines:
            line.cells[column] = line.cells[column].ljust(width)


def _add_remarks(lines: list[Line], texts: list[str]) -> None:
    """Comments behind neighbouring lines begin in one column."""
    run: list[int] = []
    for at, line in enumerate(lines):
        if line.blank or not _trails(line):
            _add(run, lines, texts)
            run = []
        if _trails(line):
            run.append(at)
        elif line.is_remark:
            texts[at] += line.remark or ""
    _add(run, lines, texts)


def _add(run: list[int], lines: list[Line], texts: list[str]) -> None:
    widths = [len(texts[at]) for at in run if len(texts[at]) <= WIDE and "\n" not in texts[at]]
    column = max(widths, default=0)
    for at in run:
        texts[at] = f"{texts[at].ljust(column)}  {lines[at].remark}"


def _trails(line: Line) -> bool:
    return line.remark is not None and not line.is_remark
