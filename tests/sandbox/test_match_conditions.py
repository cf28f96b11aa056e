"""The part of CEL that matchConditions may use, and that everything else is refused."""

from __future__ import annotations

from typing import Any

import pytest

from webhook.sandbox.match_conditions import EvaluationError, NotSupported, compile_condition

SCOPE: dict[str, Any] = {
    "request": {"userInfo": {"username": "alice", "groups": ["a", "b"]}, "operation": "UPDATE"},
    "object": {
        "metadata": {"labels": {"tidegate.dev/queue": "vision"}},
        "spec": {"schedulingGates": [{"name": "tidegate.dev/quota"}], "suspend": True},
    },
    "oldObject": None,
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('request.userInfo.username != "system:serviceaccount:tidegate-system:tidegate"', True),
        ("request.userInfo.username == 'alice'", True),
        ('request.userInfo.username.startsWith("system:")', False),
        ('!(request.userInfo.username == "alice") || request.operation == "UPDATE"', True),
        ('request.operation == "UPDATE" && object.spec.suspend', True),
        ('"a" in request.userInfo.groups', True),
        ('request.operation in ["CREATE", "DELETE"]', False),
        ("oldObject == null", True),
        ("has(object.spec.nodeName)", False),
        ("has(object.metadata.labels) && !has(object.metadata.annotations)", True),
        ('object.metadata.labels["tidegate.dev/queue"] == "vision"', True),
        ('object.spec.schedulingGates.exists(g, g.name == "tidegate.dev/quota")', True),
        ('object.spec.schedulingGates.exists(g, g.name == "other")', False),
        ("object.spec.schedulingGates[0].name != 'x'", True),
        ("has(object.spec.nope) && object.spec.nope.deep == 1", False),
        ("object.spec.nope == 1 || true", True),
        ("object.spec.nope == 1 && false", False),
        ("1 == true", False),
        ('"a\\"b" == \'a"b\'', True),
    ],
)
def test_an_expression_has_the_value_cel_gives_it(text: str, expected: bool):
    assert compile_condition(text)(SCOPE) is expected


@pytest.mark.parametrize(
    "text",
    [
        "object.spec.nope == 1",
        "oldObject.spec.suspend",
        "object.spec.suspend && object.spec.nope",
        "object.metadata.labels && true",
        'object.spec.startsWith("a")',
        '"a" in object.spec.suspend',
    ],
)
def test_a_field_that_is_absent_or_of_another_type_is_an_error(text: str):
    with pytest.raises(EvaluationError):
        compile_condition(text)(SCOPE)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "the end"),
        ("object.metadata.name.matches('a')", "`matches` is not supported"),
        ("size(object.spec) == 1", "`size` is not supported"),
        ("authorizer.group('')", "`authorizer` is not supported"),
        ("object.a > 1", "cannot read"),
        ("object.a == 1 ? true : false", "cannot read"),
        ("(object.a == 1", "expected `)`"),
        ("object.a == 1 true", "cannot read `true` here"),
        ("object.", "expected a name"),
        ('"open', "cannot read"),
    ],
)
def test_everything_else_is_refused_by_name(text: str, part: str):
    with pytest.raises(NotSupported, match=part.replace("(", r"\(").replace(")", r"\)")):
        compile_condition(text)
