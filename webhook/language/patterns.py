"""`matches` of conditions: a text is searched for a pattern of RE2, in time linear in its length.

A pattern that stands as a literal is compiled once, and what is wrong with it is reported where it stands. One that
is computed has a bound on its length. No pattern ever gets to an engine that tracks back.
"""

from __future__ import annotations

import re  # for reading patterns and messages, never for a policy's pattern
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, Protocol

from webhook.language.expression import Call, Literal
from webhook.language.failures import Mistake, Work
from webhook.language.literals import offset_in_text
from webhook.language.shapes import ANY, BOOL, STRING
from webhook.language.syntax import Span
from webhook.language.terms import Compiling, Term, computed, laborious, poisoned
from webhook.language.values import name_of

LONGEST_COMPUTED: Final = 256
"""Characters of a pattern that is computed; a literal is bounded by the condition it stands in."""
MEMORY: Final = 1 << 20
"""Bytes RE2 may use for one pattern; one that needs more is refused, or slower."""
STEPS_OF_COMPILING: Final = 500
MOST_OF_A_SEARCH: Final = 50_000_000
"""Characters of a text times instructions of a pattern: below half a second even where RE2 is slowest."""
A_STEP_OF_SEARCH: Final = 256

_TOKEN: Final = re.compile(r"\\.|.", re.DOTALL)
_INSTEAD: Final = {
    "(?=": "RE2 does not look ahead: join two `matches` by `&&`",
    "(?!": "RE2 does not look ahead: write `!….matches(…)`",
    "(?<": "RE2 does not look behind: write the pattern of the whole",
    "(?>": "RE2 never tracks back: write `(?:…)`",
    "++": "RE2 never tracks back: write one `+`",
    "*+": "RE2 never tracks back: write `*`",
    "**": "write `*` once, or `\\*` for the character",
    "\\Z": "the end of the text is `$` or `\\z`",
    "\\G": "the start of the text is `^`",
}


class Pattern(Protocol):
    """What is used of a compiled pattern."""

    @property
    def programsize(self) -> int:
        """Instructions: what a search costs a character at most."""

    def search(self, text: bytes) -> Any:
        """Something, or None."""


class BadPattern(Exception):
    """No pattern of RE2; ``part`` is what it stumbles over."""

    def __init__(self, message: str, part: str) -> None:
        super().__init__(message)
        self.part = part


@lru_cache(maxsize=1)
def _options() -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.never_capture = True
    options.max_mem = MEMORY
    return options


def read_pattern(text: str) -> Pattern:
    """The compiled pattern. Raises BadPattern."""
    import re2

    if "\\C" in _TOKEN.findall(text):
        raise BadPattern("a pattern reads characters, `\\C` would read a byte", "\\C")
    try:
        pattern: Pattern = re2.compile(text, _options())
    except UnicodeEncodeError:
        raise BadPattern("a pattern holds half a character", "") from None
    except re2.error as error:
        raise _bad(error.args[0]) from None
    return pattern


def _bad(said: bytes | str) -> BadPattern:
    """What RE2 says, in the words of the others: ``missing ): a(b``."""
    text = said.decode("utf-8", "replace") if isinstance(said, bytes) else said
    what, _, part = text.partition(": ")
    if what.startswith(("missing ", "unexpected ")):
        word, _, sign = what.partition(" ")
        return BadPattern(f"`{sign}` is {word} in this pattern", part)
    if what.startswith("trailing "):
        return BadPattern("a pattern cannot end in a backslash", "\\")
    if what == "invalid perl operator":
        return BadPattern(f"`{part}` is not in RE2", part)
    short = part if len(part) <= 24 else part[:23] + "…"
    return BadPattern(f"{what}: `{short}`" if part else what, part)


def compile_matches(compiler: Compiling, node: Call) -> Term:
    """`x.matches(pattern)`, or `matches(x, pattern)`."""
    parts = [*([] if node.operand is None else [node.operand]), *node.arguments]
    if len(parts) != 2:
        message = "`matches` takes a text and a pattern"
        compiler.report("TG503", node.name_span, message, 'as in `name.matches("^train-[0-9]+$")`')
        return poisoned(node)
    text, pattern = map(compiler.term, parts)
    for term in (text, pattern):
        if term.shape not in (STRING, ANY):
            message = f"`matches` needs a string, this is {term.shape.title}"
            compiler.report("TG503", term.span, message)
            return poisoned(node)
    if isinstance(pattern.constant, str):
        return _with_literal(compiler, node, text, pattern)
    return computed(BOOL, laborious(_matched, text.run, pattern.run, node.span), node)


def _with_literal(compiler: Compiling, node: Call, text: Term, pattern: Term) -> Term:
    try:
        compiled = read_pattern(pattern.constant)
    except BadPattern as bad:
        span = _place(pattern.node, bad.part) if isinstance(pattern.node, Literal) else pattern.span
        compiler.report("TG509", span, str(bad), _help(bad.part))
        return poisoned(node)

    def found(value: Any, _: Any, work: Work | None) -> bool:
        return _found(compiled, value, work)

    return computed(BOOL, laborious(found, text.run, pattern.run, node.span), node)


def _help(part: str) -> str:
    if part[:3] in _INSTEAD:
        return _INSTEAD[part[:3]]
    if re.fullmatch(r"\\[1-9]", part):
        return "RE2 does not refer back to a group: write the pattern again"
    return _INSTEAD.get(part, "")


def _place(literal: Literal, part: str) -> Span:
    """Where the part stands, if it stands once in the text as written; else the literal."""
    at = str(literal.value).find(part)
    if not part or at < 0 or str(literal.value).find(part, at + 1) >= 0:
        return literal.span
    return _part_of(literal.span, literal.written, at, at + len(part))


def _part_of(whole: Span, written: str, start: int, end: int) -> Span:
    """A stretch of a literal that stands on one line."""
    if not written or whole.line != whole.end_line:
        return whole
    first, last = offset_in_text(written, start), offset_in_text(written, end)
    column = whole.column
    return replace(
        whole,
        start=whole.start + first,
        end=whole.start + last,
        column=column + first,
        end_column=column + last,
    )


def _matched(text: Any, pattern: Any, work: Work | None) -> bool:
    if type(pattern) is not str:
        raise Mistake(f"a pattern is a string, this is {name_of(pattern)}")
    if len(pattern) > LONGEST_COMPUTED:
        raise Mistake(f"a computed pattern has at most {LONGEST_COMPUTED} characters")
    if work is not None:
        work.spend(STEPS_OF_COMPILING)
    try:
        compiled = read_pattern(pattern)
    except BadPattern as bad:
        raise Mistake(str(bad)) from None
    return _found(compiled, text, work)


def _found(pattern: Pattern, text: Any, work: Work | None) -> bool:
    if type(text) is not str:
        raise Mistake(f"`matches` searches a string, this is {name_of(text)}")
    cost = len(text) * pattern.programsize
    if cost > MOST_OF_A_SEARCH:
        raise Mistake(f"a text of {len(text)} characters is too long for this pattern")
    if work is not None:
        work.spend(cost // A_STEP_OF_SEARCH)
    try:
        return pattern.search(text.encode()) is not None
    except UnicodeEncodeError:
        raise Mistake("a text holds half a character") from None
