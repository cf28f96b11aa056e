"""What sets write: two that write one path (TG208), and what other findings may no longer take for granted.

Everything but routes sees the object as sets left it. A finding that rests on a field is silent where a set may write
that field: whether the set runs is not looked into.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from webhook.language.lint.clauses import TooMany
from webhook.language.lint.implication import disjoint
from webhook.language.lint.literals import Path
from webhook.language.lint.rulebook import Rule
from webhook.language.problems import Problem, problem
from webhook.language.syntax import Assignment, Set

_LOOKS: Final = 50_000
"""So many pairs of sets that write one path are looked at; then the lint is silent."""
_PART = re.compile(r"\[\*\]|\[\"([^\"]*)\"\]|([^.\[\]]+)")


def set_findings(rules: Sequence[Rule]) -> Iterator[Problem]:
    """TG208: the first in the order of the files wins, unless the two are never for one workload."""
    before: dict[tuple[str, ...], list[tuple[Rule, Assignment]]] = {}
    looks = _LOOKS
    for later in (rule for rule in rules if isinstance(rule.node, Set) and not rule.audit):
        for mine in _assignments(later):
            others = before.setdefault(parts(mine), [])
            for first, other in islice(others, max(0, looks)):
                looks -= 1
                if first is not later and not _apart(first, later):
                    yield _both(first, other, later, mine)
                    break
            others.append((later, mine))


def _both(first: Rule, other: Assignment, second: Rule, mine: Assignment) -> Problem:
    message = f"{first.name} and {second.name} both write `{mine.path.text}`, and the first wins"
    return problem(
        "TG208", mine.path.span, message, others=((other.path.span, "this one wins"),),
        help="say in their conditions when each is meant",
    )  # fmt: skip


def _apart(first: Rule, second: Rule) -> bool:
    if first.true is None or second.true is None:
        return False
    try:
        return disjoint(first.true, second.true)
    except TooMany:
        return False


def _assignments(rule: Rule) -> tuple[Assignment, ...]:
    assert isinstance(rule.node, Set)  # noqa: S101 - only sets are asked
    return rule.node.assignments


def parts(assignment: Assignment) -> tuple[str, ...]:
    """A path as keys; ``*`` for every item of a list."""
    found = _PART.finditer(assignment.path.text)
    return tuple(match[1] or match[2] or "*" for match in found)


class Written:
    """Which fields any set may write."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        sets = [rule for rule in rules if isinstance(rule.node, Set) and not rule.audit]
        self.paths = [parts(each) for rule in sets for each in _assignments(rule)]

    def touches(self, path: Path) -> bool:
        """True where a set may write this path, or what it stands in, or what stands in it."""
        mine = path[1:] if path[0] == "object" else ("metadata", *path)
        return any(
            all(a == b or a == "*" for a, b in zip(written, mine, strict=False))
            for written in self.paths
        )

    @property
    def sizes(self) -> bool:
        """True where one may change what a workload asks for."""
        return any(written[:1] != ("metadata",) for written in self.paths)
