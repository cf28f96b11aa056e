"""YAML to the values JSON has, as Kubernetes takes it: no duplicate keys, no timestamps, no tags, and no bombs.

A loader of its own over the nodes, because the one that comes with YAML makes dates of texts, takes the last of two
equal keys, and leaves it to its user to find out how large a value is that is named in many places.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import yaml

DEEPEST: Final = 200
MOST_DIGITS: Final = 400
_TAG: Final = "tag:yaml.org,2002:"
_MERGE: Final = f"{_TAG}merge"
_TEXTS: Final = frozenset({"str", "timestamp", "binary", "value"})


class BadValue(ValueError):
    """Something no manifest may hold; ``line`` counts from 1."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


class Reader:
    """Reads the nodes of one text; ``most`` bounds the characters of a document, aliases written out."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: dict[int, tuple[Any, int]] = {}
        self._open: set[int] = set()

    def value(self, node: Any) -> Any:
        """What a document says; None for an empty one. Raises BadValue."""
        self._made.clear()
        self._open.clear()
        return None if node is None else self._read(node, 0)[0]

    def item_lines(self, node: Any) -> Sequence[int]:
        """Where the items of a List begin."""
        pairs = node.value if isinstance(node, yaml.MappingNode) else ()
        for key, value in pairs:
            if key.value == "items" and isinstance(value, yaml.SequenceNode):
                return [item.start_mark.line + 1 for item in value.value]
        return ()

    def _read(self, node: Any, depth: int) -> tuple[Any, int]:
        """The value, and how many characters it would take."""
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node), len(node.value) + 2
        mark = id(node)
        if mark in self._made:
            return self._made[mark]
        if mark in self._open:
            raise BadValue(_line(node), "a value that holds itself")
        if depth > DEEPEST:
            raise BadValue(_line(node), f"nested deeper than {DEEPEST}")
        self._open.add(mark)
        made = (
            self._list(node, depth)
            if isinstance(node, yaml.SequenceNode)
            else self._map(node, depth)
        )
        self._open.discard(mark)
        if made[1] > self._most:
            raise BadValue(
                _line(node), f"larger than {self._most >> 20} MiB with its aliases written out"
            )
        self._made[mark] = made
        return made

    def _list(self, node: Any, depth: int) -> tuple[Any, int]:
        _no_tag(node, "seq")
        read = [self._read(item, depth + 1) for item in node.value]
        return [value for value, _ in read], 2 + sum(size + 2 for _, size in read)

    def _map(self, node: Any, depth: int) -> tuple[Any, int]:
        _no_tag(node, "map")
        found: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        size = 2
        for key, value in node.value:
            read, length = self._read(value, depth + 1)
            size += length + 4
            if key.tag == _MERGE:
                merged = self._merged(value, read) | merged
                continue
            name = _key(key)
            if name in found:
                raise BadValue(_line(key), f"`{name[:80]}` stands twice in one map")
            found[name] = read
            size += len(name)
        return merged | found, size

    def _merged(self, node: Any, value: Any) -> dict[str, Any]:
        """What ``<<`` brings: one map, or several of which the first counts."""
        maps = value if isinstance(value, list) else [value]
        found: dict[str, Any] = {}
        for each in maps:
            if not isinstance(each, dict):
                raise BadValue(_line(node), "`<<` takes a map, or a list of maps")
            found = each | found
        return found


def is_deep(value: Any) -> bool:
    """Whether it is nested deeper than anybody should walk."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(DEEPEST):
        inner = (each.values() if isinstance(each, dict) else each for each in level)
        level = [one for each in inner for one in each if isinstance(one, dict | list)]
        if not level:
            return False
    return True


def _line(node: Any) -> int:
    return int(node.start_mark.line) + 1


def _no_tag(node: Any, usual: str) -> None:
    if node.tag != _TAG + usual:
        raise BadValue(
            _line(node), f"the tag {node.tag.replace(_TAG, '!!')} is nothing a manifest may hold"
        )


def _key(node: Any) -> str:
    """A key as JSON has it: numbers and truth values become texts."""
    value = _scalar(node) if isinstance(node, yaml.ScalarNode) else None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return node.value if isinstance(value, float) else str(value)
    raise BadValue(_line(node), "a key that is neither a text nor a number")


def _scalar(node: Any) -> Any:
    """A text, number, truth value or nothing; ``1:30`` and dates stay texts."""
    kind, text = node.tag.removeprefix(_TAG), node.value
    if kind in _TEXTS:
        return text
    if kind == "null":
        return None
    if kind == "bool":
        return text.lower() in ("y", "yes", "true", "on")
    if kind in ("int", "float") and ":" in text:
        return text
    try:
        number = _whole(text) if kind == "int" else _broken(text) if kind == "float" else None
    except ValueError as error:
        raise BadValue(_line(node), f"`{text[:40]}` is no number") from error
    if number is None:
        _no_tag(node, "str")
    return number


def _whole(text: str) -> int:
    """Decimal, 0b, 0x, 0o, or octal by a leading 0."""
    digits = text.replace("_", "").lower()
    if len(digits) > MOST_DIGITS:
        raise ValueError("too many digits")
    bare = digits.lstrip("+-")
    octal = len(bare) > 1 and bare[0] == "0" and bare.isdecimal()
    return int(digits, 8) if octal else int(digits, 0)


def _broken(text: str) -> float:
    number = float(text.replace("_", ""))
    if not math.isfinite(number):
        raise ValueError("not finite")
    return number
