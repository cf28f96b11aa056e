"""Where the parser stumbled: the word there, what could stand there, what stands before it."""

from __future__ import annotations

import re
from typing import Final, cast

from lark.exceptions import UnexpectedCharacters, UnexpectedEOF, UnexpectedInput, UnexpectedToken

from webhook.language.records import dataclass
from webhook.language.syntax import Source, Span
from webhook.language.words import STATEMENTS

WORD: Final = re.compile(
    r"[A-Za-z_][A-Za-z0-9_./-]*|[+-]?\.?[0-9][A-Za-z0-9_.]*|&&|\|\||[=!<>]=|//|\"[^\"\n]*\"?|'[^'\n]*'?|."
)
EXPECTED: Final = {
    "WORD": "a name",
    "NUMBER": "a number",
    "TEXT": "a text in double quotes",
    "PATH": "the path of a field",
    "_EQUAL": "`=`",
    "_LBLOCK": "`{`",
    "_LENTRIES": "`{`",
    "RBRACE": "`}`",
    "C_RPAR": "`)`",
    "C_RSQB": "`]`",
    "C_COLON": "`:`",
    "C_FIELD": "the name of a field",
    "C_NAME": "a value",
    "_NL": "the end of the line",
}
"""Terminals that are no keyword, as a reader knows them; those that are missing here say nothing useful."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file, and what the grammar would take there."""

    source: Source
    span: Span
    word: str
    expected: frozenset[str]
    begins: bool
    """True where a statement begins."""
    line_end: bool
    before: str
    """The word before, "" at the beginning of the piece."""

    @property
    def keywords(self) -> list[str]:
        """The words that could stand here."""
        return sorted(word for t in self.expected if (word := keyword(t)) is not None)

    @property
    def in_condition(self) -> bool:
        """True where a condition is being read."""
        return any(t.startswith("C_") for t in self.expected)


def place_of(error: UnexpectedInput, source: Source, start: int, end: int) -> Place:
    """Where an error of the parser is, in the piece of text from ``start`` to ``end``."""
    at, expected = _where(error, start, end)
    text = source.text
    line_end = at >= end or text[at] in "\r\n#"
    word = "" if line_end else WORD.match(text, at).group()  # type: ignore[union-attr] # `.` matches
    ends = at + max(len(word.rstrip()), 1) if not line_end else at
    before = text[start:at].rstrip()
    begins = expected <= _STATEMENT_WORDS and not expected <= _ENDS
    if line_end:  # the place of what is missing is behind what stands there
        at = ends = start + len(before)
    last = re.search(r"[A-Za-z0-9_./-]+\Z|[^\s]\Z", before[-80:])
    return Place(
        source,
        source.span(at, ends),
        word,
        expected,
        begins,
        line_end,
        last.group() if last else "",
    )


_ENDS: Final = frozenset({"_NL", "RBRACE", "$END"})
_STATEMENT_WORDS: Final = _ENDS | {f"_{word.upper().replace('-', '_')}" for word in STATEMENTS}


def _where(error: UnexpectedInput, start: int, end: int) -> tuple[int, frozenset[str]]:
    """Offset in the file, and the terminals that may stand there."""
    if isinstance(error, UnexpectedToken):
        expected = frozenset(error.accepts or error.expected)
        if error.token.type == "$END":
            return end, expected
        return error.token.start_pos or start, expected
    if isinstance(error, UnexpectedCharacters):
        return cast("int", error.pos_in_stream), frozenset(error.allowed or ())
    assert isinstance(error, UnexpectedEOF)  # noqa: S101 - there is no fourth
    return end, frozenset(error.expected)


def keyword(terminal: str) -> str | None:
    """The word of a terminal that is one."""
    name = terminal.removeprefix("_").replace("_", "-")
    if terminal in EXPECTED or terminal.startswith("C_") or terminal in _SIGNS:
        return None
    return name.lower() if name.replace("-", "").isalpha() else None


_SIGNS: Final = frozenset(
    {"_COLON", "_COMMA", "_STAR", "_NL", "CONTINUED", "BLANK", "COMMENT", "RBRACE", "$END"}
)
