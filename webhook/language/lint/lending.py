"""Findings about `lend`: nobody can use what is offered, or nobody takes it back.

Only where the word is written: without it everything is lent, and nothing was promised.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from webhook.language.lint.capacity import Capacity
from webhook.language.lint.entries import Entry
from webhook.language.problems import Problem, problem
from webhook.language.syntax import Queue, Span
from webhook.model.queues import FlavorResource, Quotas


def lending_findings(
    entries: Iterable[Entry], capacity: Capacity, quotas: Quotas
) -> Iterator[Problem]:
    """Every finding of this module."""
    borrowers, takers = _Borrowers(capacity), _takers(capacity, quotas)
    for entry in entries:
        name, lend = entry.node.name.text, entry.share.lend
        offered = capacity.share(name, entry.what).lend != 0
        if lend is None or entry.block.keyword == "cap" or not offered:
            continue
        if not borrowers.of(name, entry.what):
            yield _unused(entry, lend.span)
        elif isinstance(entry.node, Queue):
            yield from _kept_waiting(name, lend.span, takers.get(capacity.root(name)), quotas)


class _Borrowers:
    """Who could borrow what stands idle at a node; each part of the tree is looked at once for each resource."""

    def __init__(self, capacity: Capacity) -> None:
        self._capacity = capacity
        self._reached = lru_cache(maxsize=None)(self._reaches)
        self._many = lru_cache(maxsize=None)(self._reaching_members)

    def of(self, name: str, what: FlavorResource) -> bool:
        """Whether a queue that does not stand below can borrow it, as far up as it is lent on."""
        for parent in self._capacity.above(name):
            if self._many(parent, what) > self._reached(name, what):
                return True
            if self._capacity.share(parent, what).lend == 0:
                return False
            name = parent
        return False

    def _reaches(self, name: str, what: FlavorResource) -> bool:
        """Whether a queue at or below a node names it, and may borrow it through that node."""
        if self._capacity.share(name, what).borrow == 0:
            return False
        if self._capacity.is_queue(name):
            return self._capacity.names(name, what)
        return self._many(name, what) > 0

    def _reaching_members(self, cohort: str, what: FlavorResource) -> int:
        return sum(self._reached(child, what) for child in self._capacity.members(cohort))


def _takers(capacity: Capacity, quotas: Quotas) -> dict[str, str]:
    """Root → a queue of its tree that takes its own back."""
    return {
        capacity.root(name): name
        for name, queue in reversed(list(quotas.queues.items()))
        if queue.preempts.from_borrowers is not None
    }


def _unused(entry: Entry, span: Span) -> Problem:
    """TG315."""
    resource, flavor = entry.share.resource.text, entry.what.flavor
    message = f"no other queue of its tree can borrow {resource} of flavor `{flavor}`"
    return problem("TG315", span, message, help="write `lend none`, or let others borrow")


def _kept_waiting(name: str, span: Span, taker: str | None, quotas: Quotas) -> Iterator[Problem]:
    """TG413: where nobody takes anything back it is known that owners wait."""
    if taker is not None and quotas.queues[name].preempts.from_borrowers is None:
        message = f"queue `{name}` waits for what it lends until whoever borrowed it ends"
        note = f"queue `{taker}` of the same tree takes its own back"
        advice = "add `preempt any from borrowers` or `preempt lower-priority from borrowers`"
        yield problem("TG413", span, message, notes=(note,), help=advice)
