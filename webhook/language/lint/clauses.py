"""A condition as alternatives, each a set of literals: when it is true, when it is false, when it fails.

In CEL `&&` and `||` absorb an error of either side, so "is true" distributes over both exactly: an alternative is true
iff all its literals are. Hence no third value is needed to reason about truth. "Fails" is over-estimated on purpose:
a condition for which nothing is left of it cannot fail. At most 64 alternatives; what has more is given up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias, cast

from webhook.language.access import resource_of
from webhook.language.expression import (
    Binary,
    Call,
    Expression,
    Index,
    ListLiteral,
    Literal,
    Logical,
    Name,
    Select,
    Unary,
    render,
)
from webhook.language.lint import literals as lit
from webhook.language.lint.literals import Constant, How, Path
from webhook.language.records import dataclass
from webhook.model.quantity import NANO, QuantityError, parse_quantity

Clause: TypeAlias = frozenset[lit.Literal]
Clauses: TypeAlias = tuple[Clause, ...]
MOST: Final = 64
NEVER: Final[Clauses] = ()
ALWAYS: Final[Clauses] = (frozenset(),)

_FLIPPED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_OPPOSITE: Final = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}
_METHODS: Final = {"isLessThan": "<", "isGreaterThan": ">"}
_SHAPES: Final = frozenset({"startsWith", "endsWith", "contains"})


class TooMany(Exception):
    """More alternatives than anybody should look at."""


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads conditions. ``required`` says of a path into an object whether a valid one always has it."""

    aliases: Mapping[str, str]
    required: Callable[[Path], bool] = lambda path: False

    def true(self, node: Expression) -> Clauses:
        """When it is true. Raises TooMany."""
        return self._value(node, True)

    def false(self, node: Expression) -> Clauses:
        """When it is false. Raises TooMany."""
        return self._value(node, False)

    def fails(self, node: Expression) -> Clauses:
        """When it may fail, over-estimated. Raises TooMany."""
        match node:
            case Logical(operator=operator, operands=operands):
                return self._chain_fails(operands, operator == "&&")
            case Unary(operator="!", operand=operand):
                return self.fails(operand)
            case Literal():
                return NEVER
            case _:
                return _bounded(frozenset({literal}) for literal in self._failures(node))

    def _value(self, node: Expression, wanted: bool) -> Clauses:
        match node:
            case Logical(operator=operator, operands=operands):
                parts = [self._value(operand, wanted) for operand in operands]
                return all_of(parts) if (operator == "&&") == wanted else any_of(parts)
            case Unary(operator="!", operand=operand):
                return self._value(operand, not wanted)
            case Literal(kind="bool", value=value):
                return ALWAYS if value is wanted else NEVER
            case _:
                return (frozenset({self.atom(node, wanted)}),)

    def _chain_fails(self, operands: tuple[Expression, ...], conjunction: bool) -> Clauses:
        """One fails, and no other decides: those that cannot fail are true (or false, in `||`)."""
        failing = [self.fails(operand) for operand in operands]
        found: list[Clauses] = []
        for at, mine in enumerate(failing):
            if mine:
                others = [
                    self._value(operand, conjunction)
                    for number, operand in enumerate(operands)
                    if number != at and not failing[number]
                ]
                found.append(all_of([mine, *others]))
        return any_of(found)

    def _failures(self, node: Expression) -> list[lit.Literal]:
        """How an atom may fail."""
        atom = self.atom(node, True)
        match atom:
            case lit.There(path):
                return self._missing(path[:-1])
            case lit.Opaque():
                groups = isinstance(node, Binary) and node.right == Name("groups", node.span)
                safe = groups and isinstance(node, Binary) and isinstance(node.left, Literal)
                return [] if safe else [lit.Unknown()]
            case lit.OneOf(path) | lit.NoneOf(path):
                bare = isinstance(node, Name | Select | Index)  # a bool, hopefully
                return [*self._missing(path), *([lit.Unknown()] if bare else [])]
            case lit.Between(path) | lit.Shaped(path):
                typed = lit.always(path) or lit.is_map_of_texts(path[:-1])
                return [*self._missing(path), *([] if typed else [lit.Unknown()])]
            case _:
                return [lit.Unknown()]

    def _missing(self, path: Path) -> list[lit.Literal]:
        return [] if lit.always(path) or self.required(path) else [lit.Missing(path)]

    def atom(self, node: Expression, wanted: bool) -> lit.Literal:
        """What has no `&&`, `||` or `!` at its top, as a literal."""
        found = self._understood(node, wanted)
        if found is not None:
            return found
        if isinstance(node, Binary) and node.operator == "!=":
            node, wanted = Binary("==", node.left, node.right, node.span), not wanted
        return lit.Opaque(render(node), wanted, node)

    def _understood(self, node: Expression, wanted: bool) -> lit.Literal | None:
        match node:
            case Binary(operator="in", left=left, right=right):
                return self._membership(left, right, wanted)
            case Binary(operator=operator, left=left, right=right) if operator in _FLIPPED:
                return self._comparison(operator, left, right, wanted)
            case Call(operand=None, function="has", arguments=(argument,)):
                return self._presence(argument, wanted)
            case Call(operand=receiver, function=function, arguments=(argument,)) if receiver:
                return self._method(receiver, function, argument, wanted)
            case Name() | Select() | Index():
                path = self.path(node)
                value: Constant = ("bool", wanted)
                return lit.OneOf(path, frozenset({value})) if path is not None else None
            case _:
                return None

    def _method(
        self, operand: Expression, function: str, argument: Expression, wanted: bool
    ) -> lit.Literal | None:
        if function in _METHODS:
            return self._comparison(_METHODS[function], operand, argument, wanted)
        path = self.path(operand)
        if path is None or function not in _SHAPES:
            return None
        if isinstance(argument, Literal) and isinstance(argument.value, str):
            return lit.Shaped(path, cast(How, function), argument.value, wanted)
        return None

    def _presence(self, argument: Expression, wanted: bool) -> lit.Literal | None:
        path = self.path(argument)
        if path is None or len(path) < 2:
            return None
        if path[0] == "requests":
            more = lit.Between(path, low=0, low_open=True)
            return more if wanted else lit.Between(path, high=0)
        return lit.There(path) if wanted else lit.Absent(path)

    def _membership(self, left: Expression, right: Expression, wanted: bool) -> lit.Literal | None:
        path = self.path(left)
        if path is not None and isinstance(right, ListLiteral):
            values = [self._constant(item, path) for item in right.items]
            known = frozenset(value for value in values if value is not None)
            if None in values:
                return None
            return lit.OneOf(path, known) if wanted else lit.NoneOf(path, known)
        holder = self.path(right)
        if holder is None or not lit.is_map_of_texts(holder):
            return None
        if not (isinstance(left, Literal) and isinstance(left.value, str)):
            return None
        key = (*holder, left.value)
        return lit.There(key) if wanted else lit.Absent(key)

    def _comparison(
        self, operator: str, left: Expression, right: Expression, wanted: bool
    ) -> lit.Literal | None:
        path = self.path(left)
        if path is None:
            path, right, operator = self.path(right), left, _FLIPPED[operator]
        value = self._constant(right, path) if path is not None else None
        if path is None or value is None:
            return None
        if operator in ("==", "!="):
            same = (operator == "==") == wanted
            return (lit.OneOf if same else lit.NoneOf)(path, frozenset({value}))
        if value[0] != "num":
            return None
        return _interval(path, operator if wanted else _OPPOSITE[operator], value)

    def _constant(self, node: Expression, path: Path) -> Constant | None:
        """A literal value, amounts in nano-units; None for anything else."""
        amount = path[0] == "requests"
        match node:
            case Literal(kind="int", value=int(number)):
                return ("num", number * NANO if amount else number)
            case Literal(kind="double", value=float(number)) if not amount:
                return ("num", number)
            case Literal(kind="string", value=str(text)) if not amount:
                return ("str", text)
            case Literal(kind="bool", value=bool(flag)) if not amount:
                return ("bool", flag)
            case Literal(kind="null") if not amount:
                return ("null", None)
            case Call(operand=None, function="quantity", arguments=(Literal(value=str(text)),)) if (
                amount
            ):
                return _quantity(text)
            case _:
                return None

    def path(self, node: Expression) -> Path | None:
        """The term a node is; None where it is none, or one that is not reasoned about."""
        found = resource_of(node)
        if found is not None:
            return ("requests", self.aliases.get(found[0], found[0]))
        match node:
            case Name(name=name):
                return None if name in ("requests", "oldObject") else (name,)
            case Select(operand=operand, name=name):
                inner = self.path(operand)
                return (*inner, name) if inner is not None else None
            case Index(
                operand=operand, key=Literal(kind="string" | "int", value=str() | int() as key)
            ):
                inner = self.path(operand)
                return (*inner, key) if inner is not None else None
            case _:
                return None


def _quantity(text: str) -> Constant | None:
    try:
        return ("num", parse_quantity(text))
    except QuantityError:
        return None


def _interval(path: Path, operator: str, value: Constant) -> lit.Between:
    number = cast("int | float", value[1])
    if operator in ("<", "<="):
        return lit.Between(path, high=number, high_open=operator == "<")
    return lit.Between(path, low=number, low_open=operator == ">")


def any_of(parts: Iterable[Clauses]) -> Clauses:
    """Alternatives of all."""
    return _bounded(clause for part in parts for clause in part)


def all_of(parts: Iterable[Clauses]) -> Clauses:
    """Each alternative of one with each of the others."""
    product: Clauses = ALWAYS
    for part in parts:
        product = _bounded(before | clause for before in product for clause in part)
    return product


def _bounded(clauses: Iterable[Clause]) -> Clauses:
    found: dict[Clause, None] = {}
    for clause in clauses:
        found[clause] = None
        if len(found) > MOST:
            raise TooMany
    return tuple(found)
