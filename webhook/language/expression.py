"""Conditions as values: the tree a condition is parsed to, and its text again.

Nodes are frozen and equal whatever their place. Building never fails: what may be read but not used (`64Gi`, `8u`,
an escape that does not exist, too deep a nesting) becomes a ``Refused`` node that carries its finding, so that one
mistake costs neither the statement around it nor the findings beside it. The compiler reports them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Final, TypeAlias
from typing import Literal as Choice

from lark import Token, Tree

from webhook.language.literals import Unreadable, read_number, read_text, write_literal
from webhook.language.records import dataclass

if TYPE_CHECKING:
    from webhook.language.syntax import Source, Span

Kind: TypeAlias = Choice["int", "double", "string", "bool", "null"]

DEEPEST: Final = 100
LONGEST: Final = 8192
"""Bounds of one condition: levels of nesting, parentheses included, and code points."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A value as it stands; ``kind`` keeps 1, 1.0 and true apart, which Python finds equal.

    ``written`` is a text with its quotes, where it was read: so a place inside it can be found.
    """

    kind: Kind
    value: int | float | str | bool | None
    span: Span = field(compare=False)
    written: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Name:
    """A variable."""

    name: str
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Select:
    """``operand.name``."""

    operand: Expression
    name: str
    span: Span = field(compare=False)
    name_span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Index:
    """``operand[key]``."""

    operand: Expression
    key: Expression
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """``function(arguments)``, or ``operand.function(arguments)``."""

    operand: Expression | None
    function: str
    arguments: tuple[Expression, ...]
    span: Span = field(compare=False)
    name_span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Unary:
    """``!operand`` or ``-operand``; the minus of a number belongs to the number."""

    operator: str
    operand: Expression
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Binary:
    """Comparison, arithmetic and ``in``."""

    operator: str
    left: Expression
    right: Expression
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Logical:
    """A chain of ``&&`` or of ``||``: flat, as an error is absorbed by any other operand."""

    operator: str
    operands: tuple[Expression, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Conditional:
    """``test ? then : otherwise``."""

    test: Expression
    then: Expression
    otherwise: Expression
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class ListLiteral:
    """``[a, b]``."""

    items: tuple[Expression, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class MapLiteral:
    """``{"a": 1}``."""

    entries: tuple[tuple[Expression, Expression], ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Refused:
    """What was read but may not be used, with what to say about it; ``text`` is as it was written."""

    text: str
    code: str
    message: str
    help: str
    span: Span = field(compare=False)


Expression: TypeAlias = (
    Literal | Name | Select | Index | Call | Unary | Binary | Logical | Conditional
    | ListLiteral | MapLiteral | Refused
)  # fmt: skip


def build(tree: Tree[Token], source: Source) -> Expression:
    """The expression of a tree of rule ``condition``."""
    meta = tree.meta
    if meta.end_pos - meta.start_pos > LONGEST:
        message = f"a condition has at most {LONGEST} characters, this one has"
        message = f"{message} {meta.end_pos - meta.start_pos}"
        help_ = "split it into several rules"
        return Refused("…", "TG508", message, help_, source.span(meta.start_pos, meta.end_pos))
    (top,) = _subtrees(tree)
    return _Builder(source).build(top, 1)


def _subtrees(tree: Tree[Token]) -> list[Tree[Token]]:
    return [part for part in tree.children if isinstance(part, Tree)]


def children(node: Expression) -> Iterator[Expression]:
    """The expressions directly inside one."""
    match node:
        case Select(operand=operand) | Unary(operand=operand):
            yield operand
        case Index(operand=operand, key=key):
            yield from (operand, key)
        case Call(operand=receiver, arguments=arguments):
            yield from arguments if receiver is None else (receiver, *arguments)
        case Binary(left=left, right=right):
            yield from (left, right)
        case Logical(operands=parts) | ListLiteral(items=parts):
            yield from parts
        case Conditional(test=test, then=then, otherwise=otherwise):
            yield from (test, then, otherwise)
        case MapLiteral(entries=entries):
            for entry in entries:
                yield from entry
        case _:
            return


class _Builder:
    """One walk over a tree; a method a rule. Every call goes one level deeper and is counted."""

    def __init__(self, source: Source) -> None:
        self._place = source.span

    def build(self, tree: Tree[Token], depth: int) -> Expression:
        span = self._place(tree.meta.start_pos, tree.meta.end_pos)
        if depth > DEEPEST:
            message = f"a condition is at most {DEEPEST} levels deep"
            return Refused("…", "TG508", message, "split it into several rules", span)
        tokens = [part for part in tree.children if isinstance(part, Token)]
        if tree.data in _LEAVES:
            return self._leaf(tree.data, tokens[0], span)
        if tree.data == "map":
            return MapLiteral(tuple(self._entry(part, depth) for part in _subtrees(tree)), span)
        built = [self.build(part, depth + 1) for part in _subtrees(tree)]
        return self._node(tree.data, built, tokens, span)

    def _entry(self, tree: Tree[Token], depth: int) -> tuple[Expression, Expression]:
        key, value = _subtrees(tree)
        return self.build(key, depth + 1), self.build(value, depth + 1)

    def _node(
        self, rule: str, built: list[Expression], tokens: list[Token], span: Span
    ) -> Expression:
        match rule:
            case "paren":
                return built[0]
            case "conditional":
                return Conditional(built[0], built[1], built[2], span)
            case "or" | "and":
                return Logical("||" if rule == "or" else "&&", tuple(built), span)
            case "relation" | "sum" | "product":
                return Binary(str(tokens[0]), built[0], built[1], span)
            case "not":
                return Unary("!", built[0], span)
            case "negative":
                return _negative(built[0], span)
            case "index":
                return Index(built[0], built[1], span)
            case "list":
                return ListLiteral(tuple(built), span)
            case _:
                return self._named(rule, built, tokens, span)

    def _named(
        self, rule: str, built: list[Expression], tokens: list[Token], span: Span
    ) -> Expression:
        """The rules with a name in them, which has a place of its own: a field, a function."""
        token = next(token for token in tokens if token.type in ("C_NAME", "C_FIELD"))
        place = self._place(token.start_pos or 0, token.end_pos or 0)
        if rule == "select":
            return Select(built[0], str(token), span, place)
        if rule == "method":
            return Call(built[0], str(token), tuple(built[1:]), span, place)
        return Call(None, str(token), tuple(built), span, place)

    def _leaf(self, rule: str, token: Token, span: Span) -> Expression:
        try:
            match rule:
                case "name":
                    return Name(str(token), span)
                case "constant":
                    kind, value = _CONSTANTS[str(token)]
                    return Literal(kind, value, span)
                case "number":
                    number = read_number(str(token))
                    return Literal("int" if isinstance(number, int) else "double", number, span)
                case _:
                    return Literal("string", read_text(str(token)), span, str(token))
        except Unreadable as problem:
            return Refused(str(token), problem.code, problem.message, problem.help, span)


_LEAVES: Final = frozenset({"name", "constant", "number", "string"})
_CONSTANTS: Final[dict[str, tuple[Kind, bool | None]]] = {
    "true": ("bool", True),
    "false": ("bool", False),
    "null": ("null", None),
}


def _negative(operand: Expression, span: Span) -> Expression:
    """The minus of a number is part of it: only so can the smallest int be written."""
    match operand:
        case Literal(kind="int", value=int(number)) if number >= 0:
            return Literal("int", -number, span)
        case Literal(kind="double", value=float(number)) if str(number)[0] != "-":
            return Literal("double", -number, span)
        case Refused(text="9223372036854775808"):
            return Literal("int", -(2**63), span)
        case _:
            return Unary("-", operand, span)


_LEVELS: Final = {"||": 1, "&&": 2, "+": 4, "-": 4, "*": 5, "/": 5, "%": 5}
_COMPARING: Final = 3
_PREFIX: Final = 6
_MEMBER: Final = 7


def _level(node: Expression) -> int:
    """How tightly a node binds; a conditional least of all."""
    match node:
        case Conditional():
            return 0
        case Logical(operator=operator) | Binary(operator=operator):
            return _LEVELS.get(operator, _COMPARING)
        case Unary():
            return _PREFIX
        case Literal(kind="int" | "double", value=int() | float() as number):
            return _PREFIX if str(number).startswith("-") else _MEMBER
        case _:
            return _MEMBER


def render(node: Expression, level: int = 0) -> str:
    """The text of an expression: parsed again it is equal. Parentheses only where they are needed."""
    text = _render(node)
    return f"({text})" if _level(node) < level else text


def _render(node: Expression) -> str:
    match node:
        case Literal(value=value):
            return write_literal(value)
        case Name(name=name):
            return name
        case Refused(text=text):
            return text
        case Select(operand=operand, name=name):
            return f"{render(operand, _MEMBER)}.{name}"
        case Index(operand=operand, key=key):
            return f"{render(operand, _MEMBER)}[{render(key)}]"
        case Call(operand=operand, function=function, arguments=arguments):
            receiver = "" if operand is None else f"{render(operand, _MEMBER)}."
            return f"{receiver}{function}({_list(arguments)})"
        case Unary(operator=operator, operand=operand):
            return operator + _prefixed(operator, operand)
        case ListLiteral(items=items):
            return f"[{_list(items)}]"
        case MapLiteral(entries=entries):
            return "{" + ", ".join(f"{render(k)}: {render(v)}" for k, v in entries) + "}"
        case _:
            return _render_operator(node)


def _render_operator(node: Logical | Binary | Conditional) -> str:
    match node:
        case Logical(operator=operator, operands=operands):
            level = _level(node) + 1
            return f" {operator} ".join(render(operand, level) for operand in operands)
        case Binary(operator=operator, left=left, right=right):
            level = _level(node)
            return f"{render(left, level)} {operator} {render(right, level + 1)}"
        case Conditional(test=test, then=then, otherwise=otherwise):
            return f"{render(test, 1)} ? {render(then, 1)} : {render(otherwise)}"


def _prefixed(operator: str, operand: Expression) -> str:
    """`!-x` is no CEL, and `-` before a positive number would become part of it."""
    same = isinstance(operand, Unary) and operand.operator == operator
    negative = operator == "-" and isinstance(operand, Literal) and _level(operand) == _PREFIX
    return render(operand, _PREFIX if same or negative else _MEMBER)


def _list(parts: tuple[Expression, ...]) -> str:
    return ", ".join(render(part) for part in parts)
