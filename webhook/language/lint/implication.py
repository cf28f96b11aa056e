"""Which conditions imply which: the proofs behind "can never" and "always".

Nothing here is found by trying: a claim rests on literals that contradict, or on one alternative that implies another
literal by literal. Where a proof is not found the answer is no, and the lint is silent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from math import prod

from webhook.language.expression import Expression
from webhook.language.lint.clauses import MOST, Clause, Clauses, Reader, TooMany, all_of
from webhook.language.lint.facts import Facts
from webhook.language.lint.literals import Literal, OneOf


def possible(clauses: Iterable[Clause]) -> list[tuple[Clause, Facts]]:
    """The alternatives that do not contradict themselves, each with what it says."""
    found = [(clause, Facts(clause)) for clause in clauses]
    return [(clause, facts) for clause, facts in found if not facts.contradictory()]


def cases(clauses: Iterable[Clause]) -> Iterator[Clause]:
    """The same alternatives, a value out of a short list being one each: several others may cover them together."""
    for clause in clauses:
        lists = [one for one in clause if isinstance(one, OneOf) and len(one.values) > 1]
        if not lists or prod(len(one.values) for one in lists) > MOST:
            yield clause
            continue
        rest = clause.difference(lists)
        for values in product(*(sorted(one.values, key=repr) for one in lists)):
            chosen = zip(lists, values, strict=True)
            yield rest | {OneOf(one.path, frozenset({value})) for one, value in chosen}


def implies(left: Clauses, right: Clauses) -> bool:
    """True where certainly whatever makes ``left`` true makes ``right`` true."""
    return all(any(covers(facts, clause) for clause in right) for _, facts in possible(cases(left)))


def covers(facts: Facts, clause: Clause) -> bool:
    """True where every literal of the alternative follows."""
    return all(facts.implies(literal) for literal in clause)


def disjoint(left: Clauses, right: Clauses) -> bool:
    """True where certainly nothing makes both true. Raises TooMany."""
    return not possible(all_of([left, right]))


def never_true(reader: Reader, node: Expression, given: Clauses) -> bool:
    """True where the condition certainly is never true under ``given``."""
    try:
        return not possible(all_of([given, reader.true(node)]))
    except TooMany:
        return False


def never_fails(reader: Reader, node: Expression, given: Clauses) -> bool:
    """True where it certainly can be evaluated, whatever was submitted."""
    try:
        return not possible(all_of([given, reader.fails(node)]))
    except TooMany:
        return False


def always_true(reader: Reader, node: Expression, given: Clauses) -> bool:
    """True where it certainly is true whatever was submitted: never false, and never fails."""
    try:
        never_false = not possible(all_of([given, reader.false(node)]))
    except TooMany:
        return False
    return never_false and never_fails(reader, node, given)


def conflict(clause: Clause) -> tuple[Literal, ...]:
    """The fewest literals of a contradictory alternative that contradict: one, two, or all."""
    literals = sorted(clause, key=repr)
    for literal in literals:
        if Facts([literal]).contradictory():
            return (literal,)
    for at, first in enumerate(literals):
        for second in literals[at + 1 :]:
            if Facts([first, second]).contradictory():
                return (first, second)
    return tuple(literals)
