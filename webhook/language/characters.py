"""Characters that are not what they look like: found by code point before anything else reads the text.

A no-break space or a typographic quote comes with a copy from a chat or a web page and cannot be seen. Where it is
clear what was meant, the rest of the file is read as if that stood there, so that one character is one report.
Inside texts everything that can be seen is allowed; what is invisible there has to be written as an escape.
"""

from __future__ import annotations

import unicodedata
from codecs import BOM_UTF8
from typing import Final

from webhook.language.problems import Fix, Problem, problem
from webhook.language.syntax import Source

MEANT: Final = {
    "\u00a0": " ",
    "\u2007": " ",
    "\u202f": " ",
    "\u3000": " ",
    "\u201c": '"',
    "\u201d": '"',
    "\u201e": '"',
    "\u00ab": '"',
    "\u00bb": '"',
    "\uff02": '"',
    "\u2018": "'",
    "\u2019": "'",
    "\u2010": "-",
    "\u2011": "-",
    "\u2012": "-",
    "\u2013": "-",
    "\u2014": "-",
    "\u2212": "-",
    "\uff5b": "{",
    "\uff5d": "}",
    "\uff1d": "=",
    "\uff0c": ",",
}
"""What was meant, one character for one, so that every offset stays."""
TURNS_TEXT = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""They make a reader see another order than the parser reads; nowhere allowed, not even in a comment."""
WHITE = "\t\n "


def decode(data: bytes) -> tuple[str, int | None]:
    """The text of a file, and the offset of the first byte that is not UTF-8 (None where all are)."""
    data = data.removeprefix(BOM_UTF8)
    try:
        return data.decode("utf-8"), None
    except UnicodeDecodeError as error:
        good = data[: error.start].decode("utf-8")
        return data.decode("utf-8", errors="replace"), len(good)


def not_utf8(source: Source, at: int) -> Problem:
    """What a reader reports for the offset that `decode` returned."""
    return problem(
        "TG001",
        source.span(at, at + 1),
        "this file is not valid UTF-8",
        label="the first byte that is not",
        help="save the file as UTF-8",
    )


def is_control(char: str) -> bool:
    """True for what no text file holds."""
    return (char < " " and char not in WHITE) or "\x7f" <= char < "\xa0" or char == "\ufffd"


def is_invisible(char: str) -> bool:
    """True for what a reader cannot see or that changes what is seen."""
    return unicodedata.category(char) in ("Cf", "Zl", "Zp", "Cn", "Co", "Cs")


def control(source: Source, at: int) -> Problem:
    """A control character, wherever it stands."""
    char = source.text[at]
    return problem(
        "TG001",
        source.span(at, at + 1),
        f"control character {_code(char)}",
        help="remove it",
        fix=Fix(source.span(at, at + 1), "", safe=True),
    )


def odd(source: Source, at: int, *, quoted: bool = False) -> Problem:
    """A character that is no part of the language, or one that cannot be seen in a text."""
    char = source.text[at]
    span = source.span(at, at + 1)
    meant = MEANT.get(char)
    if quoted and ord(char) <= 0xFFFF:
        advice, fix = f"write `\\u{ord(char):04x}` or remove it", Fix(span, f"\\u{ord(char):04x}")
    elif meant is not None and not quoted:
        advice, fix = f"write {_shown(meant)}", Fix(span, meant, safe=True)
    elif is_invisible(char):
        advice, fix = "remove it", Fix(span, "", safe=True)
    else:
        advice, fix = "outside texts and comments the language uses ASCII only", None
    what = (
        "invisible character"
        if is_invisible(char) or (char in MEANT and meant == " ")
        else "character"
    )
    return problem("TG002", span, f"{what} {_code(char)} {_name(char)}", help=advice, fix=fix)


def _shown(meant: str) -> str:
    return "an ordinary space" if meant == " " else f"`{meant}`"


def _code(char: str) -> str:
    return f"U+{ord(char):04X}"


def _name(char: str) -> str:
    return unicodedata.name(char, "without a name").lower()
