"""The queue of a new workload: by its label, by a label the policy reads as well, else by the routes.

The label wins over every route, so who may enter a queue is said by ``accept``. Further labels (``queue-label``) are
read where a workload comes in and where it asks for another queue; what is written is our own label, and by it alone
the loop knows it. Two labels that differ are refused, since nobody can say which was meant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from webhook.admission.asked import Answer, routed
from webhook.admission.decision import Reason, Refusal
from webhook.admission.knowledge import Knowledge
from webhook.admission.review import Request
from webhook.admission.rules import Rules
from webhook.admission.subject import Subject, in_queue, queue_labels, read_subject, scope_of
from webhook.language.conditions import Scope
from webhook.language.policy import Policy
from webhook.model.kinds import Object
from webhook.workloads.adapter import Adapter
from webhook.workloads.objects import labels


@dataclass(frozen=True, slots=True)
class Case:
    """A request for a new workload, and everything it is judged by."""

    request: Request
    rules: Rules
    knowledge: Knowledge

    def read(self, adapter: Adapter, obj: Object) -> Subject:
        """One state of the object. Raises BadObject."""
        return read_subject(adapter, obj, self.rules.policy, self.knowledge)

    def scope(self, subject: Subject) -> Scope:
        """What conditions may read of it."""
        return scope_of(self.request, subject, self.knowledge, None)


def find(case: Case, subject: Subject) -> tuple[Subject, Answer]:
    """The subject in its queue (None: none of our business), and why that could not be told."""
    two = differing(case.rules.policy, labels(subject.object))
    if two is not None:
        return subject, Answer((two,))
    if subject.queue is not None:
        return subject, Answer()
    way = routed(case.rules.policy, case.scope(subject))
    return (in_queue(subject, way.queue) if way.queue else subject), way.answer


def in_it(subject: Subject, found: Subject) -> Subject:
    """The same object in the queue that was found for another state of it."""
    return subject if found.queue is None else in_queue(subject, found.queue)


def differing(policy: Policy, found: Mapping[str, str]) -> Refusal | None:
    """Labels that name different queues."""
    named = queue_labels(policy, found)
    if len(set(named.values())) < 2:
        return None
    said = ", ".join(f"{key} says {value!r}" for key, value in named.items())
    text = f"two labels name different queues: {said}"
    return Refusal(text, reason=Reason.UNKNOWN_QUEUE)
