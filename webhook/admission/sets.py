"""What the ``set``s of the policy write into a new workload, after its queue is found and before anything is asked.

All of them are judged on the object as it came (``origin`` says how that is known), and of two for one path the first
wins. What they write is the policy's: a submitter who forges marks of ours gains nothing by it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from webhook.admission.asked import Answer, failures
from webhook.admission.decision import Account, Refusal, Told
from webhook.admission.finding import Case, find, in_it
from webhook.admission.origin import TooMuch, note_of, read_note, unmarked
from webhook.admission.pen import Before, Pen, undone
from webhook.admission.subject import Subject
from webhook.language.judging import Failure, Writes, Written
from webhook.model.kinds import Key, Object
from webhook.workloads.objects import BadObject, check_texts
from webhook.workloads.start import SUSPEND
from webhook.workloads.templates import template_at

LARGEST_INT = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Prepared:
    """The workload in its queue, as the sets leave it; ``note`` is what has to be noted of what it was before."""

    subject: Subject
    answer: Answer
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """What an object is taken to have been when it came, in its queue, and what the sets make of that."""

    subject: Subject
    answer: Answer
    writes: tuple[Written, ...] = ()


def prepared(case: Case, subject: Subject) -> Prepared:
    """The queue found and the sets written; a queue of None is none of our business. Raises BadObject."""
    if not any(subject.adapter.kind.name in rule.kinds for rule in case.rules.policy.sets):
        found, answer = find(case, subject)
        return Prepared(found, answer)
    origin = _origin(case, subject)
    if origin.subject.queue is None or origin.answer.refusals:
        return Prepared(in_it(subject, origin.subject), origin.answer)
    pen, told = Pen(subject.object), _rules(origin.writes)
    try:
        told = _write(pen, origin.writes)
        answer = origin.answer + Answer(account=Account(sets=told))
        after = in_it(_read_again(case, subject, pen.object), origin.subject)
        return Prepared(after, answer, _note(case, origin, after))
    except BadObject as error:
        text = f"what was written into it cannot be counted: {error}"
    except TooMuch:
        text = "what was replaced in it is too much to be noted"
    rules = ", ".join(one.rule for one in told)
    refusal = Refusal(text, rules, ", ".join(one.place for one in told))
    return Prepared(in_it(subject, origin.subject), origin.answer + Answer((refusal,)))


def _origin(case: Case, subject: Subject) -> Origin:
    """By the note on the object, where that proves true; else as it stands."""
    bare = unmarked(subject.object)
    noted = read_note(subject.object)
    if noted:
        try:
            came = undone(bare, noted)
            check_texts(came)
            origin = _judged(case, subject, came)
            if _proven(subject, origin, noted):
                return origin
        except BadObject:
            pass  # no workload could have come like this
    return _judged(case, subject, bare)


def _judged(case: Case, subject: Subject, came: Object) -> Origin:
    """What the routes and the sets make of an object that came like this. Raises BadObject."""
    found, answer = find(case, case.read(subject.adapter, came))
    if answer.refusals or found.queue not in case.rules.policy.quotas.queues:
        return Origin(found, answer)
    scope, policy = case.scope(found), case.rules.policy
    writes, trial = policy.writes(scope), policy.writes(scope, audit=True)
    fit, unfit = _fitting(writes)
    failed = (*writes.failures, *unfit, *trial.failures)
    told = Account(audited=_rules(trial.written), failed=failures("set", failed))
    return Origin(found, answer + Answer(account=told), fit)


def _proven(subject: Subject, origin: Origin, noted: tuple[Before, ...]) -> bool:
    """Whether what is noted is what we write: then undoing it and writing again leaves nothing of the note behind."""
    if origin.subject.queue is None:
        return False
    pen = Pen(subject.object)
    _write(pen, origin.writes)
    mark(pen, subject, origin.subject.queue)
    return all(one.spot in pen.spots for one in noted)


def _note(case: Case, origin: Origin, after: Subject) -> str | None:
    """What has to be noted; None where the sets come to rest: judged on all we write they write nothing else."""
    queue = origin.subject.queue or ""
    whole = Pen(after.object)
    mark(whole, after, queue)
    again = Pen(unmarked(whole.object))
    _write(again, _judged(case, after, again.object).writes)
    if not again.changed:
        return None
    pen = Pen(origin.subject.object)
    _write(pen, origin.writes)
    mark(pen, after, queue)
    return note_of(pen.changed)


def _write(pen: Pen, writes: tuple[Written, ...]) -> tuple[Told, ...]:
    """The rules that found a place to write; the first of them writes last, so that its word stands."""
    found = [one for one in reversed(writes) if pen.write(one.path, one.value)]
    return _rules(tuple(reversed(found)))


def mark(pen: Pen, subject: Subject, queue: str) -> None:
    """What every workload in a queue bears, annotations apart."""
    pen.write(SUSPEND, True)
    pen.write(("metadata", "labels", Key.QUEUE), queue)
    for path in subject.adapter.templates(pen.object).values():
        if template_at(pen.object, path) is not None:
            pen.write((*path, "metadata", "labels", Key.QUEUE), queue)


def _read_again(case: Case, subject: Subject, obj: Object) -> Subject:
    """The object as it is now: what it asks for, and its priority. Raises BadObject."""
    check_texts(obj)
    if not subject.adapter.ours(obj):
        raise BadObject("spec.managedBy", "another controller would run it")
    return case.read(subject.adapter, obj)


def _rules(written: tuple[Written, ...]) -> tuple[Told, ...]:
    return tuple(dict.fromkeys(Told(f"set {one.rule}", one.place) for one in written))


def _fitting(writes: Writes) -> tuple[tuple[Written, ...], tuple[Failure, ...]]:
    """What JSON can carry, and what it cannot."""
    text = "the value is a number that no object can hold"
    unfit = [one for one in writes.written if not all(map(_fits, _numbers(one.value)))]
    fit = tuple(one for one in writes.written if one not in unfit)
    return fit, tuple(Failure(one.rule, one.place, text) for one in unfit)


def _numbers(value: Any) -> Iterator[int | float]:
    match value:
        case int() | float():
            yield value
        case list():
            for item in value:
                yield from _numbers(item)
        case dict():
            yield from _numbers(list(value.values()))


def _fits(number: float) -> bool:
    if isinstance(number, int):
        return -LARGEST_INT - 1 <= number <= LARGEST_INT
    return math.isfinite(number)
