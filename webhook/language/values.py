"""Values at run time and what CEL does with them.

JSON as the API server sends it, and exact amounts. Python is more lenient than CEL nearly everywhere (True == 1,
ints without end, `-7 // 2`), hence every operation here asks for the types first and raises a Mistake for what cannot
be done. What takes long on long values counts its steps where a condition has macros, which may repeat it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from webhook.language.failures import Mistake, Work
from webhook.language.literals import LARGEST_INT, SMALLEST_INT
from webhook.model.quantity import NANO, Amount, format_quantity

DEEPEST_VALUE: Final = 100
"""Levels of a list or map that are compared or written; JSON from outside may be nested without end."""


A_STEP_OF_TEXT: Final = 64
"""Characters that are looked at, or copied, in one step."""
A_CONTAINER: Final = 6
"""Steps that comparing two lists or maps takes besides those for what is in them."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """An amount among other values; ``resource`` only says how it is written."""

    nano: Amount
    resource: str = field(default="", compare=False)


def name_of(value: Any) -> str:
    """A value's type, as messages name it."""
    if isinstance(value, Mapping):
        return "a map"
    return _NAMES.get(type(value), "a list" if is_list(value) else "a value")


_NAMES: Final = {
    bool: "a bool",
    int: "an int",
    float: "a double",
    str: "a string",
    type(None): "null",
    Quantity: "an amount",
}


def is_list(value: Any) -> bool:
    """True for a list of any kind, which a text is not."""
    return isinstance(value, Sequence) and not isinstance(value, str)


def equal(left: Any, right: Any, work: Work | None = None, depth: int = 0) -> bool:
    """CEL's ``==``: numbers by value, lists and maps by their parts, what differs in type is not equal."""
    a, b = type(left), type(right)
    if a is b and a in _BY_VALUE:
        if a is str:
            spend_on_text(work, left)
        return bool(left == right)
    if a in _NUMERIC and b in _NUMERIC:
        return bool(left == right)
    if a is Quantity or b is Quantity:
        return _equal_amounts(left, right)
    if depth >= DEEPEST_VALUE:
        raise Mistake("a value is nested too deeply to be compared")
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        _spend(work, A_CONTAINER + len(left))
        return left.keys() == right.keys() and all(
            equal(value, right[key], work, depth + 1) for key, value in left.items()
        )
    if is_list(left) and is_list(right):
        _spend(work, A_CONTAINER + len(left))
        return len(left) == len(right) and all(
            equal(x, y, work, depth + 1) for x, y in zip(left, right, strict=True)
        )
    return False


def _spend(work: Work | None, steps: int) -> None:
    if work is not None:
        work.spend(steps)


def spend_on_text(work: Work | None, text: str) -> None:
    """The steps that reading a text takes."""
    if work is not None:
        work.spend(len(text) // A_STEP_OF_TEXT)


_NUMERIC: Final = frozenset({int, float})
_BY_VALUE: Final = frozenset({int, float, str, bool, type(None)})
_ORDERED: Final = frozenset({int, float, str, bool})


def _equal_amounts(left: Any, right: Any) -> bool:
    pair = _amounts(left, right)
    return pair is not None and pair[0] == pair[1]


def _amounts(left: Any, right: Any) -> tuple[Amount, Amount] | None:
    """Both in nano-units, where one is an amount and the other an amount or an int."""
    first, second = _nano(left), _nano(right)
    return None if first is None or second is None else (first, second)


def _nano(value: Any) -> Amount | None:
    if type(value) is Quantity:
        return value.nano
    return value * NANO if type(value) is int else None


def ordered(left: Any, right: Any, work: Work | None = None) -> tuple[Any, Any]:
    """The two as Python may order them. Raises Mistake where CEL has no order."""
    a, b = type(left), type(right)
    if a is str and b is str:
        spend_on_text(work, left)
    if (a is b and a in _ORDERED) or (a in _NUMERIC and b in _NUMERIC):
        return left, right
    pair = _amounts(left, right) if Quantity in (a, b) else None
    if pair is None:
        raise Mistake(f"{name_of(left)} and {name_of(right)} have no order")
    return pair


def contained(item: Any, container: Any, work: Work | None = None) -> bool:
    """CEL's ``in``: an item of a list, a key of a map."""
    if isinstance(container, Mapping):
        return isinstance(item, str) and item in container
    if not is_list(container):
        raise Mistake(f"`in` asks a list or a map, this is {name_of(container)}")
    _spend(work, len(container))
    return any(equal(item, other, work) for other in container)


def added(left: Any, right: Any, work: Work | None = None) -> Any:
    """Numbers of one type, strings, lists, amounts."""
    match left, right:
        case (str(), str()):
            spend_on_text(work, left)
            spend_on_text(work, right)
            return left + right
        case (Quantity(), Quantity()):
            return Quantity(left.nano + right.nano, left.resource or right.resource)
    if is_list(left) and is_list(right):
        _spend(work, len(left) + len(right))
        return [*left, *right]
    return _checked(left, right, "+", left + right if _same_number(left, right) else None)


def subtracted(left: Any, right: Any) -> Any:
    """Numbers of one type, amounts."""
    if type(left) is Quantity and type(right) is Quantity:
        return Quantity(left.nano - right.nano, left.resource or right.resource)
    return _checked(left, right, "-", left - right if _same_number(left, right) else None)


def multiplied(left: Any, right: Any) -> Any:
    """Numbers of one type, an amount and an int."""
    if type(left) is int and type(right) is Quantity:
        left, right = right, left
    if type(left) is Quantity and type(right) is int:
        return Quantity(left.nano * right, left.resource)
    return _checked(left, right, "*", left * right if _same_number(left, right) else None)


def divided(left: Any, right: Any) -> Any:
    """Towards zero for ints, as IEEE 754 says for doubles."""
    if type(left) is float and type(right) is float:
        return _divided_doubles(left, right)
    if type(left) is int and type(right) is int:
        if right == 0:
            raise Mistake("division by zero")
        return _checked(left, right, "/", _towards_zero(left, right))
    return _checked(left, right, "/", None)


def _divided_doubles(left: float, right: float) -> float:
    if right:
        return left / right
    sign = 1.0 if str(right)[0] != "-" else -1.0
    return left * sign * float("inf") if left else float("nan")


def _towards_zero(left: int, right: int) -> int:
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def remainder(left: Any, right: Any) -> Any:
    """Of ints, with the sign of the left one."""
    if type(left) is not int or type(right) is not int:
        return _checked(left, right, "%", None)
    if right == 0:
        raise Mistake("remainder of a division by zero")
    _checked(left, right, "%", _towards_zero(left, right))
    return left - right * _towards_zero(left, right)


def negated(value: Any) -> Any:
    """Of an int or a double."""
    if type(value) is int and value != SMALLEST_INT:
        return -value
    if type(value) is float:
        return -value
    message = "does not fit in 64 bits" if type(value) is int else "has no negative"
    raise Mistake(f"{name_of(value)} {message}")


def _same_number(left: Any, right: Any) -> bool:
    return type(left) is type(right) and type(left) in _NUMERIC


def _checked(left: Any, right: Any, operator: str, result: Any) -> Any:
    if result is None:
        raise Mistake(f"`{operator}` takes no {_bare(left)} and {_bare(right)}")
    if type(result) is int and not SMALLEST_INT <= result <= LARGEST_INT:
        raise Mistake(f"the result of `{operator}` does not fit in 64 bits")
    return result


def _bare(value: Any) -> str:
    return name_of(value).removeprefix("a ").removeprefix("an ")


def plain(value: Any, work: Work, depth: int = 0) -> Any:
    """As JSON: an amount becomes its text, as an object writes quantities. Raises Mistake if too deep or large."""
    if type(value) is Quantity:
        return format_quantity(value.nano, value.resource)
    if depth >= DEEPEST_VALUE:
        raise Mistake("a value is nested too deeply to be written")
    if isinstance(value, Mapping):
        work.spend(len(value))
        return {key: plain(part, work, depth + 1) for key, part in value.items()}
    if is_list(value):
        work.spend(len(value))
        return [plain(part, work, depth + 1) for part in value]
    return value


def text_of(value: Any) -> str:
    """As a message shows it. Raises Mistake for what has no short text."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case None:
            return "null"
        case int() if not SMALLEST_INT <= value <= LARGEST_INT:
            raise Mistake("an int does not fit in 64 bits")
        case int() | float():
            return repr(value)
        case Quantity():
            return format_quantity(value.nano, value.resource)
        case _:
            raise Mistake(f"{name_of(value)} has no short text")
