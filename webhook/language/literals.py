"""Literals of conditions: numbers and texts as CEL writes them, read and written.

The grammar reads any word that begins with a digit; here it becomes an int, a double, or the finding that says what
to write instead (`quantity("64Gi")`). Escapes are CEL's, not Python's and not those of Tide's own texts.
"""

from __future__ import annotations

import re
from typing import Final

from webhook.model.quantity import UNITS, QuantityError, parse_quantity

LARGEST_INT: Final = 2**63 - 1
SMALLEST_INT: Final = -(2**63)

_INT: Final = re.compile(r"[0-9]+|0[xX][0-9a-fA-F]+")
_DOUBLE: Final = re.compile(r"[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+")
_UNSIGNED: Final = re.compile(r"(?:[0-9]+|0[xX][0-9a-fA-F]+)[uU]")
_DURATION: Final = re.compile(r"(?:[0-9.]+(?:h|m|s|ms|d))+")
_AMOUNT: Final = re.compile(r"[0-9.]+([A-Za-z]+)")
_ESCAPE: Final = re.compile(
    r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|[xX]([0-9a-fA-F]{2})|([0-3][0-7]{2})|(.))?",
    re.DOTALL,
)
_SIMPLE: Final = {
    "\\": "\\", "'": "'", '"': '"', "`": "`", "?": "?", "a": "\a", "b": "\b", "f": "\f", "n": "\n",
    "r": "\r", "t": "\t", "v": "\v",
}  # fmt: skip


class Unreadable(Exception):
    """A literal that cannot be used; carries what a Problem needs."""

    def __init__(self, code: str, message: str, help_: str = "") -> None:
        super().__init__(message)
        self.code, self.message, self.help = code, message, help_


def read_number(text: str) -> int | float:
    """The int or double of a word that begins with a digit or a dot. Raises Unreadable."""
    if _INT.fullmatch(text):
        value = int(text, 16) if text[:2] in ("0x", "0X") else _decimal(text)
        if value > LARGEST_INT:
            raise Unreadable("TG011", f"`{_short(text)}` does not fit in 64 bits")
        return value
    if _DOUBLE.fullmatch(text):
        number = float(text)
        if number == float("inf"):
            raise Unreadable("TG011", f"`{_short(text)}` is larger than any double")
        return number
    raise _no_number(text)


def _decimal(text: str) -> int:
    """Without Python's own bound on the digits of an int, which raises ValueError."""
    digits = text.lstrip("0")
    return int(digits or "0") if len(digits) < 20 else 10**19


def _short(text: str) -> str:
    return text if len(text) <= 24 else text[:23] + "…"


def _no_number(text: str) -> Unreadable:
    if _UNSIGNED.fullmatch(text):
        plain = text[:-1]
        return Unreadable(
            "TG501", f"`{text}`: unsigned numbers are not supported", f"write `{plain}`"
        )
    try:
        parse_quantity(text)
    except QuantityError:
        return _no_quantity(text)
    message = f"a quantity such as `{text}` stands in quotes here"
    return Unreadable("TG501", message, f'write `quantity("{text}")`')


def _no_quantity(text: str) -> Unreadable:
    match = _AMOUNT.fullmatch(text)
    if _DURATION.fullmatch(text):
        return Unreadable("TG501", f"`{text}`: durations are no values of conditions")
    if match is None:
        return Unreadable("TG010", f"`{_short(text)}` is neither a number nor a quantity")
    return Unreadable("TG010", f"there is no unit `{match[1]}`", unit_help(text, match[1]))


def unit_help(text: str, unit: str) -> str:
    """What may have been meant by a unit that does not exist: `64GB` → `64G` or `64Gi`."""
    letter = {"k": "k", "K": "k"}.get(unit[0], unit[0].upper())
    if letter not in UNITS:
        return "units are `m k M G T P E` and `Ki Mi Gi Ti Pi Ei`"
    number = text[: -len(unit)]
    return f'write `quantity("{number}{letter.upper()}i")` or `quantity("{number}{letter}")`'


def read_text(token: str) -> str:
    """The text of a quoted literal, raw or not. Raises Unreadable."""
    prefix, start, end = _inside(token)
    if "b" in prefix:
        raise Unreadable("TG501", "bytes are not supported", "leave out the `b`")
    inside = token[start:end]
    return inside if "r" in prefix else _ESCAPE.sub(_unescape, inside)


def _inside(token: str) -> tuple[str, int, int]:
    """The letters before the quotes, and where the text between them begins and ends."""
    prefix = token[: min(i for i in (token.find('"'), token.find("'")) if i >= 0)].lower()
    quoted = token[len(prefix) :]
    quotes = 3 if quoted[:3] in ('"""', "'''") and len(quoted) >= 6 else 1
    return prefix, len(prefix) + quotes, len(token) - quotes


def offset_in_text(token: str, offset: int) -> int:
    """Where the character of a read text at an offset begins in the literal that was read."""
    prefix, start, end = _inside(token)
    if "r" in prefix:
        return start + offset
    at = start
    for _ in range(offset):
        match = _ESCAPE.match(token, at, end)
        at = match.end() if match else at + 1
    return at


def _unescape(match: re.Match[str]) -> str:
    simple = match[5]
    if simple is not None and simple in _SIMPLE:
        return _SIMPLE[simple]
    digits = match[1] or match[2] or match[3]
    code = int(digits, 16) if digits else int(match[4], 8) if match[4] else -1
    if code < 0 or 0xD800 <= code < 0xE000 or code > 0x10FFFF:
        message = f"`{match[0]}` is no escape of a text"
        raise Unreadable("TG007", message, "a backslash itself is written `\\\\`")
    return chr(code)


def write_literal(value: int | float | str | bool | None) -> str:
    """The text that reads as the value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return '"' + "".join(map(_escaped, value)) + '"'
    return repr(value)


_WRITTEN: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _escaped(character: str) -> str:
    if character in _WRITTEN:
        return _WRITTEN[character]
    return character if character.isprintable() else f"\\U{ord(character):08x}"
