"""Every name of a workspace: where it is declared and where it is used.

The tree says what a word is by where it stands (``ROLES``). Conditions name aliases in ``requests.gpu``, and queues
and priorities in comparisons with a text; expressions in messages are conditions, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from webhook.language import expression as conditions
from webhook.language.syntax import File, Span, Text, Word
from webhook.language.texts import Inserted, read_message

Sort: TypeAlias = Literal["member", "flavor", "priority", "resource", "rule", "kind"]
"""Queues and cohorts share one set of names (``member``), so do all rules."""
COUNTED: Final = frozenset({"jobs", "waiting"})
"""Stand in a limit where a resource may stand."""


class Role(NamedTuple):
    """What a word is by its place: of what sort, and whether it declares the name."""

    sort: Sort
    declares: bool = False


ROLES: Final[Mapping[tuple[str, str], Role | None]] = MappingProxyType(
    {
        ("Alias", "name"): Role("resource", declares=True),
        ("Alias", "resource"): None,
        ("Tolerate", "effect"): None,
        ("Flavor", "name"): Role("flavor", declares=True),
        ("Priority", "name"): Role("priority", declares=True),
        ("KindOf", "name"): Role("kind", declares=True),
        ("Children", "kinds"): Role("kind"),
        ("PodsFromChild", "kind"): Role("kind"),
        ("PodsFrom", "name"): None,
        ("PodsFrom", "times"): None,
        ("Measure", "resource"): Role("resource"),
        ("Measure", "source"): None,
        ("Mode", "mode"): None,
        ("Share", "resource"): Role("resource"),
        ("Bounded", "resource"): Role("resource"),
        ("Share", "borrow"): None,
        ("Share", "lend"): None,
        ("Block", "flavor"): Role("flavor"),
        ("Order", "way"): None,
        ("Sharing", "way"): None,
        ("Preempt", "whom"): None,
        ("Preempt", "below"): Role("priority"),
        ("Prefer", "ways"): None,
        ("Limit", "subject"): None,
        ("Uncovered", "way"): None,
        ("Queue", "name"): Role("member", declares=True),
        ("Queue", "parent"): Role("member"),
        ("Cohort", "name"): Role("member", declares=True),
        ("Cohort", "parent"): Role("member"),
        ("Route", "name"): Role("rule", declares=True),
        ("Route", "kinds"): Role("kind"),
        ("Route", "queue"): Role("member"),
        ("Otherwise", "queue"): Role("member"),
        ("Deny", "name"): Role("rule", declares=True),
        ("Deny", "kinds"): Role("kind"),
        ("Warn", "name"): Role("rule", declares=True),
        ("Warn", "kinds"): Role("kind"),
        ("Set", "name"): Role("rule", declares=True),
        ("Set", "kinds"): Role("kind"),
        ("Label", "key"): None,
        ("GivenQueue", "queue"): Role("member"),
        ("On", "flavor"): Role("flavor"),
        ("OfPriority", "name"): Role("priority"),
        ("Submit", "kind"): Role("kind"),
        ("ExpectQueue", "queue"): Role("member"),
        ("ExpectRule", "rule"): Role("rule"),
        ("ExpectRefused", "reason"): None,
        ("ExpectStarts", "flavor"): Role("flavor"),
        ("ExpectWaiting", "reason"): None,
    }
)
"""By node and field of the tree; None is a word that names nothing a policy declares."""
MESSAGES: Final = frozenset({("Otherwise", "message"), ("Deny", "message"), ("Warn", "message")})
"""Texts with expressions between braces."""
_COMPARED: Final[Mapping[str, Sort]] = {"queue": "member", "priority": "priority"}


@dataclass(frozen=True, slots=True)
class Use:
    """One place where a name stands."""

    sort: Sort
    name: str
    span: Span
    declares: bool = False


def uses(files: tuple[File, ...]) -> Iterator[Use]:
    """Every name of all files, in no order that matters."""
    for file in files:
        yield from _uses(file, file.text)


def name_at(file: File, offset: int) -> Use | None:
    """The name under, or right before, an offset."""
    for use in _uses(file, file.text):
        if use.span.start <= offset <= use.span.end:
            return use
    return None


def places(files: tuple[File, ...], wanted: Use) -> list[Use]:
    """Every use of the same name."""
    return [use for use in uses(files) if (use.sort, use.name) == (wanted.sort, wanted.name)]


@lru_cache(maxsize=1024)
def _uses(file: File, text: str) -> tuple[Use, ...]:
    """``text`` keeps two files apart whose trees are equal: spans and comments do not count there."""
    return tuple(_in_tree(file.statements, file))


def _in_tree(node: Any, file: File) -> Iterator[Use]:
    if isinstance(node, tuple):
        for each in node:
            yield from _in_tree(each, file)
    elif isinstance(node, Span) or not is_dataclass(node):
        return
    elif type(node).__module__ == conditions.__name__:
        yield from _in_condition(node)
    else:
        for item in fields(node):
            yield from _in_field(type(node).__name__, item.name, getattr(node, item.name), file)


def _in_field(node: str, name: str, value: Any, file: File) -> Iterator[Use]:
    if isinstance(value, Text) and (node, name) in MESSAGES:
        parts, _ = read_message(value, file.source)
        for part in parts:
            if isinstance(part, Inserted):
                yield from _in_condition(part.expression)
        return
    role = ROLES.get((node, name))
    for word in value if isinstance(value, tuple) else (value,):
        if not isinstance(word, Word):
            yield from _in_tree(word, file)
        elif role is not None and word.text not in COUNTED:
            yield Use(role.sort, word.text, word.span, role.declares)


def _in_condition(node: Any) -> Iterator[Use]:
    """Names in an expression, whatever nodes there are."""
    match node:
        case conditions.Select(operand=conditions.Name(name="requests"), name=name, name_span=span):
            yield Use("resource", name, span)
        case conditions.Index(operand=conditions.Name(name="requests"), key=key):
            yield from _text_as("resource", key)
        case conditions.Binary(operator="==" | "!=" | "in", left=left, right=right):
            yield from _compared(left, right)
            yield from _compared(right, left)
    if is_dataclass(node) and not isinstance(node, Span):
        for item in fields(node):
            yield from _in_condition(getattr(node, item.name))
    elif isinstance(node, tuple):
        for each in node:
            yield from _in_condition(each)


def _compared(variable: Any, value: Any) -> Iterator[Use]:
    """``queue == "vision"`` and ``queue in ["vision", "speech"]``."""
    if isinstance(variable, conditions.Name) and variable.name in _COMPARED:
        items = value.items if isinstance(value, conditions.ListLiteral) else (value,)
        for item in items:
            yield from _text_as(_COMPARED[variable.name], item)


def _text_as(sort: Sort, node: Any) -> Iterator[Use]:
    """A quoted name without its quotes; one that is written with escapes is left alone."""
    if isinstance(node, conditions.Literal) and isinstance(node.value, str):
        span = node.span
        if span.end - span.start == len(node.value) + 2:
            yield Use(sort, node.value, _within_quotes(span))


def _within_quotes(span: Span) -> Span:
    return Span(
        span.path, span.start + 1, span.end - 1,
        span.line, span.column + 1, span.end_line, span.end_column - 1,
    )  # fmt: skip
