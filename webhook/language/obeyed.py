"""Which statements webhook and loop do not obey yet, in one table.

A rule that is read and then ignored is worse than none: somebody relies on it. So whoever runs a policy asks for
this list and refuses one that is not empty; the lint accepts it. A line leaves the table with the change that makes
the core obey it. What only says the default is obeyed by doing nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from webhook.language.syntax import (
    Cohort,
    Deadline,
    File,
    Hold,
    KindOf,
    Limit,
    Mode,
    Preempt,
    Prefer,
    Queue,
    Settings,
    Sharing,
    Span,
    Weight,
)

NOT_YET: Final[Mapping[type[object], str]] = MappingProxyType(
    {
        Sharing: "share",
        Weight: "weight",
        Preempt: "preempt",
        Prefer: "prefer",
        Limit: "limit",
        Hold: "hold",
        Deadline: "ready within",
        KindOf: "kind",
        Mode: "mode",
    }
)


def not_obeyed(files: Sequence[File]) -> tuple[tuple[str, str], ...]:
    """Statement and place (``file:line``) of everything that is not obeyed, in the order of the files."""
    return tuple(
        (node.keyword if isinstance(node, Hold) else NOT_YET[type(node)], span.place)
        for file in files
        for statement in file.statements
        for node, span in _all(statement)
        if type(node) in NOT_YET and not _says_the_default(node)
    )


def _all(node: object) -> Iterator[tuple[object, Span]]:
    """A statement and those in its block."""
    span = getattr(node, "span", None)
    if isinstance(span, Span):
        yield node, span
    if isinstance(node, Cohort | Queue | Settings):
        for part in node.body:
            yield from _all(part)


def _says_the_default(node: object) -> bool:
    match node:
        case Mode(mode=word):
            return word.text == "enforce"
        case Sharing(way=word):
            return word.text == "priority"
        case _:
            return False
