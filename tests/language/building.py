"""What the tests of conditions are built from: a scope to ask, names to compile with, one call for both."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from webhook.language.conditions import Condition, Names, Scope, compile_condition
from webhook.language.expression import Expression
from webhook.language.parse import parse_expression
from webhook.language.problems import Problem
from webhook.language.syntax import Source
from webhook.model.kinds import JOB
from webhook.model.quantity import parse_quantity

ALIASES = {"gpu": "nvidia.com/gpu"}
NAMES = Names((JOB,), aliases=ALIASES)

OBJECT = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "train", "labels": {"team": "vision"}, "creationTimestamp": None},
    "spec": {
        "parallelism": 4,
        "suspend": True,
        "template": {
            "spec": {
                "containers": [
                    {"name": "main", "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}}}
                ],
                "nodeSelector": {"zone": "a"},
            }
        },
    },
}
SCOPE = Scope(
    object=OBJECT,
    old_object=None,
    request={"operation": "CREATE", "userInfo": {"username": "ana", "groups": ["ml", "staff"]}},
    namespace_object={"metadata": {"name": "vision-prod", "labels": {"team": "vision"}}},
    namespace="vision-prod",
    name="train",
    kind="Job",
    labels={"team": "vision"},
    annotations={},
    user="ana",
    groups=("ml", "staff"),
    queue="vision",
    priority="urgent",
    pods=4,
    requests={
        "cpu": parse_quantity("2"),
        "memory": parse_quantity("64Gi"),
        "nvidia.com/gpu": parse_quantity("8"),
    },
)


def expression(text: str) -> Expression:
    found = parse_expression(text, source=Source("test.tide", text), offset=0)
    assert not isinstance(found, Problem), (text, found)
    return found


def compiled(text: str, names: Names = NAMES, want: Any = "any") -> Condition:
    condition, problems = compile_condition(expression(text), names=names, want=want)
    assert condition is not None, (text, problems)
    assert problems == ()
    return condition


def value(text: str, names: Names = NAMES, **changes: Any) -> Any:
    return compiled(text, names).evaluate(replace(SCOPE, **changes))


def problems(text: str, names: Names = NAMES, want: Any = "any") -> tuple[Problem, ...]:
    condition, found = compile_condition(expression(text), names=names, want=want)
    assert (condition is None) == bool(found), (text, found)
    return found


def only_problem(text: str, names: Names = NAMES, want: Any = "any") -> Problem:
    (found,) = problems(text, names, want)
    return found


def spot(found: Problem, text: str) -> str:
    return text[found.span.start : found.span.end]
