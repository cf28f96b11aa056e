"""Where a space stands between two tokens of a statement, and where a line may end within it.

A statement is broken only where its author broke it: behind `&&` and `||`, before `when` and `to`, and inside the
brackets of a condition behind the opening one and behind commas. Everywhere else lines are joined.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from webhook.language.format.items import Item, Leaf

OPENING: Final = frozenset({"C_LPAR", "C_LSQB", "C_LBRACE"})
CLOSING: Final = frozenset({"C_RPAR", "C_RSQB", "RBRACE"})
_VALUES: Final = frozenset(
    {"C_NAME", "C_FIELD", "C_STRING", "C_NUMBER", "C_TRUE", "C_FALSE", "C_NULL", *CLOSING}
)
"""A value may end with these: a minus behind one subtracts, a bracket behind one indexes."""
_GLUED: Final = frozenset({"_COMMA", "C_COMMA", "C_DOT", *CLOSING})
_GLUING: Final = frozenset({"C_DOT", "C_NOT", *OPENING})
_RULES: Final = frozenset({"_ROUTE", "_DENY", "_WARN", "_SET"})
HEADS: Final = frozenset({"_WHEN", "_TO"})


@dataclass(slots=True)
class _Bracket:
    kind: str
    broken: bool = False
    questions: int = 0


def set_spaces(item: Item) -> None:
    """Decide for each token of a statement; those in its blocks are decided on their own."""
    rule = item.first.kind in _RULES
    state = _State()
    for part in item.parts:
        if isinstance(part, Leaf):
            state.see(part, rule=rule)
        else:
            part.opening.breaks = bool(part.opening.before)
            state = _State()


class _State:
    """What stands before a token: the two tokens before it, and the brackets that are open."""

    def __init__(self) -> None:
        self._open: list[_Bracket] = []
        self._before = ""
        self._unary = False

    def see(self, leaf: Leaf, *, rule: bool) -> None:
        leaf.glued = self._is_glued(leaf)
        leaf.breaks = bool(leaf.before) or (leaf.broken and self._may_break(leaf, rule=rule))
        self._unary = leaf.kind == "C_MINUS" and self._before not in _VALUES
        self._follow(leaf)
        self._before = leaf.kind

    def _follow(self, leaf: Leaf) -> None:
        if leaf.kind in CLOSING and self._open:
            bracket = self._open.pop()
            leaf.breaks = leaf.breaks or bracket.broken
        if leaf.breaks and self._before in OPENING and self._open:
            self._open[-1].broken = leaf.kind not in CLOSING
        if leaf.kind in OPENING:
            self._open.append(_Bracket(leaf.kind))
        elif leaf.kind == "C_QUESTION" and self._open:
            self._open[-1].questions += 1
        elif leaf.kind == "C_COLON" and self._open:
            self._open[-1].questions = max(0, self._open[-1].questions - 1)

    def _may_break(self, leaf: Leaf, *, rule: bool) -> bool:
        if leaf.kind in CLOSING:
            return False
        behind = self._before in ("C_AND", "C_OR", "C_COMMA") or self._before in OPENING
        return behind or (rule and leaf.kind in HEADS)

    def _is_glued(self, leaf: Leaf) -> bool:
        if leaf.kind in _GLUED or self._before in _GLUING or self._unary:
            return True
        match leaf.kind:
            case "C_LPAR":
                return self._before in ("C_NAME", "C_FIELD")
            case "C_LSQB":
                return self._before in _VALUES
            case "C_COLON":
                return self._in_map()
            case _:
                return False

    def _in_map(self) -> bool:
        return (
            bool(self._open) and self._open[-1].kind == "C_LBRACE" and not self._open[-1].questions
        )
