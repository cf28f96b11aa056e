"""Routes, denies, warns, sets and accepts: kinds, conditions and messages checked, ready to be asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from webhook.language.conditions import EVERYWHERE, IN_ROUTES, Condition, compile_condition
from webhook.language.conditions import Names as ConditionNames
from webhook.language.expression import Expression
from webhook.language.judging import AcceptRule, SetRule
from webhook.language.kinds import DeclaredKind
from webhook.language.names import Names
from webhook.language.policy import DenyRule, Message, OtherwiseRule, RouteRule
from webhook.language.problems import Problem, problem
from webhook.language.sets import SUSPEND, read_assignments
from webhook.language.suggest import did_you_mean
from webhook.language.syntax import (
    Accept,
    Deny,
    File,
    Otherwise,
    Queue,
    Route,
    Set,
    Source,
    Text,
    Warn,
    Word,
)
from webhook.language.texts import Inserted, read_message
from webhook.model.kinds import BUILT_IN, Kind

_BUILT_IN: Final = {kind.name: kind for kind in BUILT_IN}


class RuleReader:
    """Reads every rule in the order of the files; unknown queues are told to ``names``."""

    def __init__(
        self,
        names: Names,
        aliases: Mapping[str, str],
        sources: Mapping[str, Source],
        declared: Sequence[DeclaredKind] = (),
    ) -> None:
        self.names = names
        self.problems: list[Problem] = []
        self._aliases = aliases
        self._sources = sources
        self._declared = declared
        self._known_kinds = _BUILT_IN | {each.name: each.kind for each in declared}

    def kind_names(self) -> tuple[str, ...]:
        """Every kind a rule may be for."""
        return tuple(self._known_kinds)

    def routes(self, files: tuple[File, ...]) -> tuple[RouteRule, ...]:
        """All routes but `otherwise`, in the order in which they are tried."""
        found = [s for file in files for s in file.statements if isinstance(s, Route)]
        return tuple(self._route(route) for route in found)

    def denies(self, files: tuple[File, ...]) -> tuple[DenyRule, ...]:
        """All denies, by file and line."""
        found = [s for file in files for s in file.statements if isinstance(s, Deny)]
        return tuple(rule for deny in found if (rule := self._refusal(deny)) is not None)

    def warns(self, files: tuple[File, ...]) -> tuple[DenyRule, ...]:
        """All warns, by file and line."""
        found = [s for file in files for s in file.statements if isinstance(s, Warn)]
        return tuple(rule for warn in found if (rule := self._refusal(warn)) is not None)

    def sets(self, files: tuple[File, ...]) -> tuple[SetRule, ...]:
        """All sets, by file and line: of two that write one path the first wins."""
        found = [s for file in files for s in file.statements if isinstance(s, Set)]
        return tuple(self._set(each) for each in found)

    def accepts(self) -> dict[str, tuple[AcceptRule, ...]]:
        """The ``accept`` lines by queue, for queues that have one."""
        found: dict[str, tuple[AcceptRule, ...]] = {}
        known = self._known((), EVERYWHERE)
        for name, member in self.names.members.items():
            lines = [part for part in member.node.body if isinstance(part, Accept)]
            read = [(self._condition(line.condition, known), line.span.place) for line in lines]
            if lines:
                found[name] = tuple(AcceptRule(c, place) for c, place in read if c is not None)
        return found

    def otherwise(self) -> OtherwiseRule | None:
        """What happens to whom no route matches."""
        for second in self.names.otherwise[1:]:
            others = ((self.names.otherwise[0].span, "the first"),)
            message = "there are two `route otherwise`"
            self.problems.append(problem("TG201", second.span, message, others=others))
        read = [self._otherwise(statement) for statement in self.names.otherwise]
        return read[0] if read else None

    def _otherwise(self, statement: Otherwise) -> OtherwiseRule:
        queue, message = None, None
        if statement.queue is not None:
            queue = self._queue(statement.queue)
        if statement.message is not None:
            message = self._message(statement.message, self._known((), IN_ROUTES))
        return OtherwiseRule(queue, message, statement.span.place)

    def _route(self, route: Route) -> RouteRule:
        kinds = self._kinds(route.kinds)
        condition = None
        if route.condition is not None:
            condition = self._condition(route.condition, self._known(kinds, IN_ROUTES))
        name = route.name.text if route.name else None
        queue = self._queue(route.queue)
        return RouteRule(name, self._names(kinds), condition, queue, route.audit, route.span.place)

    def _refusal(self, node: Deny | Warn) -> DenyRule | None:
        kinds = self._kinds(node.kinds)
        known = self._known(kinds, EVERYWHERE)
        condition = self._condition(node.condition, known)
        message = self._message(node.message, known)
        if condition is None:
            return None
        return DenyRule(
            node.name.text, self._names(kinds), condition, message, node.audit, node.span.place
        )

    def _set(self, node: Set) -> SetRule:
        kinds = self._kinds(node.kinds)
        known = self._known(kinds, EVERYWHERE)
        condition = None
        if node.condition is not None:
            condition = self._condition(node.condition, known)
        stops = [*SUSPEND, *(each.suspend for each in self._declared if each.suspend)]
        source = self._sources[node.span.path]
        assignments = read_assignments(
            node, source, known, stops, self.problems, complete=not self.names.incomplete
        )
        return SetRule(
            node.name.text, self._names(kinds), condition, assignments, node.audit, node.span.place
        )

    def _known(self, kinds: tuple[Kind, ...], variables: frozenset[str]) -> ConditionNames:
        return ConditionNames(kinds or self._all_kinds(), variables, self._aliases)

    def _kinds(self, words: tuple[Word, ...]) -> tuple[Kind, ...]:
        """The kinds a rule is for; all where it names none or none that is known."""
        found: dict[str, Kind] = {}
        known = self._known_kinds
        for word in words:
            kind = self._known_kinds.get(word.text)
            if kind is None:
                advice = did_you_mean(word.text, known) or f"known are {', '.join(known)}"
                message = f"`{word.text}` is not a kind this version knows"
                self.problems.append(problem("TG209", word.span, message, help=advice))
            else:
                found[word.text] = kind
        return tuple(found.values()) or self._all_kinds()

    def _queue(self, word: Word) -> str:
        member = self.names.members.get(word.text)
        if member is None or not isinstance(member.node, Queue):
            self.names.unknown("queue", word)
        return word.text

    def _condition(self, expression: Expression, known: ConditionNames) -> Condition | None:
        condition, problems = compile_condition(expression, names=known, want="bool")
        self.problems += problems
        return condition

    def _message(self, text: Text, known: ConditionNames) -> Message:
        parts, problems = read_message(text, self._sources[text.span.path])
        self.problems += problems
        compiled: list[str | Condition] = []
        for part in parts:
            if isinstance(part, str):
                compiled.append(part)
                continue
            value = self._inserted(part, known)
            if value is not None:
                compiled.append(value)
        return Message(tuple(compiled))

    def _inserted(self, part: Inserted, known: ConditionNames) -> Condition | None:
        value, problems = compile_condition(part.expression, names=known, want="text")
        self.problems += problems
        return value

    def _all_kinds(self) -> tuple[Kind, ...]:
        """What a rule without ``for`` is about."""
        return tuple(self._known_kinds.values())

    def _names(self, kinds: tuple[Kind, ...]) -> frozenset[str]:
        return frozenset(name for name, kind in self._known_kinds.items() if kind in kinds)
