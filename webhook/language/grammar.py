"""The parser built from ``grammar.lark`` and ``condition.lark``, and the rule of what a line's end means.

Made once a process, when the first text is read, from tables that are shipped (`tables.py`). Which `{` a brace is,
and whether a word is a keyword, the contextual lexer knows from the parser's state; whether a line's end ends a
statement depends on brackets and on the word before it, which a stack between lexer and parser keeps track of. There
too positions become those of the whole file, since a file is parsed in pieces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedToken
from lark.lark import PostLex

from webhook.language.tables import load

FILES: Final = ("grammar.lark", "condition.lark")
OPENING = frozenset({"C_LPAR", "C_LSQB", "C_LBRACE"})
BRACES = frozenset({"_LBLOCK", "_LENTRIES"})
CLOSING = frozenset({"C_RPAR", "C_RSQB", "RBRACE"})
GOES_ON = frozenset(
    {"C_OR", "C_AND", "C_NOT", "C_COMPARE", "C_IN", "C_PLUS", "C_MINUS", "C_STAR", "C_SLASH"}
    | {"C_PERCENT", "C_QUESTION", "C_COLON", "C_COMMA", "_COMMA"}
)
"""After these a statement goes on in the next line."""
_KEYWORD: Final = re.compile(r"([a-z]+(?:-[a-z]+)*)\(\?!\[")
_offset: ContextVar[int] = ContextVar("offset of the piece that is parsed", default=0)
_record: ContextVar[list[Token] | None] = ContextVar("where to keep the tokens", default=None)


class Lines(PostLex):
    """Drops the line ends that end nothing and moves every token to its place in the whole file."""

    always_accept = ("_NL",)

    def process(self, stream: Iterator[Token]) -> Iterator[Token]:
        """One parse: the tokens that the grammar is to see."""
        offset, record = _offset.get(), _record.get()
        try:
            for token in _significant(stream, offset):
                if record is not None:
                    record.append(token)
                yield token
        except UnexpectedToken as error:  # of the lexer, so not moved yet
            _move(error.token, offset)
            raise
        except UnexpectedCharacters as error:
            error.pos_in_stream += offset  # type: ignore[operator,assignment] # declared as None
            raise


def _significant(stream: Iterator[Token], offset: int) -> Iterator[Token]:
    open_brackets: list[str] = []
    before = ""
    for token in stream:
        kind = token.type
        if kind in OPENING or kind in BRACES:
            open_brackets.append(kind)
        elif kind in CLOSING and open_brackets:
            open_brackets.pop()
        inside = bool(open_brackets) and open_brackets[-1] in OPENING
        if kind == "_NL" and (inside or before in GOES_ON):
            continue
        before = kind
        _move(token, offset)
        yield token


def _move(token: Token, offset: int) -> None:
    if token.start_pos is not None and token.end_pos is not None:
        token.start_pos += offset
        token.end_pos += offset


def grammar_text() -> str:
    """Both files, as Lark reads them."""
    folder = files("webhook.language")
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in FILES)


def build_parser(*, strict: bool = False) -> Lark:
    """A new parser; ``strict`` makes every conflict and every collision of terminals an error."""
    return Lark(
        grammar_text(),
        parser="lalr",
        lexer="contextual",
        start=["start", "condition"],
        postlex=Lines(),
        propagate_positions=True,
        maybe_placeholders=False,
        strict=strict,
    )


@lru_cache(maxsize=1)
def _parser() -> Lark:
    return load(grammar_text(), Lines()) or build_parser()


@lru_cache(maxsize=1)
def keywords() -> Mapping[str, str]:
    """Every keyword by its terminal."""
    found: dict[str, str] = {}
    for terminal in _parser().terminals:
        match = _KEYWORD.match(terminal.pattern.value)
        if match is not None:
            found[terminal.name] = match[1]
    return MappingProxyType(found)


def may_follow(prefix: str) -> frozenset[str]:
    """The terminals that may stand behind the beginning of a text. Raises Lark's UnexpectedInput where it is wrong."""
    parser = _parser().parse_interactive(prefix, start="start")
    parser.exhaust_lexer()
    accepts: set[str] = parser.accepts()  # type: ignore[no-untyped-call] # of Lark
    return frozenset(accepts)


def parse_tree(
    text: str, *, offset: int, start: str = "start", tokens: list[Token] | None = None
) -> Tree[Token]:
    """The tree of a piece of a file that begins at ``offset``. Raises Lark's UnexpectedInput.

    ``tokens`` receives what the grammar saw, for the formatter: the tree has neither signs nor parentheses.
    """
    at, record = _offset.set(offset), _record.set(tokens)
    try:
        return _parser().parse(text, start=start)
    finally:
        _offset.reset(at)
        _record.reset(record)
