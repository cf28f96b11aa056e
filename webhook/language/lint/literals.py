"""The fragment of conditions that is understood: what one literal says about one term.

A term is a variable or a path with constant keys, as a tuple: ``("labels", "team")``. Every literal but ``Missing`` is
about something that is *true*, so a literal about a value says as well that the value is there. What is not
understood is an ``Opaque`` literal, equal only to itself: that keeps every conclusion sound.
"""

from __future__ import annotations

from dataclasses import field
from typing import Final, TypeAlias
from typing import Literal as Choice

from webhook.language.expression import Expression
from webhook.language.records import dataclass
from webhook.model.quantity import format_quantity

Path: TypeAlias = tuple[str | int, ...]
Number: TypeAlias = int | float
Constant: TypeAlias = tuple[Choice["num", "str", "bool", "null"], int | float | str | bool | None]
"""A value with its type, for Python finds True and 1 equal; ints and doubles are of one type here, as in CEL."""
How: TypeAlias = Choice["startsWith", "endsWith", "contains"]


@dataclass(frozen=True, slots=True)
class OneOf:
    """The value is one of these."""

    path: Path
    values: frozenset[Constant]


@dataclass(frozen=True, slots=True)
class NoneOf:
    """There is a value, and it is none of these."""

    path: Path
    values: frozenset[Constant]


@dataclass(frozen=True, slots=True)
class Between:
    """The value is a number in this interval; None is no bound, ``open``: the bound itself is not in it."""

    path: Path
    low: Number | None = None
    low_open: bool = False
    high: Number | None = None
    high_open: bool = False


@dataclass(frozen=True, slots=True)
class Shaped:
    """The value is a text that begins so (ends so, contains this), or, where not ``holds``, does not."""

    path: Path
    how: How
    text: str
    holds: bool


@dataclass(frozen=True, slots=True)
class There:
    """``has(path)``, or ``"key" in map``."""

    path: Path


@dataclass(frozen=True, slots=True)
class Absent:
    """``!has(path)``: what it stands in is there, it is not."""

    path: Path


@dataclass(frozen=True, slots=True)
class Missing:
    """Reading this path fails."""

    path: Path


@dataclass(frozen=True, slots=True)
class Opaque:
    """Any other part of a condition, as text; its value."""

    text: str
    holds: bool
    node: Expression | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Unknown:
    """May hold or not, whatever else does: the failure of something that is not understood."""


Literal: TypeAlias = OneOf | NoneOf | Between | Shaped | There | Absent | Missing | Opaque | Unknown

TEXTS: Final = frozenset({"namespace", "name", "kind", "user", "queue", "priority"})
NUMBERS: Final = frozenset({"pods"})
MAPS: Final = frozenset({"labels", "annotations"})


def always(path: Path) -> bool:
    """True for short forms, which are there whatever was submitted."""
    root = path[0]
    if root == "requests":
        return len(path) == 2
    return len(path) == 1 and root in TEXTS | NUMBERS | MAPS | {"groups", "object"}


def is_map_of_texts(path: Path) -> bool:
    """True where ``"key" in path`` asks the same as ``has(path.key)``: labels and annotations, however written."""
    return path in (("labels",), ("annotations",)) or (
        len(path) > 2 and path[-2] == "metadata" and path[-1] in MAPS
    )


def spelled(path: Path) -> str:
    """A path as it may be written in a condition."""
    text = str(path[0])
    for part in path[1:]:
        if isinstance(part, str) and part.isidentifier():
            text += f".{part}"
        else:
            text += f'["{part}"]' if isinstance(part, str) else f"[{part}]"
    return text


def described(literal: Literal) -> str:
    """A literal as a condition would say it."""
    match literal:
        case OneOf(path, values):
            return _one_of(path, values)
        case NoneOf(path, values):
            return " && ".join(f"{spelled(path)} != {_constant(path, v)}" for v in _sorted(values))
        case Between():
            return _between(literal)
        case Shaped(path, how, text, holds):
            return f'{"" if holds else "!"}{spelled(path)}.{how}("{text}")'
        case There(path):
            return f"has({spelled(path)})"
        case Absent(path):
            return f"!has({spelled(path)})"
        case Opaque(text, holds):
            return text if holds else f"!({text})"
        case Missing(path):
            return f"{spelled(path)} is absent"
        case Unknown():
            return "…"


def _one_of(path: Path, values: frozenset[Constant]) -> str:
    shown = [_constant(path, value) for value in _sorted(values)]
    if len(shown) == 1:
        return f"{spelled(path)} == {shown[0]}"
    return f"{spelled(path)} in [{', '.join(shown)}]"


def _sorted(values: frozenset[Constant]) -> list[Constant]:
    return sorted(values, key=lambda value: (value[0], str(value[1])))


def _constant(path: Path, value: Constant) -> str:
    match value:
        case ("str", text):
            return f'"{text}"'
        case ("num", int(number)) if path[0] == "requests":
            shown = format_quantity(number, str(path[1]))
            return shown if shown.isdigit() else f'quantity("{shown}")'
        case ("bool", flag):
            return "true" if flag else "false"
        case ("null", _):
            return "null"
        case (_, number):
            return str(number)


def _between(literal: Between) -> str:
    name, parts = spelled(literal.path), []
    if literal.low is not None:
        sign = ">" if literal.low_open else ">="
        parts.append(f"{name} {sign} {_constant(literal.path, ('num', literal.low))}")
    if literal.high is not None:
        sign = "<" if literal.high_open else "<="
        parts.append(f"{name} {sign} {_constant(literal.path, ('num', literal.high))}")
    return " && ".join(parts)
