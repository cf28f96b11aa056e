"""Verdicts for people: the object, what becomes of it and why, numbers, and the change as a diff."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import Final

from webhook.cli.checking.answers import Answer
from webhook.cli.checking.difference import difference
from webhook.model.quantity import format_quantity
from webhook.model.queues import DEFAULT_FLAVOR
from webhook.rehearsal.verdict import PODS, Outcome, Reach, Verdict

_RESET: Final = "\x1b[0m"
_COLORS: Final = {
    Outcome.QUEUED: "\x1b[1;32m",
    Outcome.REFUSED: "\x1b[1;31m",
    Outcome.IGNORED: "\x1b[1;36m",
}
_WIDTH: Final = 10


def render(answers: Sequence[Answer], *, color: bool) -> str:
    """A paragraph an object."""
    return "\n".join("\n".join(_paragraph(each, color)) + "\n" for each in answers)


def _paragraph(answer: Answer, color: bool) -> Iterator[str]:
    verdict = answer.verdict
    word = verdict.outcome.value
    shown = f"{_COLORS[verdict.outcome]}{word}{_RESET}" if color else word
    yield f"{plain(answer.manifest.place)}: {plain(answer.title)}: {shown}{_head(verdict)}"
    yield from (f"  {name:<{_WIDTH}}{plain(text)}".rstrip() for name, text in _rows(verdict))
    submitted = verdict.submitted
    for line in difference(submitted.original, submitted.object, answer.manifest.place):
        yield f"  {plain(line)}"


def _head(verdict: Verdict) -> str:
    if verdict.outcome is Outcome.IGNORED:
        return f", {plain(verdict.why)}{_at(verdict.place)}"
    return (
        f" in {plain(verdict.submitted.queue or '')}" if verdict.outcome is Outcome.QUEUED else ""
    )


def _rows(verdict: Verdict) -> Iterator[tuple[str, str]]:
    submitted = verdict.submitted
    for refusal in submitted.refusals:
        yield "because", refusal.line
    for told in submitted.account.warned:
        yield "warning", told.line
    for told in submitted.account.sets:
        yield "set", f"{told.rule}{_at(told.place)}"
    if verdict.asks is not None:
        yield from _numbers(verdict)
    for note in verdict.notes:
        yield "note", note


def _numbers(verdict: Verdict) -> Iterator[tuple[str, str]]:
    yield "queue", f"{verdict.submitted.queue or 'none'}, by {verdict.why}{_at(verdict.place)}"
    if verdict.priority is not None:
        name, value = verdict.priority
        yield "priority", f"{name} ({value})" if name else str(value)
    yield "asks for", _asks(verdict)
    mixed = len({reach.flavor for reach in verdict.reaches}) > 1
    for at, reach in enumerate(verdict.reaches):
        yield "" if at else "room", room(reach, named=mixed)
    if verdict.uncounted:
        yield "uncounted", f"{', '.join(verdict.uncounted)}: no quota of the queue names it"


def _asks(verdict: Verdict) -> str:
    pods = "1 pod" if verdict.pods == 1 else f"{verdict.pods} pods"
    amounts = [
        f"{format_quantity(amount, resource)} {resource}"
        for resource, amount in sorted((verdict.asks or {}).items())
        if amount and resource != PODS
    ]
    return f"{pods}, in all {', '.join(amounts) or 'nothing'}"


def room(reach: Reach, *, named: bool) -> str:
    """``cpu on spot: 500, borrowing without bound, 2500 at most``; ``named``: say so of the default flavor, too."""
    on = f" on {reach.flavor}" if named or reach.flavor != DEFAULT_FLAVOR else ""
    own, most = (format_quantity(amount, reach.resource) for amount in (reach.own, reach.most))
    return f"{reach.resource}{on}: {own}{_borrowing(reach, most)}"


def _borrowing(reach: Reach, most: str) -> str:
    if reach.alone:
        return ", nobody to borrow from"
    if reach.most < reach.own:
        return f", {most} at most: a cap stands before it"
    if reach.most == reach.own:
        return ", nothing can be borrowed"
    bound = format_quantity(reach.borrow or 0, reach.resource)
    how = "without bound" if reach.borrow is None else f"up to {bound}"
    return f", borrowing {how}, {most} at most"


def _at(place: str) -> str:
    return f" ({place})" if place else ""


def plain(text: str) -> str:
    """One line that a terminal does not obey: what would move its cursor or turn its text around is a box."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        "\ufffd" if unicodedata.category(char)[0] in "CZ" and char != " " else char for char in text
    )
