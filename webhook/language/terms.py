"""A compiled part of a condition: what is known of its value, and the function that computes it.

Compiling joins small closures; nothing is looked up by name at run time but what the object itself holds. An amount
can also be had as a plain int of nano-units, which keeps `requests.gpu > 64` at one subtraction's cost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol, TypeAlias

from webhook.language.expression import Call, Expression
from webhook.language.failures import ConditionFailed, Mistake, Work, failed
from webhook.language.records import dataclass
from webhook.language.shapes import ANY, AmountOf, Shape
from webhook.language.syntax import Span
from webhook.language.values import Quantity
from webhook.model.quantity import Amount

Run: TypeAlias = Callable[[Any], Any]
"""From a Scope, or a Frame, to a value."""
NOT_CONSTANT: Final = object()


class Frame:
    """A Scope with the variables of macros in front, outermost first, and what is left of the work.

    Everything else is read from it as from the Scope itself.
    """

    __slots__ = ("root", "values", "work")

    def __init__(self, root: Any, values: tuple[Any, ...], work: Work) -> None:
        self.root, self.values, self.work = root, values, work

    def __getattr__(self, name: str) -> Any:
        return getattr(self.root, name)


def framed(scope: Any) -> Frame:
    """The frame that a scope is, or a new one."""
    return scope if type(scope) is Frame else Frame(scope, (), Work())


@dataclass(frozen=True, slots=True)
class Term:
    """``trusted``: the value has the shape for certain, as we made it; else the run asks again."""

    shape: Shape
    run: Run
    node: Expression
    trusted: bool = False
    constant: Any = NOT_CONSTANT
    nano: Callable[[Any], Amount] | None = None

    @property
    def span(self) -> Span:
        """Where it stands."""
        return self.node.span

    @property
    def is_constant(self) -> bool:
        """True where the value is known without a request."""
        return self.constant is not NOT_CONSTANT


class Compiling(Protocol):
    """What operators and functions need of the compiler."""

    def term(self, node: Expression) -> Term:
        """The compiled form of a node; its problems are reported on the way."""

    def report(self, code: str, span: Span, message: str, help_: str = "") -> None:
        """Note a finding; compiling goes on so that the others are found, too."""

    def bound(self, name: str) -> tuple[int, Shape] | None:
        """Where in a Frame's values a macro's variable stands, and its shape; None for other names."""

    def names_around(self) -> list[str]:
        """The variables of the macros around, for suggestions."""

    def inside(self, node: Call, name: str, item: Shape, rounds: int) -> list[Term]:
        """What follows the variable in a macro, with that variable bound; it runs so many times."""


def poisoned(node: Expression) -> Term:
    """Stands for what was already reported: it fits everywhere and never runs."""

    def run(scope: Any) -> Any:
        raise ConditionFailed("this part of the condition was refused", node.span)

    return Term(ANY, run, node)


def constant(shape: Shape, value: Any, node: Expression) -> Term:
    """A term whose value is known."""
    nano = (lambda scope: value.nano) if isinstance(value, Quantity) else None
    return Term(shape, lambda scope: value, node, True, value, nano)


def computed(shape: Shape, run: Run, node: Expression) -> Term:
    """A term whose value we make ourselves."""
    nano = (lambda scope: run(scope).nano) if isinstance(shape, AmountOf) else None
    return Term(shape, run, node, True, nano=nano)


def unary(operation: Callable[[Any], Any], operand: Run, span: Span) -> Run:
    """The operation, its mistakes with their place."""

    def run(scope: Any) -> Any:
        try:
            return operation(operand(scope))
        except Mistake as mistake:
            raise failed(mistake, span) from None

    return run


def binary(operation: Callable[[Any, Any], Any], left: Run, right: Run, span: Span) -> Run:
    """The same for two operands, left first."""

    def run(scope: Any) -> Any:
        try:
            return operation(left(scope), right(scope))
        except Mistake as mistake:
            raise failed(mistake, span) from None

    return run


def laborious(
    operation: Callable[[Any, Any, Work | None], Any], left: Run, right: Run, span: Span
) -> Run:
    """The same for what takes long on long values: it counts its steps where a macro may repeat it."""

    def run(scope: Any) -> Any:
        work = scope.work if type(scope) is Frame else None
        try:
            return operation(left(scope), right(scope), work)
        except Mistake as mistake:
            raise failed(mistake, span) from None

    return run
