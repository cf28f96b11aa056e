"""The rules of a policy as the lint sees them: each with its kinds, when it is true, and a way to ask it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Final

from webhook.language.conditions import (
    EVERYWHERE,
    IN_ROUTES,
    Condition,
    ConditionFailed,
    Scope,
    compile_condition,
)
from webhook.language.conditions import Names as ConditionNames
from webhook.language.expression import Expression
from webhook.language.lint.clauses import ALWAYS, Clauses, Reader, TooMany, all_of
from webhook.language.lint.literals import OneOf, Path
from webhook.language.records import dataclass
from webhook.language.schemas import object_shape, shape_of
from webhook.language.shapes import Each, Record, Shape
from webhook.language.syntax import Accept, Deny, File, Route, Set, Span, Warn, Word
from webhook.model.kinds import BUILT_IN, Kind

_KINDS: Final = {kind.name: kind for kind in BUILT_IN}
_ROUTED: Final = ("Job", "JobSet", "LeaderWorkerSet")
"""Kinds a route without `for` is about; those that a policy declares come to them."""


@dataclass(frozen=True, slots=True)
class Known:
    """What all rules share: aliases of resources, and the kinds the policy declares itself."""

    aliases: Mapping[str, str]
    declared: tuple[str, ...] = ()


class Rule:
    """One route, deny, warn, set or accept."""

    def __init__(
        self,
        node: Route | Deny | Warn | Set | Accept,
        known: Known,
        *,
        condition: Expression | None,
    ) -> None:
        self.node = node
        self.known = known
        self.condition = condition
        self.kinds = () if isinstance(node, Accept) else tuple(word.text for word in node.kinds)
        self.reader = Reader(known.aliases, self._required)

    @property
    def span(self) -> Span:
        """Where a finding about its condition stands."""
        if self.condition is not None:
            return self.condition.span
        return self.node.span if self._named is None else self._named.span

    @property
    def name(self) -> str:
        """As messages name it."""
        return "this" if self._named is None else f"`{self._named.text}`"

    @property
    def audit(self) -> bool:
        """True where it only says what it would do."""
        return not isinstance(self.node, Accept) and self.node.audit

    @property
    def _named(self) -> Word | None:
        return None if isinstance(self.node, Accept) else self.node.name

    @cached_property
    def given(self) -> Clauses:
        """What its kinds say."""
        names = self.kinds
        if not names and isinstance(self.node, Route):
            names = (*_ROUTED, *self.known.declared)
        if not names:
            return ALWAYS
        return (frozenset({OneOf(("kind",), frozenset(("str", name) for name in names))}),)

    @cached_property
    def true(self) -> Clauses | None:
        """When it fires; None where that is too much to look at."""
        try:
            if self.condition is None:
                return self.given
            return all_of([self.given, self.reader.true(self.condition)])
        except TooMany:
            return None

    @cached_property
    def compiled(self) -> Condition | None:
        """What can be asked; None where there is no condition, or one that is no good."""
        if self.condition is None:
            return None
        variables = IN_ROUTES if isinstance(self.node, Route) else EVERYWHERE
        names = ConditionNames(self._schemas() or BUILT_IN, variables, self.known.aliases)
        return compile_condition(self.condition, names=names, want="bool")[0]

    def fires(self, scope: Scope) -> bool:
        """The evaluator's word; a condition that fails does not fire."""
        try:
            return self._asked(scope)
        except ConditionFailed:
            return False

    def fails(self, scope: Scope) -> bool:
        """True where it could not be evaluated."""
        try:
            self._asked(scope)
        except ConditionFailed:
            return True
        return False

    def _asked(self, scope: Scope) -> bool:
        if self.kinds and scope.kind not in self.kinds:
            return False
        if self.condition is None:
            return True
        return self.compiled is not None and bool(self.compiled.evaluate(scope))

    def _schemas(self) -> tuple[Kind, ...]:
        return tuple(_KINDS[name] for name in self.kinds if name in _KINDS)

    def _required(self, path: Path) -> bool:
        """True where every valid object of its kinds has this field."""
        if path[0] != "object" or any(name not in _KINDS for name in self.kinds):
            return False
        return _always_there(object_shape(self._schemas() or BUILT_IN), path[1:])


def _always_there(shape: Shape, rest: Sequence[str | int]) -> bool:
    if not rest:
        return True
    match shape:
        case Record(fields=fields, required=required):
            name = str(rest[0])
            return name in required and _always_there(shape_of(fields[name]), rest[1:])
        case Each(options=options):
            return all(_always_there(option, rest) for _, option in options)
        case _:
            return False


def read_rules(files: Sequence[File], known: Known) -> list[Rule]:
    """Every rule of all files, in the order in which they are tried."""
    return [
        Rule(statement, known, condition=statement.condition)
        for file in files
        for statement in file.statements
        if isinstance(statement, Route | Deny | Warn | Set)
    ]
