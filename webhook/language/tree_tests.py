"""From the trees of the grammar to those of syntax_tests.py."""

from __future__ import annotations

from typing import cast

from lark import Token, Tree

from webhook.language.syntax import (
    By,
    Clause,
    Expect,
    ExpectIgnored,
    ExpectPreempts,
    ExpectQueue,
    ExpectRefused,
    ExpectRule,
    ExpectSet,
    ExpectStarts,
    ExpectWaiting,
    GivenNamespace,
    GivenQueue,
    Groups,
    InNamespace,
    InTest,
    Label,
    Labels,
    OfPriority,
    On,
    Pods,
    Source,
    Submit,
    SubmitFile,
    Test,
    Word,
)
from webhook.language.tree_leaves import Leaves, named, tokens, trees


class TestBuilder:
    """Builds tests."""

    __test__ = False

    def __init__(self, source: Source) -> None:
        self._leaves = Leaves(source)

    def test(self, tree: Tree[Token]) -> Test:
        """One test."""
        body = tuple(self._in_test(part) for part in trees(tree))
        return Test(self._leaves.texts(tree)[0], body, self._leaves.span(tree))

    def _in_test(self, tree: Tree[Token]) -> InTest:
        span = self._leaves.span(tree)
        match tree.data:
            case "given_namespace":
                labels = named(tree, "labels")
                found = () if labels is None else self._labels(labels)
                return GivenNamespace(self._leaves.texts(tree)[0], found, span)
            case "given_queue":
                return self._given_queue(tree)
            case "submit":
                clauses = tuple(self._clause(part) for part in trees(tree))
                return Submit(
                    self._leaves.words(tree)[0], cast("tuple[Clause, ...]", clauses), span
                )
            case "submit_file":
                return SubmitFile(self._leaves.texts(tree)[0], span)
            case _:
                return self._expect(tree)

    def _given_queue(self, tree: Tree[Token]) -> GivenQueue:
        amounts, *clauses = trees(tree)
        return GivenQueue(
            self._leaves.words(tree)[0],
            any(token.type == "RUNNING" for token in tokens(tree)),
            self._leaves.bounded(amounts),
            cast("tuple[On | By | OfPriority, ...]", tuple(self._clause(c) for c in clauses)),
            self._leaves.span(tree),
        )

    def _clause(self, tree: Tree[Token]) -> Clause | On:
        span = self._leaves.span(tree)
        match tree.data:
            case "namespace":
                return InNamespace(self._leaves.texts(tree)[0], span)
            case "by":
                return By(self._leaves.texts(tree)[0], span)
            case "groups":
                return Groups(tuple(self._leaves.texts(tree)), span)
            case "labels":
                return Labels(self._labels(tree), span)
            case "of_priority":
                return OfPriority(self._leaves.words(tree)[0], span)
            case "on":
                return On(self._leaves.words(tree)[0], span)
            case _:
                return self._pods(tree)

    def _pods(self, tree: Tree[Token]) -> Pods:
        """``requests { … }`` or ``pods N each { … }``."""
        count, (amounts,) = self._leaves.numbers(tree), trees(tree)
        return Pods(
            count[0] if count else None, self._leaves.bounded(amounts), self._leaves.span(tree)
        )

    def _labels(self, tree: Tree[Token]) -> tuple[Label, ...]:
        return tuple(self._label(part) for part in trees(tree))

    def _label(self, tree: Tree[Token]) -> Label:
        texts, key = self._leaves.texts(tree), self._leaves.word(tree)
        return Label(key or texts[0], texts[-1], self._leaves.span(tree))

    def _expect(self, tree: Tree[Token]) -> Expect:
        span, (outcome,) = self._leaves.span(tree), trees(tree)
        match outcome.data:
            case "is_queue":
                return ExpectQueue(self._leaves.words(outcome)[0], span)
            case "denied" | "warned":
                rule, text = self._inner(outcome, "by_rule"), self._leaves.text(outcome)
                return ExpectRule(outcome.data == "warned", rule, text, span)
            case "refused":
                text = self._leaves.text(outcome)
                return ExpectRefused(self._inner(outcome, "because"), text, span)
            case "is_set":
                value = self._leaves.condition(outcome)
                return ExpectSet(self._leaves.path(outcome), value, span)
            case "preempts":
                return ExpectPreempts(self._leaves.numbers(outcome)[0], span)
            case "starts":
                return ExpectStarts(self._inner(outcome, "on"), span)
            case "waits":
                return ExpectWaiting(self._inner(outcome, "because"), span)
            case _:
                return ExpectIgnored(span)

    def _inner(self, tree: Tree[Token], rule: str) -> Word | None:
        """The word of a part that may be missing."""
        part = named(tree, rule)
        return None if part is None else self._leaves.words(part)[0]
