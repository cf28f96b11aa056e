"""What people bring along from YAML, from other languages and from elsewhere in a hurry, and how it is written here.

Looks only at the text around a place where the grammar stumbled; each answer names the fix.
"""

from __future__ import annotations

import re
from typing import Final

from webhook.language.problems import Fix, Problem, problem
from webhook.language.syntax import Source, Span

_YAML: Final = re.compile(r"[ \t]*-?[ \t]*([A-Za-z][A-Za-z0-9_./-]*)[ \t]*:(?:[ \t]|$)")
_TIMES: Final = {
    **dict.fromkeys(("seconds", "second", "sec", "s"), "s"),
    **dict.fromkeys(("minutes", "minute", "min", "m"), "m"),
    **dict.fromkeys(("hours", "hour", "h"), "h"),
    **dict.fromkeys(("days", "day", "d"), "d"),
}
_BOUNDS: Final = {"borrowingLimit": "borrow", "maxBorrow": "borrow", "lendingLimit": "lend"}
_ONE_WORD: Final = {
    ("for", "per"): "per",
    ("by", "per"): "per",
    ("in", "within"): "within",
    ("after", "within"): "within",
    ("due", "because"): "because",
    ("since", "because"): "because",
    ("cohort", "borrowers"): "borrowers",
}


def foreign(
    source: Source, span: Span, word: str, expected: frozenset[str], keywords: list[str]
) -> Problem | None:
    """The problem, where it is something that has a name elsewhere; None where it is not."""
    line = source.line(span.line)
    before, rest = line[: span.column - 1], line[span.column - 1 :]
    for answer in (
        yaml_line(line, span, word, keywords),
        _sign(source, span, word, before, rest, expected),
        _duration(source, span, word, before),
        _subject(source, span, before),
        _instead(span, word, keywords),
    ):
        if answer is not None:
            return answer
    return None


def yaml_line(line: str, span: Span, word: str, keywords: list[str]) -> Problem | None:
    """A line of YAML, where a statement should stand or begins to."""
    match = _YAML.match(line)
    if match is None or "?" in line:
        return None
    key = match[1]
    if _BOUNDS.get(key) or word not in (key, ":", "-"):
        return None
    value = line[match.end() :].strip()
    if re.fullmatch(r'"?[0-9][A-Za-z0-9.]*"?', value):
        advice = f"this is no YAML: write `{key} {value.strip(chr(34))}`"
    elif key in keywords:
        advice = f"this is no YAML: write `{key}` without `:`"
    else:
        advice = "this is no YAML: statements are words and blocks in braces, `queue NAME { … }`"
    return problem("TG004", span, f"`{key}:` is not valid here", help=advice)


def _sign(
    source: Source, span: Span, word: str, before: str, rest: str, expected: frozenset[str]
) -> Problem | None:
    """`:`, `=`, `-`, `;` and quotes where none stand here."""
    amount = re.match(r'[:=][ \t]*"?([0-9][A-Za-z0-9.]*)"?', rest)
    name = re.search(r"([A-Za-z0-9_./-]+)[ \t]*$", before)
    if word in (":", "=") and expected == {"NUMBER"} and amount and name:
        advice = f"write `{name[1]} {amount[1]}`"
        return problem("TG004", span, f"no `{word}` stands before an amount", help=advice)
    if word == ":" and "_EQUAL" in expected:
        return problem(
            "TG004", span, "a value stands behind `=`", help="write `=`", fix=Fix(span, " =")
        )
    if word == "-" and {"WORD", "RBRACE"} <= expected:
        advice = "a list needs no `-`: entries are parted by line ends or commas"
        return problem("TG004", span, "`-` is not valid here", help=advice)
    if word == ";":
        advice = "write a comma, or a new line" if "_COMMA" in expected else "write a new line"
        return problem("TG004", span, "`;` parts nothing here", help=advice)
    quoted = re.fullmatch(r'"([0-9][A-Za-z0-9.]*)"', word)
    if quoted and "NUMBER" in expected:
        message = f"a number is expected, not the text `{word}`"
        fix = Fix(source.span(span.start, span.end), quoted[1])
        return problem("TG004", span, message, help=f"write `{quoted[1]}`", fix=fix)
    return None


def _duration(source: Source, span: Span, word: str, before: str) -> Problem | None:
    """`ready within 15 minutes`."""
    number = re.search(r"within[ \t]+([0-9]+)[ \t]+$", before)
    if number is None or word not in _TIMES:
        return None
    written = f"{number[1]}{_TIMES[word]}"
    start = span.start - len(before) + number.start(1)
    fix = Fix(source.span(start, span.end), written)
    message = "a duration is one word"
    return problem(
        "TG004", span, message, help=f"write the unit without a blank: `{written}`", fix=fix
    )


def _subject(source: Source, span: Span, before: str) -> Problem | None:
    """`limit cpu 5 for user`: the wrong word was read as a resource."""
    match = re.search(r"^[ \t]*limit\b.*[ \t](for|by|each|a)[ \t]+$", before)
    if match is None:
        return None
    start = span.start - len(before) + match.start(1)
    here = source.span(start, start + len(match[1]))
    message = f"`{match[1]}` is not valid here"
    return problem("TG004", here, message, help="did you mean `per`?", fix=Fix(here, "per"))


def _instead(span: Span, word: str, keywords: list[str]) -> Problem | None:
    meant = next((_ONE_WORD[word, k] for k in keywords if (word, k) in _ONE_WORD), None)
    if meant is None and word in _BOUNDS and "quota" in keywords:
        advice = f"it stands behind the amount: `quota {{ cpu 5 {_BOUNDS[word]} 2 }}`"
        return problem("TG004", span, f"`{word}` is no statement", help=advice)
    if meant is None:
        return None
    message, advice = f"`{word}` is not valid here", f"did you mean `{meant}`?"
    return problem("TG004", span, message, help=advice, fix=Fix(span, meant))
