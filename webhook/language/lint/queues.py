"""Findings where rules meet queues: what a queue does not accept, and what fits into none.

TG205, TG402 and TG412, all proven. Amounts that a queue can ever have are those of the quota tree; caps and limits only
make them smaller, so leaving them out loses findings and invents none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from webhook.language.lint.capacity import Capacity
from webhook.language.lint.clauses import Clause, Clauses, TooMany, all_of, any_of
from webhook.language.lint.facts import Facts
from webhook.language.lint.implication import conflict, covers, possible
from webhook.language.lint.literals import Between, Literal, OneOf, Opaque, described
from webhook.language.lint.rulebook import Known, Rule
from webhook.language.lint.sets import Written
from webhook.language.lint.witness import build, shown
from webhook.language.names import Names
from webhook.language.problems import Problem, problem
from webhook.language.syntax import Accept, Bounded, Deny, Limit, Queue, Route
from webhook.model.quantity import Amount, format_quantity
from webhook.model.queues import FlavorResource, Quotas

_MOST_DENIES: Final = 100
"""So many about one resource are looked at for each queue."""
_FIXED: Final = frozenset({"namespace", "name", "user", "kind", "queue"})
"""What no set can change."""


def queue_findings(
    rules: Sequence[Rule], names: Names, quotas: Quotas, known: Known
) -> Iterator[Problem]:
    """TG205, TG402 and TG412."""
    written = Written(rules)
    yield from _not_accepted(rules, names, known, written)
    if not written.sizes:
        denies = [rule for rule in rules if isinstance(rule.node, Deny) and not rule.audit]
        yield from _never_fits(denies, quotas)
        yield from _below_the_least(denies, names, quotas, known)


def _not_accepted(
    rules: Sequence[Rule], names: Names, known: Known, written: Written
) -> Iterator[Problem]:
    accepted = {name: _accepts(member.node, known) for name, member in names.members.items()
                if isinstance(member.node, Queue)}  # fmt: skip
    for rule in rules:
        if not isinstance(rule.node, Route) or rule.audit or rule.true is None:
            continue
        name = rule.node.queue.text
        lines = accepted.get(name, ())
        if lines:
            yield from _refused(rule, name, lines, written)


def _accepts(node: Queue, known: Known) -> tuple[Rule, ...]:
    return tuple(
        Rule(part, known, condition=part.condition)
        for part in node.body
        if isinstance(part, Accept)
    )


def _refused(route: Rule, queue: str, lines: Sequence[Rule], written: Written) -> Iterator[Problem]:
    """TG205: every way to match excludes every way to be accepted."""
    assert isinstance(route.node, Route)  # noqa: S101 - the caller asked
    both = _both(route, queue, lines, written)
    if not both or not possible(route.true or ()) or possible(both):
        return
    pair = " and ".join(f"`{described(literal)}`" for literal in conflict(both[0]))
    message = f"queue `{queue}` accepts nothing that this route sends"
    yield problem(
        "TG205", route.node.queue.span, message, notes=(f"{pair} exclude each other",),
        others=tuple((line.span, "accepted is only this") for line in lines),
        help="whoever matches is refused: mend one of the two conditions",
    )  # fmt: skip


def _both(route: Rule, queue: str, lines: Sequence[Rule], written: Written) -> Clauses | None:
    entering: Clause = frozenset({OneOf(("queue",), frozenset({("str", queue)}))})
    if any(line.true is None for line in lines) or route.true is None:
        return None
    accepted = any_of(line.true or () for line in lines)
    lasting = tuple(
        frozenset(literal for literal in clause if _lasts(literal, written)) for clause in accepted
    )
    try:
        return all_of([route.true, (entering,), lasting])
    except TooMany:
        return None


def _lasts(literal: Literal, written: Written) -> bool:
    """True where the literal is about something that was so when the route was asked."""
    if not written.paths:
        return True
    if isinstance(literal, Opaque) or not hasattr(literal, "path"):
        return False
    return literal.path[0] in _FIXED


def _never_fits(denies: Sequence[Rule], quotas: Quotas) -> Iterator[Problem]:
    """TG412: all that could ever fit is denied."""
    capacity = Capacity(quotas)
    about = _about_sizes(denies)
    told: set[tuple[Rule, str]] = set()
    for name, most in _reachable(capacity, quotas).items():
        for resource, amount in most.items():
            facts = _fitting(name, resource, amount)
            rule = _denying(about.get(resource, ()), facts)
            if amount > 0 and rule is not None and (rule, resource) not in told:
                told.add((rule, resource))
                yield _too_small(rule, name, resource, amount, facts)


def _fitting(queue: str, resource: str, amount: int) -> Facts:
    """What asks for some of a resource in a queue, and for no more than so much."""
    clause: Clause = frozenset(
        {
            OneOf(("queue",), frozenset({("str", queue)})),
            Between(("requests", resource), low=0, low_open=True, high=amount),
        }
    )
    return Facts(clause)


def _denying(denying: Sequence[tuple[Clause, Rule]], facts: Facts) -> Rule | None:
    """The first of the first hundred that denies all of this."""
    return next((deny for clause, deny in denying[:_MOST_DENIES] if covers(facts, clause)), None)


def _below_the_least(
    denies: Sequence[Rule], names: Names, quotas: Quotas, known: Known
) -> Iterator[Problem]:
    """TG402: whoever stays within the limit is denied. Where the whole quota is too small that is TG412."""
    about, most = _about_sizes(denies), _reachable(Capacity(quotas), quotas)
    for name, resource, entry, bound in _limited(names, quotas, known):
        denying, there = about.get(resource, ()), most[name].get(resource, 0)
        facts = _fitting(name, resource, bound)
        rule = _denying(denying, facts)
        if rule is None or (there and _denying(denying, _fitting(name, resource, there))):
            continue
        witness = build(facts)
        confirmed = witness if witness is not None and rule.fires(witness.scope) else None
        message = f"nothing that {rule.name} lets through stays within this limit"
        yield problem(
            "TG402", entry.amount.span, message, notes=shown(confirmed),
            others=((rule.span, "denies all that is so small"),),
            help="raise the limit, or say for which queues the deny is",
        )  # fmt: skip


def _limited(
    names: Names, quotas: Quotas, known: Known
) -> Iterator[tuple[str, str, Bounded, Amount]]:
    """Every limit of an amount: queue, resource, where it is written, and the amount."""
    for name, queue in quotas.queues.items():
        node = names.members[name].node
        lines = [part for part in node.body if isinstance(part, Limit)]
        for line, limit in zip(lines, queue.limits, strict=True):
            for entry in line.entries:
                resource = known.aliases.get(entry.resource.text, entry.resource.text)
                bound = limit.resources.get(resource, 0)
                if bound:
                    yield name, resource, entry, bound


def _about_sizes(denies: Sequence[Rule]) -> Mapping[str, Sequence[tuple[Clause, Rule]]]:
    """By resource, the alternatives that are about nothing but its amount and the queue."""
    found: dict[str, list[tuple[Clause, Rule]]] = {}
    for rule in denies:
        for clause in rule.true or ():
            paths = {getattr(literal, "path", None) for literal in clause} - {("queue",)}
            path = paths.pop() if len(paths) == 1 else None
            if path is not None and path[0] == "requests":
                found.setdefault(str(path[1]), []).append((clause, rule))
    return found


def _reachable(capacity: Capacity, quotas: Quotas) -> Mapping[str, Mapping[str, int]]:
    """By queue and resource, the most one workload could ever get over all flavors."""
    found: dict[str, dict[str, int]] = {}
    for name, queue in quotas.queues.items():
        amounts = found.setdefault(name, {})
        for quota in queue.quotas:
            for resource in quota.shares:
                here = capacity.potential(name, FlavorResource(quota.flavor, resource))
                amounts[resource] = amounts.get(resource, 0) + here
    return found


def _too_small(rule: Rule, queue: str, resource: str, amount: int, facts: Facts) -> Problem:
    shown_amount = format_quantity(amount, resource)
    message = f"what this deny lets through never fits into queue `{queue}`"
    witness = build(facts)
    confirmed = witness if witness is not None and rule.fires(witness.scope) else None
    note = f"queue `{queue}` can never have more than {shown_amount} of {resource}"
    return problem(
        "TG412", rule.span, message, notes=(note, *shown(confirmed)),
        help="lower the bound, raise the quota, or say for which queues the deny is",
    )  # fmt: skip
