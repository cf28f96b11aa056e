"""From the trees of the grammar to those of syntax_queues.py."""

from __future__ import annotations

from typing import Literal, cast

from lark import Token, Tree

from webhook.language.syntax import (
    Accept,
    Block,
    Bound,
    Cohort,
    Deadline,
    Hold,
    InQueue,
    Limit,
    Order,
    Preempt,
    Prefer,
    Queue,
    Share,
    Sharing,
    Source,
    Uncovered,
    Weight,
    Word,
)
from webhook.language.syntax_queues import Scope
from webhook.language.tree_leaves import Leaves, named, trees

_SCOPES: dict[str, Scope] = {"within": "within", "from": "from", "borrowing": "to"}


class QueueBuilder:
    """Builds cohorts, queues and what stands in them."""

    def __init__(self, source: Source) -> None:
        self._leaves = Leaves(source)

    def cohort(self, tree: Tree[Token]) -> Cohort:
        """A cohort with all below it."""
        body = tuple(self._in_cohort(part) for part in trees(tree) if part.data != "parent")
        return Cohort(
            self._leaves.words(tree)[0], self._parent(tree), body, self._leaves.span(tree)
        )

    def queue(self, tree: Tree[Token]) -> Queue:
        """A queue."""
        body = tuple(self._in_queue(part) for part in trees(tree) if part.data != "parent")
        return Queue(self._leaves.words(tree)[0], self._parent(tree), body, self._leaves.span(tree))

    def _parent(self, tree: Tree[Token]) -> Word | None:
        part = named(tree, "parent")
        return None if part is None else self._leaves.words(part)[0]

    def _in_cohort(self, tree: Tree[Token]) -> Block | Cohort | Queue | Sharing | Weight:
        match tree.data:
            case "cohort":
                return self.cohort(tree)
            case "queue":
                return self.queue(tree)
            case "sharing":
                return Sharing(self._leaves.words(tree)[0], self._leaves.span(tree))
            case "weight":
                return self._weight(tree)
            case _:
                return self._block(tree)

    def _in_queue(self, tree: Tree[Token]) -> InQueue:
        span = self._leaves.span(tree)
        match tree.data:
            case "quota":
                return self._block(tree)
            case "order":
                return Order(self._leaves.words(tree)[0], span)
            case "weight":
                return self._weight(tree)
            case "preempt":
                return self._preempt(tree)
            case "prefer":
                return Prefer(tuple(self._leaves.words(tree)), span)
            case "limit":
                return self._limit(tree)
            case _:
                return self._line(tree)

    def _line(self, tree: Tree[Token]) -> InQueue:
        span = self._leaves.span(tree)
        match tree.data:
            case "uncovered":
                return Uncovered(self._leaves.words(tree)[0], span)
            case "accept":
                return Accept(self._leaves.condition(tree), span)
            case "deadline":
                within, *retries = self._leaves.numbers(tree)
                return Deadline(within, retries[0] if retries else None, span)
            case keyword:
                word = cast("Literal['hold', 'drain']", str(keyword))
                return Hold(word, self._leaves.text(tree), span)

    def _weight(self, tree: Tree[Token]) -> Weight:
        return Weight(self._leaves.numbers(tree)[0], self._leaves.span(tree))

    def _preempt(self, tree: Tree[Token]) -> Preempt:
        (form,) = trees(tree)
        return Preempt(
            self._leaves.words(tree)[0],
            _SCOPES[str(form.data)],
            self._leaves.word(form),
            self._leaves.span(tree),
        )

    def _limit(self, tree: Tree[Token]) -> Limit:
        label = named(tree, "label_key")
        return Limit(
            self._leaves.bounded(tree),
            self._leaves.word(tree),
            None if label is None else self._leaves.text(label),
            self._leaves.span(tree),
        )

    def _block(self, tree: Tree[Token]) -> Block:
        shares = tuple(self._share(part) for part in trees(tree))
        keyword = cast("Literal['quota', 'pool', 'cap']", str(tree.data))
        return Block(keyword, self._leaves.word(tree), shares, self._leaves.span(tree))

    def _share(self, tree: Tree[Token]) -> Share:
        bounds: dict[str, Bound] = {
            str(part.data): self._leaves.mixed(part)[0] for part in trees(tree)
        }
        return Share(
            self._leaves.words(tree)[0],
            self._leaves.numbers(tree)[0],
            bounds.get("borrow"),
            bounds.get("lend"),
            self._leaves.span(tree),
        )
