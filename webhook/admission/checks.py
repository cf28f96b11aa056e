"""Every reason to refuse a workload, all at once: each one line, with the rule, its place and the numbers."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from webhook.admission.asked import Answer, accepted, denied
from webhook.admission.decision import Reason, Refusal, Told
from webhook.admission.rules import Rules
from webhook.admission.subject import Subject
from webhook.language.conditions import Scope
from webhook.language.policy import Policy, UnknownPriority
from webhook.model.kinds import Key
from webhook.quota.flavors import uncovered
from webhook.quota.never import never_fits

LONGEST_NAME = 63


def judged(
    rules: Rules, subject: Subject, scope: Scope, *, enters: bool, route: Told | None = None
) -> Answer:
    """Whether this workload may wait in the queue its label names, and why not; its ``warn`` rules apart.

    ``enters``: it was not in this queue before, so that the queue is asked whether it accepts it.
    """
    policy, queue = rules.policy, subject.queue or ""
    priority = unknown_priority(policy, subject)
    unknown = unknown_queue(policy, queue)
    if unknown:
        return Answer((unknown, *priority))
    answer = accepted(policy, queue, scope, route) if enters else Answer()
    return answer + denied(policy, scope) + Answer((*priority, *_quota(rules, subject)))


def unknown_queue(policy: Policy, name: str) -> Refusal | None:
    """A queue no policy file declares, with the nearest name that one does."""
    if name in policy.quotas.queues:
        return None
    text = f"no queue named {name!r}{_hint(name, list(policy.quotas.queues))}"
    return Refusal(text, reason=Reason.UNKNOWN_QUEUE)


def unknown_priority(policy: Policy, subject: Subject) -> tuple[Refusal, ...]:
    """A priority label that no policy file declares."""
    if not isinstance(subject.priority, UnknownPriority):
        return ()
    name = subject.priority.label
    hint = _hint(name, list(policy.priorities))
    text = f"no priority named {name!r} (label {Key.PRIORITY}){hint}"
    return (Refusal(text, reason=Reason.UNKNOWN_PRIORITY),)


def _quota(rules: Rules, subject: Subject) -> tuple[Refusal, ...]:
    queue = rules.policy.quotas.queues[subject.queue or ""]
    rule = f"queue {queue.name}"
    bare = uncovered(queue, subject.pod_sets)
    if bare:
        text = f"queue {queue.name} has no quota for {', '.join(bare)}"
        return (Refusal(text, rule, queue.place, Reason.UNCOVERED),)
    never = never_fits(rules.tree, queue.name, subject.pod_sets)
    if never is None:
        return ()
    return (Refusal(f"can never start: {never.text}", rule, queue.place, Reason.NEVER_FITS),)


def _hint(name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name[:LONGEST_NAME], known, n=1)
    if near:
        return f", did you mean {near[0]!r}?"
    return f"; there are {', '.join(sorted(known)[:8])}" if known else ""
