"""The rules of the policy, asked of one object: what each of them has to say, in words that name it and its place.

Rules under ``audit`` are asked as well; what they say is told apart and changes nothing. A condition that could not
be evaluated does what its rule does when in doubt, and is told as a failure by rule.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from webhook.admission.decision import NO_ACCOUNT, Account, Reason, Refusal, Told
from webhook.language.conditions import Scope
from webhook.language.policy import Denial, Failure, Policy


@dataclass(frozen=True, slots=True)
class Answer:
    """Why not, and who said so."""

    refusals: tuple[Refusal, ...] = ()
    account: Account = NO_ACCOUNT

    def __add__(self, other: Answer) -> Answer:
        """Both, in this order."""
        return Answer(self.refusals + other.refusals, self.account + other.account)


@dataclass(frozen=True, slots=True)
class Routed:
    """The queue the routes name for an object without a label; None where none does, or `otherwise` refuses."""

    queue: str | None
    answer: Answer


def routed(policy: Policy, scope: Scope) -> Routed:
    """Routes in their order, then `otherwise`."""
    found = policy.route(scope)
    rule = None
    if found.queue is not None or found.denied is not None:
        rule = Told(f"route {found.rule or found.place}", found.place)
    account = Account(
        route=rule if found.queue is not None else None,
        audited=tuple(Told(f"route {name}", "") for name in found.audited),
        failed=failures("route", found.failures),
    )
    if rule is None or found.denied is None:
        return Routed(found.queue, Answer(account=account))
    refusal = Refusal(found.denied, rule.rule, rule.place, Reason.DENIED)
    return Routed(None, Answer((refusal,), account))


def accepted(policy: Policy, queue: str, scope: Scope, route: Told | None) -> Answer:
    """Whether the queue lets it in; a refusal names the route that sent it there as well."""
    found = policy.not_accepted(queue, scope)
    if found is None:
        return Answer()
    via = _source(route) if route else ""
    refusal = Refusal(found.message, "accept", ", ".join(found.places), Reason.ACCEPT, via)
    failed = tuple(Told(f"accept {queue}", one.place, one.message) for one in found.failures)
    return Answer((refusal,), Account(failed=failed))


def denied(policy: Policy, scope: Scope) -> Answer:
    """The ``deny`` rules that fire, in the order of files and lines."""
    said, audited = policy.denials(scope), policy.audited(scope)
    refusals = tuple(
        Refusal(denial.message, f"deny {denial.rule}", denial.place, Reason.DENIED)
        for denial in said
    )
    return Answer(refusals, _fired("deny", said, audited))


def warned(policy: Policy, scope: Scope) -> Account:
    """The ``warn`` rules that fire, likewise."""
    said, audited = policy.warnings(scope), policy.warnings(scope, audit=True)
    return Account(warned=_told("warn", said)) + _fired("warn", said, audited)


def failures(word: str, found: Iterable[Failure]) -> tuple[Told, ...]:
    """Rules that could not be asked; one without a name goes by its place."""
    return tuple(Told(f"{word} {one.rule or one.place}", one.place, one.message) for one in found)


def news(before: Account, after: Account) -> Account:
    """What rules say after a change that they did not say before it."""
    return Account(
        after.route,
        after.sets,
        *(
            tuple(one for one in now if (one.rule, one.place) not in _causes(was))
            for was, now in (
                (before.warned, after.warned),
                (before.audited, after.audited),
                (before.failed, after.failed),
            )
        ),
    )


def _causes(told: Iterable[Told]) -> set[tuple[str, str]]:
    return {(one.rule, one.place) for one in told}


def _fired(word: str, said: Iterable[Denial], audited: Iterable[Denial]) -> Account:
    under_audit = _told(word, audited)
    failed = _told(word, (denial for denial in (*said, *audited) if denial.failed))
    return Account(audited=under_audit, failed=failed)


def _told(word: str, denials: Iterable[Denial]) -> tuple[Told, ...]:
    return tuple(Told(f"{word} {one.rule}", one.place, one.message) for one in denials)


def _source(route: Told) -> str:
    """A route without a name is named by its place, once."""
    return route.rule if route.rule.endswith(route.place) else f"{route.rule} {route.place}"
