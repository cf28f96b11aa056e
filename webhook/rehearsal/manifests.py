"""Manifests read the way kubectl reads them: YAML of several documents, JSON, Lists; every object with its place.

Whoever sends a change for review may send a bomb in it, so nothing here grows beyond what was written: a value that
is named in many places is one value, and its size is counted as often as it is named before anybody walks it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import yaml

from webhook.model.kinds import Object
from webhook.rehearsal.yaml_values import DEEPEST, BadValue, Reader, is_deep

MOST_CHARACTERS: Final = 32 * 2**20
_BLANK: Final = re.compile(r"\s*")
_LOADER: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Flaw(NamedTuple):
    """What is wrong with one document; ``document`` counts from 1, 0 where no document could be told."""

    path: str
    line: int
    document: int
    message: str

    @property
    def text(self) -> str:
        """As it is shown: ``job.yaml:14: document 2: no kind``."""
        which = f"document {self.document}: " if self.document else ""
        return f"{self.path}:{self.line}: {which}{self.message}"


class BadManifests(ValueError):
    """Documents that are no objects: all of a file."""

    def __init__(self, flaws: Sequence[Flaw]) -> None:
        super().__init__("\n".join(flaw.text for flaw in flaws))
        self.flaws = tuple(flaws)


@dataclass(frozen=True, slots=True)
class Manifest:
    """One object and where it stands; ``line`` is where it begins, for JSON where its document does."""

    object: Object
    path: str
    line: int
    document: int

    @property
    def place(self) -> str:
        """As editors jump to it."""
        return f"{self.path}:{self.line}"


class _Document(NamedTuple):
    """``lines`` of its items, where it is a List and they are known."""

    value: Any
    line: int
    number: int
    lines: Sequence[int] = ()


def read_manifests(path: str, text: str) -> tuple[Manifest, ...]:
    """Every object of a text, those in Lists one by one; ``path`` is only named. Raises BadManifests."""
    if len(text) > MOST_CHARACTERS:
        raise BadManifests([Flaw(path, 1, 0, f"longer than {MOST_CHARACTERS >> 20} MiB")])
    found: list[Manifest] = []
    flaws: list[Flaw] = []
    for document in _documents(path, text.removeprefix("\ufeff"), flaws):
        for value, line in _items(document):
            flaw = _flaw_of(value)
            if flaw:
                flaws.append(Flaw(path, line, document.number, flaw))
            else:
                found.append(Manifest(value, path, line, document.number))
    if flaws:
        raise BadManifests(flaws)
    return tuple(found)


def _documents(path: str, text: str, flaws: list[Flaw]) -> list[_Document]:
    """JSON where it is JSON, which is faster; else YAML."""
    if text.lstrip()[:1] == "{":
        try:
            return list(_json(text))
        except _OtherThanJson:
            pass
        except BadValue as error:
            flaws.append(Flaw(path, error.line, 0, str(error)))
            return []
    return list(_yaml(path, text, flaws))


class _OtherThanJson(Exception):
    pass


def _json(text: str) -> Iterator[_Document]:
    """One document after the other, as kubectl takes them. Raises BadValue for what is JSON and no manifest."""
    decoder = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_number)
    at, line, number = 0, 1, 0
    while True:
        start = _BLANK.match(text, at).end()  # type: ignore[union-attr]  # it matches nothing, too
        line += text.count("\n", at, start)
        if start == len(text):
            return
        number += 1
        try:
            value, end = decoder.raw_decode(text, start)
        except _Twice as error:
            raise BadValue(line, str(error)) from None
        except (ValueError, RecursionError):
            raise _OtherThanJson from None
        if is_deep(value):
            raise BadValue(line, f"nested deeper than {DEEPEST}")
        yield _Document(value, line, number)
        line += text.count("\n", start, end)
        at = end


class _Twice(ValueError):
    pass


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _Twice(f"`{twice}` stands twice in one map")
    return found


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number")


def _yaml(path: str, text: str, flaws: list[Flaw]) -> Iterator[_Document]:
    """Documents that hold something; those that are wrong are noted, and the reading goes on where it can."""
    number, reader = 0, Reader(MOST_CHARACTERS)
    try:
        for number, node in enumerate(yaml.compose_all(text, Loader=_LOADER), start=1):
            try:
                value = reader.value(node)
            except BadValue as error:
                flaws.append(Flaw(path, error.line, number, str(error)))
                continue
            if value is not None:
                yield _Document(value, node.start_mark.line + 1, number, reader.item_lines(node))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        line = min(mark.line, text.count("\n")) + 1 if mark is not None else 1
        why = getattr(error, "problem", None) or str(error).splitlines()[0]
        flaws.append(Flaw(path, line, number + 1, f"not YAML: {why}"))


def _items(document: _Document) -> Iterator[tuple[Any, int]]:
    """The objects of a List, or the one there is, each with its line."""
    value = document.value
    items = value.get("items") if isinstance(value, dict) else None
    if not isinstance(items, list) or not str(value.get("kind") or "").endswith("List"):
        yield value, document.line
        return
    for index, item in enumerate(items):
        line = document.lines[index] if index < len(document.lines) else document.line
        yield item, line


def _flaw_of(value: Any) -> str:
    """Why it is no object that an API server would look at; "" where it is one."""
    if not isinstance(value, dict):
        what = (
            "a list"
            if isinstance(value, list)
            else "a text"
            if isinstance(value, str)
            else "a value"
        )
        return f"not an object but {what}"
    for field in ("apiVersion", "kind"):
        if not isinstance(value.get(field), str) or not value[field]:
            return f"no {field}"
    about = value.get("metadata")
    if not isinstance(about, Mapping):
        return "metadata is missing, or not a map"
    for field in ("name", "generateName"):
        if isinstance(about.get(field), str) and about[field]:
            return _flaw_of_namespace(about)
    return "no metadata.name"


def _flaw_of_namespace(about: Mapping[str, Any]) -> str:
    if isinstance(about.get("namespace"), str | None):
        return ""
    return "metadata.namespace is not a text"
