"""The fields of the objects conditions read, so that a misspelt one is found before anything runs.

``schemas/kubernetes.json`` holds names, types and which fields are always there, one definition a line, taken from
the public APIs of Kubernetes and JobSet. A type is written ``int``, ``[string]``, ``{any}`` or the name of another
definition; ``!`` after a field's name: required. ``any`` stands for int-or-string, quantities included, and for what
has no schema. Definitions refer to each other, so shapes are made when somebody asks.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Final

from webhook.language.shapes import (
    ANY,
    BOOL,
    DOUBLE,
    INT,
    STRING,
    TIME,
    ListOf,
    MapOf,
    Record,
    Shape,
    Simple,
    each,
)
from webhook.model.kinds import JOB, JOBSET, Kind

_SIMPLE: Final[Mapping[str, Simple]] = {
    "any": ANY,
    "bool": BOOL,
    "double": DOUBLE,
    "int": INT,
    "string": STRING,
    "time": TIME,
}
_KINDS: Final[Mapping[Kind, str]] = {JOB: "Job", JOBSET: "JobSet"}


@lru_cache(maxsize=1)
def definitions() -> Mapping[str, Mapping[str, str]]:
    """Every definition as it stands in the file."""
    text = (files("webhook.language") / "schemas" / "kubernetes.json").read_text(encoding="utf-8")
    loaded: Mapping[str, Mapping[str, str]] = json.loads(text)
    return loaded


@lru_cache(maxsize=512)
def record(name: str) -> Record:
    """The record of one definition."""
    fields = definitions()[name]
    plain = {field.rstrip("!"): kind for field, kind in fields.items()}
    return Record(name, plain, frozenset(f.rstrip("!") for f in fields if f.endswith("!")))


@lru_cache(maxsize=1024)
def shape_of(text: str) -> Shape:
    """The shape a type's text stands for."""
    if text in _SIMPLE:
        return _SIMPLE[text]
    if text.startswith("["):
        return ListOf(shape_of(text[1:-1]))
    if text.startswith("{"):
        return MapOf(shape_of(text[1:-1]))
    return record(text)


def object_shape(kinds: Sequence[Kind]) -> Shape:
    """What ``object`` may be where a rule is for these kinds; a kind without a schema is not checked."""
    return each((kind.name, shape_of(_KINDS.get(kind, "any"))) for kind in kinds)
