"""Ages as kubectl prints them: at most two units, the finer the younger."""

from __future__ import annotations

from datetime import UTC, datetime

_MINUTE = 60
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR


def parse_time(text: object) -> datetime | None:
    """A timestamp of the API, with or without fractions of a second."""
    if not isinstance(text, str) or not text:
        return None
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except ValueError:
        return None


def age(text: object, now: datetime) -> str:
    """How long ago; ``<unknown>`` without a time."""
    then = parse_time(text)
    return "<unknown>" if then is None else human((now - then).total_seconds())


def human(seconds: float) -> str:
    """``95s``, ``3m10s``, ``5h12m``, ``2d3h``, ``1y20d``."""
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    if whole < 2 * _MINUTE:
        return f"{max(whole, 0)}s"
    if whole < 10 * _MINUTE:
        return _two(whole, _MINUTE, "m", 1, "s")
    if whole < 3 * _HOUR:
        return f"{whole // _MINUTE}m"
    if whole < 8 * _HOUR:
        return _two(whole, _HOUR, "h", _MINUTE, "m")
    if whole < 2 * _DAY:
        return f"{whole // _HOUR}h"
    if whole < 8 * _DAY:
        return _two(whole, _DAY, "d", _HOUR, "h")
    return _days(whole // _DAY)


def _two(whole: int, big: int, big_name: str, small: int, small_name: str) -> str:
    rest = whole % big // small
    first = f"{whole // big}{big_name}"
    return f"{first}{rest}{small_name}" if rest else first


def _days(days: int) -> str:
    years, rest = divmod(days, 365)
    if years < 2:
        return f"{days}d"
    return f"{years}y{rest}d" if years < 8 and rest else f"{years}y"
