"""What people write who come from elsewhere: YAML's colons, semicolons, arrows, units apart, texts without quotes."""

from __future__ import annotations

import re

from webhook.language.place import Place
from webhook.language.problems import Fix, Problem, problem
from webhook.language.suggest import suggest
from webhook.language.words import EFFECTS
from webhook.model.quantity import UNITS

_ARROW = re.compile(r".?([-=]>)([ \t]*[a-z][a-z0-9-]*(?:[ \t]+audit)?[ \t]*(?:#|$))?", re.MULTILINE)


def arrow(place: Place) -> Problem | None:
    """`->` and `=>` before the name of a queue; elsewhere `=>` was meant for `>=`."""
    match = _ARROW.match(place.source.text, max(0, place.span.start - 1))
    if match is None or place.line_end:
        return None
    span = place.source.span(*match.span(1))
    if match[2] is not None:
        return problem(
            "TG004", span, "a route has no arrow", help="write `to`", fix=Fix(span, "to")
        )
    if match[1] == "=>":
        message = "`=>` is no operator here"
        return problem("TG004", span, message, help="write `>=`", fix=Fix(span, ">="))
    return None


def foreign(place: Place) -> Problem | None:
    """A sign that other languages write here."""
    if place.word not in (":", "=", "==", ";") or place.in_condition or place.line_end:
        return None
    if place.word == ";":
        instead, advice = ",", "write a comma, or begin a new line"
        if "_COMMA" not in place.expected:
            return problem("TG004", place.span, "`;` ends nothing here", help="begin a new line")
    elif "_EQUAL" in place.expected:
        instead, advice = "=", "write `=`"
    elif place.expected & {"NUMBER", "WORD", "TEXT"}:
        instead, advice = "", _left_out(place)
    else:
        return None
    message = f"`{place.word}` is not written here"
    return problem("TG004", place.span, message, help=advice, fix=Fix(place.span, instead))


def _left_out(place: Place) -> str:
    amount = re.compile(r'[ \t]*"?([0-9][A-Za-z0-9.]*)').match(place.source.text, place.span.end)
    return f"write `{place.before} {amount[1]}`" if amount and place.before else "leave it out"


def no_name(place: Place) -> Problem | None:
    """A deny without a name: its `when` was read as one."""
    match = re.search(
        r"\bdeny[ \t]+(when|for)[ \t]*\Z", place.source.text[: place.span.start][-80:]
    )
    if match is None:
        return None
    at = place.span.start - len(match.group()) + match.start(1) - match.start()
    span = place.source.span(at, at + len(match[1]))
    advice = f"write `deny NAME {match[1]} …`; those who are refused read it"
    return problem("TG005", span, "a deny needs a name", help=advice)


def apart(place: Place) -> Problem | None:
    """What belongs to the word before it."""
    before = place.source.text[: place.span.start].rstrip(" \t")
    if (
        place.word in UNITS
        and "_COMMA" in place.expected
        and re.fullmatch(r"[0-9.]+", place.before)
    ):
        span = place.source.span(len(before) - len(place.before), place.span.end)
        whole = place.before + place.word
        message = f"`{place.word}` stands apart from its number"
        return problem("TG004", span, message, help=f"write `{whole}`", fix=Fix(span, whole))
    if "_COLON" in place.expected and suggest(place.word, EFFECTS):
        behind = place.source.span(len(before), len(before))
        message = f"`:` is missing before `{place.word}`"
        return problem("TG005", place.span, message, fix=Fix(behind, " :"))
    if "AUDIT" in place.expected and place.before == "queue":
        message = f"`{place.word}` is not valid here"
        return problem("TG004", place.span, message, help=f"write `to {place.word}`")
    return None


def unquoted(place: Place) -> Problem:
    """A text without quotes; a message goes on to the end of its line."""
    span, words = place.span, place.word
    if place.before in ("message", "deny"):
        rest = re.compile(r"[^\n}#\"]*").match(place.source.text, span.start)
        words = rest.group().rstrip() if rest and rest.group().strip() else words
        span = place.source.span(span.start, span.start + len(words))
    quoted = '"' + words.strip("'") + '"'
    message = f"`{words}` has to stand in double quotes"
    return problem(
        "TG004", span, message, help=f"write `{quoted}`", fix=Fix(span, quoted, safe=True)
    )
