"""What stands behind a dot in a condition: fields by the schemas, functions by the shape of what they are called on.

The text before the dot is read as a path of names; what is computed (the result of a call, an element of a list
literal) is not followed. An offer that is missing costs nothing, a wrong one costs trust.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from webhook.language.functions import METHODS
from webhook.language.macros import MACROS
from webhook.language.schemas import shape_of
from webhook.language.scope import NATIVE, VARIABLES, Names
from webhook.language.shapes import AMOUNT, REQUESTS, STRING, Each, ListOf, MapOf, Record, Shape

_PATH: Final = re.compile(r"([A-Za-z_]\w*)((?:\.[A-Za-z_]\w*|\[[^\[\]]*\])*)\.\Z")
_STEP: Final = re.compile(r"\.([A-Za-z_]\w*)|\[[^\[\]]*\]")
_GLOBAL: Final = ("has", "quantity", "size")


def variables(known: Names) -> Iterator[tuple[str, str]]:
    """Each variable with what it is, and the functions that are called on nothing."""
    for name in sorted(known.variables):
        yield name, _shown(VARIABLES[name].shape(known.kinds))
    yield from ((name, "function") for name in _GLOBAL)


def fields_behind(text: str, known: Names) -> Iterator[tuple[str, str, bool]]:
    """Name, what it is, and whether it is a function, for what may follow the dot at the end of ``text``."""
    path = _PATH.search(text)
    if path is None or path[1] not in known.variables:
        return
    if path[1] == "requests" and not path[2]:
        yield from ((name, "amount", False) for name in (*known.aliases, *_plain(NATIVE)))
        return
    shape = _follow(VARIABLES[path[1]].shape(known.kinds), path[2])
    if shape is None:
        return
    yield from ((name, _shown(inner), False) for name, inner in _fields(shape))
    yield from ((name, "function", True) for name in _functions(shape))


def _plain(names: tuple[str, ...]) -> Iterator[str]:
    return (name for name in names if name.isidentifier())


def _follow(shape: Shape, path: str) -> Shape | None:
    here: Shape | None = shape
    for step in _STEP.finditer(path):
        if here is None:
            return None
        name = step[1]
        if here == REQUESTS:
            here = AMOUNT
        elif name is not None and not isinstance(here, MapOf):
            here = dict(_fields(here)).get(name)
        elif isinstance(here, ListOf):
            here = here.item
        else:
            here = here.value if isinstance(here, MapOf) else None
    return here


def _fields(shape: Shape) -> list[tuple[str, Shape]]:
    """Fields of a record; of one that may be of several kinds, those that all have."""
    if isinstance(shape, Record):
        return [(name, shape_of(kind)) for name, kind in shape.fields.items()]
    if isinstance(shape, Each):
        each = [dict(_fields(inner)) for _, inner in shape.options]
        shared = set(each[0]).intersection(*each[1:]) if each else set()
        return [(name, inner) for name, inner in each[0].items() if name in shared]
    return []


def _functions(shape: Shape) -> Iterator[str]:
    """What can be called on it."""
    yield from (name for name, function in METHODS.items() if function.receiver == shape)
    if shape == STRING:
        yield "matches"
    if isinstance(shape, ListOf | MapOf):
        yield from MACROS
    if shape == STRING or isinstance(shape, ListOf | MapOf):
        yield "size"


def _shown(shape: Shape) -> str:
    return shape.title.removeprefix("an ").removeprefix("a ")
