"""Statements to lines: what stands on a line of its own, how far in, and with which comments.

A block stays on one line where its author wrote it on one and it fits; else each statement or entry in it has a line.
Empty lines are kept, at most one, but not at the beginning or end of a block.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import Final

from webhook.language.format.columns import PRIORITY, Line
from webhook.language.format.items import Block, Item, Leaf, Remark, block_leaves
from webhook.language.format.spaces import CLOSING, HEADS, OPENING, set_spaces

WIDTH: Final = 100
"""A block that would end further right is not kept on one line."""
STEP: Final = 2
_AMOUNTS: Final = frozenset({"_QUOTA", "_POOL", "_CAP"})
_ALONE: Final = frozenset({"_COHORT", "_QUEUE", "PATH"})
"""Begin lines of blocks that are lined up with nothing."""
GOES_ON: Final = frozenset({"to", "when"})
"""A line that begins so goes on with the one above: an entry of that name needs a comma before it."""


def lay_out(items: list[Item], end: Leaf) -> list[Line]:
    """The lines of a file."""
    writer = _Writer()
    for item in items:
        _space(item)
        writer.item(item, 0, "")
    writer.remarks(end.before, 0)
    return writer.lines


def _space(item: Item) -> None:
    set_spaces(item)
    for part in item.parts:
        if isinstance(part, Block):
            for inner in part.items:
                _space(inner)


@dataclass(slots=True)
class _Bracket:
    """An open bracket of a condition: how far in its line begins, and whether a line ended behind it."""

    indent: int
    broken: bool = False


class _Writer:
    """The lines so far, and the one that is being written."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self._fresh = True
        """Nothing stands in this block yet, so that no empty line is kept."""
        self._indent = 0
        self._text = ""
        self._blank = False
        self._brackets: list[_Bracket] = []
        self._opened = False
        """The token before is an opening bracket."""

    def item(self, item: Item, indent: int, within: str) -> None:
        """Write a statement; ``within`` is "block", "entry" or, outside of blocks, nothing."""
        first = item.first
        self.remarks(first.before, indent)
        self._begin(indent, blank=first.blank and not self._fresh)
        lines = len(self.lines)
        for at, part in enumerate(item.parts):
            if isinstance(part, Block):
                self._block(part, indent)
            else:
                self._leaf(part, indent, starts=at == 0)
        whole = len(self.lines) == lines
        self._flush(_sort(item, within) if whole else "", first.text)

    def remarks(self, remarks: list[Remark], indent: int, *, blanks: bool = True) -> None:
        """Write the comments before something; the first may belong to the line above."""
        for remark in remarks:
            if remark.trailing and self.lines and self.lines[-1].remark is None:
                self.lines[-1].remark = remark.text
            else:
                blank = remark.blank and blanks and not self._fresh
                self.lines.append(Line(indent, [], remark=remark.text, blank=blank))
                self._fresh = False

    def _begin(self, indent: int, *, blank: bool = False) -> None:
        self._indent, self._text, self._blank = indent, "", blank

    def _flush(self, sort: str = "", first: str = "") -> None:
        cells = _cells(self._text, sort, first)
        self.lines.append(Line(self._indent, cells, sort, blank=self._blank))
        self._fresh = False

    def _leaf(self, leaf: Leaf, indent: int, *, starts: bool) -> None:
        closed = self._brackets.pop() if leaf.kind in CLOSING and self._brackets else None
        if leaf.breaks and not starts:
            inner = self._continued(leaf, indent, closed)
            self._flush()
            self.remarks(leaf.before, inner, blanks=False)
            self._begin(inner)
        self._add(leaf.text, glued=leaf.glued)
        self._opened = leaf.kind in OPENING
        if self._opened:
            self._brackets.append(_Bracket(self._indent))

    def _continued(self, leaf: Leaf, indent: int, closed: _Bracket | None) -> int:
        """How far in a line begins that goes on with a statement."""
        if closed is not None and closed.broken:
            return closed.indent
        if leaf.kind in HEADS:
            return indent + STEP
        if not self._brackets:
            return indent + 2 * STEP
        bracket = self._brackets[-1]
        bracket.broken = bracket.broken or self._opened
        inner = bracket.indent + STEP
        return inner if bracket.broken else max(inner, indent + 2 * STEP)

    def _add(self, text: str, *, glued: bool = False) -> None:
        space = "" if glued or not self._text else " "
        self._text = f"{self._text}{space}{text}"

    def _block(self, block: Block, indent: int) -> None:
        flat = _flat(block)
        used = self._indent + len(self._text) + 1
        if flat is not None and (used + len(flat) <= WIDTH or not block.items):
            self._add(flat)
            return
        self._add("{")
        self._flush()
        self._fresh = True
        for item, after in zip_longest(block.items, block.items[1:]):
            self.item(item, indent + STEP, "entry" if block.entries else "block")
            if after is not None and after.first.text in GOES_ON:
                self.lines[-1].cells[-1] += ","
        self.remarks(block.closing.before, indent + STEP)
        self._begin(indent)
        self._add("}")


def _flat(block: Block) -> str | None:
    """A block on one line; None where it cannot stand on one, or was not meant to."""
    leaves = list(block_leaves(block))[1:]
    if any(leaf.before or "\n" in leaf.text for leaf in leaves):
        return None
    if not block.items:
        return "{}"
    if any(leaf.broken for leaf in leaves):
        return None
    return "{ " + ", ".join(_flat_item(item) for item in block.items) + " }"


def _flat_item(item: Item) -> str:
    text = ""
    for part in item.parts:
        word = part.text if isinstance(part, Leaf) else _flat(part) or ""
        glued = isinstance(part, Leaf) and part.glued
        text = f"{text}{word}" if glued or not text else f"{text} {word}"
    return text


def _sort(item: Item, within: str) -> str:
    """With which neighbours a statement on one line is lined up."""
    kind = item.first.kind
    if kind == "_PRIORITY":
        return PRIORITY
    if not within or kind in _ALONE:
        return ""
    if within == "entry":
        return within
    return "amounts" if kind in _AMOUNTS else "line"


def _cells(text: str, sort: str, first: str) -> list[str]:
    """A line cut where it is lined up: behind its first word, of priorities also behind the name."""
    if not sort or "\n" in text:
        return [text]
    rest = text[len(first) + 1 :]
    if sort == PRIORITY:
        name, rest = rest.split(" ", 1)
        return [f"{first} {name}", *rest.split(" ", 1)]
    return [first, rest] if rest else [first]
