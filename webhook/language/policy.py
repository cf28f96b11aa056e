"""A checked policy: what the webhook and the loop ask, and nothing of how it was written.

Nothing here raises for what a workload holds. A condition that fails at run time does what its rule does when in
doubt: a route does not match, a deny denies and says why; each failure is handed back to be counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from types import MappingProxyType
from typing import Final

from webhook.language.conditions import Condition, ConditionFailed, Scope
from webhook.language.judging import (
    AcceptRule,
    Failure,
    NotAccepted,
    SetRule,
    Writes,
    not_accepted,
    writes,
)
from webhook.language.kinds import DeclaredKind
from webhook.language.records import dataclass
from webhook.language.scenes import Scene
from webhook.language.settings import PolicySettings
from webhook.model.queues import Quotas

__all__ = [
    "Denial",
    "DenyRule",
    "Failure",
    "Message",
    "NotAccepted",
    "OtherwiseRule",
    "Policy",
    "RouteRule",
    "Routed",
    "UnknownPriority",
    "Writes",
]

LONGEST_MESSAGE: Final = 1024


@dataclass(frozen=True, slots=True)
class Message:
    """A text with the values of expressions in it."""

    parts: tuple[str | Condition, ...]

    def text(self, scope: Scope) -> str:
        """What is shown to whoever submitted; "?" stands for a value that could not be computed."""
        whole = "".join(p if isinstance(p, str) else p.text(scope) for p in self.parts)
        return whole if len(whole) <= LONGEST_MESSAGE else whole[: LONGEST_MESSAGE - 1] + "…"


@dataclass(frozen=True, slots=True)
class RouteRule:
    """One route; ``condition`` None matches everything of its kinds."""

    name: str | None
    kinds: frozenset[str]
    condition: Condition | None
    queue: str
    audit: bool
    place: str


@dataclass(frozen=True, slots=True)
class OtherwiseRule:
    """`route otherwise`: a queue, a refusal, or neither, which ignores."""

    queue: str | None
    message: Message | None
    place: str


@dataclass(frozen=True, slots=True)
class DenyRule:
    """One deny, or one warn."""

    name: str
    kinds: frozenset[str]
    condition: Condition
    message: Message
    audit: bool
    place: str


@dataclass(frozen=True, slots=True)
class Routed:
    """Where a workload without a queue label belongs. Neither queue nor denied: none of our business.

    ``audited`` are routes under `audit` that would have matched before.
    """

    queue: str | None = None
    denied: str | None = None
    rule: str | None = None
    place: str = ""
    failures: tuple[Failure, ...] = ()
    audited: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Denial:
    """A deny or warn that fired, or could not be asked (``failed``) and speaks up for that reason."""

    rule: str
    place: str
    message: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class UnknownPriority:
    """A label that names no declared priority."""

    label: str
    known: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """What is shown to whoever submitted."""
        names = ", ".join(self.known) or "none"
        return f"no priority named {self.label}; declared are: {names}"


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything a policy says. ``revision`` names its text, whatever the order of its files."""

    revision: str
    quotas: Quotas
    priorities: Mapping[str, int]
    default_priority: str | None = None
    aliases: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    routes: tuple[RouteRule, ...] = ()
    otherwise: OtherwiseRule | None = None
    denies: tuple[DenyRule, ...] = ()
    warns: tuple[DenyRule, ...] = ()
    sets: tuple[SetRule, ...] = ()
    accepts: Mapping[str, tuple[AcceptRule, ...]] = field(
        default_factory=lambda: MappingProxyType({})
    )
    kinds: tuple[DeclaredKind, ...] = ()
    settings: PolicySettings = field(default_factory=PolicySettings)
    tests: tuple[Scene, ...] = ()
    not_obeyed: tuple[tuple[str, str], ...] = ()
    """Statements that webhook and loop would read and ignore, with their places: they refuse to load them."""

    def route(self, scope: Scope) -> Routed:
        """The first route that matches, else `otherwise`."""
        failures: list[Failure] = []
        audited: list[str] = []
        for rule in self.routes:
            if scope.kind not in rule.kinds or not _matches(rule, scope, failures):
                continue
            if not rule.audit:
                return Routed(
                    rule.queue, None, rule.name, rule.place, tuple(failures), tuple(audited)
                )
            audited.append(rule.name or rule.place)
        return self._otherwise(scope, tuple(failures), tuple(audited))

    def denials(self, scope: Scope) -> tuple[Denial, ...]:
        """Every deny that fires, in the order of the files."""
        return tuple(_fired(self.denies, scope, audit=False))

    def audited(self, scope: Scope) -> tuple[Denial, ...]:
        """Every deny under `audit` that would fire."""
        return tuple(_fired(self.denies, scope, audit=True))

    def warnings(self, scope: Scope, *, audit: bool = False) -> tuple[Denial, ...]:
        """Every warn that fires, in the order of the files; or those under `audit`."""
        return tuple(_fired(self.warns, scope, audit=audit))

    def writes(self, scope: Scope, *, audit: bool = False) -> Writes:
        """What the sets write into the object of this scope; or those under `audit`."""
        return writes(self.sets, scope, audit=audit)

    def not_accepted(self, queue: str, scope: Scope) -> NotAccepted | None:
        """None where the queue lets it in."""
        return not_accepted(queue, self.accepts.get(queue, ()), scope)

    def priority_of(
        self, label: str | None, classes: Sequence[tuple[str, int | None]]
    ) -> tuple[str, int] | UnknownPriority:
        """Name and value: by label, by a priority named like a PriorityClass, by default, by the class's value.

        ``classes`` are the PriorityClasses of the pods with their values where known; the highest counts.
        """
        if label is not None:
            if label in self.priorities:
                return label, self.priorities[label]
            return UnknownPriority(label, tuple(self.priorities))
        declared = [(self.priorities[n], n) for n, _ in classes if n in self.priorities]
        if declared:
            value, name = max(declared)
            return name, value
        if self.default_priority is not None:
            return self.default_priority, self.priorities[self.default_priority]
        value, name = max(((v, n) for n, v in classes if v is not None), default=(0, ""))
        return name, value

    def _otherwise(
        self, scope: Scope, failures: tuple[Failure, ...], audited: tuple[str, ...]
    ) -> Routed:
        rule = self.otherwise
        if rule is None:
            return Routed(failures=failures, audited=audited)
        denied = rule.message.text(scope) if rule.message is not None else None
        return Routed(rule.queue, denied, "otherwise", rule.place, failures, audited)


def _fired(rules: Sequence[DenyRule], scope: Scope, *, audit: bool) -> Iterator[Denial]:
    for rule in rules:
        if rule.audit != audit or scope.kind not in rule.kinds:
            continue
        try:
            if rule.condition.evaluate(scope):
                yield Denial(rule.name, rule.place, rule.message.text(scope))
        except ConditionFailed as error:
            message = f"the condition of {rule.name} could not be evaluated: {error}"
            yield Denial(rule.name, rule.place, message, failed=True)


def _matches(rule: RouteRule, scope: Scope, failures: list[Failure]) -> bool:
    if rule.condition is None:
        return True
    try:
        return bool(rule.condition.evaluate(scope))
    except ConditionFailed as error:
        failures.append(Failure(rule.name, rule.place, str(error)))
        return False
