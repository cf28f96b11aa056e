"""Conditions, from a tree to something that can be asked: types checked once, then closures.

What is accepted means what it means in CEL; what CEL has beyond the subset is refused here, with what to write
instead. All problems of a condition are found in one go. A condition that was compiled never raises anything but
``ConditionFailed``, whatever the object holds.
"""

from __future__ import annotations

from typing import Any, Final, TypeAlias
from typing import Literal as Choice

from webhook.language.access import (
    compile_has,
    compile_index,
    compile_name,
    compile_resource,
    compile_select,
    refuse_split,
    resource_of,
    split_resource,
)
from webhook.language.expression import (
    Binary,
    Call,
    Conditional,
    Expression,
    Index,
    ListLiteral,
    Literal,
    Logical,
    MapLiteral,
    Name,
    Refused,
    Select,
    Unary,
    render,
)
from webhook.language.failures import ConditionFailed, Mistake, Work
from webhook.language.functions import compile_call, counted
from webhook.language.macros import MOST_ROUNDS
from webhook.language.operators import (
    compile_binary,
    compile_conditional,
    compile_logical,
    compile_unary,
)
from webhook.language.problems import Fix, Problem, has_errors, problem
from webhook.language.records import dataclass
from webhook.language.scope import EVERYWHERE, IN_KINDS, IN_ROUTES, Names, Scope
from webhook.language.shapes import (
    ANY,
    BOOL,
    DOUBLE,
    INT,
    NULL,
    STRING,
    TIME,
    AmountOf,
    ListOf,
    MapOf,
    Shape,
    merged,
)
from webhook.language.syntax import Span
from webhook.language.terms import Run, Term, constant, framed, poisoned
from webhook.language.values import name_of, plain, text_of

__all__ = [
    "EVERYWHERE",
    "IN_KINDS",
    "IN_ROUTES",
    "Condition",
    "ConditionFailed",
    "Names",
    "Scope",
    "compile_condition",
]

Want: TypeAlias = Choice["bool", "any", "text"]
"""A condition proper, a value to be written into an object, a part of a message."""

_LITERALS: Final = {"int": INT, "double": DOUBLE, "string": STRING, "bool": BOOL, "null": NULL}
_SHOWN: Final = frozenset({INT, DOUBLE, STRING, BOOL, NULL, TIME, ANY})
UNKNOWN: Final = "?"
"""What a message shows where a value could not be computed."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A compiled condition; ``node`` is what it was compiled from."""

    node: Expression
    want: Want
    _run: Run

    def evaluate(self, scope: Scope) -> Any:
        """True or false where that was wanted, else the value as JSON. Raises ConditionFailed."""
        value = self._run(scope)
        if self.want != "bool":
            return self._written(value)
        if value is True or value is False:
            return value
        raise ConditionFailed(f"a condition is true or false, this is {name_of(value)}", self.span)

    def _written(self, value: Any) -> Any:
        try:
            return plain(value, Work())
        except Mistake as mistake:
            raise ConditionFailed(str(mistake), self.span) from None

    def text(self, scope: Scope) -> str:
        """As a message shows it; "?" where it fails."""
        try:
            return text_of(self._run(scope))
        except (ConditionFailed, Mistake):
            return UNKNOWN

    @property
    def span(self) -> Span:
        """Where it stands."""
        return self.node.span


def compile_condition(
    expression: Expression, *, names: Names, want: Want = "bool"
) -> tuple[Condition | None, tuple[Problem, ...]]:
    """The compiled condition, or None, and everything that was found; ``want`` is what it has to be."""
    compiler = Compiler(names)
    term = compiler.term(expression)
    problems = tuple(compiler.problems)
    if not has_errors(problems):
        problems += _unwanted(term, want)
    if has_errors(problems):
        return None, problems
    run = _in_frame(term.run) if compiler.has_macros else term.run
    return Condition(expression, want, run), problems


def _in_frame(run: Run) -> Run:
    """One frame for all macros of a condition: together they have the steps."""
    return lambda scope: run(framed(scope))


def compile_term(expression: Expression, names: Names) -> tuple[Term, tuple[Problem, ...]]:
    """The same for any value, compiled however many problems there are."""
    compiler = Compiler(names)
    term = compiler.term(expression)
    return term, tuple(compiler.problems)


def _unwanted(term: Term, want: Want) -> tuple[Problem, ...]:
    if want == "bool" and term.shape not in (BOOL, ANY):
        message = f"a condition is true or false, this is {term.shape.title}"
        return (problem("TG503", term.span, message),)
    if want == "text" and term.shape not in _SHOWN and not isinstance(term.shape, AmountOf):
        message = f"a message shows numbers, texts and amounts, this is {term.shape.title}"
        return (problem("TG511", term.span, message),)
    return ()


class Compiler:
    """One walk over an expression; gathers problems and goes on after each."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.problems: list[Problem] = []
        self.has_macros = False
        self._bound: list[tuple[str, Shape]] = []
        self._rounds = 1

    def report(self, code: str, span: Span, message: str, help_: str = "") -> None:
        """Note a finding; a help of one `write …` is a change an editor can make."""
        self.problems.append(problem(code, span, message, help=help_))

    def bound(self, name: str) -> tuple[int, Shape] | None:
        """Where a macro's variable stands among all that are bound here; the innermost of a name."""
        for at in reversed(range(len(self._bound))):
            if self._bound[at][0] == name:
                return at, self._bound[at][1]
        return None

    def names_around(self) -> list[str]:
        """The variables of the macros around."""
        return [name for name, _ in self._bound]

    def inside(self, node: Call, name: str, item: Shape, rounds: int) -> list[Term]:
        """What follows the variable in a macro, compiled with that variable bound."""
        outer = self._rounds
        self._rounds *= rounds
        if self._rounds > MOST_ROUNDS >= outer:
            message = (
                f"macros in each other may run {self._rounds:,} times here, at most {MOST_ROUNDS:,}"
            )
            help_ = "ask with fewer in each other; a list of unknown length counts 100"
            self.report("TG508", node.name_span, message, help_)
        self.has_macros = True
        self._bound.append((name, item))
        terms = [self.term(argument) for argument in node.arguments[1:]]
        self._bound.pop()
        self._rounds = outer
        return terms

    def term(self, node: Expression) -> Term:
        """The compiled form of a node."""
        found = resource_of(node) if self.bound("requests") is None else None
        if found is not None:
            return compile_resource(self, self.names, node, found)
        match node:
            case Literal(kind=kind, value=value):
                return constant(_LITERALS[kind], value, node)
            case Name():
                return compile_name(self, self.names, node)
            case Select():
                return compile_select(self, node)
            case Index():
                return compile_index(self, node)
            case Refused():
                return self._refused(node)
            case _:
                return self._joined(node)

    def _joined(self, node: Expression) -> Term:
        match node:
            case Call(function="has", operand=None):
                one = counted(self, node, 1)
                return compile_has(self, self.names, node) if one else poisoned(node)
            case Call():
                return compile_call(self, node)
            case Binary():
                meant = split_resource(self, self.names, node)
                return refuse_split(self, meant, node) if meant else compile_binary(self, node)
            case Logical():
                return compile_logical(self, node)
            case Unary():
                return compile_unary(self, node)
            case Conditional():
                return compile_conditional(self, node)
            case ListLiteral():
                return self._list(node)
            case MapLiteral():
                return self._map(node)
            case _:
                raise AssertionError(node)

    def _refused(self, node: Refused) -> Term:
        if node.code != "TG508" or all(found.code != "TG508" for found in self.problems):
            fix = _fix(node)
            self.problems.append(
                problem(node.code, node.span, node.message, help=node.help, fix=fix)
            )
        return poisoned(node)

    def _list(self, node: ListLiteral) -> Term:
        items = [self.term(item) for item in node.items]
        runs = tuple(item.run for item in items)
        shape: Shape = ListOf(merged(item.shape for item in items))
        return Term(shape, lambda scope: [run(scope) for run in runs], node, True)

    def _map(self, node: MapLiteral) -> Term:
        entries = [(self.term(key), self.term(value)) for key, value in node.entries]
        for key, _ in entries:
            if key.shape not in (STRING, ANY):
                message = f"a map has texts as keys, this is {key.shape.title}"
                self.report("TG501", key.span, message, _quoted(key))
        shape: Shape = MapOf(merged(value.shape for _, value in entries))
        return Term(shape, _pairs(entries), node, True)


def _quoted(key: Term) -> str:
    return f'write `"{render(key.node)}"`' if isinstance(key.node, Literal) else ""


def _pairs(entries: list[tuple[Term, Term]]) -> Run:
    runs = tuple((key.run, value.run, key.span) for key, value in entries)

    def run(scope: Any) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key_run, value_run, span in runs:
            key = key_run(scope)
            if type(key) is not str:
                raise ConditionFailed(f"a map has texts as keys, this is {name_of(key)}", span)
            if key in made:
                raise ConditionFailed(f"the key `{key}` stands twice in a map", span)
            made[key] = value_run(scope)
        return made

    return run


def _fix(node: Refused) -> Fix | None:
    """`64Gi` is replaced by `quantity("64Gi")`, where the help says exactly what to write."""
    text = node.help.removeprefix("write `").removesuffix("`")
    whole = node.help == f"write `{text}`" and "`" not in text
    return Fix(node.span, text, safe=True) if whole else None
