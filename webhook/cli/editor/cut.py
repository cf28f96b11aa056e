"""What stands before the cursor, cut down to what decides what may stand at it.

The statement that is being typed is hardly ever complete, and its neighbours may hold mistakes. So only the heads of
the blocks around the cursor and the statement itself, up to the word that is being typed, are handed to the parser.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

_TOKEN: Final = re.compile(
    r"""(?P<line>\r?\n)
    |(?P<blank>[ \t]+)
    |(?P<comment>\#[^\n]*)
    |(?P<text>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<unclosed>["'][^\n]*)
    |(?P<word>[A-Za-z_][A-Za-z0-9_./-]*)
    |(?P<goes_on>&&|\|\||[=!<>]=|[<>+*/%?:,!-])
    |(?P<open>[(\[{])
    |(?P<close>[)\]}])
    |(?P<other>[^\n])""",
    re.VERBOSE,
)
_WORD: Final = re.compile(r"[A-Za-z0-9_-]*\Z")
_GOES_ON: Final = re.compile(r"\s*(?:&&|\|\||(?:when|to)(?![A-Za-z0-9_./-]))")
STATEMENT_BLOCKS: Final = frozenset(
    {"cohort", "queue", "deny", "warn", "set", "settings", "kind", "test"}
)
"""In other blocks stand entries, which a comma parts, too."""
_BEFORE_A_MAP: Final = frozenset({"goes_on", "open"})


@dataclass(frozen=True, slots=True)
class Cut:
    """The place of the cursor. ``word`` is what was typed of the word there, "" where none was begun."""

    heads: tuple[str, ...]
    """The heads of the blocks around it, from the outside in, each with its `{`."""
    statement: str
    """The statement up to the word."""
    word: str
    start: int
    """Where the word begins."""
    quoted: bool = False
    """It stands in a text, ``statement`` ends with the quote."""
    above: str = ""
    """Where a line was begun: the statement before, which may go on here."""

    @property
    def prefix(self) -> str:
        """What the parser has to read to know what may follow."""
        return "\n".join((*self.heads, self.statement))

    @property
    def block(self) -> str:
        """The first word of the block around it, "" outside of blocks."""
        return self.heads[-1].split(None, 1)[0] if self.heads else ""


@dataclass(slots=True)
class _Open:
    sign: str
    head: str
    statement: int
    """Where the statement began in which it opens."""


@dataclass(slots=True)
class _State:
    text: str
    began: int | None = None
    before: str = "line"
    above: str = ""
    open: list[_Open] = field(default_factory=list)


def cut(text: str, offset: int) -> Cut | None:
    """Where the cursor is; None in a comment."""
    state = _State(text[:offset])
    at = 0
    while (match := _TOKEN.match(state.text, at)) is not None:
        kind = match.lastgroup or "other"
        if kind == "comment" and match.end() == offset:
            return None
        if kind == "unclosed":
            return _in_text(state, match.start(), offset)
        _take(state, kind, match)
        at = match.end()
    begun = _WORD.search(state.text)
    start = begun.start() if begun is not None else offset
    return _made(state, start, start, quoted=False)


def _in_text(state: _State, quote: int, offset: int) -> Cut:
    if state.began is None:
        state.began = quote
    return _made(state, quote + 1, quote + 1, quoted=True)


def _made(state: _State, end: int, start: int, *, quoted: bool) -> Cut:
    began = state.began if state.began is not None and state.began < end else end
    heads = tuple(each.head for each in state.open if each.sign == "{" and each.head)
    statement = state.text[began:end].lstrip()
    return Cut(
        heads, statement, state.text[start:], start, quoted, "" if statement else state.above
    )


def _take(state: _State, kind: str, match: re.Match[str]) -> None:
    if kind in ("blank", "comment"):
        return
    if kind == "line":
        _line_end(state, match.end())
        return
    if kind == "close":
        _close(state)
    else:
        if state.began is None:
            state.began = match.start()
        if kind == "open":
            _open(state, match)
    state.before = kind
    if match.group() == "," and _among_entries(state):
        state.began = None


def _among_entries(state: _State) -> bool:
    head = state.open[-1].head if state.open else ""
    return bool(head) and head.split(None, 1)[0] not in STATEMENT_BLOCKS


def _open(state: _State, match: re.Match[str]) -> None:
    began = state.began if state.began is not None else match.start()
    block = match.group() == "{" and state.before not in _BEFORE_A_MAP
    head = state.text[began : match.end()] if block else ""
    state.open.append(_Open(match.group(), head, began))
    if block:
        state.began, state.above = None, ""


def _close(state: _State) -> None:
    if state.open:
        state.began = state.open.pop().statement


def _line_end(state: _State, end: int) -> None:
    inside = bool(state.open) and not state.open[-1].head
    if inside or state.before == "goes_on" or _GOES_ON.match(state.text, end):
        return
    if state.began is not None:
        state.above = state.text[state.began : end].rstrip()
    state.began = None
    state.before = "line"
