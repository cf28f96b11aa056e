"""The decision on one request: what the two calls of the API server, mutating and validating, are answered.

A function of the request, the policy, what is known of the cluster and the time; it asks for nothing and remembers
nothing, and it never grants quota, so replicas, lag and retries cannot over-admit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from webhook.admission.change import Change
from webhook.admission.changes import changed, going, still_kept
from webhook.admission.children import born, confirmed_child, joined
from webhook.admission.decision import PASS, Decision, Refusal
from webhook.admission.entering import too_late
from webhook.admission.kinship import Kinship, owned_as, parent_of, parent_wanted
from webhook.admission.knowledge import Identity, Knowledge, ParentRef
from webhook.admission.review import Operation, Request
from webhook.admission.rules import Rules
from webhook.admission.subject import Subject, queue_labels, read_subject
from webhook.admission.submission import confirmed, submitted
from webhook.model.kinds import Key, Object
from webhook.workloads.adapter import Adapter
from webhook.workloads.objects import BadObject, check_texts, labels, notes
from webhook.workloads.registry import ADAPTERS, adapter_for


@dataclass(frozen=True, slots=True)
class Judge:
    """Everything a decision depends on but the request and the time."""

    rules: Rules
    knowledge: Knowledge
    identity: Identity


Answer: TypeAlias = Callable[[Request, Adapter, Judge, float], Decision]


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
        for state in (request.subject, request.old_object or {}):
            check_texts(state)
        if not adapter.ours(request.old_object or request.subject):
            return PASS
        answer = {Operation.CREATE: create, Operation.UPDATE: update}.get(request.operation)
        return answer(request, adapter, judge, now) if answer else PASS
    except BadObject as error:
        if _harmless(request):
            return PASS
        return Decision(refusals=(Refusal(f"tidegate cannot count it: {error}"),), note="refused")


def wanted(request: Request, judge: Judge) -> ParentRef | None:
    """The parent to ask for before this request is decided; None for what is never ours."""
    if _never_ours(request, judge.identity):
        return None
    return parent_wanted(request, judge.knowledge)


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


def _harmless(request: Request) -> bool:
    """Whether an update of what cannot be counted passes: finalizers of what is deleted, an edit of nothing of ours."""
    old, new = request.old_object, request.subject
    if request.operation is not Operation.UPDATE or old is None:
        return False
    if _deleting(old):
        return True
    about, was = (_metadata(obj) for obj in (new, old))
    same = all(about.get(part) == was.get(part) for part in ("labels", "annotations"))
    return same and new.get("spec") == old.get("spec")


def _deleting(old: Object | None) -> bool:
    """Asked of the old state only: a deletionTimestamp that an edit sends is thrown away later, as a status is."""
    return old is not None and bool(_metadata(old).get("deletionTimestamp"))


def _metadata(obj: Object) -> Mapping[str, Any]:
    found = obj.get("metadata")
    return found if isinstance(found, Mapping) else {}


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
        return born(request.subject, parent, adapter)
    return submitted(
        request, _read(judge, adapter, request.subject), judge.rules, judge.knowledge, now
    )


def _confirm(request: Request, adapter: Adapter, judge: Judge, now: float) -> Decision:
    parent = _parent(request, adapter, judge, request.subject)
    if parent is not None:
        return confirmed_child(born(request.subject, parent, adapter))
    return confirmed(request, _read(judge, adapter, request.subject), judge.rules, judge.knowledge)


def _update(request: Request, adapter: Adapter, judge: Judge, now: float) -> Decision:
    if not _managed(request.old_object):
        return _entering(request, adapter, judge, now)
    change = _change(request, adapter, judge)
    return going(change) if _deleting(request.old_object) else changed(change)


def _keep(request: Request, adapter: Adapter, judge: Judge, now: float) -> Decision:
    if _deleting(request.old_object):
        return PASS
    if not _managed(request.old_object):
        return _entering(request, adapter, judge, None)
    return still_kept(_change(request, adapter, judge))


def _entering(request: Request, adapter: Adapter, judge: Judge, now: float | None) -> Decision:
    """An object that was none of our business bears a queue's label now: like a submission, but never while it runs."""
    if Key.QUEUE not in labels(request.subject) or _deleting(request.old_object):
        return PASS
    subject = _read(judge, adapter, request.subject)
    if adapter.finished(subject.object):
        return PASS
    parent = _parent(request, adapter, judge, owned_as(subject.object, request.old_object))
    if parent is not None:
        joins = joined(subject.object, parent)
        return joins if now is not None else confirmed_child(joins)
    late = too_late(subject)
    if late is not None:
        return Decision(refusals=(late,), note="refused")
    if now is None:
        return confirmed(request, subject, judge.rules, judge.knowledge)
    return submitted(request, subject, judge.rules, judge.knowledge, now)


def _change(request: Request, adapter: Adapter, judge: Judge) -> Change:
    old, new = (
        _read(judge, adapter, request.old_object or {}),
        _read(judge, adapter, request.subject),
    )
    parent = None if old.stamped else _parent(request, adapter, judge, old.object)
    kind = Kinship.ROOT if parent is None else Kinship.CHILD
    return Change(request, old, new, kind, parent, judge.rules, judge.knowledge)


def _parent(request: Request, adapter: Adapter, judge: Judge, obj: Object) -> Object | None:
    """The live parent whose business this object is; None for a root.

    A parent that has finished, or is being deleted, makes nothing any more: what is created in its name is a root. So
    is what names a queue by itself while its parent is in none: nobody else would queue it.
    """
    parent = parent_of(adapter, obj, request.namespace, judge.knowledge)
    if parent is None:
        return None
    named = queue_labels(judge.rules.policy, labels(obj))
    alone = bool(named) and Key.QUEUE not in labels(parent)
    late = request.operation is Operation.CREATE and _makes_no_more(parent)
    return None if alone or late else parent


def _makes_no_more(parent: Object) -> bool:
    return _deleting(parent) or ADAPTERS[str(parent.get("kind"))].finished(parent)


def _managed(old: Object | None) -> bool:
    return old is not None and (Key.QUEUE in labels(old) or Key.SUBMITTED in notes(old))


def _read(judge: Judge, adapter: Adapter, obj: Object) -> Subject:
    return read_subject(adapter, obj, judge.rules.policy, judge.knowledge)
