"""Functions of conditions, and what to write instead of those that CEL has beyond the subset.

A function is one entry of the table: what it is called on, what it takes, what it gives and how it is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from webhook.language.expression import Call, Literal, render
from webhook.language.failures import Mistake, Work
from webhook.language.literals import unit_help
from webhook.language.macros import MACROS, compile_macro
from webhook.language.patterns import compile_matches
from webhook.language.records import dataclass
from webhook.language.shapes import (
    AMOUNT,
    ANY,
    BOOL,
    INT,
    STRING,
    AmountOf,
    ListOf,
    MapOf,
    Shape,
)
from webhook.language.suggest import did_you_mean
from webhook.language.terms import (
    Compiling,
    Run,
    Term,
    computed,
    constant,
    laborious,
    poisoned,
    unary,
)
from webhook.language.values import Quantity, name_of, spend_on_text
from webhook.model.quantity import QuantityError, parse_quantity


@dataclass(frozen=True, slots=True)
class Function:
    """One overload: on what, with an argument of what, giving what."""

    receiver: Shape
    argument: Shape
    result: Shape
    compute: Callable[[Any, Any, Work | None], Any]


def _text_method(name: str) -> Callable[[Any, Any, Work | None], bool]:
    python: Callable[[str, str], bool] = getattr(str, name)

    def method(text: Any, part: Any, work: Work | None) -> bool:
        if type(text) is str and type(part) is str:
            spend_on_text(work, text)
            return python(text, part)
        wrong = part if type(text) is str else text
        raise Mistake(f"a text is needed, this is {name_of(wrong)}")

    return method


def _amount_method(compute: Callable[[int, int], Any]) -> Callable[[Any, Any, Work | None], Any]:
    def method(left: Any, right: Any, _: Work | None) -> Any:
        if type(left) is Quantity and type(right) is Quantity:
            return compute(left.nano, right.nano)
        wrong = right if type(left) is Quantity else left
        raise Mistake(f"an amount is needed, this is {name_of(wrong)}")

    return method


METHODS: Final[Mapping[str, Function]] = {
    "startsWith": Function(STRING, STRING, BOOL, _text_method("startswith")),
    "endsWith": Function(STRING, STRING, BOOL, _text_method("endswith")),
    "contains": Function(STRING, STRING, BOOL, _text_method("__contains__")),
    "isLessThan": Function(AMOUNT, AMOUNT, BOOL, _amount_method(lambda a, b: a < b)),
    "isGreaterThan": Function(AMOUNT, AMOUNT, BOOL, _amount_method(lambda a, b: a > b)),
    "compareTo": Function(AMOUNT, AMOUNT, INT, _amount_method(lambda a, b: (a > b) - (a < b))),
}
FUNCTIONS: Final = ("has", "size", "quantity", "matches")

_KNOWN: Final = (*FUNCTIONS, *METHODS, *MACROS)

INSTEAD: Final[Mapping[str, str]] = {
    "existsOne": "write `exists_one`",
    "transformList": "write `map`: macros have one name for each item",
    "transformMap": "macros make lists: write `map`",
    "dyn": "write the value itself: types are checked where they are known",
    "type": "there are no types as values",
    "int": "write the number without it: nothing is converted",
    "uint": "unsigned numbers are not supported: write the int",
    "double": "write the number as a double: `2.0`",
    "string": "nothing is converted: compare with a value of the same type",
    "bool": "write the bool without it: nothing is converted",
    "bytes": "bytes are not supported: compare texts",
    "timestamp": "times are not supported",
    "duration": "durations are not supported",
    "now": "times are not supported",
    "isQuantity": "`quantity()` of a text that is none fails, which `||` absorbs",
    "add": "write `+`",
    "sub": "write `-`",
    "isSorted": "compare the items one by one",
    "lowerAscii": "compare with each spelling",
    "upperAscii": "compare with each spelling",
    "split": "use `startsWith`, `endsWith`, `contains` or `matches`",
    "substring": "use `startsWith`, `endsWith`, `contains` or `matches`",
    "indexOf": "use `contains`, or `in` for a list",
    "find": "use `contains` or `matches`",
    "findAll": "use `contains` or `matches`",
    "join": "compare the items one by one",
    "cel.bind": "write the value twice",
}
"""What CEL and Kubernetes have and Tide has not, with what to write instead."""


def compile_call(compiler: Compiling, node: Call) -> Term:
    """A function or method; `has` is read elsewhere, as its argument is no value."""
    if node.function == "size":
        return _size(compiler, node)
    if node.function == "matches":
        return compile_matches(compiler, node)
    if node.function == "quantity" and node.operand is None:
        return _quantity(compiler, node)
    if node.function in MACROS and node.operand is not None:
        return compile_macro(compiler, node, node.operand)
    function = METHODS.get(node.function)
    if function is None or node.operand is None:
        return _unknown(compiler, node)
    return _method(compiler, node, node.operand, function)


def _method(compiler: Compiling, node: Call, operand: Any, function: Function) -> Term:
    if not counted(compiler, node, 1):
        return poisoned(node)
    receiver, argument = compiler.term(operand), compiler.term(node.arguments[0])
    for term, wanted in ((receiver, function.receiver), (argument, function.argument)):
        if term.shape not in (wanted, ANY):
            message = f"`{node.function}` needs {wanted.title}, this is {term.shape.title}"
            compiler.report("TG503", term.span, message, _amount_help(term, wanted))
            return poisoned(node)
    run = _prefix(node.function, receiver, argument) or laborious(
        function.compute, receiver.run, argument.run, node.span
    )
    return computed(function.result, run, node)


def _prefix(function: str, receiver: Term, argument: Term) -> Run | None:
    """The common `namespace.startsWith("x")`, whose types are certain, without asking for them."""
    if not (receiver.trusted and isinstance(argument.constant, str)):
        return None
    inner, part = receiver.run, argument.constant
    match function:
        case "startsWith":
            return lambda scope: inner(scope).startswith(part)
        case "endsWith":
            return lambda scope: inner(scope).endswith(part)
        case _:
            return None


def _amount_help(term: Term, wanted: Shape) -> str:
    if wanted == AMOUNT and term.is_constant and isinstance(term.constant, int | str):
        return f'write `quantity("{term.constant}")`'
    return ""


def counted(compiler: Compiling, node: Call, count: int) -> bool:
    """True where a function has as many arguments as it takes; reported otherwise."""
    if len(node.arguments) == count:
        return True
    takes = "one argument" if count == 1 else "no argument" if count == 0 else f"{count} arguments"
    message = f"`{node.function}` takes {takes}, here are {len(node.arguments)}"
    compiler.report("TG503", node.name_span, message)
    return False


def _size(compiler: Compiling, node: Call) -> Term:
    """`size(x)` and `x.size()` are one function."""
    if not counted(compiler, node, 1 if node.operand is None else 0):
        return poisoned(node)
    operand = compiler.term(node.arguments[0] if node.operand is None else node.operand)
    if operand.shape not in (STRING, ANY) and not isinstance(operand.shape, ListOf | MapOf):
        message = f"{operand.shape.title} has no size"
        compiler.report("TG503", operand.span, message)
        return poisoned(node)
    return computed(INT, unary(_length, operand.run, node.span), node)


def _length(value: Any) -> int:
    if value is None or isinstance(value, bool | int | float | Quantity):
        raise Mistake(f"{name_of(value)} has no size")
    return len(value)


def _quantity(compiler: Compiling, node: Call) -> Term:
    """An amount from its text; a literal is read now."""
    if not counted(compiler, node, 1):
        return poisoned(node)
    argument = compiler.term(node.arguments[0])
    if isinstance(argument.constant, str):
        return _literal_quantity(compiler, node, argument.constant)
    if argument.shape not in (STRING, ANY):
        message = f"`quantity` reads a text, this is {argument.shape.title}"
        number = isinstance(argument.node, Literal) and argument.shape == INT
        help_ = f'write `quantity("{render(argument.node)}")`' if number else ""
        compiler.report("TG503", argument.span, message, help_)
        return poisoned(node)
    return computed(AMOUNT, unary(_read, argument.run, node.span), node)


def _read(value: Any) -> Quantity:
    if type(value) is not str:
        raise Mistake(f"`quantity` reads a text, this is {name_of(value)}")
    try:
        return Quantity(parse_quantity(value))
    except QuantityError as problem:
        raise Mistake(str(problem)) from None


def _literal_quantity(compiler: Compiling, node: Call, text: str) -> Term:
    try:
        amount = parse_quantity(text)
    except QuantityError as problem:
        unit = text.lstrip("+-.0123456789")
        help_ = unit_help(text, unit) if unit and unit.isalpha() else ""
        compiler.report("TG010", node.arguments[0].span, str(problem), help_)
        return poisoned(node)
    resource = "memory" if text.endswith("i") else ""
    return constant(AmountOf(resource), Quantity(amount, resource), node)


def _unknown(compiler: Compiling, node: Call) -> Term:
    """One report for the call; what stands inside is not looked at, it may have names of its own."""
    name = node.function
    if name in _KNOWN:
        form = f"{name}(…)" if name in FUNCTIONS else f"….{name}(…)"
        compiler.report("TG501", node.name_span, f"`{name}` is not called so", f"write `{form}`")
    elif name in INSTEAD:
        compiler.report("TG501", node.name_span, f"`{name}` is not supported", INSTEAD[name])
    else:
        help_ = did_you_mean(name, _KNOWN)
        compiler.report("TG501", node.name_span, f"no function named `{name}`", help_)
    return poisoned(node)
