"""What is said in one way only: `borrow none` instead of `borrow 0`, clauses in one order, no comma at an end.

Works in place on the parts of one statement, and is repeated on the trees when the output is proven.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any, Final

from webhook.language.format.items import Block, Item, Leaf, Part
from webhook.language.syntax import Number, Share, Word
from webhook.model.quantity import QuantityError, parse_quantity

CLAUSES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "_GIVEN": ("_ON", "_BY", "_PRIORITY"),
        "_SUBMIT": ("_IN", "_BY", "_GROUPS", "_LABELS", "_PRIORITY", "_REQUESTS", "_PODS"),
    }
)
"""Statements whose clauses may stand in any order, and the order in which they are written."""
_HANGING: Final = frozenset({"C_AND", "C_OR", "C_COMMA", "_COMMA"})
"""Stand at the end of a line, never at its beginning."""
UNANCHORED: Final = _HANGING | {"_NL"}
"""What comes and goes between a comment and what it stands before."""
_CLOSING: Final = frozenset({"C_RPAR", "C_RSQB", "RBRACE"})


def make_canonical(item: Item) -> None:
    """Change the parts of a statement, and of those in its blocks."""
    item.parts = _in_order(item)
    item.parts = _hung(item.parts)
    _write_none(item.parts)
    for part in item.parts:
        if isinstance(part, Block):
            for inner in part.items:
                make_canonical(inner)


def _in_order(item: Item) -> list[Part]:
    order = CLAUSES.get(item.first.kind)
    if order is None:
        return item.parts
    clauses: list[tuple[int, list[Part]]] = [(-1, [])]
    for part in item.parts:
        if isinstance(part, Leaf) and part.kind in order:
            clauses.append((order.index(part.kind), []))
        clauses[-1][1].append(part)
    clauses.sort(key=lambda clause: clause[0])
    return [part for _, clause in clauses for part in clause]


def _hung(parts: list[Part]) -> list[Part]:
    """Line ends and comments before an operator or a comma come behind it; a comma before a bracket goes."""
    kept: list[Part] = []
    for part, after in zip(parts, [*parts[1:], None], strict=True):
        if isinstance(part, Leaf) and isinstance(after, Leaf) and part.kind in _HANGING:
            after.before[:0] = part.before
            after.broken = after.broken or part.broken
            part.before, part.broken = [], False
            if part.kind == "C_COMMA" and after.kind in _CLOSING:
                continue
        kept.append(part)
    return kept


def _write_none(parts: list[Part]) -> None:
    leaves = (part if isinstance(part, Leaf) else part.opening for part in parts)
    for part, after in pairwise(leaves):
        bound = part.kind in ("_BORROW", "_LEND") and after.kind == "NUMBER"
        if bound and _is_zero(after.text):
            after.kind, after.text = "WORD", "none"


def _is_zero(text: str) -> bool:
    try:
        return parse_quantity(text) == 0
    except QuantityError:
        return False


def nodes(tree: Any) -> Iterator[Any]:
    """Every node of a tree, or of several."""
    if isinstance(tree, tuple):
        for part in tree:
            yield from nodes(part)
    elif is_dataclass(tree):
        yield tree
        for f in fields(tree):
            if f.compare:
                yield from nodes(getattr(tree, f.name))


def canonical_tree(node: Any) -> Any:
    """A tree with `borrow none` in place of `borrow 0`, and its clauses in one order."""
    if isinstance(node, tuple):
        return tuple(canonical_tree(part) for part in node)
    if isinstance(node, Share):
        return replace(node, borrow=_none(node.borrow), lend=_none(node.lend))
    if not is_dataclass(node) or isinstance(node, type):
        return node
    inner = {f.name: canonical_tree(getattr(node, f.name)) for f in fields(node) if f.init}
    if "clauses" in inner:
        inner["clauses"] = tuple(sorted(inner["clauses"], key=_rank))
    return replace(node, **inner)


def _rank(clause: Any) -> tuple[str, bool]:
    """Any order will do, where the same clauses are in the same; `pods N each` and `requests` are one class."""
    return type(clause).__name__, getattr(clause, "count", None) is not None


def _none(bound: Number | Word | None) -> Number | Word | None:
    if isinstance(bound, Number) and _is_zero(bound.text):
        return Word("none", bound.span)
    return bound
