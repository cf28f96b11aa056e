"""What may be typed at the cursor: keywords by the grammar, names by what stands before them, fields by the schemas.

The grammar's own table says which keywords may follow, so none has to be listed here. Where a name may stand, the
words before it say of which sort it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from lark.exceptions import UnexpectedInput

from webhook.cli.editor.cut import Cut, cut
from webhook.cli.editor.fields import fields_behind, variables
from webhook.cli.editor.names import Sort, Use, uses
from webhook.cli.editor.workspace import Workspace
from webhook.language.grammar import keywords, may_follow
from webhook.language.scope import EVERYWHERE, IN_KINDS, IN_ROUTES, NATIVE, Names
from webhook.model.kinds import BUILT_IN, Kind

Kindred: TypeAlias = Literal["keyword", "value", "variable", "field", "function", Sort]
"""What an editor shows beside an offer."""
_KINDS: Final = {kind.name: kind for kind in BUILT_IN}
_FOR: Final = re.compile(r"\bfor[ \t]+([A-Z][A-Za-z0-9]*(?:[ \t]*,[ \t]*[A-Z][A-Za-z0-9]*)*)")
_TEXT_FOR: Final = re.compile(r"\b(queue|priority)[ \t]*(?:[!=]=|in[ \t]*\[[^\]]*?)[ \t]*[\"']\Z")
_KEY_OF: Final = re.compile(r"\brequests[ \t]*\[[ \t]*[\"']\Z")
_BRACES: Final = re.compile(r"(?<!\{)(?:\{\{)*\{([^{}]*)\Z")
_BEGUN: Final = re.compile(r"[A-Za-z0-9_]*\Z")
_SAYS: Final = re.compile(r"^message[ \t]*\"\Z|\bdeny[ \t]*\"\Z")
_ENTRIES: Final = re.compile(
    r"(?:^(?:quota|pool|cap)\b|\b(?:running|waiting|requests|each)\b).*\{\Z"
)
_DEFAULT: Final = "default"
_WORDS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    (r"^order\Z", ("strict", "first-fit")),
    (r"\b(?:borrow|lend)\Z", ("any", "none")),
    (r"^prefer\b(?:.*\bover)?\Z", ("next-flavor", "borrowing", "preempting")),
    (r"^preempt\Z", ("lower-priority", "lower-or-newer", "any")),
    (r"^share by\Z", ("weight", "priority")),
    (r"^uncovered\Z", ("refuse", "ignore")),
    (r"^mode\Z", ("enforce", "audit")),
    (r"^limit\b.*\bper\Z", ("user", "namespace", "owner")),
    (r"^tolerate\b.*:\Z", ("NoSchedule", "PreferNoSchedule", "NoExecute")),
    (
        r"^expect refused\b.*\bbecause\Z",
        ("never-fits", "uncovered", "limit", "accept", "unknown-queue", "unknown-priority"),
    ),
    (
        r"^expect waiting\b.*\bbecause\Z",
        ("quota", "limit", "order", "hold", "victims", "backoff", "never-fits", "queue-gone"),
    ),
)
"""Words of a fixed list, by the end of the statement before them."""
_NAMES: Final[tuple[tuple[str, str], ...]] = (
    (r"^(?:queue|cohort)\b.*\bin\Z", "cohort"),
    (r"\bto\Z", "queue"),
    (r"^(?:given|expect) queue\Z", "queue"),
    (r"^(?:quota|pool|cap)\Z|\bon\Z", "flavor"),
    (r"\bbelow\Z|^(?:given|submit)\b.*\bpriority\Z", "priority"),
    (r"^expect\b.*\bby\Z", "rule"),
    (r"\bfor\Z|^route\b.*\bfor\b.*,\Z|^submit\Z", "kind"),
    (r"^limit(?:[ \t]+\S+[ \t]+[0-9]\S*)*\Z", "limit"),
)


@dataclass(frozen=True, slots=True)
class Offer:
    """One thing that may be typed: it replaces the word from ``start`` to the cursor."""

    text: str
    sort: Kindred
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Offers:
    """What may be typed, and where the word begins that it replaces."""

    start: int
    items: tuple[Offer, ...] = ()


def complete(workspace: Workspace, text: str, offset: int) -> Offers:
    """What may stand at an offset of a file with this text."""
    place = cut(text, offset)
    if place is None:
        return Offers(offset)
    place = _inserted(place) or place
    found = _in_text(workspace, place) if place.quoted else _bare(workspace, place)
    items = {offer.text: offer for offer in found if offer.text.startswith(place.word)}
    return Offers(place.start, tuple(items.values()))


def _inserted(place: Cut) -> Cut | None:
    """The braces of a message as the condition of a rule with the same head."""
    inside = _BRACES.search(place.word)
    if not place.quoted or inside is None or not _SAYS.search(place.statement):
        return None
    word = _BEGUN.search(inside[1])
    begun = word.group() if word is not None else ""
    kinds = _FOR.search(place.heads[-1]) if place.heads else None
    head = f"deny x {kinds.group() if kinds is not None else ''} when "
    statement = head + inside[1].removesuffix(begun).replace('\\"', '"')
    return Cut((), statement, begun, place.start + len(place.word) - len(begun))


def _bare(workspace: Workspace, place: Cut) -> Iterator[Offer]:
    try:
        terminals = may_follow(place.prefix)
    except UnexpectedInput:
        return
    if "C_FIELD" in terminals:
        yield from fields_offered(workspace, place)
        return
    if "C_NAME" in terminals:
        known = _known(workspace, place)
        yield from (Offer(name, "variable", detail) for name, detail in variables(known))
    table = keywords()
    words = sorted({table[each] for each in terminals | _goes_on(place) if each in table})
    yield from (Offer(word, "keyword") for word in words)
    if "WORD" in terminals:
        yield from _names(workspace, place)


def _goes_on(place: Cut) -> frozenset[str]:
    """A line that begins with `when` or `to` belongs to the statement above, if that lacks it."""
    if not place.above:
        return frozenset()
    try:
        return may_follow("\n".join((*place.heads, place.above))) & {"_WHEN", "_TO"}
    except UnexpectedInput:
        return frozenset()


def fields_offered(workspace: Workspace, place: Cut) -> Iterator[Offer]:
    """Fields and functions behind a dot in a condition."""
    for name, detail, function in fields_behind(place.statement, _known(workspace, place)):
        yield Offer(name, "function" if function else "field", detail)


def _in_text(workspace: Workspace, place: Cut) -> Iterator[Offer]:
    """Names that a condition compares with, resources in brackets, the expressions of a message."""
    compared = _TEXT_FOR.search(place.statement)
    if compared is not None:
        yield from _declared(workspace, compared[1])
    elif _KEY_OF.search(place.statement):
        yield from _resources(workspace)


def _names(workspace: Workspace, place: Cut) -> Iterator[Offer]:
    statement = re.sub(r"\s+", " ", place.statement.strip())
    for pattern, words in _WORDS:
        if re.search(pattern, statement):
            yield from (Offer(word, "value") for word in words)
            return
    if not statement and place.heads and _ENTRIES.search(place.heads[-1]):
        yield from _resources(workspace)
        return
    for pattern, sort in _NAMES:
        if re.search(pattern, statement):
            yield from _declared(workspace, sort)
            return


def _declared(workspace: Workspace, sort: str) -> Iterator[Offer]:
    """Every name of a sort."""
    if sort == "kind":
        yield from (Offer(name, "kind") for name in _KINDS)
        yield from (Offer(use.name, "kind", "declared") for use in _declarations(workspace, "kind"))
    elif sort == "limit":
        yield from _resources(workspace)
        yield from (Offer(word, "value") for word in ("jobs", "waiting"))
    else:
        what: Sort = "member" if sort in ("queue", "cohort") else sort  # type: ignore[assignment]
        heads = _heads(workspace, what)
        wanted = {name for name, head in heads.items() if what != "member" or head == sort}
        yield from (Offer(name, what, heads[name]) for name in sorted(wanted))
        if sort == "flavor":
            yield Offer(_DEFAULT, "flavor", "always there, injects nothing")


def _heads(workspace: Workspace, sort: Sort) -> Mapping[str, str]:
    """Each name that is declared, with the keyword of its declaration."""
    return {use.name: head(workspace, use) for use in _declarations(workspace, sort)}


def _declarations(workspace: Workspace, sort: Sort) -> Iterable[Use]:
    return (use for use in uses(workspace.files) if use.declares and use.sort == sort)


def head(workspace: Workspace, use: Use) -> str:
    """The word before a declared name: `queue` or `cohort`, `deny` or `route`."""
    source = workspace.sources[use.span.path]
    before = source.line(use.span.line)[: use.span.column - 1].split()
    return before[-1].lstrip("{") if before else ""


def _resources(workspace: Workspace) -> Iterator[Offer]:
    for use in _declarations(workspace, "resource"):
        line = workspace.sources[use.span.path].line(use.span.line)
        stands_for = line[use.span.column - 1 + len(use.name) :].partition("#")[0].strip(" =")
        yield Offer(use.name, "resource", stands_for)
    yield from (Offer(name, "resource") for name in NATIVE)


def _known(workspace: Workspace, place: Cut) -> Names:
    """What a condition at this place may name."""
    text = "\n".join((*place.heads[-1:], place.statement))
    match = _FOR.search(text)
    kinds: tuple[Kind, ...] = ()
    if match is not None:
        named = re.split(r"[ \t]*,[ \t]*", match[1])
        kinds = tuple(_KINDS[name] for name in named if name in _KINDS)
    first = text.split(None, 1)[0] if text.strip() else ""
    reads = {"route": IN_ROUTES, "kind": IN_KINDS}.get(first, EVERYWHERE)
    aliases = {use.name: "" for use in _declarations(workspace, "resource")}
    return Names(kinds or BUILT_IN, reads, aliases)
