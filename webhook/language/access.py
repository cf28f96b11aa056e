"""Reading in conditions: variables, fields, keys, `has()`, and amounts by resource.

A field is checked against the schemas of all kinds the rule is for. At run time a field that is absent, or null (which
the API server drops before it stores), is an error; `has()` asks first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from webhook.language.expression import (
    Binary,
    Call,
    Expression,
    Index,
    Literal,
    Name,
    Select,
    render,
)
from webhook.language.failures import ConditionFailed, Mistake
from webhook.language.schemas import shape_of
from webhook.language.scope import NATIVE, VARIABLES, Names
from webhook.language.shapes import (
    ANY,
    BOOL,
    INT,
    REQUESTS,
    STRING,
    AmountOf,
    Each,
    ListOf,
    MapOf,
    Record,
    Shape,
    each,
)
from webhook.language.suggest import did_you_mean
from webhook.language.syntax import Span
from webhook.language.terms import Compiling, Run, Term, binary, computed, poisoned
from webhook.language.values import Quantity, name_of
from webhook.language.words import SYNONYMS
from webhook.model.quantity import Amount

_NO_FIELDS: Final = frozenset({"true", "false", "null", "in"})
"""Words CEL does not take after a dot."""


def compile_name(compiler: Compiling, names: Names, node: Name) -> Term:
    """A variable: a macro's own, or one of the table."""
    bound = compiler.bound(node.name)
    if bound is not None:
        at, shape = bound
        return Term(shape, lambda frame: frame.values[at], node)
    variable = VARIABLES.get(node.name)
    if variable is None or node.name not in names.variables:
        message, help_ = _unknown_variable(node.name, names, compiler.names_around())
        compiler.report("TG504", node.span, message, help_)
        return poisoned(node)
    shape = variable.shape(names.kinds)
    trusted = not isinstance(shape, Record | Each) and shape != ANY
    return Term(shape, variable.read, node, trusted)


def _unknown_variable(name: str, names: Names, around: Sequence[str]) -> tuple[str, str]:
    if name == "queue":
        return "`queue` is not known here", "a route chooses the queue, so no queue is known before"
    if name in VARIABLES:
        known = ", ".join(f"`{known}`" for known in sorted(names.variables))
        return f"`{name}` is not known here", f"known here: {known}"
    if name in names.aliases:
        return f"no variable named `{name}`", f"write `requests.{name}`"
    suggestion = did_you_mean(name, [*around, *sorted(names.variables)])
    return f"no variable named `{name}`", suggestion or f'a text stands in quotes: `"{name}"`'


def resource_of(node: Expression) -> tuple[str, Span] | None:
    """The resource that `requests.x` or `requests["x"]` names, and where."""
    match node:
        case Select(operand=Name(name="requests"), name=name, name_span=span):
            return name, span
        case Index(operand=Name(name="requests"), key=Literal(value=str(name), span=span)):
            return name, span
        case _:
            return None


def compile_resource(
    compiler: Compiling, names: Names, node: Expression, found: tuple[str, Span]
) -> Term:
    """An amount that is asked for, 0 where none is; ``found`` is what ``resource_of`` says of the node."""
    name, span = found
    resource = names.resource(name)
    if "requests" not in names.variables:
        return compile_name(compiler, names, Name("requests", node.span))
    if resource is None:
        known = [*names.aliases, *NATIVE]
        help_ = "write `pods`" if name == "pods" else did_you_mean(name, known)
        if not help_:
            alias, full = ("x", "example.com/x")
            if "/" in SYNONYMS.get(name, ""):
                alias, full = name, SYNONYMS[name]
            help_ = f'write `requests["{full}"]`, or declare `resource {alias} = {full}`'
        compiler.report("TG108", span, f"no resource named `{name}`", help_)
        return poisoned(node)
    return _amount(resource, node)


def _amount(resource: str, node: Expression) -> Term:
    def nano(scope: Any) -> Amount:
        amount: Amount = scope.requests.get(resource, 0)
        return amount

    def run(scope: Any) -> Quantity:
        return Quantity(scope.requests.get(resource, 0), resource)

    return Term(AmountOf(resource), run, node, True, nano=nano)


def split_resource(compiler: Compiling, names: Names, node: Binary) -> str | None:
    """`requests.nvidia.com/gpu` divides, `requests.big-gpu` subtracts: what was meant, else None."""
    parts: list[str] = []
    here = node.left
    while isinstance(here, Select):
        parts.insert(0, here.name)
        here = here.operand
    if here != Name("requests", node.span) or compiler.bound("requests") is not None:
        return None
    if not parts or names.resource(parts[0]) is not None:
        return None
    if node.operator == "/" or (node.operator == "-" and isinstance(node.right, Name)):
        return f"{'.'.join(parts)}{node.operator}{render(node.right)}"
    return None


def refuse_split(compiler: Compiling, resource: str, node: Binary) -> Term:
    """Say how a resource with a slash or a dash is written."""
    alias = "".join(c for c in resource.rpartition("/")[2] if c.isalnum()).lower() or "x"
    declared = resource if "/" in resource else f"example.com/{resource}"
    help_ = f'write `requests["{declared}"]` or declare `resource {alias} = {declared}`'
    does = "divides" if node.operator == "/" else "subtracts"
    message = f"`{node.operator}` {does} here: no resource `{resource}`"
    compiler.report("TG108", node.span, message, help_)
    return poisoned(node)


def compile_select(compiler: Compiling, node: Select) -> Term:
    """A field of an object, or a key of a map."""
    operand = compiler.term(node.operand)
    shape = field_shape(compiler, operand.shape, node)
    if shape is None:
        return poisoned(node)
    return Term(shape, _field(operand, node), node)


def field_shape(compiler: Compiling, shape: Shape, node: Select) -> Shape | None:
    """What a field is; None after a report that there is no such field."""
    if node.name in _NO_FIELDS:
        message = f"`{node.name}` cannot stand after a dot in CEL"
        compiler.report("TG501", node.name_span, message, f'in a map write `["{node.name}"]`')
        return None
    match shape:
        case Record(fields=fields) if node.name in fields:
            return shape_of(fields[node.name])
        case Record(fields=fields):
            message = f"no field `{node.name}` in {shape.title}"
            compiler.report("TG502", node.name_span, message, did_you_mean(node.name, fields))
            return None
        case Each(options=options):
            return _field_of_each(compiler, options, node)
        case MapOf(value=value):
            return value
        case _ if shape == ANY:
            return ANY
        case _:
            message = f"{shape.title} has no fields"
            compiler.report("TG503", node.name_span, message)
            return None


def _field_of_each(
    compiler: Compiling, options: Sequence[tuple[str, Shape]], node: Select
) -> Shape | None:
    """A field must exist in every kind the rule is for."""
    records = [(kind, shape) for kind, shape in options if isinstance(shape, Record)]
    having = [(kind, shape) for kind, shape in records if node.name in shape.fields]
    lacking = [kind for kind, shape in records if node.name not in shape.fields]
    if not lacking:
        return each((kind, shape_of(shape.fields[node.name])) for kind, shape in having)
    if having:
        message = f"a {_or(lacking)} has no field `{render(node)}`"
        help_ = f"restrict the rule: `for {', '.join(kind for kind, _ in having)}`"
    else:
        message = f"neither a {' nor a '.join(lacking)} has a field `{render(node)}`"
        known = sorted({field for _, shape in records for field in shape.fields})
        help_ = did_you_mean(node.name, known)
    compiler.report("TG502", node.name_span, message, help_)
    return None


def _or(kinds: Sequence[str]) -> str:
    return " and a ".join(kinds)


def _field(operand: Term, node: Select) -> Run:
    inner, name, span = operand.run, node.name, node.name_span
    text, drops_null = render(node), not isinstance(operand.shape, MapOf) and operand.shape != ANY

    def run(scope: Any) -> Any:
        holder = inner(scope)
        try:
            value = holder[name]
        except (KeyError, TypeError):
            raise ConditionFailed(_why(holder, text), span) from None
        if value is None and drops_null:
            raise ConditionFailed(f"`{text}` is absent", span)
        return value

    return run


def _why(holder: Any, text: str) -> str:
    if isinstance(holder, Mapping):
        return f"`{text}` is absent"
    return f"`{text}` cannot be read: what stands before the last dot is {name_of(holder)}"


def compile_index(compiler: Compiling, node: Index) -> Term:
    """An item of a list by its position, a value of a map by its key."""
    operand, key = compiler.term(node.operand), compiler.term(node.key)
    wanted, shape = _indexed(operand.shape)
    if shape is None:
        help_ = _index_help(operand, key)
        compiler.report("TG503", node.span, f"{operand.shape.title} has no `[ ]`", help_)
        return poisoned(node)
    if wanted is not None and key.shape not in (wanted, ANY):
        message = f"{operand.shape.title} is asked by {wanted.title}, not by {key.shape.title}"
        compiler.report("TG503", key.span, message)
        return poisoned(node)
    return Term(shape, binary(_item(render(node)), operand.run, key.run, node.span), node)


def _indexed(shape: Shape) -> tuple[Shape | None, Shape | None]:
    """The shape of keys, and of what stands there."""
    match shape:
        case ListOf(item=item):
            return INT, item
        case MapOf(value=value):
            return STRING, value
        case _:
            return None, ANY if shape == ANY else None


def _index_help(operand: Term, key: Term) -> str:
    if operand.shape == REQUESTS:
        return "name the resource by a literal text"
    if isinstance(operand.shape, Record | Each) and isinstance(key.constant, str):
        return f"write `{render(operand.node)}.{key.constant}`"
    return ""


def _item(text: str) -> Callable[[Any, Any], Any]:
    def item(holder: Any, key: Any) -> Any:
        if isinstance(holder, Mapping):
            if isinstance(key, str) and key in holder:
                return holder[key]
            raise Mistake(f"`{text}` is absent")
        if isinstance(holder, Sequence) and not isinstance(holder, str):
            return holder[_position(key, len(holder))]
        raise Mistake(f"{name_of(holder)} has no `[ ]`")

    return item


def _position(key: Any, length: int) -> int:
    if type(key) is float and key.is_integer():
        key = int(key)
    if type(key) is not int:
        raise Mistake(f"a list is asked by an int, not by {name_of(key)}")
    if not 0 <= key < length:
        raise Mistake(f"there is no item {key} in a list of {length}")
    return int(key)


def compile_has(compiler: Compiling, names: Names, node: Call) -> Term:
    """`has(a.b)`: is the field there; of an amount: is it more than 0."""
    argument = node.arguments[0]
    found = resource_of(argument) if compiler.bound("requests") is None else None
    if found is not None:
        amount = compile_resource(compiler, names, argument, found)
        nano = amount.nano
        return computed(BOOL, lambda s: nano(s) > 0, node) if nano else poisoned(node)
    if not isinstance(argument, Select):
        compiler.report("TG501", argument.span, "`has()` asks for a field", _has_help(argument))
        return poisoned(node)
    operand = compiler.term(argument.operand)
    if field_shape(compiler, operand.shape, argument) is None:
        return poisoned(node)
    return computed(BOOL, _presence(operand, argument), node)


def _has_help(argument: Expression) -> str:
    if isinstance(argument, Index):
        return f"write `{render(argument.key)} in {render(argument.operand)}`"
    return "write `has(object.spec.x)`"


def _presence(operand: Term, node: Select) -> Run:
    inner, name, span, text = operand.run, node.name, node.name_span, render(node)
    drops_null = not isinstance(operand.shape, MapOf) and operand.shape != ANY

    def run(scope: Any) -> bool:
        holder = inner(scope)
        if not isinstance(holder, Mapping):
            raise ConditionFailed(_why(holder, text), span)
        return name in holder and not (drops_null and holder[name] is None)

    return run
