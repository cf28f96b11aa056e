"""JSON patches (RFC 6902) and merge patches (RFC 7386), as the server answers them.

A JSON patch that does not apply is 422 with the one message the real server has for all causes.
"""

from __future__ import annotations

from typing import Any

from webhook.model.json_patch import DoesNotApply, apply_operations
from webhook.sandbox.resources import Object
from webhook.sandbox.status import StatusError, bad_request, broken_patch


def merge_patch(target: Any, patch: Any) -> Any:
    """The target with a merge patch applied; null removes, lists are replaced."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


def json_patch(target: Object, operations: object) -> Object:
    """The target with a JSON patch applied; raises StatusError 400 or 422."""
    if not isinstance(operations, list):
        raise bad_request("error decoding patch: json: cannot unmarshal object into a JSON patch")
    if not all(isinstance(operation, dict) for operation in operations):
        raise bad_request("error decoding patch: an operation is not an object")
    try:
        document = apply_operations(target, operations)
    except DoesNotApply as error:
        raise broken_patch() from error
    if not isinstance(document, dict):
        raise StatusError(422, "Invalid", "the patch leaves no object")
    return document
