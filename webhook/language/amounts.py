"""Amounts as people write them: exact integers, or a problem whose help says what was meant.

``64GB`` and ``1K`` are the mistakes of everybody who comes from elsewhere; the message names the unit, not the grammar.
"""

from __future__ import annotations

import re
from typing import Final

from webhook.language.problems import Fix, Problem, problem
from webhook.language.suggest import did_you_mean
from webhook.language.syntax import Number, Word
from webhook.model.quantity import (
    UNITS,
    QuantityError,
    in_bytes,
    parse_quantity,
    smallest_unit,
)

_SPLIT: Final = re.compile(r"([+-]?[0-9]*\.?[0-9]*)(.*)", re.DOTALL)
_INTEGER: Final = re.compile(r"[+-]?[0-9]{1,12}")
LOWEST: Final = -(2**31)
HIGHEST: Final = 2**31 - 1
_UNITS: Final = {
    unit.lower(): unit
    for unit in ("k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
}


def read_amount(number: Number, resource: str) -> int | Problem:
    """Nano-units of a resource."""
    try:
        amount = parse_quantity(number.text)
    except QuantityError as error:
        return _no_quantity(number, resource, str(error))
    if number.text.startswith("-") and amount != 0:
        return problem("TG011", number.span, f"`{number.text}` is negative")
    if amount % smallest_unit(resource):
        return _fraction(number, resource)
    return amount


def _fraction(number: Number, resource: str) -> Problem:
    if resource == "cpu":
        message = f"`{number.text}` is finer than a thousandth of a core"
    elif in_bytes(resource):
        message = f"`{number.text}` is a fraction of a byte"
    else:
        message = f"`{number.text}` is a fraction, and `{resource}` comes in whole pieces"
    return problem("TG012", number.span, message)


def _no_quantity(number: Number, resource: str, why: str) -> Problem:
    match = _SPLIT.fullmatch(number.text)
    digits, unit = (match[1], match[2]) if match else ("", number.text)
    if not unit or unit in UNITS or re.fullmatch(r"[eE][+-]?[0-9]*", unit):
        return problem("TG011", number.span, why)
    meant = _meant(unit, resource)
    message = f"there is no unit `{unit}`"
    if meant is None or not digits:
        known = "`m`, `k`, `M`, `G`, `T`, `Ki`, `Mi`, `Gi`, `Ti`"
        return problem("TG010", number.span, message, help=f"units are {known} and so on")
    also = f" or `{digits}{meant.upper()}i`" if in_bytes(resource) and len(meant) == 1 else ""
    fix = Fix(number.span, digits + meant)
    return problem("TG010", number.span, message, help=f"write `{digits}{meant}`{also}", fix=fix)


def _meant(unit: str, resource: str) -> str | None:
    """The unit behind `GB`, `K`, `Tb`, `gib`, `mi`; cores are counted without one, and in thousandths."""
    bare = unit.lower()
    if resource == "cpu" and bare in ("mi", "mc", "mcpu", "milli", "millis", "millicores"):
        return "m"
    if bare in ("core", "cores", "cpu", "cpus", "gpu", "gpus", "b", "bytes"):
        return ""
    for candidate in (bare, bare.removesuffix("b"), bare.removesuffix("bytes")):
        if candidate in _UNITS:
            return _UNITS[candidate]
    return None


def read_integer(number: Number, *, lowest: int = LOWEST, highest: int = HIGHEST) -> int | Problem:
    """A whole number without a unit."""
    if not _INTEGER.fullmatch(number.text):
        if not re.fullmatch(r"[+-]?[0-9]+", number.text):
            return problem("TG011", number.span, f"`{number.text}` is not a whole number")
    elif lowest <= int(number.text) <= highest:
        return int(number.text)
    return problem(
        "TG011", number.span, f"`{number.text}` is out of range", help=f"from {lowest} to {highest}"
    )


def read_bound(bound: Number | Word | None, resource: str) -> int | Problem | None:
    """What stands behind ``borrow`` and ``lend``: None is without bound."""
    if bound is None:
        return None
    if isinstance(bound, Number):
        return read_amount(bound, resource)
    if bound.text in ("any", "none"):
        return None if bound.text == "any" else 0
    return problem(
        "TG004", bound.span, f"`{bound.text}` is not valid here",
        help=did_you_mean(bound.text, ("any", "none")) or "an amount, `any` or `none`",
    )  # fmt: skip


_DURATION: Final = re.compile(r"(?:([0-9]+)d)?(?:([0-9]+)h)?(?:([0-9]+)m)?(?:([0-9]+)s)?")
_SECONDS: Final = (86400, 3600, 60, 1)
LONGEST: Final = 365 * 86400
_SPOKEN: Final = {
    **dict.fromkeys(("sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("M", "min", "mins", "minute", "minutes"), "m"),
    **dict.fromkeys(("H", "hr", "hrs", "hour", "hours"), "h"),
    **dict.fromkeys(("D", "day", "days"), "d"),
}


def read_duration(number: Number) -> int | Problem:
    """Seconds; a duration has a unit, always."""
    match = _DURATION.fullmatch(number.text)
    if match is not None:
        found = sum(int(n or 0) * s for n, s in zip(match.groups(), _SECONDS, strict=True))
        if 0 < found <= LONGEST:
            return found
        return problem("TG011", number.span, f"`{number.text}` is out of range", help="1s to 365d")
    if number.text.isdigit():
        message = f"`{number.text}` is a duration without a unit"
        advice = f"write `{number.text}s`, `{number.text}m` or `{number.text}h`"
        return problem("TG013", number.span, message, help=advice)
    digits, unit = _SPLIT.fullmatch(number.text).groups()  # type: ignore[union-attr] # always
    if unit in _SPOKEN:
        fix = Fix(number.span, f"{digits}{_SPOKEN[unit]}", safe=True)
        message = f"there is no unit `{unit}`"
        return problem("TG010", number.span, message, help=f"write `{fix.text}`", fix=fix)
    advice = "as `90s`, `15m`, `2h`, `7d` or `1h30m`"
    return problem("TG013", number.span, f"`{number.text}` is not a duration", help=advice)
