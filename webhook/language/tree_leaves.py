"""The leaves of the grammar's trees as those of leaves.py: tokens picked by their kind, each with its place."""

from __future__ import annotations

from collections.abc import Iterator

from lark import Token, Tree

from webhook.language.expression import Expression, build
from webhook.language.syntax import Bounded, Number, Path, Source, Span, Text, Word


class Leaves:
    """Reads the words, numbers, texts and conditions that stand directly in a tree."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def words(self, tree: Tree[Token]) -> list[Word]:
        """The bare words, in order."""
        return [Word(str(t), self._at(t)) for t in tokens(tree) if t.type == "WORD"]

    def word(self, tree: Tree[Token]) -> Word | None:
        """The first bare word."""
        return next(iter(self.words(tree)), None)

    def numbers(self, tree: Tree[Token]) -> list[Number]:
        """The numbers, in order."""
        return [Number(str(t), self._at(t)) for t in tokens(tree) if t.type == "NUMBER"]

    def texts(self, tree: Tree[Token]) -> list[Text]:
        """The quoted texts, in order."""
        return [Text(str(t), self._at(t)) for t in tokens(tree) if t.type == "TEXT"]

    def text(self, tree: Tree[Token]) -> Text | None:
        """The first quoted text."""
        return next(iter(self.texts(tree)), None)

    def path(self, tree: Tree[Token]) -> Path:
        """The path."""
        return next(Path(str(t), self._at(t)) for t in tokens(tree) if t.type == "PATH")

    def mixed(self, tree: Tree[Token]) -> list[Word | Number]:
        """Words and numbers in the order in which they stand."""
        found: list[Word | Number] = []
        for token in tokens(tree):
            if token.type in ("WORD", "NUMBER"):
                make = Word if token.type == "WORD" else Number
                found.append(make(str(token), self._at(token)))
        return found

    def bounded(self, tree: Tree[Token]) -> tuple[Bounded, ...]:
        """The entries of a resource and an amount."""
        return tuple(
            Bounded(self.words(part)[0], self.numbers(part)[0], self.span(part))
            for part in trees(tree)
            if part.data == "ceiling"
        )

    def condition(self, tree: Tree[Token]) -> Expression:
        """The expression that stands in it, behind ``when`` or by itself."""
        parts = list(trees(tree))
        found = next((part for part in parts if part.data == "condition"), None)
        if found is None:
            found = next(trees(next(part for part in parts if part.data == "when")))
        return build(found, self.source)

    def span(self, tree: Tree[Token]) -> Span:
        """Where it stands."""
        return self.source.span(tree.meta.start_pos, tree.meta.end_pos)

    def _at(self, token: Token) -> Span:
        return self.source.span(token.start_pos or 0, token.end_pos or 0)


def trees(tree: Tree[Token]) -> Iterator[Tree[Token]]:
    """The trees that stand directly in it."""
    return (part for part in tree.children if isinstance(part, Tree))


def tokens(tree: Tree[Token]) -> Iterator[Token]:
    """The tokens that stand directly in it."""
    return (part for part in tree.children if isinstance(part, Token))


def named(tree: Tree[Token], name: str) -> Tree[Token] | None:
    """The first tree of this rule that stands directly in it."""
    return next((part for part in trees(tree) if part.data == name), None)
