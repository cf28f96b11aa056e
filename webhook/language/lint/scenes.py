"""Tests that say less than they seem to: they would pass as well if the policy did something else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from webhook.language.problems import Problem, problem
from webhook.language.syntax import (
    Expect,
    ExpectIgnored,
    ExpectQueue,
    ExpectRefused,
    ExpectRule,
    ExpectSet,
    ExpectWaiting,
    GivenNamespace,
    Test,
)


def scene_findings(tests: Sequence[Test]) -> Iterator[Problem]:
    """TG607. A queue, a rule, a reason, a text or a value that is written pins down what happened."""
    for test in tests:
        expected = [part for part in test.body if isinstance(part, Expect)]
        if any(_pins(each) for each in expected):
            continue
        ignored = any(isinstance(each, ExpectIgnored) for each in expected)
        if not ignored:
            message = "this test can pass by accident: it names no queue, no rule and no reason"
            advice = "add `expect queue …`, or the reason behind `because`"
            yield problem("TG607", test.name.span, message, help=advice)
        elif not any(isinstance(part, GivenNamespace) for part in test.body):
            message = "this test can pass by accident: of its namespace nothing is known"
            advice = "add `given namespace …`, so that a route on its labels could match"
            yield problem("TG607", test.name.span, message, help=advice)


def _pins(expected: Expect) -> bool:
    match expected:
        case ExpectQueue() | ExpectSet():
            return True
        case ExpectRule(rule=rule, text=text):
            return rule is not None or text is not None
        case ExpectRefused(reason=reason, text=text):
            return reason is not None or text is not None
        case ExpectWaiting(reason=reason):
            return reason is not None
        case _:
            return False
