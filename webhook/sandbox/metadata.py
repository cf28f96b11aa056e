"""The metadata of an object through its life: what the server sets, keeps and refuses.

Pure but for names and uids, which are random as they must be.
"""

from __future__ import annotations

import re
import secrets
import uuid
from collections.abc import Callable
from datetime import datetime

from webhook.sandbox.resources import ADMISSION_GROUP, NAMESPACES, Object, Resource
from webhook.sandbox.status import Cause, bad_request, conflict, invalid

_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_LONGEST_BASE = 58
_ANNOTATION_BYTES = 262_144

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = re.compile(rf"{_LABEL}(\.{_LABEL})*", re.ASCII)
_LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?", re.ASCII)
_QUALIFIED = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]", re.ASCII)

_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    rf"for validation is '{_LABEL}(\.{_LABEL})*')"
)
_LABEL_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value', "
    " or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
_KEY_RULE = (
    "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex "
    "used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS "
    "subdomain prefix and '/' (e.g. 'example.com/MyName')"
)
_QUALIFIED_RULE = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)

_HAS_GENERATION = frozenset({"Pod", "Job", "CronJob", "StatefulSet", "PriorityClass"})
_KEPT = ("uid", "creationTimestamp", "generation", "deletionTimestamp", "selfLink")


def rfc3339(moment: datetime) -> str:
    """``2026-12-01T10:00:00Z``, as creationTimestamp is written."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def with_metadata(obj: Object, **fields: object) -> Object:
    """A copy with these metadata fields; None removes one."""
    merged = {**obj["metadata"], **fields}
    return obj | {"metadata": {k: v for k, v in merged.items() if v is not None}}


def addressed(resource: Resource, namespace: str, name: str, body: object) -> Object:
    """The body with its type and the namespace of the request; raises StatusError 400."""
    if not isinstance(body, dict) or not isinstance(body.get("metadata") or {}, dict):
        raise bad_request("the object provided is unrecognized (must be of type Object)")
    stated = (body.get("apiVersion") or resource.api_version, body.get("kind") or resource.kind)
    if stated != (resource.api_version, resource.kind):
        raise bad_request(
            f"the API version in the data ({stated[0]}, Kind={stated[1]}) does not match "
            f"the expected API version ({resource.api_version}, Kind={resource.kind})"
        )
    metadata = dict(body.get("metadata") or {})
    if resource.namespaced:
        _check_namespace(metadata, namespace)
        metadata["namespace"] = namespace
    elif metadata.pop("namespace", ""):
        raise bad_request("namespace may not be set on a resource of the whole cluster")
    if name and metadata.setdefault("name", name) != name:
        raise bad_request(
            f"the name of the object ({metadata['name']}) does not match the name on the URL "
            f"({name})"
        )
    kind = {"kind": resource.kind, "apiVersion": resource.api_version}
    return {**kind, **body, **kind, "metadata": metadata}


def _check_namespace(metadata: Object, namespace: str) -> None:
    if metadata.get("namespace") not in (None, "", namespace):
        raise bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )


def without_server_fields(obj: Object) -> Object:
    """What a client may not set when it creates an object, dropped."""
    nothing = dict.fromkeys(
        ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink")
    )
    return with_metadata(obj, **nothing, managedFields=None, generation=None, resourceVersion=None)


def stamp_new(
    resource: Resource, obj: Object, now: datetime, exists: Callable[[str], bool]
) -> Object:
    """Give a new object its name, uid, time and generation."""
    metadata = obj["metadata"]
    name = metadata.get("name") or _generated(metadata.get("generateName") or "", exists)
    return with_metadata(
        obj,
        name=name or None,
        uid=metadata.get("uid") or str(uuid.uuid4()),
        creationTimestamp=metadata.get("creationTimestamp") or rfc3339(now),
        generation=1 if has_generation(resource) else None,
    )


def _generated(base: str, exists: Callable[[str], bool]) -> str:
    while base:
        suffix = "".join(secrets.choice(_SUFFIX_LETTERS) for _ in range(5))
        name = base[:_LONGEST_BASE] + suffix
        if not exists(name):
            return name
    return ""


def has_generation(resource: Resource) -> bool:
    """Whether the kind counts changes of its spec."""
    return resource.custom or resource.group == ADMISSION_GROUP or resource.kind in _HAS_GENERATION


def carried_over(resource: Resource, old: Object, new: Object) -> Object:
    """The new state with the metadata nobody may change taken from the old; raises 409, 422."""
    metadata, before = new["metadata"], old["metadata"]
    if metadata.get("uid") not in (None, "", before["uid"]):
        message = f'Invalid value: "{metadata["uid"]}": field is immutable'
        cause = Cause("metadata.uid", "FieldValueInvalid", message)
        raise invalid(resource, before["name"], [cause])
    check_resource_version(resource, old, metadata.get("resourceVersion"))
    kept = {field: before.get(field) for field in _KEPT}
    return with_metadata(
        new,
        **kept,
        deletionGracePeriodSeconds=before.get("deletionGracePeriodSeconds"),
        managedFields=before.get("managedFields"),
        resourceVersion=before["resourceVersion"],
    )


def check_uid(resource: Resource, old: Object, new: Object) -> Object:
    """A PUT may name the object it means by its uid; returns the new state, raises 409."""
    wanted, found = new["metadata"].get("uid"), old["metadata"]["uid"]
    if wanted and wanted != found:
        why = f"Precondition failed: UID in precondition: {wanted}, UID in object meta: {found}"
        raise conflict(resource, old["metadata"]["name"], why)
    return new


def check_unconditional(resource: Resource, new: Object) -> None:
    """A PUT of a custom resource has to say which version it replaces."""
    if resource.custom and not new["metadata"].get("resourceVersion"):
        message = "Invalid value: 0: must be specified for an update"
        cause = Cause("metadata.resourceVersion", "FieldValueInvalid", message)
        raise invalid(resource, new["metadata"]["name"], [cause])


def check_resource_version(resource: Resource, old: Object, stated: object) -> None:
    """Raise 409 for a version that is not the current one; none stated is fine."""
    if stated in (None, "", old["metadata"]["resourceVersion"]):
        return
    if not isinstance(stated, str) or not stated.isdecimal():
        cause = Cause("metadata.resourceVersion", "FieldValueInvalid", f'Invalid value: "{stated}"')
        raise invalid(resource, old["metadata"]["name"], [cause])
    raise conflict(resource, old["metadata"]["name"])


def with_generation(resource: Resource, old: Object, new: Object) -> Object:
    """The generation goes up when anything but metadata and status changes."""
    if not has_generation(resource) or _content(old) == _content(new):
        return new
    return with_metadata(new, generation=old["metadata"].get("generation", 0) + 1)


def _content(obj: Object) -> Object:
    return {key: value for key, value in obj.items() if key not in ("metadata", "status")}


def with_manager(
    obj: Object, manager: str, operation: str, subresource: str, now: datetime
) -> Object:
    """Note who wrote; which fields are whose is not tracked (no server-side apply)."""
    entry = {"manager": manager, "operation": operation, "apiVersion": obj["apiVersion"]}
    entry |= {"subresource": subresource} if subresource else {}
    others = [e for e in obj["metadata"].get("managedFields") or [] if not _same_entry(e, entry)]
    entry |= {"time": rfc3339(now), "fieldsType": "FieldsV1", "fieldsV1": {}}
    return with_metadata(obj, managedFields=[*others, entry])


def _same_entry(left: Object, right: Object) -> bool:
    keys = ("manager", "operation", "apiVersion", "subresource")
    return all(left.get(key) == right.get(key) for key in keys)


def validate_metadata(resource: Resource, obj: Object, old: Object | None = None) -> list[Cause]:
    """What is wrong with names, labels, annotations, finalizers."""
    metadata = obj["metadata"]
    causes = _name_causes(resource, metadata)
    for field in ("labels", "annotations"):
        causes += _map_causes(field, metadata.get(field))
    causes += _label_value_causes(metadata.get("labels"))
    if old is not None and "deletionTimestamp" in old["metadata"]:
        causes += _finalizer_causes(metadata, old["metadata"])
    return causes


def _name_causes(resource: Resource, metadata: Object) -> list[Cause]:
    name = metadata.get("name")
    if not name:
        required = "Required value: name or generateName is required"
        return [Cause("metadata.name", "FieldValueRequired", required)]
    if (resource is NAMESPACES and "." in name) or not _SUBDOMAIN.fullmatch(name):
        message = f'Invalid value: "{name}": {_SUBDOMAIN_RULE}'
        return [Cause("metadata.name", "FieldValueInvalid", message)]
    longest = 63 if resource is NAMESPACES else 253
    if len(name) > longest:
        message = f'Invalid value: "{name}": must be no more than {longest} bytes'
        return [Cause("metadata.name", "FieldValueInvalid", message)]
    return []


def _map_causes(field: str, entries: object) -> list[Cause]:
    if entries is None:
        return []
    if not isinstance(entries, dict) or not all(isinstance(v, str) for v in entries.values()):
        return [Cause(f"metadata.{field}", "FieldValueTypeInvalid", "Invalid value: not strings")]
    causes = [
        Cause(f"metadata.{field}", "FieldValueInvalid", f'Invalid value: "{key}": {rule}')
        for key in entries
        if (rule := _key_rule(key))
    ]
    size = sum(len(k.encode()) + len(v.encode()) for k, v in entries.items())
    if field == "annotations" and size > _ANNOTATION_BYTES:
        message = f"Too long: may not be more than {_ANNOTATION_BYTES} bytes"
        causes.append(Cause("metadata.annotations", "FieldValueTooLong", message))
    return causes


def _key_rule(key: str) -> str:
    """The rule that the key of a label or annotation breaks; empty when it is fine."""
    prefix, slash, name = key.rpartition("/")
    if "/" in prefix:
        return _KEY_RULE
    if slash and not _SUBDOMAIN.fullmatch(prefix):
        return f"prefix part {_SUBDOMAIN_RULE}"
    if len(name) > 63:
        return "name part must be no more than 63 bytes"
    return "" if _QUALIFIED.fullmatch(name) else _QUALIFIED_RULE


def _label_value_causes(labels: object) -> list[Cause]:
    values = labels.values() if isinstance(labels, dict) else ()
    causes = []
    for value in values:
        if isinstance(value, str) and len(value) > 63:
            message = f'Invalid value: "{value}": must be no more than 63 bytes'
            causes.append(Cause("metadata.labels", "FieldValueInvalid", message))
        elif isinstance(value, str) and not _LABEL_VALUE.fullmatch(value):
            message = f'Invalid value: "{value}": {_LABEL_VALUE_RULE}'
            causes.append(Cause("metadata.labels", "FieldValueInvalid", message))
    return causes


def _finalizer_causes(metadata: Object, before: Object) -> list[Cause]:
    known = before.get("finalizers") or []
    added = [name for name in metadata.get("finalizers") or [] if name not in known]
    if not added:
        return []
    listed = ", ".join(f'"{name}"' for name in added)
    message = (
        "Forbidden: no new finalizers can be added if the object is being deleted, "
        f"found new finalizers []string{{{listed}}}"
    )
    return [Cause("metadata.finalizers", "FieldValueForbidden", message)]
