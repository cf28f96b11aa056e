"""Operators of conditions: which types each takes, and the closure that computes it.

Types that cannot go together are found here, before anything runs; what is only known at run time (dynamic values,
objects that differ from their schema) is left to ``values``.
"""

from __future__ import annotations

import operator as python
from collections.abc import Callable, Mapping
from typing import Any, Final

from webhook.language.expression import Binary, Conditional, Literal, Logical, Unary, render
from webhook.language.failures import ConditionFailed, TooCostly
from webhook.language.literals import write_literal
from webhook.language.shapes import (
    AMOUNT,
    ANY,
    BOOL,
    DOUBLE,
    INT,
    NULL,
    NUMBERS,
    REQUESTS,
    STRING,
    TIME,
    ListOf,
    MapOf,
    Shape,
    comparable,
    is_object,
    merged,
)
from webhook.language.terms import (
    Compiling,
    Run,
    Term,
    binary,
    computed,
    laborious,
    poisoned,
    unary,
)
from webhook.language.values import (
    added,
    contained,
    divided,
    equal,
    multiplied,
    name_of,
    negated,
    ordered,
    remainder,
    subtracted,
)
from webhook.model.quantity import NANO

_COMPARE: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "==": python.eq,
    "!=": python.ne,
    "<": python.lt,
    "<=": python.le,
    ">": python.gt,
    ">=": python.ge,
}
_ARITHMETIC: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "-": subtracted,
    "*": multiplied,
    "/": divided,
    "%": remainder,
}
_ALIKE: Final[Mapping[str, frozenset[Shape]]] = {
    "+": frozenset({INT, DOUBLE, STRING, AMOUNT}),
    "-": frozenset({INT, DOUBLE, AMOUNT}),
    "*": frozenset({INT, DOUBLE}),
    "/": frozenset({INT, DOUBLE}),
    "%": frozenset({INT}),
}
"""Shapes of which two make one more of the same."""
_ORDERED: Final = frozenset({INT, DOUBLE, STRING, BOOL, AMOUNT})


def compile_binary(compiler: Compiling, node: Binary) -> Term:
    """Comparison, arithmetic and `in`."""
    left, right = compiler.term(node.left), compiler.term(node.right)
    if any(_unusable(compiler, side) for side in (left, right)):
        return poisoned(node)
    if node.operator in _ALIKE:
        return _arithmetic(compiler, node, left, right)
    if node.operator == "in":
        return _membership(compiler, node, left, right)
    return _comparison(compiler, node, left, right)


def _unusable(compiler: Compiling, term: Term) -> bool:
    """`requests` as a whole, and times, have no operators."""
    if term.shape == REQUESTS:
        help_ = 'write `requests.cpu`, or `requests["nvidia.com/gpu"]`'
        compiler.report("TG503", term.span, "`requests` is read by resource", help_)
    elif term.shape == TIME:
        compiler.report("TG501", term.span, "times are not supported, but for `has()`")
    return term.shape in (REQUESTS, TIME)


def _mismatch(compiler: Compiling, node: Binary, left: Term, right: Term, help_: str = "") -> Term:
    message = f"`{node.operator}` does not take {left.shape.title} and {right.shape.title}"
    compiler.report("TG503", node.span, message, help_)
    return poisoned(node)


def _comparison(compiler: Compiling, node: Binary, left: Term, right: Term) -> Term:
    sides = {left.shape, right.shape}
    if sides == {AMOUNT, DOUBLE}:
        return _amount_and_double(compiler, node, left, right)
    if node.operator in ("==", "!="):
        if not comparable(left.shape, right.shape):
            return _mismatch(compiler, node, left, right, _equality_help(left, right))
        return computed(BOOL, _equality(node, left, right), node)
    fits = ANY in sides or len(sides) == 1 or sides in ({INT, DOUBLE}, {AMOUNT, INT})
    if not fits or not sides <= _ORDERED | {ANY}:
        return _mismatch(compiler, node, left, right, _amount_help(left, right))
    return computed(BOOL, _ordering(node, left, right), node)


def _amount_and_double(compiler: Compiling, node: Binary, left: Term, right: Term) -> Term:
    double = left if left.shape == DOUBLE else right
    help_ = "compare it with an int, or with `quantity(…)`"
    if isinstance(double.node, Literal) and isinstance(double.node.value, float):
        text = write_literal(double.node.value).removesuffix(".0")
        help_ = f'write `quantity("{text}")`'
    compiler.report("TG507", double.span, "an amount is exact, a double is not", help_)
    return poisoned(node)


def _equality_help(left: Term, right: Term) -> str:
    if NULL in (left.shape, right.shape):
        other = left if right.shape == NULL else right
        return f"ask whether it is there: `has({render(other.node)})`"
    return _amount_help(left, right)


def _amount_help(left: Term, right: Term) -> str:
    """A text beside an amount was meant as one."""
    for side, other in ((left, right), (right, left)):
        if side.shape == STRING and other.shape == AMOUNT:
            return f"write `quantity({render(side.node)})`"
    return ""


def _nano(term: Term) -> Callable[[Any], int] | None:
    """A term as plain nano-units, where that is certain."""
    if term.nano is not None:
        return term.nano
    if term.shape == INT and term.is_constant:
        amount: int = term.constant * NANO
        return lambda scope: amount
    return None


def _amounts(node: Binary, left: Term, right: Term) -> Run | None:
    """The comparison of amounts: plain ints, without a value made on the way."""
    first, second = _nano(left), _nano(right)
    if AMOUNT not in (left.shape, right.shape) or first is None or second is None:
        return None
    compare = _COMPARE[node.operator]
    if right.is_constant:
        bound = second(None)
        return lambda scope: compare(first(scope), bound)
    return lambda scope: compare(first(scope), second(scope))


def _equality(node: Binary, left: Term, right: Term) -> Run:
    fast = _amounts(node, left, right)
    if fast is not None:
        return fast
    first, second, same = left.run, right.run, node.operator == "=="
    if isinstance(right.constant, str):  # nothing but this very text equals a text
        text = right.constant
        return (lambda s: first(s) == text) if same else (lambda s: first(s) != text)
    if same:
        return laborious(equal, first, second, node.span)
    return laborious(lambda a, b, work: not equal(a, b, work), first, second, node.span)


def _ordering(node: Binary, left: Term, right: Term) -> Run:
    compare = _COMPARE[node.operator]
    fast = _amounts(node, left, right)
    return fast or laborious(
        lambda a, b, work: compare(*ordered(a, b, work)), left.run, right.run, node.span
    )


def _membership(compiler: Compiling, node: Binary, left: Term, right: Term) -> Term:
    match right.shape:
        case ListOf(item=item) if comparable(left.shape, item):
            pass
        case MapOf() if left.shape in (STRING, ANY):
            pass
        case shape if shape == ANY:
            pass
        case shape if is_object(shape):
            return _mismatch(compiler, node, left, right, _has_help(left, right))
        case _:
            return _mismatch(compiler, node, left, right)
    return computed(BOOL, laborious(contained, left.run, right.run, node.span), node)


def _has_help(left: Term, right: Term) -> str:
    if isinstance(left.constant, str):
        return f"write `has({render(right.node)}.{left.constant})`"
    return "ask for a field with `has()`"


def _arithmetic(compiler: Compiling, node: Binary, left: Term, right: Term) -> Term:
    shape = _result(node.operator, left.shape, right.shape)
    if shape is None:
        if {left.shape, right.shape} == {AMOUNT, DOUBLE}:
            return _amount_and_double(compiler, node, left, right)
        return _mismatch(compiler, node, left, right, _number_help(left, right))
    if node.operator == "+":
        return computed(shape, laborious(added, left.run, right.run, node.span), node)
    run = binary(_ARITHMETIC[node.operator], left.run, right.run, node.span)
    return computed(shape, run, node)


def _result(operator: str, left: Shape, right: Shape) -> Shape | None:
    """The shape of the result; None where the two do not go together."""
    if operator == "*" and {left, right} == {AMOUNT, INT}:
        return left if left == AMOUNT else right
    if operator == "+" and isinstance(left, ListOf) and isinstance(right, ListOf):
        return ListOf(merged((left.item, right.item)))
    if ANY in (left, right):
        return ANY
    return left if left == right and left in _ALIKE[operator] else None


def _number_help(left: Term, right: Term) -> str:
    """An int beside a double, written out where it stands as a literal."""
    if {left.shape, right.shape} != NUMBERS:
        return _amount_help(left, right)
    for side in (left, right):
        if side.shape == INT and isinstance(side.node, Literal):
            return f"write `{side.node.value}.0`"
    return "ints and doubles do not mix"


def compile_unary(compiler: Compiling, node: Unary) -> Term:
    """`!` of a bool, `-` of a number."""
    operand = compiler.term(node.operand)
    wanted = {BOOL, ANY} if node.operator == "!" else {INT, DOUBLE, ANY}
    if operand.shape not in wanted:
        message = f"`{node.operator}` does not take {operand.shape.title}"
        compiler.report("TG503", node.span, message)
        return poisoned(node)
    if node.operator == "!":
        return computed(BOOL, _not(operand), node)
    return computed(operand.shape, unary(negated, operand.run, node.span), node)


def _not(operand: Term) -> Run:
    inner, span = operand.run, operand.span

    def run(scope: Any) -> Any:
        value = inner(scope)
        if value is True or value is False:
            return not value
        raise ConditionFailed(f"`!` takes a bool, this is {name_of(value)}", span)

    return run


def compile_logical(compiler: Compiling, node: Logical) -> Term:
    """`&&` and `||`: one operand that decides is enough, whatever errors the others meet."""
    operands = [compiler.term(operand) for operand in node.operands]
    for operand in operands:
        if operand.shape not in (BOOL, ANY):
            message = f"`{node.operator}` joins bools, this is {operand.shape.title}"
            compiler.report("TG503", operand.span, message)
    decisive = node.operator == "||"
    parts = tuple((operand.run, operand.span) for operand in operands)
    return computed(BOOL, _chain(node.operator, decisive, parts), node)


def _chain(operator: str, decisive: bool, parts: tuple[tuple[Run, Any], ...]) -> Run:
    def run(scope: Any) -> Any:
        failed: ConditionFailed | None = None
        for part, span in parts:
            try:
                value = part(scope)
            except TooCostly:
                raise
            except ConditionFailed as failure:
                failed = failed or failure
                continue
            if value is decisive:
                return decisive
            if type(value) is not bool and failed is None:
                message = f"`{operator}` joins bools, this is {name_of(value)}"
                failed = ConditionFailed(message, span)
        if failed is not None:
            raise failed
        return not decisive

    return run


def compile_conditional(compiler: Compiling, node: Conditional) -> Term:
    """`?:`: only the branch that is taken is computed."""
    test, then, otherwise = map(compiler.term, (node.test, node.then, node.otherwise))
    if test.shape not in (BOOL, ANY):
        message = f"before `?` stands a bool, this is {test.shape.title}"
        compiler.report("TG503", test.span, message)
    shape = _branches(then.shape, otherwise.shape)
    if shape is None:
        message = f"one branch is {then.shape.title}, the other {otherwise.shape.title}"
        compiler.report("TG503", node.span, message)
        shape = ANY
    trusted = then.trusted and otherwise.trusted
    run = _choice(test, then.run, otherwise.run)
    return computed(shape, run, node) if trusted else Term(shape, run, node)


def _branches(then: Shape, otherwise: Shape) -> Shape | None:
    if then == otherwise or ANY in (then, otherwise):
        return merged((then, otherwise))
    if NULL in (then, otherwise) and (is_object(then) or is_object(otherwise)):
        return ANY
    same = type(then) is type(otherwise) and isinstance(then, ListOf | MapOf)
    return ANY if same and comparable(then, otherwise) else None


def _choice(test: Term, then: Run, otherwise: Run) -> Run:
    asked, span = test.run, test.span

    def run(scope: Any) -> Any:
        value = asked(scope)
        if value is True:
            return then(scope)
        if value is False:
            return otherwise(scope)
        raise ConditionFailed(f"before `?` stands a bool, this is {name_of(value)}", span)

    return run
