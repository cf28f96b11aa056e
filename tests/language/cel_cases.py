"""Reads the conformance cases of CEL (text protobuf), as far as they are needed here.

The cases are data beside the project, not in it; whoever has none gets an empty list and a reason to skip.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "cel"
ABSENT = "the conformance cases of CEL (../shared/cel) are not here"

_TOKEN = re.compile(
    r"""\s+|\#[^\n]*|(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
    r"""|(?P<mark>[{}:<>\[\],;])|(?P<word>[^\s{}:<>\[\],;"'#]+)"""
)
_ESCAPE = re.compile(
    rb"\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))"
)
_SIMPLE = {
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
    b"a": b"\a",
    b"b": b"\b",
    b"f": b"\f",
    b"v": b"\v",
}

Message = dict[str, list[Any]]


@dataclass(frozen=True)
class Case:
    """One case; ``fields`` is the whole message, ``value`` the expected one."""

    id: str
    expression: str
    fields: Message


def cases() -> list[Case]:
    return [case for path in sorted(FOLDER.glob("*.textproto")) for case in _cases(path)]


def _cases(path: Path) -> Iterator[Case]:
    for section in read(path.read_text(encoding="utf-8"))["section"]:
        for test in section.get("test", []):
            id_ = f"{path.stem}/{section['name'][0]}/{test['name'][0]}"
            yield Case(id_, test["expr"][0], test)


def read(text: str) -> Message:
    """The message; every field is a list, as any may be repeated."""
    tokens = [
        (match.lastgroup, match[0])
        for match in _TOKEN.finditer(text)
        if match.lastgroup is not None
    ]
    message, end = _message(tokens, 0)
    assert end == len(tokens)
    return message


def _message(tokens: list[tuple[str, str]], at: int) -> tuple[Message, int]:
    message: Message = {}
    while at < len(tokens) and tokens[at][1] not in "}>":
        if tokens[at][1] in ",;":
            at += 1
            continue
        name, at = tokens[at][1], at + 1
        if name == "[":  # the type of an Any
            while tokens[at][1] != "]":
                at += 1
            name, at = "any", at + 1
        if tokens[at][1] == ":":
            at += 1
        value, at = _value(tokens, at)
        message.setdefault(name, []).append(value)
    return message, at


def _value(tokens: list[tuple[str, str]], at: int) -> tuple[Any, int]:
    group, text = tokens[at]
    if text in ("{", "<") and group == "mark":
        message, at = _message(tokens, at + 1)
        return message, at + 1
    if group != "string":
        return text, at + 1
    parts = []
    while at < len(tokens) and tokens[at][0] == "string":
        parts.append(_ESCAPE.sub(_unescape, tokens[at][1][1:-1].encode()))
        at += 1
    return b"".join(parts).decode(errors="surrogateescape"), at


def _unescape(match: re.Match[bytes]) -> bytes:
    if match[5]:
        return _SIMPLE.get(match[5], match[5])
    if match[1] or match[2]:
        return bytes([int(match[1], 16) if match[1] else int(match[2], 8)])
    return chr(int(match[3] or match[4], 16)).encode()


class Beyond(Exception):
    """A value that conditions do not have."""


def value_of(message: Message) -> Any:
    """A cel.expr.Value as a value of ours. Raises Beyond."""
    ((kind, (value,)),) = message.items()
    match kind:
        case "int64_value":
            return int(value)
        case "double_value":
            return float(value.replace("Infinity", "inf").replace("infinity", "inf"))
        case "string_value":
            return value
        case "bool_value":
            return value == "true"
        case "null_value":
            return None
        case "list_value":
            return [value_of(item) for item in value.get("values", [])]
        case "map_value":
            entries = value.get("entries", [])
            made = {value_of(e["key"][0]): value_of(e["value"][0]) for e in entries}
            if not all(isinstance(key, str) for key in made):
                raise Beyond("keys that are no texts")
            return made
        case _:
            raise Beyond(kind)
