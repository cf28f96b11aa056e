"""CREATE: find the queue, refuse what may not wait there, suspend and stamp the rest (behaviour.md §2).

The webhook grants nothing, so any number of replicas may answer at once. Marks of ours that a user sends are taken
off or overwritten: a copied record, a place in the line from last week, somebody else's name.
"""

from __future__ import annotations

from dataclasses import replace

from webhook.admission.asked import Answer, routed, warned
from webhook.admission.checks import judged
from webhook.admission.decision import PASS, Decision, Refusal
from webhook.admission.knowledge import Knowledge
from webhook.admission.review import Request
from webhook.admission.rules import Rules
from webhook.admission.standing import standing
from webhook.admission.subject import Subject, in_queue, scope_of
from webhook.model.kinds import Key, Object
from webhook.model.patch import Patch, drop, put
from webhook.workloads.objects import labels, notes, read_time, write_time
from webhook.workloads.start import label_templates, suspend

REINVOCATION_SECONDS = 2.0
"""A stamp of this user, no older than this, is our own of a moment ago: the API server may ask us twice."""
LOOPS_OWN = (Key.ADMISSION, Key.EVICTED, Key.WANTED)
"""Annotations nobody but us has business with on a new object."""


def submitted(
    request: Request, subject: Subject, rules: Rules, knowledge: Knowledge, now: float
) -> Decision:
    """The decision of the mutating call; ``now`` in seconds since the epoch."""
    subject, answer = placed(request, subject, rules, knowledge)
    if answer.refusals:
        return _refused(subject, answer)
    if subject.queue is None:
        return replace(PASS, account=answer.account)
    patch = enqueue(request, subject, now)
    return Decision(patch=patch, note="queued", queue=subject.queue, account=answer.account)


def confirmed(request: Request, subject: Subject, rules: Rules, knowledge: Knowledge) -> Decision:
    """The decision of the validating call: all asked again of the object as it now is, and the submitter told.

    What the mutating call has already told of rules is not told twice.
    """
    subject, answer = placed(request, subject, rules, knowledge)
    if answer.refusals:
        return _refused(subject, answer)
    if subject.queue is None:
        return PASS
    if subject.adapter.finished(subject.object) or not complete(subject):
        return _refused(subject, Answer((NOT_QUEUED,)))
    account = warned(rules.policy, scope_of(request, subject, knowledge, None))
    told = (standing(subject, rules.policy, knowledge), *(one.line for one in account.warned))
    return Decision(warnings=told, note="queued", queue=subject.queue, account=account)


def _refused(subject: Subject, answer: Answer) -> Decision:
    return Decision(
        refusals=answer.refusals, note="refused", queue=subject.queue, account=answer.account
    )


NOT_QUEUED = Refusal(
    "tidegate: the workload was not queued (another webhook changed it, or the mutating call"
    " did not answer in time); submit it again"
)


def placed(
    request: Request, subject: Subject, rules: Rules, knowledge: Knowledge
) -> tuple[Subject, Answer]:
    """The subject in its queue (None: none of our business) and why it may not be there."""
    found = Answer()
    if subject.queue is None:
        way = routed(rules.policy, scope_of(request, subject, knowledge, None))
        found = way.answer
        if way.queue is None:
            return subject, found
        subject = in_queue(subject, way.queue)
    scope = scope_of(request, subject, knowledge, None)
    return subject, found + judged(rules, subject, scope, enters=True, route=found.account.route)


def enqueue(request: Request, subject: Subject, now: float) -> Patch:
    """Operations that suspend and stamp a new workload. Empty when fed back its own output."""
    obj, queue = subject.object, subject.queue or ""
    patch = suspend(obj)
    if labels(obj).get(Key.QUEUE) != queue:
        patch += put(obj, ("metadata", "labels", Key.QUEUE), queue)
    return patch + _stamp(request, obj, now) + label_templates(subject.adapter, obj, queue)


def complete(subject: Subject) -> bool:
    """Whether an object bears all a queued workload must: suspended, labelled, stamped, and no record of a start."""
    marks = notes(subject.object)
    return (
        subject.adapter.suspended(subject.object)
        and labels(subject.object).get(Key.QUEUE) == subject.queue
        and Key.SUBMITTED in marks
        and not any(key in marks for key in LOOPS_OWN)
    )


def _stamp(request: Request, obj: Object, now: float) -> Patch:
    marks = notes(obj)
    fresh = dict(marks)
    for key in LOOPS_OWN:
        fresh.pop(key, None)
    if not _our_own(request, obj, now):
        fresh |= {Key.SUBMITTED: write_time(now), Key.SUBMITTED_BY: request.user}
    if fresh == marks:
        return ()
    if not marks:
        return put(obj, ("metadata", "annotations"), fresh)
    patch: Patch = ()
    for key in (Key.SUBMITTED, Key.SUBMITTED_BY):
        patch += put(obj, ("metadata", "annotations", key), fresh[key])
    for key in LOOPS_OWN:
        patch += drop(obj, ("metadata", "annotations", key))
    return patch


def _our_own(request: Request, obj: Object, now: float) -> bool:
    marks = notes(obj)
    stamped = read_time(marks.get(Key.SUBMITTED))
    return (
        stamped is not None
        and 0.0 <= now - stamped <= REINVOCATION_SECONDS
        and marks.get(Key.SUBMITTED_BY) == request.user
    )
