"""The decision on one request: what the two calls of the API server, mutating and validating, are answered.

A function of the request, the policy, what is known of the cluster and the time; it asks for nothing and remembers
nothing, and it never grants quota, so replicas, lag and retries cannot over-admit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from webhook.admission.change import Change
from webhook.admission.changes import changed, still_kept
from webhook.admission.children import born
from webhook.admission.decision import PASS, Decision, Refusal
from webhook.admission.kinship import Kinship, kinship, parent_ref
from webhook.admission.knowledge import Identity, Knowledge
from webhook.admission.review import Operation, Request
from webhook.admission.rules import Rules
from webhook.admission.subject import Subject, read_subject
from webhook.admission.submission import confirmed, submitted
from webhook.model.kinds import Key, Object
from webhook.workloads.adapter import Adapter
from webhook.workloads.objects import BadObject, labels, metadata, notes
from webhook.workloads.registry import ADAPTERS, adapter_for


@dataclass(frozen=True, slots=True)
class Judge:
    """Everything a decision depends on but the request and the time."""

    rules: Rules
    knowledge: Knowledge
    identity: Identity


Answer: TypeAlias = Callable[[Request, Adapter, Judge, float], Decision]
RUNNING = Refusal("a running workload cannot enter a queue; suspend it first (spec.suspend: true)")


def mutate(request: Request, judge: Judge, now: float) -> Decision:
    """The answer to /mutate; ``now`` in seconds since the epoch. Never raises for a bad object."""
    return _guarded(request, judge, now, _create, _update)


def validate(request: Request, judge: Judge, now: float) -> Decision:
    """The answer to /validate: the same questions of the object as all webhooks left it, and the warnings."""
    return _guarded(request, judge, now, _confirm, _keep)


def _guarded(
    request: Request, judge: Judge, now: float, create: Answer, update: Answer
) -> Decision:
    adapter = adapter_for(request.group, request.kind)
    if adapter is None or request.object is None or _never_ours(request, judge.identity):
        return PASS
    try:
        request = trusted(request)
        settled = request.old_object or request.subject
        if not adapter.ours(settled) or _deleting(request.old_object):
            return PASS
        answer = {Operation.CREATE: create, Operation.UPDATE: update}.get(request.operation)
        return answer(request, adapter, judge, now) if answer else PASS
    except BadObject as error:
        return Decision(refusals=(Refusal(f"tidegate cannot count it: {error}"),), note="refused")


def trusted(request: Request) -> Request:
    """The request with the status the object really has.

    The API server asks the mutating call before it throws away what an edit says of status: who sends ``Complete``
    with ``suspend: false`` must not be taken for finished.
    """
    obj, old = request.subject, request.old_object or {}
    real = {key: value for key, value in obj.items() if key != "status"}
    if "status" in old:
        real["status"] = old["status"]
    return replace(request, object=real)


def _deleting(old: Object | None) -> bool:
    """Asked of the old state only: a deletionTimestamp that an edit sends is thrown away later, as a status is."""
    return old is not None and bool(metadata(old).get("deletionTimestamp"))


def _never_ours(request: Request, identity: Identity) -> bool:
    """Our own writes, system namespaces, subresources: no rule reaches them, whatever the registration says."""
    return (
        request.user == identity.loop_user
        or bool(request.subresource)
        or identity.leaves_alone(request.namespace)
    )


def _create(request: Request, adapter: Adapter, judge: Judge, now: float) -> Decision:
    parent = _parent(request, adapter, judge, request.subject)
    if parent is not None:
        return born(request.subject, parent)
    return submitted(
        request, _read(judge, adapter, request.subject), judge.rules, judge.knowledge, now
    )


def _confirm(request: Request, adapter: Adapter, judge: Judge, now: float) -> Decision:
    if _parent(request, adapter, judge, request.subject) is not None:
        return Decision(note="child")
    return confirmed(request, _read(judge, adapter, request.subject), judge.rules, judge.knowledge)


def _update(request: Request, adapter: Adapter, judge: Judge, now: float) -> Decision:
    if not _managed(request.old_object):
        return _entering(request, adapter, judge, now)
    return changed(_change(request, adapter, judge))


def _keep(request: Request, adapter: Adapter, judge: Judge, now: float) -> Decision:
    if not _managed(request.old_object):
        return _entering(request, adapter, judge, None)
    return still_kept(_change(request, adapter, judge))


def _entering(request: Request, adapter: Adapter, judge: Judge, now: float | None) -> Decision:
    """An object that was none of our business bears a queue's label now: like a submission, but never while it runs."""
    subject = _read(judge, adapter, request.subject)
    if subject.queue is None or adapter.finished(request.subject):
        return PASS
    if _parent(request, adapter, judge, request.subject) is not None:
        return Decision(note="child")
    if subject.started:
        return Decision(refusals=(RUNNING,), note="refused")
    if now is None:
        return confirmed(request, subject, judge.rules, judge.knowledge)
    return submitted(request, subject, judge.rules, judge.knowledge, now)


def _change(request: Request, adapter: Adapter, judge: Judge) -> Change:
    old, new = (
        _read(judge, adapter, request.old_object or {}),
        _read(judge, adapter, request.subject),
    )
    parent = None if old.stamped else _parent(request, adapter, judge, request.subject)
    kind = Kinship.ROOT if parent is None else Kinship.CHILD
    return Change(request, old, new, kind, parent, judge.rules, judge.knowledge)


def _parent(request: Request, adapter: Adapter, judge: Judge, obj: Object) -> Object | None:
    """The live parent that made this object; None for a root.

    A finished parent makes nothing any more: what is created in its name is a root.
    """
    ref = parent_ref(obj, request.namespace)
    if ref is None or kinship(adapter, obj, request.namespace, judge.knowledge) is Kinship.ROOT:
        return None
    parent = judge.knowledge.parent(ref)
    born_late = request.operation is Operation.CREATE and parent is not None
    return None if born_late and ADAPTERS[ref.kind.name].finished(parent or {}) else parent


def _managed(old: Object | None) -> bool:
    return old is not None and (Key.QUEUE in labels(old) or Key.SUBMITTED in notes(old))


def _read(judge: Judge, adapter: Adapter, obj: Object) -> Subject:
    return read_subject(adapter, obj, judge.rules.policy, judge.knowledge)
