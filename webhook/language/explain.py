"""What to say where the grammar stumbles: in the file's words, never in the grammar's.

The parser knows a place and what could stand there; this module looks at the text around the place and picks the
sentence a colleague would say. The order of the questions is the order of how sure we can be.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from lark.exceptions import UnexpectedInput

from webhook.language import elsewhere
from webhook.language.foreign import foreign as brought_along
from webhook.language.foreign import yaml_line
from webhook.language.habits import apart, arrow, foreign, no_name, unquoted
from webhook.language.place import EXPECTED, WORD, Place, keyword, place_of
from webhook.language.problems import Fix, Problem, problem
from webhook.language.suggest import suggest
from webhook.language.syntax import Source
from webhook.language.words import HOME, STATEMENTS

INSTEAD: Final = {
    "and": "&&",
    "or": "||",
    "not": "!",
    "&": "&&",
    "|": "||",
    "=": "==",
    "is": "==",
    "==": "=",
}
_ENTRY: Final = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*[ \t]+[0-9][A-Za-z0-9.]*")


_SUBJECTS: Final = (
    'add whom it bounds: `per user`, `per namespace`, `per owner` or `per label "KEY"`'
)


def explain(error: UnexpectedInput, source: Source, start: int, end: int) -> Problem:
    """The problem for an error of the parser in the piece of text from ``start`` to ``end``."""
    place = place_of(error, source, start, end)
    habit = _habit(place)
    if habit is not None:
        return habit
    if place.begins and not place.line_end:
        return elsewhere.inside(place) or _no_statement(place)
    for question in _QUESTIONS:
        answer = question(place)
        if answer is not None:
            return answer
    return problem("TG004", place.span, f"`{place.word}` is not valid here", help=_expects(place))


def _habit(place: Place) -> Problem | None:
    """What people bring along from elsewhere."""
    if place.line_end or place.in_condition:
        return None
    yaml = yaml_line(place.source.line(place.span.line), place.span, place.word, place.keywords)
    if yaml is not None:
        return yaml
    for question in (arrow, foreign, no_name, apart) if not place.begins else ():
        answer = question(place)
        if answer is not None:
            return answer
    return brought_along(place.source, place.span, place.word, place.expected, place.keywords)


def _no_statement(place: Place) -> Problem:
    """A statement should begin here and does not."""
    word, known = place.word, [w for w in place.keywords if w in STATEMENTS]
    if word == "/" or word == "//":
        return _comment_sign(place)
    if not re.match(r"[A-Za-z_]", word):
        return problem("TG003", place.span, "a statement is expected here", help=_begin_with(known))
    if word in HOME and word not in known:
        return problem(
            "TG004", place.span, f"`{word}` is not valid here", help=f"it stands {HOME[word]}"
        )
    meant = suggest(word, known)
    entry = _ENTRY.match(place.source.text, place.span.start)
    if meant is None and entry and "quota" in known:
        message = f"`{word}` does not stand in a queue itself"
        return problem("TG004", place.span, message, help=f"write `quota {{ {entry.group()} }}`")
    fix = Fix(place.span, meant) if meant else None
    advice = f"did you mean `{meant}`?" if meant else _begin_with(known)
    return problem("TG004", place.span, f"`{word}` is no statement", help=advice, fix=fix)


def _begin_with(words: list[str]) -> str:
    return f"it begins with {_or(words)}" if words else ""


def _or(words: list[str]) -> str:
    shown = [f"`{word}`" for word in words]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"


def _comment_sign(place: Place) -> Problem:
    return problem("TG004", place.span, "a comment begins with `#`", help="write `#`", fix=None)


def _audit(place: Place) -> Problem | None:
    if place.word != "audit":
        return None
    advice = "put it behind the queue of a route, or before the `{` of a deny"
    return problem(
        "TG016", place.span, "`audit` is the last word of the head of a rule", help=advice
    )


def _broken(place: Place) -> Problem | None:
    """The line ends, and what is missing stands in the next."""
    if not place.line_end:
        return None
    match = re.compile(r"(?:\s|#[^\n]*(?:\n|\Z))*").match(place.source.text, place.span.end)
    at = match.end() if match else place.span.end
    following = WORD.match(place.source.text, at)
    word = following.group() if following else ""
    if word == "{" and {"_LBLOCK", "_LENTRIES"} & place.expected:
        span = place.source.span(at, at + 1)
        advice = "put it behind the head, on the same line"
        return problem("TG009", span, "`{` stands on the line of its head", help=advice)
    if word in place.keywords and word not in STATEMENTS and "_NL" not in place.expected:
        span = place.source.span(at, at + len(word))
        advice = "put it on the line before"
        return problem("TG009", span, f"a statement cannot be broken before `{word}`", help=advice)
    return None


def _entry(place: Place) -> Problem | None:
    """Two entries, or two statements, on one line."""
    if place.line_end or not re.match(r"[A-Za-z_]", place.word) or place.word in place.keywords:
        return None
    if "_COMMA" in place.expected and "_NL" in place.expected and "RBRACE" in place.expected:
        if suggest(place.word, place.keywords) or place.word == "borrow":
            return None
        return problem(
            "TG008", place.span, f"a comma or a new line is missing before `{place.word}`",
            fix=Fix(place.source.span(place.span.start, place.span.start), ", ", safe=True),
        )  # fmt: skip
    if "_NL" in place.expected and place.word in STATEMENTS and not place.in_condition:
        return problem("TG008", place.span, f"a new line is missing before `{place.word}`")
    return None


def _order(place: Place) -> Problem | None:
    if place.word != "borrow" or "_COMMA" not in place.expected:
        return None
    advice = (
        "write `borrow` first" if "_LEND" not in place.expected else "an entry has one `borrow`"
    )
    return problem("TG004", place.span, "`borrow` stands before `lend`, once", help=advice)


_SIGN_ONLY: Final = frozenset({"_EQUAL", "_LBLOCK", "_LENTRIES"})


def _missing(place: Place) -> Problem | None:
    """Something has to stand before this."""
    ends = place.line_end or place.word in ("{", "}", "to", "when", ")", "]", ",", ":")
    ends = ends or (len(place.expected) == 1 and bool(place.expected & _SIGN_ONLY))
    wanted = _wanted(place)
    if not ends or not wanted:
        return None
    if place.line_end:
        behind = f" behind `{place.before}`" if place.before else ""
        advice = _SUBJECTS if "_PER" in place.expected else ""
        return problem("TG005", place.span, f"{wanted} is missing{behind}", help=advice)
    return problem("TG005", place.span, f"{wanted} is missing before `{place.word}`")


def _wanted(place: Place) -> str:
    """What is missing, where one thing or a choice of few may stand."""
    if "C_NAME" in place.expected:
        return "a value"
    useful = [
        t for t in place.expected if t not in ("_NL", "RBRACE", "$END") or len(place.expected) == 1
    ]
    if "C_DOT" in useful:  # behind a complete value: what closes or follows it
        useful = [t for t in useful if t in ("C_RPAR", "C_RSQB", "_LBLOCK", "_TO")]
    if useful == ["_TO"]:
        return "`to` with the name of a queue"
    useful = [t for t in useful if t != "AUDIT"]
    words = [
        EXPECTED.get(t) or f"`{w}`" for t in sorted(useful) if (w := keyword(t)) or t in EXPECTED
    ]
    if not words or len(words) > 4:
        return ""
    return " or ".join(dict.fromkeys(words))


def _not_a_name(place: Place) -> Problem | None:
    if "WORD" not in place.expected or place.in_condition:
        return None
    if re.match(r"[0-9]", place.word):
        message = f"`{place.word}` is not a name"
        return problem("TG015", place.span, message, help="a name begins with a letter")
    if place.word[:1] in "\"'":
        plain = place.word.strip("\"'")
        bare = re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-") or "NAME"
        fix = Fix(place.span, bare, safe=bare == plain) if bare != "NAME" else None
        return problem(
            "TG015", place.span, "a name stands without quotes", help=f"write `{bare}`", fix=fix
        )
    return None


def _condition(place: Place) -> Problem | None:
    """What people write in conditions that is spelled otherwise here."""
    if not place.in_condition:
        return None
    if place.word == "/" and place.source.text[place.span.start - 1 : place.span.start] == "/":
        return _comment_sign(place)
    if place.word == "=" or (place.word in INSTEAD and "C_DOT" in place.expected):
        instead = INSTEAD[place.word]
        fix = Fix(place.span, instead, safe=True)
        return problem(
            "TG004",
            place.span,
            f"`{place.word}` is no operator here",
            help=f"write `{instead}`",
            fix=fix,
        )
    return None


def _word(place: Place) -> Problem | None:
    """A word that may not stand here, with what was probably meant."""
    if "TEXT" in place.expected and re.match(r"['A-Za-z0-9_]", place.word):
        return unquoted(place)
    if "NUMBER" in place.expected and place.word.startswith('"'):
        bare = place.word.strip('"')
        fits = re.fullmatch(r"[0-9.]+[A-Za-z]*", bare)
        advice, fix = (f"write `{bare}`", Fix(place.span, bare)) if fits else ("", None)
        message = f"a number is expected, not the text `{place.word}`"
        return problem("TG004", place.span, message, help=advice, fix=fix)
    if place.word == "=" or place.word == "==":
        return None
    meant = suggest(place.word, place.keywords)
    if meant is None:
        return None
    return problem(
        "TG004", place.span, f"`{place.word}` is not valid here",
        help=f"did you mean `{meant}`?", fix=Fix(place.span, meant),
    )  # fmt: skip


def _expects(place: Place) -> str:
    wanted = _wanted(place)
    if wanted:
        return f"expected {wanted}"
    return f"expected {_or(place.keywords)}" if 0 < len(place.keywords) <= 6 else ""


_QUESTIONS: Final[tuple[Callable[[Place], Problem | None], ...]] = (
    _audit,
    no_name,
    elsewhere.unfinished,
    _broken,
    arrow,
    foreign,
    apart,
    elsewhere.no_amount,
    elsewhere.nominal,
    elsewhere.member,
    elsewhere.counted,
    elsewhere.infix,
    _entry,
    _order,
    _missing,
    _not_a_name,
    _condition,
    _word,
)
"""Asked in this order; the first that knows an answer gives it."""
