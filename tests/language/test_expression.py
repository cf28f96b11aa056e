"""Expressions as values: what a text becomes, the text again, and that nothing random gets through."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.language.building import NAMES, SCOPE, expression
from webhook.language.conditions import Condition, ConditionFailed, compile_condition, compile_term
from webhook.language.expression import (
    Binary,
    Call,
    Conditional,
    Expression,
    Index,
    ListLiteral,
    Literal,
    Logical,
    MapLiteral,
    Name,
    Refused,
    Select,
    Unary,
    children,
    render,
)
from webhook.language.macros import MACROS
from webhook.language.scope import VARIABLES
from webhook.language.syntax import Source

HERE = Source("made", "").span(0, 0)
FIELDS = st.sampled_from(["spec", "metadata", "labels", "parallelism", "a", "to", "when", "queue"])
NAMES_OF_VARIABLES = st.sampled_from([*sorted(VARIABLES), "x", "x"])
OPERATORS = st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "in", "+", "-", "*", "/", "%"])

LITERALS = st.one_of(
    st.integers(-(2**63), 2**63 - 1).map(lambda n: Literal("int", n, HERE)),
    st.floats(allow_nan=False, allow_infinity=False).map(lambda f: Literal("double", f, HERE)),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=5).map(
        lambda t: Literal("string", t, HERE)
    ),
    st.booleans().map(lambda b: Literal("bool", b, HERE)),
    st.just(Literal("null", None, HERE)),
)


def _unary(operator: str, operand: Expression) -> Expression:
    """As it is parsed: `!-x` is no CEL, and the minus of a positive number is part of it."""
    other = isinstance(operand, Unary) and operand.operator != operator
    negative = isinstance(operand, Literal) and render(operand).startswith("-")
    number = isinstance(operand, Literal) and operand.kind in ("int", "double")
    if (operator == "-" and number and not negative) or (operator == "!" and other):
        return operand
    return Unary(operator, operand, HERE)


def _logical(operator: str, parts: list[Expression]) -> Expression:
    return Logical(operator, tuple(parts), HERE)


def _macro(macro: str, operand: Expression, name: str, body: Expression) -> Expression:
    return Call(operand, macro, (Name(name, HERE), body), HERE, HERE)


def _larger(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    some = st.lists(inner, max_size=3)
    calls = st.sampled_from(["size", "quantity", "has", "startsWith", "contains", "compareTo", "f"])
    return st.one_of(
        st.builds(lambda o, f: Select(o, f, HERE, HERE), inner, FIELDS),
        st.builds(lambda o, k: Index(o, k, HERE), inner, inner),
        st.builds(lambda o, f, a: Call(o, f, tuple(a), HERE, HERE), st.none() | inner, calls, some),
        st.builds(_macro, st.sampled_from(MACROS), inner, NAMES_OF_VARIABLES, inner),
        st.builds(lambda t, p: Call(t, "matches", (p,), HERE, HERE), inner, inner),
        st.builds(_unary, st.sampled_from(["!", "-"]), inner),
        st.builds(lambda o, a, b: Binary(o, a, b, HERE), OPERATORS, inner, inner),
        st.builds(_logical, st.sampled_from(["&&", "||"]), st.lists(inner, min_size=2, max_size=3)),
        st.builds(lambda a, b, c: Conditional(a, b, c, HERE), inner, inner, inner),
        some.map(lambda items: ListLiteral(tuple(items), HERE)),
        st.lists(st.tuples(inner, inner), max_size=2).map(lambda e: MapLiteral(tuple(e), HERE)),
    )


EXPRESSIONS: st.SearchStrategy[Expression] = st.recursive(
    LITERALS | NAMES_OF_VARIABLES.map(lambda n: Name(n, HERE)), _larger, max_leaves=12
)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["spec", "metadata", "labels", "a"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(EXPRESSIONS)
@settings(max_examples=150)
def test_a_rendered_expression_parses_to_itself(node: Expression) -> None:
    assert expression(render(node)) == node


@given(EXPRESSIONS, st.dictionaries(st.sampled_from(["spec", "metadata", "a"]), JSON))
@settings(max_examples=150)
def test_a_random_expression_raises_nothing_but_its_failure(
    node: Expression, seen: dict[str, Any]
) -> None:
    """Even one whose types do not go together, which no policy gets to run."""
    term, problems = compile_term(node, NAMES)
    scope = replace(SCOPE, object=seen)
    for want in ("bool", "any", "text"):
        made = Condition(node, want, term.run)
        made.text(scope)
        try:
            made.evaluate(scope)
        except ConditionFailed as failure:
            assert failure.message
    assert all(problem.message for problem in problems)


@given(EXPRESSIONS)
def test_what_compiles_to_a_bool_is_one(node: Expression) -> None:
    condition, _ = compile_condition(node, names=NAMES)
    if condition is None:
        return
    with suppress(ConditionFailed):
        assert isinstance(condition.evaluate(SCOPE), bool)


def test_places_are_those_of_the_text() -> None:
    text = 'pods > 1 && object.spec.x.startsWith("a")'
    node = expression(text)
    assert isinstance(node, Logical)
    call = node.operands[1]
    assert isinstance(call, Call)
    assert text[call.span.start : call.span.end] == 'object.spec.x.startsWith("a")'
    assert text[call.name_span.start : call.name_span.end] == "startsWith"


def test_keywords_are_fields_after_a_dot_and_no_variables() -> None:
    assert (
        render(expression("object.to.when.audit.queue.route")) == "object.to.when.audit.queue.route"
    )


def test_parentheses_stay_only_where_they_are_needed() -> None:
    assert render(expression("(a + (b * c)) * ((d))")) == "(a + b * c) * d"
    assert render(expression("a - (b - c)")) == "a - (b - c)"
    assert render(expression("(a ? b : c) ? d : (e ? f : g)")) == "(a ? b : c) ? d : e ? f : g"
    assert render(expression("!(a && b) || (c || d)")) == "!(a && b) || (c || d)"


def test_a_chain_of_and_is_one_node() -> None:
    node = expression("a && b && c || d")
    assert isinstance(node, Logical)
    assert [len(list(children(part))) for part in node.operands] == [3, 0]


def test_a_literal_that_cannot_be_used_stays_as_written() -> None:
    node = expression("requests.memory > 64Gi")
    assert isinstance(node, Binary)
    assert isinstance(node.right, Refused)
    assert render(node) == "requests.memory > 64Gi"


def test_the_smallest_int_can_be_written() -> None:
    assert expression("-9223372036854775808") == Literal("int", -(2**63), HERE)
