"""What a test made a policy do: the same policy, with somebody who listens to each rule's answer.

Coverage is measured where webhook and loop ask, not beside it: the recorded policy is the checked one with conditions
that also tell their answer. Rules under `audit` change nothing, so no test can hold them and nobody listens to them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from webhook.language.conditions import Condition, ConditionFailed
from webhook.language.expression import Literal
from webhook.language.judging import AcceptRule, SetRule
from webhook.language.policy import DenyRule, Policy, RouteRule
from webhook.language.settings import PolicySettings
from webhook.language.syntax import Span
from webhook.workloads.registry import ADAPTERS

_NOWHERE: Final = Span("", 0, 0, 1, 1, 1, 1)
_ALWAYS: Final = Condition(Literal("bool", True, _NOWHERE), "bool", lambda _: True)
"""What a rule without a condition asks."""
_NEVER: Final = Condition(Literal("bool", False, _NOWHERE), "bool", lambda _: False)


@dataclass(slots=True)
class Recorder:
    """Places (``file:line``) of rules that were true, and false, and of limits that stopped somebody, in all tests."""

    true: set[str] = field(default_factory=set)
    false: set[str] = field(default_factory=set)
    reached: set[str] = field(default_factory=set)

    def listener(self, place: str) -> Callable[[bool], None]:
        """Who hears the answers of the rule at a place."""
        return lambda answer: (self.true if answer else self.false).add(place)


def recorded(policy: Policy, recorder: Recorder) -> Policy:
    """The policy as its tests run it: in force, whatever `mode` says, for they tell what it will do then."""
    return replace(
        policy,
        routes=(*(_route(rule, recorder) for rule in policy.routes), *_last(policy, recorder)),
        denies=tuple(_deny(rule, recorder) for rule in policy.denies),
        warns=tuple(_deny(rule, recorder) for rule in policy.warns),
        sets=tuple(_set(rule, recorder) for rule in policy.sets),
        accepts={
            queue: tuple(_accept(rule, recorder) for rule in rules)
            for queue, rules in policy.accepts.items()
        },
        settings=PolicySettings(queue_labels=policy.settings.queue_labels),
    )


def _route(rule: RouteRule, recorder: Recorder) -> RouteRule:
    if rule.audit:
        return rule
    asked = rule.condition or _ALWAYS
    return replace(rule, condition=_heard(asked, recorder.listener(rule.place)))


def _last(policy: Policy, recorder: Recorder) -> tuple[RouteRule, ...]:
    """A route that never matches. Whoever asks it was led nowhere by those before, and comes to `otherwise`."""
    otherwise = policy.otherwise
    if otherwise is None:
        return ()
    place = otherwise.place
    asked = _heard(_NEVER, lambda _: recorder.true.add(place))
    return (RouteRule(None, frozenset(ADAPTERS), asked, "", audit=True, place=place),)


def _deny(rule: DenyRule, recorder: Recorder) -> DenyRule:
    if rule.audit:
        return rule
    return replace(rule, condition=_heard(rule.condition, recorder.listener(rule.place)))


def _set(rule: SetRule, recorder: Recorder) -> SetRule:
    if rule.audit:
        return rule
    asked = rule.condition or _ALWAYS
    return replace(rule, condition=_heard(asked, recorder.listener(rule.place)))


def _accept(rule: AcceptRule, recorder: Recorder) -> AcceptRule:
    return replace(
        rule, condition=_heard(rule.condition, recorder.listener(rule.place), fails=False)
    )


def _heard(
    condition: Condition, notice: Callable[[bool], None], *, fails: bool | None = None
) -> Condition:
    """The same condition; ``notice`` hears each answer it gives, ``fails`` where it gives none (None: nothing)."""

    def run(scope: Any) -> bool:
        try:
            answer = bool(condition.evaluate(scope))
        except ConditionFailed:
            if fails is not None:
                notice(fails)
            raise
        notice(answer)
        return answer

    return Condition(condition.node, condition.want, run)
