"""Root or child: whose business an object is.

A child of a live parent that would have made it is the parent's business: it is charged with the parent and starts
with it. Everything else is a root and queues, above all what copies the uid of somebody's live JobSet. A root is a
root for ever: it bears our stamp, and owner references added later change nothing.
"""

from __future__ import annotations

from enum import Enum

from webhook.admission.knowledge import Knowledge, ParentRef
from webhook.admission.review import Operation, Request
from webhook.model.kinds import Key, Object
from webhook.workloads.adapter import Adapter
from webhook.workloads.objects import BadObject, is_deleting, labels, metadata, notes
from webhook.workloads.registry import adapter_for, controller_of, is_child


class Kinship(Enum):
    """What an object is to us."""

    ROOT = "root"
    CHILD = "child"


def parent_ref(obj: Object, namespace: str) -> ParentRef | None:
    """The managed kind of object that its controller owner reference names; None without one."""
    owner = controller_of(obj)
    if owner is None:
        return None
    return ParentRef(owner.kind, namespace, owner.name, owner.uid)


def parent_wanted(request: Request, knowledge: Knowledge) -> ParentRef | None:
    """The parent to ask the API server for, once and live, before this request is decided.

    Controllers make children milliseconds after the parent, so a parent not yet in memory is normal; a child is
    started right after its parent, which memory may still show as suspended; and who takes a child from its parent
    is the garbage collector where the parent is being deleted, which memory may not show yet.
    """
    adapter = adapter_for(request.group, request.kind)
    if adapter is None or request.object is None or request.subresource:
        return None
    try:
        ref = parent_ref(_whose(request), request.namespace)
        if ref is None or _decided(request):
            return None
        known = knowledge.parent(ref)
        taken = parent_ref(request.object, request.namespace) != ref
        stale = known is not None and _starts(adapter, request) and _waits(ref, known)
        return ref if known is None or taken or stale else None
    except BadObject:
        return None


def parent_of(adapter: Adapter, obj: Object, namespace: str, knowledge: Knowledge) -> Object | None:
    """The live parent that would have made this object, which bears no stamp; None for a root. Raises BadObject."""
    owner = controller_of(obj)
    if owner is None:
        return None
    parent = knowledge.parent(ParentRef(owner.kind, namespace, owner.name, owner.uid))
    return parent if is_child(obj, adapter.kind, parent, owner) else None


def owned_as(obj: Object, old: Object | None) -> Object:
    """The object with the owner references of its old state: no edit makes a child, nor a root of a child."""
    if old is None:
        return obj
    about = {**metadata(obj), "ownerReferences": metadata(old).get("ownerReferences")}
    return {**obj, "metadata": about}


def _whose(request: Request) -> Object:
    updates = request.operation is Operation.UPDATE
    return (request.old_object if updates else request.object) or {}


def _decided(request: Request) -> bool:
    """Whether the old state of the object already tells that it is a root, or none of ours."""
    old = request.old_object
    if request.operation is not Operation.UPDATE or old is None:
        return request.operation is not Operation.CREATE
    return Key.SUBMITTED in notes(old) or Key.QUEUE not in labels(old) or is_deleting(old)


def _starts(adapter: Adapter, request: Request) -> bool:
    old, new = request.old_object, request.object
    if new is None or adapter.suspended(new):
        return False
    return old is None or adapter.suspended(old)


def _waits(ref: ParentRef, parent: Object) -> bool:
    adapter = adapter_for(ref.kind.group, ref.kind.name)
    return adapter is not None and adapter.suspended(parent)
