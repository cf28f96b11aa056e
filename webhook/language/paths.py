"""Where a field stands in an object, as steps with places: ``spec.a``, ``metadata.labels["a/b"]``, ``list[*].x``."""

from __future__ import annotations

import re
from dataclasses import field
from typing import Final, TypeAlias

from webhook.language.expression import Expression, Index, Literal, Name, Select
from webhook.language.problems import Fix, Problem, problem
from webhook.language.records import dataclass
from webhook.language.syntax import Path, Source, Span, Text
from webhook.language.texts import read_text

_STEP: Final = re.compile(
    r"""(?P<dot>\.?)(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |\[(?P<text>"(?:\\.|[^"\\\n])*")\]
    |(?P<every>\[\*\])""",
    re.VERBOSE,
)
_BRACKET: Final = re.compile(r"\[([^\]\n]*)\]")


@dataclass(frozen=True, slots=True)
class Every:
    """``[*]``: each item of a list."""


EVERY: Final = Every()
Key: TypeAlias = str | Every


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a path: a field, a key of a map, or every item of a list."""

    key: Key
    span: Span = field(compare=False, repr=False)


Steps: TypeAlias = tuple[Step, ...]


def keys(steps: Steps) -> tuple[Key, ...]:
    """The path without places."""
    return tuple(step.key for step in steps)


def read_path(path: Path, source: Source) -> Steps | Problem:
    """The steps of a path, or what is wrong with it."""
    steps: list[Step] = []
    at = 0
    while at < len(path.text):
        match = _STEP.match(path.text, at)
        if match is None or (bool(match["dot"]) == (not steps) and match["name"]):
            return _no_step(path, at, source)
        span = source.span(path.span.start + match.start(), path.span.start + match.end())
        read = _key(match, span, source)
        if isinstance(read, Problem):
            return read
        steps.append(Step(read, span))
        at = match.end()
    if steps[0].key == "object":
        advice = f"write `{path.text.removeprefix('object.')}`"
        fix = Fix(path.span, path.text.removeprefix("object."), safe=True)
        message = "a path begins at the object, without `object`"
        return problem("TG004", path.span, message, help=advice, fix=fix)
    return tuple(steps)


def _key(match: re.Match[str], span: Span, source: Source) -> Key | Problem:
    if match["every"]:
        return EVERY
    if match["text"]:
        value, problems = read_text(Text(match["text"], span), source)
        return problems[0] if problems else value
    return str(match["name"])


def _no_step(path: Path, at: int, source: Source) -> Problem:
    span = source.span(path.span.start + at, path.span.end)
    bracket = _BRACKET.match(path.text, at)
    if bracket is None:
        advice = '`spec.a.b`, `metadata.labels["a/b"]` or `list[*].x`'
        return problem("TG004", span, f"`{path.text}` is not a path", help=advice)
    inner = bracket[1].strip("'")
    span = source.span(path.span.start + at, path.span.start + bracket.end())
    if inner.isdigit():
        message, instead = "a path goes to every item of a list, never to one", "[*]"
    else:
        message, instead = "a key in a path stands in double quotes", f'["{inner}"]'
    return problem("TG004", span, message, help=f"write `{instead}`", fix=Fix(span, instead))


def as_expression(steps: Steps) -> Expression:
    """The same as a condition would write it, to ask whether there is such a field."""
    start = steps[0].span
    node: Expression = Name("object", start)
    for step in steps:
        if isinstance(step.key, Every):
            node = Index(node, Literal("int", 0, step.span), start)
        elif step.span.end - step.span.start > len(step.key) + 1:  # in brackets
            node = Index(node, Literal("string", step.key, step.span), start)
        else:
            end = step.span.end
            name = Span(
                step.span.path, end - len(step.key), end, step.span.line,
                step.span.end_column - len(step.key), step.span.end_line, step.span.end_column,
            )  # fmt: skip
            node = Select(node, step.key, start, name)
    return node
