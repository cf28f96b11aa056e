"""Exact amounts, read and written as Kubernetes quantities.

Inside Tidegate an amount is a plain ``int`` of nano-units (10**9 nano = one core, one byte, one GPU), so that sums
never round and never overflow. The kubernetes client's own parser accepts texts the API server refuses (``1K``,
``NaN``, ``1_000``) and keeps what Go rounds up; quota arithmetic cannot live with either, hence this module.
Grammar: https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import TypeAlias

Amount: TypeAlias = int
"""Nano-units of one resource; may be negative where a difference is meant."""
Amounts: TypeAlias = Mapping[str, Amount]
"""Resource name, as Kubernetes spells it, to amount."""

NANO: Amount = 10**9
NOTHING: Amounts = MappingProxyType({})
LARGEST: Amount = (2**63 - 1) * NANO
"""What the API server itself caps a quantity at; larger texts are refused where they are read."""

_DECIMAL = {"n": 1, "u": 10**3, "m": 10**6, "": NANO} | {
    suffix: NANO * 10 ** (3 * power) for power, suffix in enumerate("kMGTPE", start=1)
}
_BINARY = {
    suffix: NANO * 1024**power
    for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), start=1)
}
UNITS: Mapping[str, Amount] = MappingProxyType(_DECIMAL | _BINARY)
"""Every suffix of the grammar and what one of it is in nano-units."""

_TEXT = re.compile(
    r"(?P<sign>[+-]?)(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*))?"
    r"(?:(?P<unit>[numkMGTPE]|[KMGTPE]i)|[eE](?P<power>[+-]?[0-9]{1,3}))?",
    re.ASCII,
)


class QuantityError(ValueError):
    """A text that is not a quantity, or one whose amount is out of range; the message is fit to be shown."""


@lru_cache(maxsize=4096)
def parse_quantity(text: str) -> Amount:
    """``"250m"`` → 250_000_000. Below one nano it rounds away from zero, as Go does. Raises QuantityError."""
    match = _TEXT.fullmatch(text)
    if match is None or not (match["whole"] or match["part"]):
        raise QuantityError(f"`{_cut(text)}` is not a quantity")
    digits, part = match["whole"] + (match["part"] or ""), match["part"] or ""
    if len(digits) > 64:
        raise QuantityError(f"`{_cut(text)}` has too many digits")
    scale, power = UNITS[match["unit"] or ""], int(match["power"] or 0) - len(part)
    if abs(power) > 128:
        raise QuantityError(f"`{text}` is out of range")
    amount = _scaled(int(digits or "0") * scale, power)
    if amount > LARGEST:
        raise QuantityError(f"`{text}` is more than the API server can hold")
    return -amount if match["sign"] == "-" else amount


def _scaled(value: int, power: int) -> int:
    """``value × 10**power``, rounded up."""
    if power >= 0:
        return value * int(10**power)
    return -(-value // int(10**-power))


def read_quantity(value: object) -> Amount:
    """The same for what stands in JSON, where a quantity may be a number. Raises QuantityError."""
    if isinstance(value, str):
        return parse_quantity(value)
    if isinstance(value, int) and not isinstance(value, bool):
        if (
            abs(value) * NANO > LARGEST
        ):  # before `str`, which refuses thousands of digits its own way
            raise QuantityError("a number is more than the API server can hold")
        return value * NANO
    if isinstance(value, float):
        return parse_quantity(repr(value))
    raise QuantityError(f"`{_cut(str(value))}` is not a quantity")


def _cut(text: str) -> str:
    """Short enough for a message; the text may be a megabyte that somebody sent us."""
    return text if len(text) <= 40 else f"{text[:40]}…"


def format_quantity(amount: Amount, resource: str = "") -> str:
    """The canonical text: the largest unit that leaves no fraction, binary ones for resources counted in bytes."""
    if amount == 0:
        return "0"
    units = UNITS if in_bytes(resource) else _DECIMAL
    suffix, scale = max(
        ((s, u) for s, u in units.items() if amount % u == 0), key=lambda item: item[1]
    )
    return f"{amount // scale}{suffix}"


def in_bytes(resource: str) -> bool:
    """True for what is counted in bytes: memory, storage, huge pages."""
    return resource in ("memory", "ephemeral-storage", "storage") or resource.startswith(
        "hugepages-"
    )


def smallest_unit(resource: str) -> Amount:
    """What requests are rounded up to: a thousandth of a core, else one whole byte or piece."""
    return NANO // 1000 if resource == "cpu" else NANO


def round_up(amount: Amount, resource: str) -> Amount:
    """The amount as the API server and the scheduler count it."""
    unit = smallest_unit(resource)
    return -(-amount // unit) * unit


def add(*parts: Amounts) -> dict[str, Amount]:
    """The sum by resource."""
    total: dict[str, Amount] = {}
    for part in parts:
        for resource, amount in part.items():
            total[resource] = total.get(resource, 0) + amount
    return total


def largest(parts: Iterable[Amounts]) -> dict[str, Amount]:
    """The maximum by resource."""
    most: dict[str, Amount] = {}
    for part in parts:
        for resource, amount in part.items():
            most[resource] = max(most.get(resource, 0), amount)
    return most


def times(amounts: Amounts, count: int) -> dict[str, Amount]:
    """Each amount, `count` times."""
    return {resource: amount * count for resource, amount in amounts.items()}
