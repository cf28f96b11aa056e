"""What is known of a value before anything runs: the static side of conditions.

A shape is a promise for what we make ourselves (literals, short forms, results of operators) and an expectation for
what comes out of objects: JSON can differ from its schema before the API server has looked at it, so the evaluator
asks again there. ANY expects nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Final, TypeAlias

from webhook.language.records import dataclass


@dataclass(frozen=True, slots=True)
class Simple:
    """A shape without parts; ``title`` is how messages name such a value."""

    title: str


@dataclass(frozen=True, slots=True)
class AmountOf:
    """An exact amount; ``resource`` only says how to write it ("memory": with binary units)."""

    resource: str = field(default="", compare=False)
    title = "an amount"


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of values of one shape."""

    item: Shape
    title = "a list"


@dataclass(frozen=True, slots=True)
class MapOf:
    """A map from strings to values of one shape."""

    value: Shape
    title = "a map"


@dataclass(frozen=True, slots=True)
class Record:
    """An object with the fields of a schema; two of one name are the same."""

    name: str
    fields: Mapping[str, str] = field(compare=False, repr=False)
    required: frozenset[str] = field(compare=False, repr=False)

    @property
    def title(self) -> str:
        """As messages name it: ``a JobSpec``."""
        return f"{'an' if self.name[0] in 'AEIOU' else 'a'} {self.name}"


@dataclass(frozen=True, slots=True)
class Each:
    """One record for each kind a rule is for, where they differ."""

    options: tuple[tuple[str, Shape], ...]
    title = "an object"


Shape: TypeAlias = Simple | AmountOf | ListOf | MapOf | Record | Each

ANY: Final = Simple("any value")
INT: Final = Simple("an int")
DOUBLE: Final = Simple("a double")
STRING: Final = Simple("a string")
BOOL: Final = Simple("a bool")
NULL: Final = Simple("null")
TIME: Final = Simple("a time")
REQUESTS: Final = Simple("the amounts by resource")
AMOUNT: Final = AmountOf()

NUMBERS: Final = frozenset({INT, DOUBLE})


def each(options: Iterable[tuple[str, Shape]]) -> Shape:
    """One shape for what may be one of several: theirs where they agree, the records by kind, else ANY."""
    found = tuple(options)
    shapes = [shape for _, shape in found]
    if not found or ANY in shapes:
        return ANY
    if all(shape == shapes[0] for shape in shapes):
        return shapes[0]
    if all(isinstance(shape, ListOf) for shape in shapes):
        return ListOf(each((k, s.item) for k, s in found if isinstance(s, ListOf)))
    if all(isinstance(shape, MapOf) for shape in shapes):
        return MapOf(each((k, s.value) for k, s in found if isinstance(s, MapOf)))
    if all(isinstance(shape, Record) for shape in shapes):
        return Each(found)
    return ANY


def is_object(shape: Shape) -> bool:
    """True for what has fields by schema."""
    return isinstance(shape, Record | Each)


def comparable(left: Shape, right: Shape) -> bool:
    """May one be asked to equal the other; whether it then does is for the run to say."""
    if ANY in (left, right) or left == right:
        return True
    if left in NUMBERS and right in NUMBERS:
        return True
    if NULL in (left, right):
        return is_object(left) or is_object(right)
    if AMOUNT in (left, right):
        return INT in (left, right)
    return _parts_comparable(left, right)


def _parts_comparable(left: Shape, right: Shape) -> bool:
    match left, right:
        case ListOf(item=a), ListOf(item=b):
            return comparable(a, b)
        case MapOf(value=a), MapOf(value=b):
            return comparable(a, b)
        case (Record() | Each() | MapOf(), Record() | Each() | MapOf()):
            return Each in (type(left), type(right)) or MapOf in (type(left), type(right))
        case _:
            return False


def merged(shapes: Iterable[Shape]) -> Shape:
    """The shape of a list's items, of either branch of a conditional: theirs if they agree, else ANY."""
    found = list(shapes)
    same = bool(found) and all(shape == found[0] for shape in found)
    return found[0] if same else ANY
