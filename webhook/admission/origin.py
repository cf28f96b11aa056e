"""The object as it came, although the webhook may be asked about its own output.

All ``set``s are judged on the object as it came, but the API server asks a second time where another webhook changed
the object, and then shows what we wrote. Most sets come to rest: judged again they write the same. Where they would
not (``when !has(x)`` beside ``when has(x)``, a count that is doubled), what they replaced is noted on the object, and
the second time it is undone, on paper, before the rules are asked.

The note is not believed, it is checked: it counts only if the sets, judged on what it says the object was, write
every spot it names. Whoever forges one gets what they would have got by submitting that very object.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from webhook.admission.pen import Before, Spot
from webhook.model.kinds import Key, Object
from webhook.workloads.objects import metadata, notes

LONGEST_NOTE: Final = 16 * 1024
"""Characters; all annotations of an object together have 256 KiB."""
OUR_MARKS: Final = (
    Key.SUBMITTED,
    Key.SUBMITTED_BY,
    Key.ADMISSION,
    Key.EVICTED,
    Key.WANTED,
    Key.BEFORE_SETS,
)


DEEPEST_SPOT: Final = 64
"""Steps; the fields of the kinds we know are not a dozen deep."""


class TooMuch(ValueError):
    """More than a note may hold."""


def unmarked(obj: Object) -> Object:
    """The object without annotations of ours, and without an empty map of them."""
    marks = notes(obj)
    if marks and not any(key in marks for key in OUR_MARKS):
        return obj
    about = {key: value for key, value in metadata(obj).items() if key != "annotations"}
    kept = {key: value for key, value in marks.items() if key not in OUR_MARKS}
    return {**obj, "metadata": about | ({"annotations": kept} if kept else {})}


def note_of(changes: Sequence[Before]) -> str:
    """As it stands in the annotation. Raises TooMuch."""
    parts = [
        {"at": list(one.spot), "made": one.made}
        if one.made
        else {"at": list(one.spot), "was": one.was}
        for one in changes
    ]
    try:
        text = json.dumps(parts, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    except RecursionError:
        raise TooMuch from None
    if len(text) > LONGEST_NOTE or any(len(one.spot) > DEEPEST_SPOT for one in changes):
        raise TooMuch
    return text


def read_note(obj: Object) -> tuple[Before, ...] | None:
    """What was noted on it; None where there is nothing that could be a note."""
    text = notes(obj).get(Key.BEFORE_SETS)
    if not isinstance(text, str) or len(text) > LONGEST_NOTE:
        return None
    try:
        parts = json.loads(text, parse_constant=_no_number)
        return tuple(_before(part) for part in parts)
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
        return None


def _before(part: Any) -> Before:
    spot: Spot = tuple(part["at"])
    if not 0 < len(spot) <= DEEPEST_SPOT or not all(type(step) in (str, int) for step in spot):
        raise ValueError("no spot")
    if "was" in part:
        return Before(spot, 0, part["was"])
    made = part["made"]
    if type(made) is not int or not 0 < made <= len(spot):
        raise ValueError("no number of steps")
    return Before(spot, made)


def _no_number(name: str) -> None:
    raise ValueError(name)
