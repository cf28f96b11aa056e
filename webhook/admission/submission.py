"""CREATE: find the queue, refuse what may not wait there, suspend and stamp the rest (behaviour.md §2).

The webhook grants nothing, so any number of replicas may answer at once. Marks of ours that a user sends are taken
off or overwritten: a copied record, a place in the line from last week, somebody else's name.
"""

from __future__ import annotations

from dataclasses import replace

from webhook.admission.asked import Answer, warned
from webhook.admission.checks import judged
from webhook.admission.decision import PASS, Decision, Refusal
from webhook.admission.finding import Case, differing, find
from webhook.admission.knowledge import Knowledge
from webhook.admission.pen import Pen, operations
from webhook.admission.review import Request
from webhook.admission.rules import Rules
from webhook.admission.sets import Prepared, mark, prepared
from webhook.admission.standing import standing
from webhook.admission.subject import Subject
from webhook.model.kinds import Key, Object
from webhook.model.patch import Patch, drop, put
from webhook.workloads.objects import labels, notes, read_time, write_time

REINVOCATION_SECONDS = 2.0
"""A stamp of this user, no older than this, is our own of a moment ago: the API server may ask us twice."""
LOOPS_OWN = (Key.ADMISSION, Key.EVICTED, Key.WANTED)
"""Annotations nobody but us has business with on a new object."""
FORGED = (*LOOPS_OWN, Key.BEFORE_SETS)
"""Annotations that are taken off a new object, unless we write them ourselves."""


def submitted(
    request: Request, subject: Subject, rules: Rules, knowledge: Knowledge, now: float
) -> Decision:
    """The decision of the mutating call; ``now`` in seconds since the epoch."""
    case = Case(request, rules, knowledge)
    ready = prepared(case, subject)
    answer = ready.answer + _asked(case, ready)
    if answer.refusals:
        return _refused(ready.subject, answer)
    if ready.subject.queue is None:
        return replace(PASS, account=answer.account)
    patch = enqueue(request, subject.object, ready, now)
    return Decision(patch, note="queued", queue=ready.subject.queue, account=answer.account)


def confirmed(request: Request, subject: Subject, rules: Rules, knowledge: Knowledge) -> Decision:
    """The decision of the validating call: all asked again of the object as it now is, and the submitter told.

    The sets have written by now. What the mutating call has already told of rules is not told twice.
    """
    case = Case(request, rules, knowledge)
    ready = Prepared(*find(case, subject))
    answer, subject = ready.answer + _asked(case, ready), ready.subject
    if answer.refusals:
        return _refused(subject, answer)
    if subject.queue is None:
        return PASS
    if subject.adapter.finished(subject.object) or not complete(subject):
        return _refused(subject, Answer((NOT_QUEUED,)))
    account = warned(rules.policy, case.scope(subject))
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


def _asked(case: Case, ready: Prepared) -> Answer:
    """What the policy says to this workload in this queue; nothing where there is none, or was refused already."""
    subject, route = ready.subject, ready.answer.account.route
    if subject.queue is None or ready.answer.refusals:
        return Answer()
    named = {**labels(subject.object), Key.QUEUE: subject.queue}
    two = differing(case.rules.policy, named)  # a set may have written one of them
    if two is not None:
        return Answer((two,))
    return judged(case.rules, subject, case.scope(subject), enters=True, route=route)


def enqueue(request: Request, came: Object, ready: Prepared, now: float) -> Patch:
    """Operations that write what the sets say, suspend and stamp. Empty when fed back their own output."""
    pen = Pen(ready.subject.object)
    mark(pen, ready.subject, ready.subject.queue or "")
    return operations(came, pen.object) + _stamp(request, pen.object, now, ready.note)


def complete(subject: Subject) -> bool:
    """Whether an object bears all a queued workload must: suspended, labelled, stamped, and no record of a start."""
    marks = notes(subject.object)
    return (
        subject.adapter.suspended(subject.object)
        and labels(subject.object).get(Key.QUEUE) == subject.queue
        and Key.SUBMITTED in marks
        and not any(key in marks for key in LOOPS_OWN)
    )


def _stamp(request: Request, obj: Object, now: float, note: str | None) -> Patch:
    marks = notes(obj)
    fresh = {key: value for key, value in marks.items() if key not in FORGED}
    if note is not None:
        fresh[Key.BEFORE_SETS] = note
    if not _our_own(request, obj, now):
        fresh |= {Key.SUBMITTED: write_time(now), Key.SUBMITTED_BY: request.user}
    if fresh == marks:
        return ()
    if not marks:
        return put(obj, ("metadata", "annotations"), fresh)
    patch: Patch = ()
    for key in (Key.SUBMITTED, Key.SUBMITTED_BY, *FORGED):
        path = ("metadata", "annotations", key)
        patch += put(obj, path, fresh[key]) if key in fresh else drop(obj, path)
    return patch


def _our_own(request: Request, obj: Object, now: float) -> bool:
    marks = notes(obj)
    stamped = read_time(marks.get(Key.SUBMITTED))
    return (
        stamped is not None
        and 0.0 <= now - stamped <= REINVOCATION_SECONDS
        and marks.get(Key.SUBMITTED_BY) == request.user
    )
