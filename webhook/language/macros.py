"""Macros of conditions: `all exists exists_one filter map`, a name for each item and what is asked of it.

As in CEL: of a map the keys are the items; `all` and `exists` absorb the error of an item where another decides, the
others fail with it. A name hides one of the same outside. How often macros in each other run is bounded before
anything runs, and the steps they take together while they do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from webhook.language.expression import (
    Binary,
    Call,
    Conditional,
    Expression,
    ListLiteral,
    MapLiteral,
    Name,
    children,
    render,
)
from webhook.language.failures import ConditionFailed, Mistake, TooCostly, failed
from webhook.language.shapes import ANY, BOOL, REQUESTS, STRING, ListOf, MapOf, Shape, is_object
from webhook.language.terms import Compiling, Frame, Run, Term, computed, framed, poisoned
from webhook.language.values import is_list, name_of

MACROS: Final = ("all", "exists", "exists_one", "filter", "map")
MOST_ROUNDS: Final = 1_000_000
"""How often the innermost of macros in each other may run, as far as the text tells."""
UNKNOWN_LENGTH: Final = 100
"""What a list counts whose length only the object knows."""

_RESERVED: Final = frozenset(
    {"as", "break", "const", "continue", "else", "for", "function", "if", "import", "let", "loop"}
    | {"namespace", "package", "return", "var", "void", "while", "__result__"}
)
"""Words that CEL keeps for itself; no variable there has such a name."""
_EXAMPLES: Final[Mapping[str, str]] = {
    "filter": 'groups.filter(g, g != "ml")',
    "map": "groups.map(g, size(g))",
}

_Walk = Callable[[Any], Iterator[Frame]]


def compile_macro(compiler: Compiling, node: Call, operand: Expression) -> Term:
    """A macro with its variable bound in what follows it."""
    source = compiler.term(operand)
    name = _variable(compiler, node)
    item = _item(compiler, source)
    if name is None:
        return poisoned(node)
    terms = compiler.inside(node, name, item or ANY, length(operand))
    tests = terms[:-1] if node.function == "map" else terms
    right = [_is_test(compiler, node, test) for test in tests]
    if item is None or not all(right):
        return poisoned(node)
    walk = _walk(source, node, sum(map(_parts, node.arguments[1:])))
    return computed(_shape(node, item, terms), _run(node, walk, terms), node)


def _variable(compiler: Compiling, node: Call) -> str | None:
    """The name a macro gives each item; None after a report."""
    counts = (2, 3) if node.function == "map" else (2,)
    if len(node.arguments) not in counts:
        example = _EXAMPLES.get(node.function, f'groups.{node.function}(g, g == "ml")')
        message = f"`{node.function}` takes a name and what is asked of each item"
        compiler.report("TG503", node.name_span, message, f"as in `{example}`")
        return None
    first = node.arguments[0]
    if not isinstance(first, Name):
        message = f"`{node.function}` begins with a name for each item"
        compiler.report("TG501", first.span, message, "a bare word, such as `x`")
        return None
    if first.name in _RESERVED:
        message = f"`{first.name}` is a reserved word of CEL"
        compiler.report("TG501", first.span, message, "give the item another name, such as `x`")
        return None
    return first.name


def _item(compiler: Compiling, source: Term) -> Shape | None:
    """What the items are; None after a report that there are none."""
    match source.shape:
        case ListOf(item=item):
            return item
        case MapOf():
            return STRING
        case shape if shape == ANY:
            return ANY
        case shape:
            help_ = (
                'write `requests.cpu`, or `requests["nvidia.com/gpu"]`' if shape == REQUESTS else ""
            )
            if is_object(shape):
                help_ = "macros walk over lists and maps; ask for a field with `has()`"
            compiler.report("TG503", source.span, f"{shape.title} has no items", help_)
            return None


def _is_test(compiler: Compiling, node: Call, test: Term) -> bool:
    if test.shape in (BOOL, ANY):
        return True
    message = f"`{node.function}` asks each item for a bool, this is {test.shape.title}"
    compiler.report("TG503", test.span, message)
    return False


def _shape(node: Call, item: Shape, terms: list[Term]) -> Shape:
    match node.function:
        case "filter":
            return ListOf(item)
        case "map":
            return ListOf(terms[-1].shape)
        case _:
            return BOOL


def length(node: Expression) -> int:
    """How many items a list has at most, as far as the text tells."""
    match node:
        case ListLiteral(items=parts) | MapLiteral(entries=parts):
            return len(parts)
        case Binary(operator="+", left=left, right=right):
            return length(left) + length(right)
        case Conditional(then=then, otherwise=otherwise):
            return max(length(then), length(otherwise))
        case Call(function="filter" | "map", operand=operand) if operand is not None:
            return length(operand)
        case _:
            return UNKNOWN_LENGTH


def _parts(node: Expression) -> int:
    """The parts of an expression: the steps that computing it once takes, loops apart."""
    return 1 + sum(map(_parts, children(node)))


def _walk(source: Term, node: Call, steps: int) -> _Walk:
    """A frame for each item; every one costs some steps."""
    inner, span, written = source.run, source.span, render(source.node)

    def walk(scope: Any) -> Iterator[Frame]:
        outer = framed(scope)
        root, values, work = outer.root, outer.values, outer.work
        items = inner(outer)
        if not isinstance(items, Mapping) and not is_list(items):
            message = f"`{written}` has no items: it is {name_of(items)}"
            raise ConditionFailed(message, span)
        for item in items:
            try:
                work.spend(steps)
            except Mistake as mistake:
                raise failed(mistake, node.span) from None
            yield Frame(root, (*values, item), work)

    return walk


def _run(node: Call, walk: _Walk, terms: list[Term]) -> Run:
    match node.function:
        case "all" | "exists":
            return _decided(walk, _test(node, terms[0]), node.function == "exists")
        case "exists_one":
            test = _test(node, terms[0])
            return lambda scope: sum(map(test, walk(scope))) == 1
        case "filter":
            test = _test(node, terms[0])
            return lambda scope: [frame.values[-1] for frame in walk(scope) if test(frame)]
        case _:
            return _mapped(walk, [_test(node, term) for term in terms[:-1]], terms[-1].run)


def _mapped(walk: _Walk, tests: list[Run], made: Run) -> Run:
    if not tests:
        return lambda scope: [made(frame) for frame in walk(scope)]
    (test,) = tests
    return lambda scope: [made(frame) for frame in walk(scope) if test(frame)]


def _test(node: Call, term: Term) -> Run:
    inner, span, name = term.run, term.span, node.function

    def run(frame: Any) -> bool:
        value = inner(frame)
        if isinstance(value, bool):
            return value
        raise ConditionFailed(f"`{name}` asks for a bool, this is {name_of(value)}", span)

    return run


def _decided(walk: _Walk, test: Run, decisive: bool) -> Run:
    """`exists` is `||` over the items, `all` is `&&`: one that decides is enough, whatever errors others meet."""

    def run(scope: Any) -> bool:
        first: ConditionFailed | None = None
        for frame in walk(scope):
            try:
                value: bool = test(frame)
            except TooCostly:
                raise
            except ConditionFailed as failure:
                first = first or failure
                continue
            if value is decisive:
                return decisive
        if first is not None:
            raise first
        return not decisive

    return run
