"""Tokens and comments as the formatter sees them: statements of parts, each part with what stood before it.

A comment belongs to the token that follows it, or to the end of the line it stands on; so it moves with what it is
about. Line ends and the commas between entries are gone: where lines end is decided anew.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from lark import Token

from webhook.language.grammar import BRACES
from webhook.language.syntax import Comment

END: Final = "END"
"""The kind of the part that stands for the end of the file."""


@dataclass(slots=True)
class Remark:
    """A comment; ``trailing`` behind something on its line, ``blank`` below an empty line."""

    text: str
    trailing: bool
    blank: bool


@dataclass(slots=True)
class Leaf:
    """A token. ``broken``: a line ended before it; ``blank``: an empty line stood right above it."""

    kind: str
    text: str
    before: list[Remark] = field(default_factory=list)
    broken: bool = False
    blank: bool = False
    glued: bool = False
    """No space before it."""
    breaks: bool = False
    """A line begins here, within a statement."""


@dataclass(slots=True)
class Block:
    """Braces with statements or entries in them."""

    opening: Leaf
    entries: bool
    items: list[Item] = field(default_factory=list)
    closing: Leaf = field(default_factory=lambda: Leaf("RBRACE", "}"))


Part: TypeAlias = Leaf | Block


@dataclass(slots=True)
class Item:
    """A statement or an entry."""

    parts: list[Part]

    @property
    def first(self) -> Leaf:
        """The token it begins with."""
        part = self.parts[0]
        return part if isinstance(part, Leaf) else part.opening

    def leaves(self) -> Iterator[Leaf]:
        """All its tokens, those in its blocks included."""
        for part in self.parts:
            if isinstance(part, Leaf):
                yield part
            else:
                yield from block_leaves(part)


def block_leaves(block: Block) -> Iterator[Leaf]:
    """All tokens of a block, braces included."""
    yield block.opening
    for item in block.items:
        yield from item.leaves()
    yield block.closing


def read_items(
    text: str, tokens: Sequence[Token], comments: Sequence[Comment]
) -> tuple[list[Item], Leaf]:
    """The statements of a file, and its end with the comments before that."""
    gaps = _Gaps(text, comments)
    reader = _Reader()
    for token in tokens:
        if token.type == "_NL":
            reader.end_item()
        elif not reader.parts_entries(token.type):
            reader.take(gaps.leaf(token))
    return reader.items, gaps.leaf(Token(END, "", start_pos=len(text), end_pos=len(text)))


class _Gaps:
    """Walks a file's text and gives each token the comments and line ends since the one before."""

    def __init__(self, text: str, comments: Sequence[Comment]) -> None:
        self._text = text
        self._comments = comments
        self._next = 0
        self._at = 0
        self._begun = False

    def leaf(self, token: Token) -> Leaf:
        start, end = token.start_pos or 0, token.end_pos or 0
        leaf = Leaf(token.type, str(token))
        at, trailing = self._at, self._begun
        while self._next < len(self._comments) and self._comments[self._next].span.start < start:
            comment = self._comments[self._next]
            lines = self._lines(at, comment.span.start)
            leaf.before.append(Remark(comment.text.rstrip(), trailing and not lines, lines > 1))
            at, trailing, self._next = comment.span.end, False, self._next + 1
        leaf.broken = self._lines(self._at, start) > 0
        leaf.blank = self._lines(at, start) > 1
        self._at, self._begun = end, True
        return leaf

    def _lines(self, start: int, end: int) -> int:
        return self._text.count("\n", start, end)


class _Reader:
    """Puts tokens into statements and blocks."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self._open: list[tuple[Block, list[Item], list[Part]]] = []
        self._level: list[Item] = self.items
        self._parts: list[Part] = []
        self._maps = 0

    def parts_entries(self, kind: str) -> bool:
        """True for a comma between entries, which ends one."""
        if kind == "_COMMA" and self._open and self._open[-1][0].entries:
            self.end_item()
            return True
        return False

    def end_item(self) -> None:
        if self._parts:
            self._level.append(Item(self._parts))
            self._parts = []

    def take(self, leaf: Leaf) -> None:
        if leaf.kind in BRACES:
            block = Block(leaf, entries=leaf.kind == "_LENTRIES")
            self._open.append((block, self._level, self._parts))
            self._level, self._parts = block.items, []
        elif leaf.kind == "RBRACE" and not self._maps:
            self.end_item()
            block, self._level, self._parts = self._open.pop()
            block.closing = leaf
            self._parts.append(block)
        else:
            self._maps += (leaf.kind == "C_LBRACE") - (leaf.kind == "RBRACE")
            self._parts.append(leaf)
