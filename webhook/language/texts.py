"""What a quoted text says, and the expressions between the braces of a message.

A message is cut into parts with their places in the file, so that a mistake inside ``{…}`` is shown where it stands.
"""

from __future__ import annotations

import re
from typing import Final, TypeAlias

from webhook.language.expression import Expression
from webhook.language.parse import parse_expression
from webhook.language.problems import Problem, problem
from webhook.language.records import dataclass
from webhook.language.syntax import Source, Span, Text

_ESCAPE: Final = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_PLAIN: Final = {'"': '"', "\\": "\\", "n": "\n", "t": "\t"}
_PART: Final = re.compile(r"\{\{|\}\}|\{|\}|\\.|[^{}\\]+", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Inserted:
    """An expression whose value stands in a message."""

    expression: Expression
    span: Span


Part: TypeAlias = str | Inserted


def read_text(text: Text, source: Source) -> tuple[str, tuple[Problem, ...]]:
    """The value of a text; escapes that do not exist are problems and stay as written."""
    found = [
        _bad_escape(match, text, source)
        for match in _ESCAPE.finditer(text.raw[1:-1])
        if _escaped(match) is None
    ]
    return _value(text.raw[1:-1]), tuple(found)


def _bad_escape(match: re.Match[str], text: Text, source: Source) -> Problem:
    at = text.span.start + 1 + match.start()
    message = f"`{match.group()}` is no escape"
    advice = 'there are `\\"`, `\\\\`, `\\n`, `\\t` and `\\u` with four hexadecimal digits'
    return problem("TG007", source.span(at, at + len(match.group())), message, help=advice)


def _escaped(match: re.Match[str]) -> str | None:
    code = match[1]
    if len(code) == 5:
        char = chr(int(code[1:], 16))
        return None if "\ud800" <= char <= "\udfff" else char
    return _PLAIN.get(code)


def _value(raw: str) -> str:
    return _ESCAPE.sub(lambda match: _escaped(match) or match.group(), raw)


def read_message(text: Text, source: Source) -> tuple[tuple[Part, ...], tuple[Problem, ...]]:
    """The parts of a message: texts, and expressions between braces."""
    _, problems = read_text(text, source)
    found, parts = list(problems), list[Part]()
    tokens = list(_PART.finditer(text.raw, 1, len(text.raw) - 1))
    at = 0
    while at < len(tokens):
        sign = tokens[at].group()
        if sign == "{":
            at = _read_braces(tokens, at, text, source, parts, found)
        elif sign == "}":
            found.append(_brace(tokens[at], text, source))
        else:
            parts.append(sign[0] if sign in ("{{", "}}") else _value(sign))
        at += 1
    return tuple(parts), tuple(found)


def _read_braces(
    tokens: list[re.Match[str]],
    at: int,
    text: Text,
    source: Source,
    parts: list[Part],
    found: list[Problem],
) -> int:
    """Read one ``{expression}``; returns the index of its last token."""
    end = _closing(tokens, at)
    if end is None:
        found.append(_brace(tokens[at], text, source))
        return at
    start, stop = tokens[at].end(), tokens[end].start()
    inner = _unquoted(text.raw[start:stop])
    offset = text.span.start + start
    span = source.span(offset, offset + stop - start)
    read = _inserted(inner, span, source)
    if isinstance(read, Problem):
        found.append(read)
    else:
        parts.append(Inserted(read, span))
    return end


def _inserted(inner: str, span: Span, source: Source) -> Expression | Problem:
    if not inner.strip():
        advice = "write `{{` and `}}` for braces"
        return problem("TG511", span, "an expression is missing between the braces", help=advice)
    read = parse_expression(inner, source=source, offset=span.start)
    if isinstance(read, Problem):
        return problem("TG511", read.span, f"in a message: {read.message}", help=read.help)
    return read


def _closing(tokens: list[re.Match[str]], at: int) -> int | None:
    """The `}` of a `{`; braces in between are a map's."""
    depth = 0
    for index in range(at, len(tokens)):
        sign = tokens[index].group()
        depth += sign.count("{") - sign.count("}") if sign[0] in "{}" else 0
        if depth <= 0:
            return index if sign == "}" else None
    return None


def _unquoted(raw: str) -> str:
    r"""`labels[\"team\"]` as a condition sees it, as long as it was: a blank for each backslash."""
    opens = iter([True, False] * raw.count('\\"'))
    return re.sub(r'\\"', lambda _: ' "' if next(opens) else '" ', raw)


def _brace(match: re.Match[str], text: Text, source: Source) -> Problem:
    at = text.span.start + match.start()
    sign = match.group()
    message = f"`{sign}` has no partner in this message"
    return problem(
        "TG511", source.span(at, at + 1), message, help=f"write `{sign * 2}` for a brace"
    )
