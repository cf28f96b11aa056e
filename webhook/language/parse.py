"""Text to tree, with every mistake of the text in one run.

A file is parsed statement by statement. Where the grammar stumbles, the smallest statement around the place is
reported once and blanked, and the rest is parsed again; a statement that only lacks what was blanked inside it is
blanked without a word. Never raises for a bad text.
"""

from __future__ import annotations

import re
from typing import Final

from lark import Token, Tree
from lark.exceptions import UnexpectedInput

from webhook.language.explain import explain
from webhook.language.expression import Expression, build
from webhook.language.grammar import parse_tree
from webhook.language.problems import Problem, problem, sorted_problems
from webhook.language.records import dataclass
from webhook.language.scan import DEEPEST, MOST, Piece, Scanned, scan
from webhook.language.syntax import File, Source, Span, Statement
from webhook.language.trees import Builder
from webhook.language.words import STATEMENTS, TOP

LARGEST: Final = 256 * 1024
"""Code points of one file. A ConfigMap holds 1 MiB; nobody reads a policy file of this size."""
DEEPEST_BLOCKS: Final = 32
_STANDS_IN: Final = 'message ""'
"""In place of the one line a deny needs, so that a mistake in it does not hide those of its condition."""


_MANIFEST: Final = re.compile(r"apiVersion[ \t]*:")
_ENTRY: Final = re.compile(r"[A-Za-z0-9_./-]+[ \t]+[+-]?[0-9]")


@dataclass(frozen=True, slots=True)
class Parsed:
    """A file as far as it could be read, and what is wrong with its text."""

    file: File
    problems: tuple[Problem, ...]


def parse(text: str, *, path: str, tokens: list[Token] | None = None) -> Parsed:
    """Read the text of one file. ``tokens`` receives those of a file without mistakes, in order."""
    source = Source(path, text)
    if len(text) > LARGEST:
        return _too_large(source)
    scanned = scan(source)
    reader = _Reader(source, scanned, tokens)
    for piece in scanned.pieces:
        reader.read(piece)
    unbalanced = any(p.code == "TG006" for p in scanned.problems)
    file = File(
        path,
        tuple(reader.statements),
        scanned.comments,
        source,
        unread=tuple(reader.unread),
        unbalanced=unbalanced,
    )
    return Parsed(file, sorted_problems([*scanned.problems, *reader.problems], [path]))


def _too_large(source: Source) -> Parsed:
    message = f"this file has {len(source.text)} characters, at most {LARGEST} are read"
    whole = source.span(0, len(source.text))
    found = problem("TG017", source.span(0, 0), message, help="split it into several files")
    return Parsed(File(source.path, (), (), source, unread=(whole,)), (found,))


def parse_expression(text: str, *, source: Source, offset: int) -> Expression | Problem:
    """An expression that stands alone at ``offset`` of a file, as between the braces of a message."""
    try:
        tree = parse_tree(text, offset=offset, start="condition")
    except UnexpectedInput as error:
        return explain(error, source, offset, offset + len(text))
    return build(tree, source)


class _Reader:
    """Reads the pieces of one file and remembers what could not be read."""

    def __init__(self, source: Source, scanned: Scanned, tokens: list[Token] | None = None) -> None:
        self.source = source
        self.tokens = tokens
        self.text = scanned.text
        self.odd = scanned.odd
        self.surplus = scanned.surplus
        self.statements: list[Statement] = []
        self.problems: list[Problem] = []
        self.unread: list[Span] = []
        self._builder = Builder(source)
        self._in_manifest = False

    def read(self, root: Piece) -> None:
        """Read one statement that stands outside of blocks, and those in it."""
        if (
            len(self.problems) >= MOST
            or self._of_manifest(root)
            or self._fell_out(root)
            or self._too_deep(root)
        ):
            self.unread.append(self.source.span(root.start, root.end))
            return
        chars = list(self.text[root.start : root.end])
        blanked: set[int] = set()
        for flawed in _flawed(root):
            self._blank(flawed, root, chars, blanked)
        tree = self._tree(root, chars, blanked)
        if tree is not None:
            self.statements.extend(
                self._builder.statement(part) for part in tree.children if isinstance(part, Tree)
            )

    def _tree(self, root: Piece, chars: list[str], blanked: set[int]) -> Tree[Token] | None:
        """Parse, blanking one statement more each time; None where nothing is left."""
        while root.start not in blanked and len(self.problems) < MOST:
            text = "".join(chars) + (root.closers or "\n")
            try:
                return parse_tree(text, offset=root.start, tokens=self.tokens)
            except UnexpectedInput as error:
                place = explain(error, self.source, root.start, root.end)
                self._report(root, place, chars, blanked)
        return None

    def _report(self, root: Piece, found: Problem, chars: list[str], blanked: set[int]) -> None:
        """A mistake in a statement that already lost a part says nothing new; nor one at a missing end."""
        at = min(found.span.start, root.end)
        piece = root.at(at)
        while piece.start in blanked and piece.parent is not None:
            piece = piece.parent
        hurt = any(piece.start <= start <= piece.end for start in blanked)
        follows = root.unclosed_at is not None and at > root.unclosed_at
        known = not self.odd.isdisjoint(range(found.span.start, found.span.end + 1))
        if not (hurt or follows or known or (at == piece.start and self._fell_out(piece))):
            self.problems.append(found)
            if _mend_sign(found, root, chars):
                return
        self._blank(piece, root, chars, blanked)

    def _blank(self, piece: Piece, root: Piece, chars: list[str], blanked: set[int]) -> None:
        start, end = piece.start - root.start, piece.end - root.start
        for at in range(start, end):
            if chars[at] not in "\r\n":
                chars[at] = " "
        if (
            piece.parent is not None
            and piece.parent.first in ("deny", "warn")
            and end - start >= len(_STANDS_IN)
        ):
            chars[start : start + len(_STANDS_IN)] = _STANDS_IN
        blanked.add(piece.start)
        self.unread.append(self.source.span(piece.start, piece.end))

    def _of_manifest(self, root: Piece) -> bool:
        """A manifest in YAML is one mistake, from its `apiVersion` to the next statement."""
        line = self.text[root.start : root.end]
        if not self._in_manifest and _MANIFEST.match(line):
            self._in_manifest = True
            span = self.source.span(root.start, root.start + len(root.first))
            advice = "a policy has statements of its own: `queue`, `cohort`, `flavor`, …"
            self.problems.append(
                problem("TG003", span, "this is a manifest in YAML, no policy", help=advice)
            )
        elif root.first in TOP and line[len(root.first) : len(root.first) + 1] != ":":
            self._in_manifest = False
        return self._in_manifest

    def _fell_out(self, piece: Piece) -> bool:
        """True for a line of a block that a `}` too many closed before: that `}` is the mistake."""
        if piece.start > self.surplus or piece.first in TOP:
            return False
        line = self.text[piece.start : piece.end]
        return piece.first in STATEMENTS or _ENTRY.match(line) is not None

    def _too_deep(self, root: Piece) -> bool:
        if root.deepest <= DEEPEST and _levels(root) <= DEEPEST_BLOCKS:
            return False
        span = self.source.span(root.start, root.start + len(root.first))
        message = f"this statement has more than {DEEPEST} brackets, or {DEEPEST_BLOCKS} blocks, in each other"
        self.problems.append(problem("TG017", span, message, help="nest less deeply"))
        return True


def _mend_sign(found: Problem, root: Piece, chars: list[str]) -> bool:
    """Put right a single sign whose meaning is plain, so that the rest of its line is read, too."""
    fix = found.fix
    if fix is None or fix.span.end - fix.span.start != 1 or len(fix.text) > 1:
        return False
    chars[fix.span.start - root.start] = fix.text or " "
    return True


def _flawed(root: Piece) -> list[Piece]:
    """The statements to blank before the grammar sees any, the outermost of each."""
    found: list[Piece] = []
    waiting = [root]
    while waiting:
        piece = waiting.pop()
        if piece.flawed:
            found.append(piece)
        else:
            waiting.extend(piece.inner)
    return found


def _levels(root: Piece) -> int:
    deepest, waiting = 0, [(root, 0)]
    while waiting:
        piece, depth = waiting.pop()
        deepest = max(deepest, depth)
        waiting.extend((inner, depth + 1) for inner in piece.inner)
    return deepest
