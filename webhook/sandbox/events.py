"""Events under both their names: core/v1 and events.k8s.io/v1 are two views of one object.

The store keeps the core form, so that an Event written through either API is seen in both, as
``kubectl describe`` expects.
"""

from __future__ import annotations

from webhook.sandbox.resources import EVENTS_V1, Object, Resource
from webhook.sandbox.status import Cause

_CORE_TO_V1 = {
    "involvedObject": "regarding",
    "message": "note",
    "reportingComponent": "reportingController",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
}
_V1_TO_CORE = {theirs: ours for ours, theirs in _CORE_TO_V1.items()}
_LONGEST_NOTE = 1024
_REQUIRED = ("eventTime", "reportingController", "reportingInstance", "action", "reason", "type")
_MUTABLE = ("series", "metadata", "kind", "apiVersion")


def stored_form(resource: Resource, obj: Object) -> Object:
    """The object as it is kept."""
    return _renamed(obj, _V1_TO_CORE, "v1") if resource is EVENTS_V1 else obj


def served_form(resource: Resource, obj: Object) -> Object:
    """The object as the API of this resource shows it."""
    if resource is not EVENTS_V1:
        return obj
    return _renamed(obj, _CORE_TO_V1, EVENTS_V1.api_version)


def _renamed(obj: Object, names: dict[str, str], api_version: str) -> Object:
    renamed = {names.get(key, key): value for key, value in obj.items()}
    return renamed | {"apiVersion": api_version}


def validate_event(resource: Resource, new: Object, old: Object | None = None) -> list[Cause]:
    """The rules of events.k8s.io/v1; the older API takes nearly everything."""
    if resource is not EVENTS_V1:
        return []
    if old is not None:
        return [
            Cause(field, "FieldValueInvalid", "Invalid value: field is immutable")
            for field in sorted({*old, *new} - set(_MUTABLE))
            if old.get(field) != new.get(field)
        ]
    causes = [
        Cause(field, "FieldValueRequired", "Required value")
        for field in _REQUIRED
        if not new.get(field)
    ]
    if len(new.get("note") or "") > _LONGEST_NOTE:
        causes.append(
            Cause("note", "FieldValueInvalid", f"can have at most {_LONGEST_NOTE} characters")
        )
    return causes
