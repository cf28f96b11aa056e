"""From the trees of the grammar to those of syntax.py: nothing is judged, everything gets its place."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias, cast

from lark import Token, Tree

from webhook.language import expression
from webhook.language.syntax import (
    Alias,
    Block,
    Bound,
    Cohort,
    Deny,
    Flavor,
    Node,
    Number,
    Order,
    Otherwise,
    Priority,
    Queue,
    Route,
    Share,
    Source,
    Span,
    Statement,
    Text,
    Tolerate,
    Word,
)

Part: TypeAlias = Tree[Token] | Token


class Builder:
    """Builds the statements of one file; a method a rule of the grammar."""

    def __init__(self, source: Source) -> None:
        self.source = source

    def statement(self, tree: Tree[Token]) -> Statement:
        """A statement that stands outside of blocks or in a cohort."""
        match tree.data:
            case "alias":
                name, resource = self._words(tree)
                return Alias(name, resource, self._span(tree))
            case "flavor":
                landings = tuple(self._landing(part) for part in _trees(tree))
                return Flavor(self._words(tree)[0], landings, self._span(tree))
            case "priority":
                return self._priority(tree)
            case "cohort":
                return self._cohort(tree)
            case "queue":
                return self._queue(tree)
            case _:
                return self._rule(tree)

    def _rule(self, tree: Tree[Token]) -> Statement:
        match tree.data:
            case "route":
                return self._route(tree)
            case "otherwise":
                words, texts = self._words(tree), self._texts(tree)
                queue, message = words[0] if words else None, texts[0] if texts else None
                return Otherwise(queue, message, self._span(tree))
            case _:
                return self._deny(tree)

    def _landing(self, tree: Tree[Token]) -> Node | Tolerate:
        texts, words = self._texts(tree), self._words(tree)
        if tree.data == "node":
            return Node(texts[0], texts[1], self._span(tree))
        value, effect = texts[1] if len(texts) > 1 else None, words[0] if words else None
        return Tolerate(texts[0], value, effect, self._span(tree))

    def _priority(self, tree: Tree[Token]) -> Priority:
        default = any(token.type == "DEFAULT" for token in _tokens(tree))
        return Priority(self._words(tree)[0], self._numbers(tree)[0], default, self._span(tree))

    def _cohort(self, tree: Tree[Token]) -> Cohort:
        body = [part for part in _trees(tree) if part.data != "parent"]
        members = tuple(
            self._block(part) if part.data in ("pool", "cap") else self.statement(part)
            for part in body
        )
        return Cohort(
            self._words(tree)[0],
            self._parent(tree),
            cast("tuple[Block | Cohort | Queue, ...]", members),
            self._span(tree),
        )

    def _queue(self, tree: Tree[Token]) -> Queue:
        body = tuple(
            self._block(part)
            if part.data == "quota"
            else Order(self._words(part)[0], self._span(part))
            for part in _trees(tree)
            if part.data != "parent"
        )
        return Queue(self._words(tree)[0], self._parent(tree), body, self._span(tree))

    def _parent(self, tree: Tree[Token]) -> Word | None:
        return next((self._words(part)[0] for part in _trees(tree) if part.data == "parent"), None)

    def _block(self, tree: Tree[Token]) -> Block:
        words = self._words(tree)
        shares = tuple(self._share(part) for part in _trees(tree))
        keyword = cast("Literal['quota', 'pool', 'cap']", str(tree.data))
        return Block(keyword, words[0] if words else None, shares, self._span(tree))

    def _share(self, tree: Tree[Token]) -> Share:
        bounds: dict[str, Bound] = {
            str(part.data): (self._words(part) or self._numbers(part))[0] for part in _trees(tree)
        }
        return Share(
            self._words(tree)[0],
            self._numbers(tree)[0],
            bounds.get("borrow"),
            bounds.get("lend"),
            self._span(tree),
        )

    def _route(self, tree: Tree[Token]) -> Route:
        words = self._words(tree)
        name = words[0] if len(words) > 1 else None
        kinds, condition = self._head(tree)
        return Route(name, kinds, condition, words[-1], _audit(tree), self._span(tree))

    def _deny(self, tree: Tree[Token]) -> Deny:
        kinds, condition = self._head(tree)
        assert condition is not None  # noqa: S101 - the grammar demands one
        message = next(self._texts(part)[0] for part in _trees(tree) if part.data == "message")
        return Deny(self._words(tree)[0], kinds, condition, _audit(tree), message, self._span(tree))

    def _head(self, tree: Tree[Token]) -> tuple[tuple[Word, ...], expression.Expression | None]:
        """What stands behind ``for`` and ``when``."""
        kinds: tuple[Word, ...] = ()
        condition: expression.Expression | None = None
        for part in _trees(tree):
            if part.data == "kinds":
                kinds = tuple(self._words(part))
            elif part.data == "when":
                condition = expression.build(next(_trees(part)), self.source)
        return kinds, condition

    def _words(self, tree: Tree[Token]) -> list[Word]:
        return [Word(str(t), self._at(t)) for t in _tokens(tree) if t.type == "WORD"]

    def _numbers(self, tree: Tree[Token]) -> list[Number]:
        return [Number(str(t), self._at(t)) for t in _tokens(tree) if t.type == "NUMBER"]

    def _texts(self, tree: Tree[Token]) -> list[Text]:
        return [Text(str(t), self._at(t)) for t in _tokens(tree) if t.type == "TEXT"]

    def _at(self, token: Token) -> Span:
        return self.source.span(token.start_pos or 0, token.end_pos or 0)

    def _span(self, tree: Tree[Token]) -> Span:
        return self.source.span(tree.meta.start_pos, tree.meta.end_pos)


def _trees(tree: Tree[Token]) -> Iterator[Tree[Token]]:
    return (part for part in tree.children if isinstance(part, Tree))


def _tokens(tree: Tree[Token]) -> Iterator[Token]:
    return (part for part in tree.children if isinstance(part, Token))


def _audit(tree: Tree[Token]) -> bool:
    return any(token.type == "AUDIT" for token in _tokens(tree))
