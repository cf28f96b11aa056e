"""Notes on style: what is valid, does what it says, and still makes a reader stumble."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from webhook.language.expression import Binary, Call, Expression, Literal, children, render
from webhook.language.names import Names
from webhook.language.problems import Fix, Problem, problem
from webhook.language.syntax import Deny, File, Otherwise, Route, Source, Span, Warn

_NUMBER: Final = re.compile(
    r"[0-9{]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twice|half|hundred|thousand)\b",
    re.IGNORECASE,
)
"""A number in figures or words, or an expression."""


def style_findings(
    files: Sequence[File], names: Names, priorities: Mapping[str, int]
) -> Iterator[Problem]:
    """TG702, TG705 and TG706."""
    for file in files:
        yield from _otherwise_not_last(file)
        yield from _poor_messages(file)
    yield from _equal_priorities(names, priorities)


def _otherwise_not_last(file: File) -> Iterator[Problem]:
    """TG702: it is asked last wherever it stands, so it is read best where it stands last."""
    routes = [each for each in file.statements if isinstance(each, Route | Otherwise)]
    for at, each in enumerate(routes[:-1]):
        if isinstance(each, Otherwise) and isinstance(routes[-1], Route):
            others = tuple((r.span, "asked before it") for r in routes[at + 1 :])[:1]
            message = "`route otherwise` is asked last, and stands before other routes"
            yield problem("TG702", each.span, message, others=others, help="move it to the end")


def form_findings(text: str, path: str) -> Iterator[Problem]:
    """TG701, at the first line that would be written otherwise; silent where the file has mistakes.

    Not part of the usual findings: `tidegate fmt --check` says the same of a whole tree, and is faster.
    """
    from webhook.language.format import NotProven, format_text

    try:
        written = format_text(text, path=path).text
    except NotProven:
        return
    if written != text:
        yield _other_form(Source(path, text), written)


def _other_form(source: Source, written: str) -> Problem:
    text = source.text
    start = _same(text, written)
    same_end = _same(text[start:][::-1], written[start:][::-1])
    line = source.span(start, start).line
    at = text.rfind("\n", 0, start) + 1
    span = source.span(at, at + len(source.line(line)))
    changed = source.span(start, len(text) - same_end)
    fix = Fix(changed, written[start : len(written) - same_end], safe=True)
    help_ = f"`tidegate fmt` writes `{_line_at(written, start)}`"
    return problem("TG701", span, "this is not the canonical form", help=help_, fix=fix)


def _same(one: str, other: str) -> int:
    """How many characters both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _line_at(text: str, at: int) -> str:
    return text[text.rfind("\n", 0, at) + 1 :].partition("\n")[0].strip()


def _poor_messages(file: File) -> Iterator[Problem]:
    """TG705: whoever is refused has to know by how much."""
    for each in file.statements:
        if isinstance(each, Deny | Warn | Otherwise) and each.message is not None:
            text = each.message.raw[1:-1]
            bound = None if isinstance(each, Otherwise) else _bound(each.condition)
            if not text.strip():
                yield _empty(each.message.span)
            elif bound is not None and not _NUMBER.search(text.replace("{{", "")):
                yield _no_number(each.message.span, bound)


def _empty(span: Span) -> Problem:
    message = "the message is empty, and it is all that the submitter sees"
    advice = "say what is wrong and what to ask for instead"
    return problem("TG705", span, message, help=advice)


def _no_number(span: Span, bound: Binary) -> Problem:
    asked = render(bound.left if _amount(bound.right) else bound.right).replace('"', "'")
    message = f"the message does not say the bound, `{render(bound)}`"
    advice = f"name the number; `{{{asked}}}` in the text shows what was asked for"
    return problem("TG705", span, message, help=advice)


def _bound(node: Expression) -> Binary | None:
    """The first comparison with a number. Asking whether there is any is none."""
    if isinstance(node, Binary) and node.operator in ("<", "<=", ">", ">="):
        number = _amount(node.right) or _amount(node.left)
        return None if number is None or number in ("0", "1") else node
    return next((found for child in children(node) if (found := _bound(child))), None)


def _amount(node: Expression) -> str | None:
    """A number or an amount as it is written; None for anything else."""
    match node:
        case Literal(kind="int" | "double"):
            return render(node)
        case Call(operand=None, function="quantity", arguments=(Literal(value=str(text)),)):
            return text
        case _:
            return None


def _equal_priorities(names: Names, priorities: Mapping[str, int]) -> Iterator[Problem]:
    """TG706: of two with one value neither comes first."""
    first: dict[int, Span] = {}
    for name, value in priorities.items():
        span = names.priorities[name].name.span
        if value in first:
            message = f"`{name}` has the value of another priority, {value}: neither comes first"
            yield problem("TG706", span, message, others=((first[value], "the other"),))
        first.setdefault(value, span)
