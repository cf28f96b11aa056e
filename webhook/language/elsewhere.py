"""What people write who think in another scheduler's or another language's terms, and what they meant by it.

Each question knows one habit by the word at the place and the text around it; None where it is not that.
"""

from __future__ import annotations

import re
from typing import Final

from webhook.language.place import Place
from webhook.language.problems import Fix, Problem, problem

_COUNTED: Final = re.compile(r"(?:cores?|v?cpus?|gpus?|pods?|jobs?|bytes)", re.IGNORECASE)
_NUMBER: Final = re.compile(r"[0-9]{1,12}")
_BOUNDLESS: Final = frozenset({"unlimited", "infinite", "infinity", "inf", "any", "all", "max"})
_SHAPES: Final = ("startsWith", "endsWith", "contains", "matches")
_SUBJECT: Final = re.compile(
    r"^[ \t]*limit\b[^\n#]*[0-9A-Za-z][ \t]+(user|namespace|owner)\Z", re.MULTILINE
)
_EMPTY: Final = re.compile(r"^[ \t]*(cohort|flavor)[ \t]+[a-z][-a-z0-9]*\Z", re.MULTILINE)


def no_amount(place: Place) -> Problem | None:
    """`50%`, `4-8` and `unlimited` where an amount stands."""
    if place.in_condition or place.line_end:
        return None
    if place.word == "%":
        advice = "write the amount itself; shares of what is left are `weight`"
        return problem("TG004", place.span, "an amount is no percentage", help=advice)
    if place.word in _BOUNDLESS and place.expected == {"NUMBER"}:
        advice = "name a number; in a cohort `0 borrow any` takes what the others leave"
        return problem("TG004", place.span, f"`{place.word}` is no amount", help=advice)
    own, more = _NUMBER.fullmatch(place.before), _NUMBER.fullmatch(place.word[1:])
    if place.word[:1] == "-" and own and more and "_COMMA" in place.expected:
        message = "an amount is no range"
        extra = int(more[0]) - int(own[0])
        written = f"{own[0]} borrow {extra}" if extra > 0 else f"{own[0]} borrow any"
        advice = f"write what it owns, and what it may use on top: `{written}`"
        return problem("TG004", place.span, message, help=advice)
    return None


def counted(place: Place) -> Problem | None:
    """`requests.cpu > 64 cores`: what is counted is said by the left side."""
    unit = _COUNTED.fullmatch(place.word)
    if not unit or "C_DOT" not in place.expected or not _NUMBER.fullmatch(place.before):
        return None
    before = place.source.text[: place.span.start].rstrip(" \t")
    fix = Fix(place.source.span(len(before), place.span.end), "")
    message = f"a number in a condition has no `{place.word}` behind it"
    return problem("TG004", place.span, message, help=f"write `{place.before}`", fix=fix)


def infix(place: Place) -> Problem | None:
    """`namespace like "x-*"`: a function stands behind a dot, and has its own name for each place of the star."""
    if place.word not in ("like", *_SHAPES) or "C_DOT" not in place.expected:
        return None
    match = re.compile(r'[ \t]*"([^"\n]*)"').match(place.source.text, place.span.end)
    if match is None:
        return None
    shown = place.before if re.match(r"[A-Za-z]", place.before) else "…"
    advice = f"write `{_asked(shown, place.word, match[1])}`"
    return problem("TG004", place.span, f"`{place.word}` is no operator here", help=advice)


def _asked(term: str, word: str, text: str) -> str:
    if word in _SHAPES:
        return f'{term}.{word}("{text}")'
    bare = text.strip("*%")
    starts, ends = text[-1:] in ("*", "%"), text[:1] in ("*", "%")
    if not bare or not (starts or ends):
        return f'{term} == "{text}"'
    how = "contains" if starts and ends else "startsWith" if starts else "endsWith"
    return f'{term}.{how}("{bare}")'


def member(place: Place) -> Problem | None:
    """`queue a cohort c {`: a member names its cohort behind `in`."""
    if place.word != "cohort" or place.begins or "_IN" not in place.expected:
        return None
    return problem(
        "TG004", place.span, "`cohort` is not valid here",
        help="did you mean `in`?", fix=Fix(place.span, "in"),
    )  # fmt: skip


def inside(place: Place) -> Problem | None:
    """`cohort research` as a line of a queue."""
    if place.word != "cohort" or not place.begins or "quota" not in place.keywords:
        return None
    name = re.compile(r"[ \t]+\"?([a-z][-a-z0-9]*)").match(place.source.text, place.span.end)
    advice = f"name it in the queue's head: `queue NAME in {name[1] if name else 'COHORT'} {{`"
    return problem("TG004", place.span, "`cohort` is not valid here", help=advice)


def nominal(place: Place) -> Problem | None:
    """`cpu 8 nominalQuota 4`: the amount behind the resource is the quota."""
    if place.word not in ("nominalQuota", "nominal", "quota") or "_COMMA" not in place.expected:
        return None
    message = f"`{place.word}` is not valid here"
    return problem("TG004", place.span, message, help="the amount behind a resource is its quota")


def unfinished(place: Place) -> Problem | None:
    """What a line lacks at its end: the `per` before whom a limit bounds, the braces of what is empty."""
    if not place.line_end:
        return None
    before = place.source.text[: place.span.start]
    subject = _SUBJECT.search(before[-400:])
    if subject is not None and "NUMBER" in place.expected:
        span = place.source.span(place.span.start - len(subject[1]), place.span.start)
        message, advice = f"`per` is missing before `{subject[1]}`", f"write `per {subject[1]}`"
        return problem("TG005", span, message, help=advice, fix=Fix(span, f"per {subject[1]}"))
    empty = _EMPTY.search(before[-200:])
    following = place.source.text[place.span.end :].lstrip()
    if (
        empty is not None
        and {"_LBLOCK", "_LENTRIES"} & place.expected
        and not following.startswith("{")
    ):
        advice = f"a {empty[1]} has a block, empty at least: `{empty.group().strip()} {{ }}`"
        return problem("TG005", place.span, "`{` is missing", help=advice)
    return None
