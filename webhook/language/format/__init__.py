"""A policy file in its one form, proven before anybody writes it.

Text in, text out; nothing is read or written here. The output is parsed again and has to be the same tree with the
same comments, and to stay as it is when it is formatted again; else `NotProven` is raised and the caller keeps what
it has. A file with mistakes in its text is not formatted: its problems are returned.
"""

from __future__ import annotations

from lark import Token

from webhook.language.expression import Refused
from webhook.language.format.canonical import UNANCHORED, canonical_tree, make_canonical, nodes
from webhook.language.format.columns import write_lines
from webhook.language.format.items import read_items
from webhook.language.format.lines import lay_out
from webhook.language.parse import Parsed, parse
from webhook.language.problems import Problem, Severity, problem
from webhook.language.records import dataclass

__all__ = ["Formatted", "NotProven", "format_text"]

_MARK = "\ufeff"


class NotProven(Exception):
    """The formatter would have changed what a file says: a mistake of ours, not of the file."""


@dataclass(frozen=True, slots=True)
class Formatted:
    """A file's one form. Where it has mistakes, ``text`` is what came in and ``problems`` says why."""

    text: str
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class _Read:
    parsed: Parsed
    tokens: list[Token]

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(p for p in self.parsed.problems if p.severity is Severity.ERROR)


def format_text(text: str, *, path: str) -> Formatted:
    """The one form of a file. Line ends stay as the first of the file is, a byte order mark stays."""
    before = _read(text, path)
    if before.errors:
        return Formatted(text, before.errors)
    written = _write(before)
    if written == text:
        return Formatted(text)
    after = _read(written, path)
    if beyond := _beyond(before) or _beyond(after):
        return Formatted(text, beyond)
    _prove(before, after, written)
    return Formatted(written)


def _beyond(read: _Read) -> tuple[Problem, ...]:
    """What was not read because it is too long or too deep, so that nothing can be proven about it.

    A file that is within the bounds may leave them by the spaces that are put into it.
    """
    whole = tuple(p for p in read.errors if p.code == "TG017")
    parts = (node for node in nodes(read.parsed.file.statements) if isinstance(node, Refused))
    return whole or tuple(
        problem(part.code, part.span, part.message, help=part.help)
        for part in parts
        if part.code == "TG508"
    )


def _read(text: str, path: str) -> _Read:
    tokens: list[Token] = []
    return _Read(parse(text, path=path, tokens=tokens), tokens)


def _write(read: _Read) -> str:
    file = read.parsed.file
    items, end = read_items(file.text, read.tokens, file.comments)
    for item in items:
        make_canonical(item)
    mark = _MARK if file.text.startswith(_MARK) else ""
    return mark + write_lines(lay_out(items, end), _newline(file.text))


def _newline(text: str) -> str:
    end = text.find("\n")
    return "\r\n" if end > 0 and text[end - 1] == "\r" else "\n"


def _prove(before: _Read, after: _Read, written: str) -> None:
    if after.errors:
        found = after.errors[0]
        raise NotProven(f"the output would have a mistake: {found.span.place}: {found.message}")
    old, new = before.parsed.file, after.parsed.file
    if canonical_tree(old.statements) != canonical_tree(new.statements):
        raise NotProven("the output would say something else")
    if _comments(before) != _comments(after):
        raise NotProven("the output would have other comments, or have them elsewhere")
    if _write(after) != written:
        raise NotProven("the output would change when formatted again")


def _comments(read: _Read) -> list[tuple[str, str]]:
    """Each comment with what follows it, in any order: a comment moves with the clause that it stands in."""
    found: list[tuple[str, str]] = []
    tokens = iter(token for token in read.tokens if token.type not in UNANCHORED)
    following = next(tokens, None)
    for comment in read.parsed.file.comments:
        while following is not None and (following.start_pos or 0) < comment.span.start:
            following = next(tokens, None)
        found.append((comment.text.rstrip(), str(following or "")))
    return sorted(found)
