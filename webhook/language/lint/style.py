"""Notes on style: what is valid, does what it says, and still makes a reader stumble."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from webhook.language.names import Names
from webhook.language.problems import Problem, problem
from webhook.language.syntax import File, Otherwise, Route, Span


def style_findings(
    files: Sequence[File], names: Names, priorities: Mapping[str, int]
) -> Iterator[Problem]:
    """TG702 and TG706."""
    for file in files:
        yield from _otherwise_not_last(file)
    yield from _equal_priorities(names, priorities)


def _otherwise_not_last(file: File) -> Iterator[Problem]:
    """TG702: it is asked last wherever it stands, so it is read best where it stands last."""
    routes = [each for each in file.statements if isinstance(each, Route | Otherwise)]
    for at, each in enumerate(routes[:-1]):
        if isinstance(each, Otherwise) and isinstance(routes[-1], Route):
            others = tuple((r.span, "asked before it") for r in routes[at + 1 :])[:1]
            message = "`route otherwise` is asked last, and stands before other routes"
            yield problem("TG702", each.span, message, others=others, help="move it to the end")


def _equal_priorities(names: Names, priorities: Mapping[str, int]) -> Iterator[Problem]:
    """TG706: of two with one value neither comes first."""
    first: dict[int, Span] = {}
    for name, value in priorities.items():
        span = names.priorities[name].name.span
        if value in first:
            message = f"`{name}` has the value of another priority, {value}: neither comes first"
            yield problem("TG706", span, message, others=((first[value], "the other"),))
        first.setdefault(value, span)
