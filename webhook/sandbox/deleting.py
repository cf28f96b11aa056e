"""What a DELETE does at once, and what it leaves to others.

An object without finalizers and without a grace period goes at once. Otherwise it is marked, and
goes when the last finalizer is removed (``foregroundDeletion`` and ``orphan`` are the garbage
collector's) or, for a bound pod, when its player deletes it again with a grace period of 0.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from webhook.sandbox.metadata import rfc3339, with_metadata
from webhook.sandbox.resources import JOBS, NAMESPACES, PODS, Object, Resource
from webhook.sandbox.status import Cause, StatusError, delete_conflict, invalid_options

FOREGROUND = "foregroundDeletion"
ORPHAN = "orphan"
_FINALIZERS = {"Foreground": FOREGROUND, "Orphan": ORPHAN}
_POLICIES = '"Foreground", "Background", "Orphan", "nil"'
_DEFAULT_GRACE_SECONDS = 30
_PRECONDITIONS = {
    "uid": ("UID", "deleted and then recreated"),
    "resourceVersion": ("ResourceVersion", "modified"),
}
_JOB_WARNING = (
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background "
    "to remove them or set propagationPolicy=Orphan to suppress this warning"
)


def propagation_of(resource: Resource, stated: str, warnings: list[str]) -> str:
    """The policy that holds; a Job of batch/v1 orphans its pods unless told otherwise."""
    if stated not in ("", "Foreground", "Background", "Orphan"):
        message = f'Unsupported value: "{stated}": supported values: {_POLICIES}'
        cause = Cause("propagationPolicy", "FieldValueNotSupported", message)
        raise invalid_options("DeleteOptions", cause)
    if stated:
        return stated
    if resource is JOBS:
        warnings.append(_JOB_WARNING)
        return "Orphan"
    return ""


def check_preconditions(resource: Resource, old: Object, preconditions: Object | None) -> None:
    """Raise 409 unless uid and resourceVersion are those the client expects."""
    for field, (word, guess) in _PRECONDITIONS.items():
        wanted, found = (preconditions or {}).get(field), old["metadata"][field]
        if wanted and wanted != found:
            why = (
                f"the {word} in the precondition ({wanted}) does not match the {word} in record "
                f"({found}). The object might have been {guess}"
            )
            raise delete_conflict(resource, old["metadata"]["name"], why)


def marked(
    resource: Resource, old: Object, propagation: str, grace_seconds: int | None, now: datetime
) -> Object | None:
    """The object marked as being deleted; None when nothing keeps it; ``old`` when it is marked."""
    metadata = old["metadata"]
    finalizers = _finalizers(metadata.get("finalizers") or [], propagation)
    grace = _grace(resource, old, grace_seconds)
    if not finalizers and grace == 0 and resource is not NAMESPACES:
        return None
    if "deletionTimestamp" in metadata:
        left = metadata.get("deletionGracePeriodSeconds") or 0
        return old if grace >= left else _mark(resource, old, finalizers, grace, now)
    return _mark(resource, old, finalizers, grace, now)


def _finalizers(present: list[str], propagation: str) -> list[str]:
    if not propagation:
        return present
    others = [name for name in present if name not in _FINALIZERS.values()]
    wanted = _FINALIZERS.get(propagation)
    return [*others, wanted] if wanted else others


def _grace(resource: Resource, old: Object, stated: int | None) -> int:
    if resource is not PODS:
        return 0
    phase = (old.get("status") or {}).get("phase")
    spec = old.get("spec") or {}
    if not spec.get("nodeName") or phase in ("Succeeded", "Failed"):
        return 0
    left = old["metadata"].get("deletionGracePeriodSeconds")
    if stated is None:
        if left is not None:
            return int(left)
        return int(spec.get("terminationGracePeriodSeconds", _DEFAULT_GRACE_SECONDS))
    if stated < 0:
        return 1
    return stated


def _mark(
    resource: Resource, old: Object, finalizers: list[str], grace: int, now: datetime
) -> Object:
    generation = old["metadata"].get("generation")
    new = with_metadata(
        old,
        deletionTimestamp=rfc3339(now + timedelta(seconds=grace)),
        deletionGracePeriodSeconds=None if resource is NAMESPACES else grace,
        finalizers=finalizers or None,
        generation=None if generation is None else generation + 1,
    )
    if resource is NAMESPACES:
        return new | {"status": {**(old.get("status") or {}), "phase": "Terminating"}}
    return new


def gone(resource: Resource, last: Object, now: datetime) -> Object:
    """The answer to a DELETE after which the object is no more."""
    metadata = last["metadata"]
    if resource is PODS:
        if "deletionTimestamp" in metadata:
            return with_metadata(last, deletionGracePeriodSeconds=0)
        return _mark(resource, last, [], 0, now)
    details = {"name": metadata["name"], "kind": resource.plural, "uid": metadata["uid"]}
    if resource.group:
        details["group"] = resource.group
    status: Object = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    return status | {"details": details}


def undeletable(resource: Resource, name: str) -> StatusError | None:
    """The namespaces a cluster cannot be without."""
    if resource is NAMESPACES and name in ("default", "kube-system", "kube-public"):
        message = f'namespaces "{name}" is forbidden: this namespace may not be deleted'
        details = {"name": name, "kind": "namespaces"}
        return StatusError(403, "Forbidden", message, details=details)
    return None
