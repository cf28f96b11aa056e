"""The parser's tables, made once and shipped: building them from the grammar is most of what a short run would cost.

``grammar.tables`` names the grammar and the Lark it was made from. Where either is another one it is not used and the
parser is built as ever: a table that is out of date costs time, and is never wrong. `make tables` writes it anew.
"""

from __future__ import annotations

import gzip
import json
from hashlib import sha256
from importlib.resources import files
from typing import Final

import lark
from lark import Lark
from lark.grammar import Rule
from lark.lark import PostLex
from lark.lexer import TerminalDef

FILE: Final = "grammar.tables.gz"


def pack(parser: Lark, grammar: str) -> bytes:
    """The tables of a parser as they are shipped."""
    data, memo = parser.memo_serialize([TerminalDef, Rule])
    data["options"] = {name: data["options"][name] for name in data["options"] if name not in _OURS}
    packed = {"mark": mark(grammar), "data": data, "memo": memo}
    return gzip.compress(json.dumps(packed, separators=(",", ":")).encode("utf-8"), mtime=0)


def load(grammar: str, postlex: PostLex) -> Lark | None:
    """The parser of the tables that are shipped; None where they are not those of this grammar."""
    shipped = files("webhook.language") / FILE
    if not shipped.is_file():
        return None
    packed = json.loads(gzip.decompress(shipped.read_bytes()))
    if packed["mark"] != mark(grammar):
        return None
    data, memo = packed["data"], {int(key): value for key, value in packed["memo"].items()}
    table = data["parser"]["parser"]
    table["tokens"] = {int(key): name for key, name in table["tokens"].items()}
    table["states"] = {
        int(state): {int(token): action for token, action in actions.items()}
        for state, actions in table["states"].items()
    }  # JSON knows no numbers as keys
    parser: Lark = Lark._load_from_dict(data, memo, postlex=postlex)  # type: ignore[no-untyped-call] # noqa: SLF001 - as Lark's own stand-alone parsers do
    return parser


_OURS: Final = frozenset({"postlex", "strict"})


def mark(grammar: str) -> str:
    """What the tables depend on."""
    return f"lark {lark.__version__} {sha256(grammar.encode('utf-8')).hexdigest()}"
