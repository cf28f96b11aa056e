"""Cut a file into statements without understanding them, so that one mistake hides no other.

A scanner that knows only texts, comments, brackets and line ends finds where each statement begins and ends, also in
a file that the grammar refuses. The parser reads it statement by statement and, when it stumbles, blanks the smallest
statement around the place and goes on. What can be found without a grammar is reported here: odd characters,
texts and blocks that are not closed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from webhook.language import characters
from webhook.language.problems import Problem, problem
from webhook.language.syntax import Comment, Source
from webhook.language.words import BLOCKS, STATEMENTS

DEEPEST: Final = 100
MOST: Final = 100
"""After so many problems of one sort the rest of a file is not looked at: nobody reads them, and time is bounded."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_TOKEN = re.compile(
    r"""(?P<line>\r?\n)
    |(?P<blank>[ \t]+)
    |(?P<comment>\#[^\n]*)
    |(?P<text>[bB]?[rR](?:\"\"\"(?s:.)*?\"\"\"|'''(?s:.)*?'''|"[^"\n]*"|'[^'\n]*')
      |[bB]?(?:\"\"\"(?:\\(?s:.)|[^\\])*?\"\"\"|'''(?:\\(?s:.)|[^\\])*?'''
              |"(?!"")(?:\\.|[^"\\\n])*"|'(?!'')(?:\\.|[^'\\\n])*'))
    |(?P<word>[A-Za-z_][A-Za-z0-9_./-]*)
    |(?P<number>[0-9][A-Za-z0-9_.]*)
    |(?P<unclosed>["'][^\n]*)
    |(?P<operator>&&|\|\||[=!<>]=|[<>+*/%?:,!-])
    |(?P<open>[(\[{])
    |(?P<close>[)\]}])
    |(?P<other>[^\n])""",
    re.VERBOSE,
)
_STARTS_A_VALUE = frozenset({"operator", "open"})
_CONTINUES = frozenset({"&&", "||", "when", "to", "{"})
"""`{` is a mistake at the beginning of a line, but belongs to what stands before it."""
_PAIRS = {"(": ")", "[": "]", "{": "}"}


class Token(NamedTuple):
    """What the scanner sees: a kind (a group of the expression above) and a stretch."""

    kind: str
    start: int
    end: int
    text: str


@dataclass(slots=True)
class Piece:
    """One statement, or one line of entries, with those in its blocks."""

    start: int
    end: int
    first: str
    parent: Piece | None = field(default=None, repr=False)
    inner: list[Piece] = field(default_factory=list)
    closers: str = ""
    """Brackets that were never closed: what has to be added for the grammar to see the end."""
    unclosed_at: int | None = None
    """Where the block begins that was never closed; what the grammar says behind it is no news."""
    opened: bool = False
    """A block of its own began."""
    deepest: int = 0
    flawed: bool = False
    """Something in it was already reported, so the grammar need not see it."""

    def at(self, offset: int) -> Piece:
        """The smallest piece around an offset."""
        here = self
        while True:
            inside = [p for p in here.inner if p.start <= offset <= p.end]
            if not inside:
                return here
            here = inside[-1] if inside[-1].start == offset else inside[0]


@dataclass(slots=True)
class Scanned:
    """A file cut into statements. ``text`` is as long as the source and has ASCII where something odd stood."""

    text: str
    pieces: list[Piece]
    comments: tuple[Comment, ...]
    problems: list[Problem]
    surplus: int
    """Offset of the last `}` that closes nothing, -1 where there is none."""
    odd: frozenset[int]
    """Offsets of the characters that were reported: what the grammar says there is no news."""


def scan(source: Source) -> Scanned:
    """Cut a file. Linear in its length."""
    text, odd = _plain(source)
    tokens = list(_tokens(text))
    cut = _Cutter(source, tokens)
    cut.run(_never_closed(tokens))
    comments = tuple(
        Comment(source.text[t.start : t.end].rstrip("\r"), source.span(t.start, t.end))
        for t in tokens
        if t.kind == "comment"
    )
    problems = [*odd, *cut.problems]
    for piece in cut.roots:
        _mark(piece, [p.span.start for p in odd if p.fix is None or len(p.fix.text) != 1])
    plain, last = _without(text, cut.surplus), max(cut.surplus, default=-1)
    known = frozenset(p.span.start for p in odd)
    return Scanned(plain, cut.roots, comments, problems, last, known)


def _without(text: str, offsets: list[int]) -> str:
    """The text with a space in place of each of these characters."""
    if not offsets:
        return text
    chars = list(text)
    for at in offsets:
        chars[at] = " "
    return "".join(chars)


def _tokens(text: str) -> Iterator[Token]:
    unclosed = at = 0
    while (match := _TOKEN.match(text, at)) is not None:
        kind, word = match.lastgroup or "other", match.group()
        if kind == "unclosed":
            word = _without_braces(word)
            unclosed += 1
        if unclosed > MOST:
            return
        if kind != "blank":
            yield Token(kind, at, at + len(word), word)
        at += len(word)


def _without_braces(text: str) -> str:
    """A text that is never closed took the braces at its line's end with it; blocks still end there."""
    text = text.rstrip()
    if text.endswith("{"):
        return text[:-1].rstrip() or text
    for _ in range(text.count("}") - text.count("{")):
        if text.endswith("}"):
            text = text[:-1].rstrip()
    return text


def _plain(source: Source) -> tuple[str, list[Problem]]:
    """The text with what was meant in place of what is odd, and a problem for each such character."""
    if source.text.isascii() and not _CONTROL.search(source.text):
        return source.text, []
    problems: list[Problem] = []
    chars = list(source.text)
    if chars[0] == "\ufeff":  # a byte order mark is no mistake
        chars[0] = " "
    for token in _tokens("".join(chars)):
        if token.kind in ("text", "comment", "other", "unclosed"):
            _plain_token(source, token, chars, problems)
    return "".join(chars), problems[:MOST]


def _plain_token(source: Source, token: Token, chars: list[str], problems: list[Problem]) -> None:
    for at in range(token.start, token.end):
        char = chars[at]
        if char == "\r" and chars[at + 1 : at + 2] == ["\n"]:
            continue
        if characters.is_control(char):
            problems.append(characters.control(source, at))
            chars[at] = " "
        elif char.isascii():
            continue
        elif token.kind == "comment":
            if char in characters.TURNS_TEXT:
                problems.append(characters.odd(source, at))
        elif token.kind == "text":
            if characters.is_invisible(char):
                problems.append(characters.odd(source, at, quoted=True))
        else:
            problems.append(characters.odd(source, at))
            chars[at] = characters.MEANT.get(char, " ")


def _mark(piece: Piece, offsets: list[int]) -> None:
    """What holds a character without a meaning is not shown to the grammar."""
    for offset in offsets:
        if piece.start <= offset <= piece.end:
            piece.at(offset).flawed = True


def _never_closed(tokens: list[Token]) -> frozenset[int]:
    """Where a statement at the margin shows that a block before it was never closed: indexes of its tokens.

    Asked only of a file whose braces do not balance: whoever indents nothing is otherwise left alone.
    """
    if _balance(tokens) <= 0:
        return frozenset()
    return frozenset(
        at
        for at, token in enumerate(tokens)
        if token.kind == "word"
        and token.text in STATEMENTS
        and (at == 0 or tokens[at - 1].kind == "line")
        and (at == 0 or tokens[at - 1].end == token.start)
    )


def _balance(tokens: list[Token]) -> int:
    """How many more braces open than close."""
    return sum((t.text == "{") - (t.text == "}") for t in tokens if t.kind in ("open", "close"))


class _Cutter:
    """The brackets that are open and the statement that is being read."""

    def __init__(self, source: Source, tokens: list[Token]) -> None:
        self.source = source
        self.tokens = tokens
        self.roots: list[Piece] = []
        self.problems: list[Problem] = []
        self.surplus: list[int] = []
        self._next = _next_of(tokens)
        self._too_many_close = max(0, -_balance(tokens))
        self._closed_for_them = 0
        self._suspected: Token | None = None
        self._first_of_line = True
        self._open: list[tuple[Token, Piece, bool]] = []
        self._owner: Piece | None = None
        self._piece: Piece | None = None
        self._before: Token | None = None
        self._is_field = False  # what stands behind a dot is no keyword

    def run(self, margins: frozenset[int]) -> None:
        """Read all tokens."""
        for at, token in enumerate(self.tokens):
            if at in margins and self._open:
                self._close_all()
            if token.kind == "line":
                self._line_end(at)
                self._first_of_line = True
            elif token.kind != "comment":
                self._take(token)
                self._is_field = self._before is not None and self._before.text == "."
                self._before = token
                self._first_of_line = False
        self._close_all()

    def _take(self, token: Token) -> None:
        if token.kind == "close":
            self._close(token)
            return
        piece = self._begin(token)
        if token.kind == "unclosed":
            self._never_ends(token, piece)
        elif token.kind == "open":
            self._push(token, piece)

    def _begin(self, token: Token) -> Piece:
        if self._piece is None:
            if self._owner is None:
                self._suspected = None
            self._piece = Piece(token.start, token.end, token.text, self._owner)
            (self.roots if self._owner is None else self._owner.inner).append(self._piece)
        self._piece.end = token.end
        return self._piece

    def _push(self, token: Token, piece: Piece) -> None:
        block = token.text == "{" and not self._value_expected(token, piece)
        self._open.append((token, piece, block))
        root = self.roots[-1]
        root.deepest = max(root.deepest, len(self._open))
        if block:
            piece.opened = True
            self._owner, self._piece = piece, None

    def _value_expected(self, token: Token, piece: Piece) -> bool:
        """A `{` here is a map: it stands where a value of a condition has to begin."""
        before = self._before
        if before is None or piece.start == token.start or before.text == "{":
            return False
        word = before.text in ("in", "when", "=") and not self._is_field
        return word or before.kind in _STARTS_A_VALUE

    def _close(self, token: Token) -> None:
        if token.text == "}":
            self._forget_brackets()
        if not self._open or _PAIRS[self._open[-1][0].text] != token.text:
            self._mismatch(token)
            return
        opened, piece, block = self._open.pop()
        if block:
            self._suspect(opened, piece, token)
            self._owner, self._piece = piece.parent, piece
        self._begin(token)

    def _suspect(self, opened: Token, piece: Piece, closing: Token) -> None:
        """A `}` further left than the line it closes was meant for a block around it."""
        if self._suspected is None and self._first_of_line:
            left = self.source.span(closing.start, closing.start).column
            if left < self.source.span(piece.start, piece.start).column:
                self._suspected = opened

    def _forget_brackets(self) -> None:
        """A `}` ends what is open inside its block: the forgotten bracket is reported by the grammar."""
        if any(opened.text == "{" for opened, _, _ in self._open):
            while self._open[-1][0].text != "{":
                self._open.pop()

    def _mismatch(self, token: Token) -> None:
        if token.text != "}":
            self._begin(token)
            return
        self.surplus.append(token.start)
        if self._closed_for_them:
            self._closed_for_them -= 1
        elif len(self.surplus) <= MOST:
            span = self.source.span(token.start, token.end)
            advice = "remove it, or open a block before it"
            self.problems.append(problem("TG006", span, "this `}` closes nothing", help=advice))

    def _line_end(self, at: int) -> None:
        if self._piece is None:
            return
        if self._open and not self._open[-1][2]:
            if not self._begins_statement(at):
                return
            while self._open and not self._open[-1][2]:
                self._open.pop()
        elif self._goes_on(at):
            return
        if self._too_many_close and self._piece.first in BLOCKS and not self._piece.opened:
            self._never_opened(self._piece)
        self._piece = None

    def _never_opened(self, piece: Piece) -> None:
        """Braces do not balance, and here is a head without one: read on as if it stood there."""
        self._too_many_close -= 1
        piece.flawed = piece.opened = True
        self._open.append((Token("open", piece.end, piece.end, "{"), piece, True))
        self._owner = piece
        message = f"`{{` is missing behind `{self._before.text if self._before else piece.first}`"
        span = self.source.span(piece.end, piece.end)
        self.problems.append(problem("TG005", span, message))

    def _after(self, at: int) -> Token | None:
        following = self._next[at]
        return self.tokens[following] if following is not None else None

    def _goes_on(self, at: int) -> bool:
        before, following = self._before, self._after(at)
        operator = before is not None and (before.kind == "operator" or before.text == "in")
        if operator and not self._is_field:
            return True
        return following is not None and following.text in _CONTINUES

    def _begins_statement(self, at: int) -> bool:
        """True where the next line is a statement, so that a bracket before it was forgotten."""
        first = self._after(at)
        if first is not None and first.text == "}":  # of a map, where one is open
            return self._open[-1][0].text != "{" and any(block for _, _, block in self._open)
        second = self._after(self._next[at] or 0)
        if first is None or second is None or second.text == "in":  # `queue in […]`: a variable
            return False
        return first.text in STATEMENTS and second.kind in ("word", "text")

    def _never_ends(self, token: Token, piece: Piece) -> None:
        piece.flawed = True
        span = self.source.span(token.start, token.start + len(token.text.rstrip()))
        advice = f"close it with {token.text[0]} on the same line"
        self.problems.append(problem("TG007", span, "this text is never closed", help=advice))

    def _close_all(self) -> None:
        blocks = [token for token, _, block in self._open if block]
        if blocks:
            guilty = self._suspected or blocks[-1]
            self.roots[-1].closers = "\n" + "}\n" * len(blocks)
            self.roots[-1].unclosed_at = guilty.start
            self._closed_for_them += len(blocks)
            span = self.source.span(guilty.start, guilty.end)
            advice = "add a `}` where it ends"
            self.problems.append(problem("TG006", span, "this block is never closed", help=advice))
        for _, piece, _ in self._open:
            piece.end = max(piece.end, self._before.end if self._before else 0)
        self._open.clear()
        self._owner = self._piece = self._suspected = None


def _next_of(tokens: list[Token]) -> list[int | None]:
    """For each token the index of the next that is neither a line's end nor a comment."""
    following: list[int | None] = [None] * len(tokens)
    for at in range(len(tokens) - 2, -1, -1):
        nearest = tokens[at + 1].kind
        following[at] = following[at + 1] if nearest in ("line", "comment") else at + 1
    return following
