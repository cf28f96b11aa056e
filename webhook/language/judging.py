"""What ``set`` writes and whom ``accept`` lets in: rules that were checked, asked about one request.

Pure. When a condition fails at run time a set is skipped and an accept refuses; each failure is handed back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from webhook.language.conditions import Condition, ConditionFailed, Scope
from webhook.language.paths import Key
from webhook.language.records import dataclass


@dataclass(frozen=True, slots=True)
class Failure:
    """A condition that could not be evaluated; ``place`` is where the rule stands."""

    rule: str | None
    place: str
    message: str


@dataclass(frozen=True, slots=True)
class SetRule:
    """One set; ``condition`` None writes always. ``kinds``: the kinds it is for."""

    name: str
    kinds: frozenset[str]
    condition: Condition | None
    assignments: tuple[tuple[tuple[Key, ...], Condition], ...]
    audit: bool
    place: str


@dataclass(frozen=True, slots=True)
class AcceptRule:
    """One ``accept`` line of a queue."""

    condition: Condition
    place: str


@dataclass(frozen=True, slots=True)
class Written:
    """A value and where it goes; ``[*]`` in the path is every item of a list."""

    path: tuple[Key, ...]
    value: Any
    rule: str
    place: str


@dataclass(frozen=True, slots=True)
class Writes:
    """Everything the sets write into one object, each path once."""

    written: tuple[Written, ...] = ()
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True, slots=True)
class NotAccepted:
    """A queue whose ``accept`` lines let this one not in; ``places`` are theirs."""

    queue: str
    places: tuple[str, ...]
    message: str
    failures: tuple[Failure, ...] = ()


def writes(rules: Sequence[SetRule], scope: Scope, *, audit: bool) -> Writes:
    """What the sets write: all see the object as it came, of two for one path the first wins."""
    written: dict[tuple[Key, ...], Written] = {}
    failures: list[Failure] = []
    for rule in rules:
        if rule.audit != audit or scope.kind not in rule.kinds:
            continue
        try:
            if rule.condition is not None and not rule.condition.evaluate(scope):
                continue
            values = [(path, value.evaluate(scope)) for path, value in rule.assignments]
        except ConditionFailed as error:
            failures.append(Failure(rule.name, rule.place, str(error)))
            continue
        for path, value in values:
            if value is None:
                message = "the value is null, which cannot be written"
                failures.append(Failure(rule.name, rule.place, message))
            else:
                written.setdefault(path, Written(path, value, rule.name, rule.place))
    return Writes(tuple(written.values()), tuple(failures))


def not_accepted(queue: str, rules: Sequence[AcceptRule], scope: Scope) -> NotAccepted | None:
    """None where one of the lines lets it in, or there is none."""
    failures: list[Failure] = []
    for rule in rules:
        try:
            if rule.condition.evaluate(scope):
                return None
        except ConditionFailed as error:
            failures.append(Failure(None, rule.place, str(error)))
    if not rules:
        return None
    why = f": {failures[0].message}" if failures else ""
    message = f"queue {queue} does not accept this workload{why}"
    return NotAccepted(queue, tuple(rule.place for rule in rules), message, tuple(failures))
