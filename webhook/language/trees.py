"""From the trees of the grammar to those of syntax.py: nothing is judged, everything gets its place."""

from __future__ import annotations

from lark import Token, Tree

from webhook.language.expression import Expression
from webhook.language.syntax import (
    Alias,
    Assignment,
    Deny,
    Flavor,
    Mode,
    Node,
    Otherwise,
    Priority,
    QueueLabel,
    Route,
    Set,
    Settings,
    Source,
    Statement,
    Text,
    Tolerate,
    Warn,
    Word,
)
from webhook.language.tree_kinds import KindBuilder
from webhook.language.tree_leaves import Leaves, named, tokens, trees
from webhook.language.tree_queues import QueueBuilder
from webhook.language.tree_tests import TestBuilder


class Builder:
    """Builds the statements of one file; a method a rule of the grammar."""

    def __init__(self, source: Source) -> None:
        self._leaves = Leaves(source)
        self._queues = QueueBuilder(source)
        self._kinds = KindBuilder(source)
        self._tests = TestBuilder(source)

    def statement(self, tree: Tree[Token]) -> Statement:
        """A statement that stands outside of blocks."""
        match tree.data:
            case "cohort":
                return self._queues.cohort(tree)
            case "queue":
                return self._queues.queue(tree)
            case "kind":
                return self._kinds.kind(tree)
            case "test":
                return self._tests.test(tree)
            case "settings":
                return self._settings(tree)
            case "alias" | "flavor" | "priority":
                return self._declaration(tree)
            case _:
                return self._rule(tree)

    def _declaration(self, tree: Tree[Token]) -> Statement:
        words, span = self._leaves.words(tree), self._leaves.span(tree)
        match tree.data:
            case "alias":
                name, resource = words
                return Alias(name, resource, span)
            case "flavor":
                return Flavor(words[0], tuple(self._landing(part) for part in trees(tree)), span)
            case _:
                default = any(token.type == "DEFAULT" for token in tokens(tree))
                return Priority(words[0], self._leaves.numbers(tree)[0], default, span)

    def _landing(self, tree: Tree[Token]) -> Node | Tolerate:
        texts, span = self._leaves.texts(tree), self._leaves.span(tree)
        if tree.data == "node":
            return Node(texts[0], texts[1], span)
        value = texts[1] if len(texts) > 1 else None
        return Tolerate(texts[0], value, self._leaves.word(tree), span)

    def _settings(self, tree: Tree[Token]) -> Settings:
        body = tuple(
            Mode(self._leaves.words(part)[0], self._leaves.span(part))
            if part.data == "mode"
            else QueueLabel(tuple(self._leaves.texts(part)), self._leaves.span(part))
            for part in trees(tree)
        )
        return Settings(body, self._leaves.span(tree))

    def _rule(self, tree: Tree[Token]) -> Statement:
        match tree.data:
            case "route":
                return self._route(tree)
            case "otherwise":
                queue, message = self._leaves.word(tree), self._leaves.text(tree)
                return Otherwise(queue, message, self._leaves.span(tree))
            case "set":
                return self._set(tree)
            case _:
                return self._refusal(tree)

    def _route(self, tree: Tree[Token]) -> Route:
        words = self._leaves.words(tree)
        name = words[0] if len(words) > 1 else None
        return Route(
            name, self._kinds_of(tree), self._when(tree), words[-1], _audit(tree),
            self._leaves.span(tree),
        )  # fmt: skip

    def _refusal(self, tree: Tree[Token]) -> Deny | Warn:
        make: type[Deny | Warn] = Deny if tree.data == "deny" else Warn
        return make(
            self._leaves.words(tree)[0],
            self._kinds_of(tree),
            self._leaves.condition(tree),
            _audit(tree),
            self._message(tree),
            self._leaves.span(tree),
        )

    def _message(self, tree: Tree[Token]) -> Text:
        return next(self._leaves.texts(part)[0] for part in trees(tree) if part.data == "message")

    def _set(self, tree: Tree[Token]) -> Set:
        assignments = tuple(
            Assignment(
                self._leaves.path(part), self._leaves.condition(part), self._leaves.span(part)
            )
            for part in trees(tree)
            if part.data == "assignment"
        )
        return Set(
            self._leaves.words(tree)[0], self._kinds_of(tree), self._when(tree), _audit(tree),
            assignments, self._leaves.span(tree),
        )  # fmt: skip

    def _kinds_of(self, tree: Tree[Token]) -> tuple[Word, ...]:
        """What stands behind ``for``."""
        part = named(tree, "kinds")
        return () if part is None else tuple(self._leaves.words(part))

    def _when(self, tree: Tree[Token]) -> Expression | None:
        """What stands behind ``when``."""
        part = named(tree, "when")
        return None if part is None else self._leaves.condition(part)


def _audit(tree: Tree[Token]) -> bool:
    return any(token.type == "AUDIT" for token in tokens(tree))
