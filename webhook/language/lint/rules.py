"""Findings about the conditions of denies, warns and sets, and of routes that need none.

A deny denies where its condition fails; so one that can fail is never dead, and an unguarded key is a denial nobody
meant. Each claim is a proof, or, for what may be absent, an object with which the condition was seen to fail.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from webhook.language.expression import (
    Binary,
    Call,
    Expression,
    Index,
    Literal,
    Logical,
    Select,
    children,
    render,
)
from webhook.language.lint.clauses import TooMany, all_of
from webhook.language.lint.implication import always_true, never_fails, never_true, possible
from webhook.language.lint.literals import Path
from webhook.language.lint.routes import contradiction
from webhook.language.lint.rulebook import Rule
from webhook.language.lint.sets import Written
from webhook.language.lint.witness import Witness, build
from webhook.language.problems import Fix, Problem, problem
from webhook.language.syntax import Deny, Route, Set, Warn


def rule_findings(rules: Sequence[Rule]) -> Iterator[Problem]:
    """TG206, TG207, TG505 and TG506."""
    written = Written(rules)
    for rule in rules:
        if rule.condition is None:
            continue
        constant = _constant(rule, rule.condition)
        if constant is not None:
            yield constant
        elif isinstance(rule.node, Deny | Warn):
            yield from _unguarded(rule, rule.condition, written)


def _constant(rule: Rule, condition: Expression) -> Problem | None:
    if always_true(rule.reader, condition, rule.given):
        return _always(rule, condition)
    if isinstance(rule.node, Route) or not never_true(rule.reader, condition, rule.given):
        return None  # a route that never matches is TG202
    notes = contradiction(rule)
    if isinstance(rule.node, Set):
        message = "this condition never holds, so the set writes nothing"
        return problem("TG506", condition.span, message, notes=notes, help="remove the set")
    if isinstance(rule.node, Warn):
        message = "this condition never holds, so nobody is warned"
        return problem("TG506", condition.span, message, notes=notes, help="remove the warn")
    if not never_fails(rule.reader, condition, rule.given):
        return None  # where it fails it denies
    message = "this deny can never fire"
    advice = "remove it, or mend the condition"
    return problem("TG206", condition.span, message, notes=notes, help=advice)


def _always(rule: Rule, condition: Expression) -> Problem:
    whom = " or ".join(rule.kinds) if rule.kinds else "workload"
    if isinstance(rule.node, Deny):
        message = f"this deny refuses every {whom}"
        advice = "mend the condition; to stop a queue write `hold` in it"
        return problem("TG207", condition.span, message, help=advice)
    message = "this condition always holds"
    advice = "" if isinstance(rule.node, Warn) else f"leave out `when {render(condition)}`"
    return problem("TG506", condition.span, message, help=advice)


def _unguarded(rule: Rule, condition: Expression, written: Written) -> Iterator[Problem]:
    """TG505: a path that may be absent, with an object where it is; each path once."""
    try:
        failing = all_of([rule.given, rule.reader.fails(condition)])
    except TooMany:
        return
    told: set[Path] = set()
    for _, facts in possible(failing):
        for path in facts.missing - told:
            if written.touches(path):
                continue
            witness = build(facts)
            if witness is not None and rule.fails(witness.scope) and _absent(witness, path):
                told.add(path)
                yield from _absence(rule, condition, path, witness)


def _absent(witness: Witness, path: Path) -> bool:
    """True where the object really lacks it, so that it is what failed."""
    holder: object = witness.object
    rest = path[1:] if path[0] == "object" else ("metadata", *path)
    for part in rest:
        if not isinstance(holder, dict) or part not in holder:
            return True
        holder = holder[part]
    return False


def _absence(rule: Rule, condition: Expression, path: Path, witness: Witness) -> Iterator[Problem]:
    found = _reading(rule, condition, path)
    if found is None or path[0] not in ("object", "labels", "annotations"):
        return
    reading, atom, nested = found
    does = "denies" if isinstance(rule.node, Deny) else "warns"
    guard = _guard(reading)
    text = f"{guard} && {render(atom)}"
    fix = Fix(atom.span, f"({text})" if nested else text) if guard else None
    message = f"where `{render(reading)}` is absent this condition fails, and the rule {does}"
    advice = f"write `{text}`" if guard else "ask with `has()` first"
    yield problem("TG505", reading.span, message, notes=(witness.note,), help=advice, fix=fix)


def _guard(reading: Expression) -> str:
    """What asks whether it is there."""
    if isinstance(reading, Select):
        return f"has({render(reading)})"
    if isinstance(reading, Index) and isinstance(reading.key, Literal):
        return f"{render(reading.key)} in {render(reading.operand)}"
    return ""


def _reading(
    rule: Rule, node: Expression, path: Path, atom: Expression | None = None, nested: bool = False
) -> tuple[Expression, Expression, bool] | None:
    """Where a path is read, the comparison around it, and whether that stands inside of `||` or `!`."""
    if isinstance(node, Select | Index) and rule.reader.path(node) == path:
        return node, atom or node, nested
    if isinstance(node, Binary | Call) and atom is None:
        if isinstance(node, Call) and node.function == "has":
            return None
        atom = node
    inside = nested or (not (isinstance(node, Logical) and node.operator == "&&") and atom is None)
    for child in children(node):
        found = _reading(rule, child, path, atom, inside)
        if found is not None:
            return found
    return None
