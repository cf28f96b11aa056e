"""What would become of one object, with everything that explains it: the queue and who named it, numbers, room.

The decision is that of ``submission``; here it is only looked up what the policy and the quota tree say about it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from webhook.admission.decision import Told
from webhook.admission.knowledge import Identity, Knowledge
from webhook.admission.rules import Rules
from webhook.admission.subject import Subject, read_subject
from webhook.language.policy import UnknownPriority
from webhook.model.kinds import Key, Object
from webhook.model.quantity import Amount, Amounts, add
from webhook.model.queues import FlavorResource
from webhook.rehearsal.submission import Submitted
from webhook.workloads.objects import BadObject, labels
from webhook.workloads.registry import ADAPTERS, adapter_for

PODS: Final = "pods"
"""Every workload asks for some; few queues count them."""


class Outcome(Enum):
    """What happens to an object."""

    QUEUED = "queued"
    REFUSED = "refused"
    IGNORED = "ignored"


@dataclass(frozen=True, slots=True)
class Reach:
    """What a queue has of one flavor and resource, and the most it could ever hold; nano-units.

    ``borrow`` is its own bound on borrowing, None without one; ``alone``: there is nobody to borrow from.
    """

    flavor: str
    resource: str
    own: Amount
    most: Amount
    borrow: Amount | None
    alone: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """One object's fate. ``why``: who named its queue, or why it is ignored; ``place`` is where that stands."""

    submitted: Submitted
    outcome: Outcome
    why: str
    place: str = ""
    priority: tuple[str, int] | None = None
    pods: int = 0
    asks: Amounts | None = None
    reaches: tuple[Reach, ...] = ()
    uncounted: tuple[str, ...] = ()
    """what it asks for and no quota of its queue names"""
    notes: tuple[str, ...] = ()
    """conditions that could not be evaluated, rules under ``audit``"""


def verdict(submitted: Submitted, rules: Rules, knowledge: Knowledge) -> Verdict:
    """The fate of an object that was submitted on paper to these rules."""
    subject = _read(submitted, rules, knowledge)
    if subject is None:
        outcome = Outcome.IGNORED if submitted.admitted else Outcome.REFUSED
        return Verdict(submitted, outcome, _none_of_ours(submitted) if submitted.admitted else "")
    if submitted.admitted and submitted.queue is None:
        return _ignored(submitted, rules)
    return _placed(submitted, subject, rules)


def _read(submitted: Submitted, rules: Rules, knowledge: Knowledge) -> Subject | None:
    """The object as the rules read it; None where it is none of ours, or cannot be counted."""
    obj = submitted.object
    adapter = adapter_for(submitted.request.group, submitted.request.kind)
    try:
        if adapter is None or _left_alone(submitted) or not adapter.ours(obj):
            return None
        return read_subject(adapter, obj, rules.policy, knowledge)
    except BadObject:
        return None


def _ignored(submitted: Submitted, rules: Rules) -> Verdict:
    otherwise, why, place = rules.policy.otherwise, "no route matches it", ""
    if otherwise is not None:
        why, place = "by `route otherwise ignore`", otherwise.place
    return Verdict(submitted, Outcome.IGNORED, why, place, notes=_notes(submitted))


def _placed(submitted: Submitted, subject: Subject, rules: Rules) -> Verdict:
    asks = add(*(pods.total for pods in subject.pod_sets))
    queue, route = submitted.queue or "", submitted.account.route
    reaches = tuple(_reaches(rules, queue, asks))
    counted = {reach.resource for reach in reaches}
    uncounted = (r for r in sorted(asks) if asks[r] and r != PODS and r not in counted)
    return Verdict(
        submitted,
        Outcome.QUEUED if submitted.admitted else Outcome.REFUSED,
        why=_label(submitted, rules) if route is None else route.rule,
        place="" if route is None else route.place,
        priority=None if isinstance(subject.priority, UnknownPriority) else subject.priority,
        pods=sum(pods.count for pods in subject.pod_sets),
        asks=asks,
        reaches=reaches,
        uncounted=tuple(uncounted) if queue in rules.policy.quotas.queues else (),
        notes=_notes(submitted),
    )


def _label(submitted: Submitted, rules: Rules) -> str:
    """The label that names the queue; "" where none does."""
    keys, there = (Key.QUEUE, *rules.policy.settings.queue_labels), labels(submitted.original)
    return next((f"label {key}" for key in keys if key in there), "")


def _notes(submitted: Submitted) -> tuple[str, ...]:
    account = submitted.account
    failed = (
        f"{one.rule} could not be evaluated: {one.message}{_at(one)}" for one in account.failed
    )
    audited = (
        f"{one.rule} is under audit and would have fired{_at(one)}" for one in account.audited
    )
    return (*failed, *audited)


def _at(told: Told) -> str:
    return f" ({told.place})" if told.place else ""


def _reaches(rules: Rules, queue: str, asks: Amounts) -> Iterator[Reach]:
    """In the order in which flavors are tried, for what is asked."""
    tree = rules.tree
    found = rules.policy.quotas.queues.get(queue)
    if found is None:
        return
    node = tree.nodes[queue]
    for block in found.quotas:
        for resource, share in block.shares.items():
            if asks.get(resource):
                number = tree.numbers[FlavorResource(block.flavor, resource)]
                most = max(0, tree.potential(node, number))
                alone = tree.roots[node] == node
                yield Reach(block.flavor, resource, share.nominal, most, share.borrow, alone)


# -- what is none of ours, and why --------------------------------------------------------------------------


def _left_alone(submitted: Submitted) -> bool:
    identity = Identity()
    ours = submitted.request.user == identity.loop_user
    return ours or identity.leaves_alone(submitted.request.namespace)


def _none_of_ours(submitted: Submitted) -> str:
    request, kinds = submitted.request, " and ".join(ADAPTERS)
    if adapter_for(request.group, request.kind) is not None:
        if request.user == Identity().loop_user:
            return "tidegate itself submits it"
        if _left_alone(submitted):
            return f"no rule reaches namespace {request.namespace}"
        return "another controller runs it (spec.managedBy)"
    if (request.group, request.kind) == ("batch", "CronJob"):
        return "a CronJob runs nothing itself; each Job it makes is judged when it is made"
    if has_pods(submitted.original):
        return f"this version manages {kinds} only: its pods run outside of every queue, and no quota counts them"
    return f"policies are about {kinds}"


def has_pods(obj: Object) -> bool:
    """Whether there is a pod's list of containers anywhere in it."""
    level: Sequence[Any] = [obj.get("spec")]
    while level:
        if any(isinstance(each, Mapping) and _containers(each) for each in level):
            return True
        inner = (
            each.values() if isinstance(each, Mapping) else each
            for each in level
            if isinstance(each, Mapping | list)
        )
        level = [one for each in inner for one in each]
    return False


def _containers(node: Mapping[str, Any]) -> bool:
    found = node.get("containers")
    return (
        isinstance(found, list) and bool(found) and all(isinstance(each, Mapping) for each in found)
    )
