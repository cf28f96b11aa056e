"""The patch of a request, by its content type.

Server-side apply is refused, not imitated: who owns which field is not tracked here.
"""

from __future__ import annotations

from webhook.sandbox.patching import json_patch, merge_patch
from webhook.sandbox.resources import Object, Resource
from webhook.sandbox.status import bad_request, unsupported_media_type
from webhook.sandbox.strategic import strategic_merge

JSON = "application/json-patch+json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"

_NO_APPLY = (
    "server-side apply (application/apply-patch+yaml) is not served by the sandbox: it does not "
    "track which manager owns which field; use kubectl apply without --server-side, or a real "
    "cluster"
)


def check_type(resource: Resource, patch_type: str) -> None:
    """Raise StatusError 415 for a kind of patch that is not taken, whatever it is applied to."""
    if patch_type in (JSON, MERGE) or (patch_type == STRATEGIC and not resource.custom):
        return
    raise unsupported_media_type(_refusal(resource, patch_type))


def patched(resource: Resource, old: Object, body: object, patch_type: str) -> Object:
    """The object with the patch applied; raises StatusError 400, 415 or 422."""
    check_type(resource, patch_type)
    if patch_type == JSON:
        return json_patch(old, body)
    if not isinstance(body, dict):
        raise bad_request("error decoding patch: a merge patch is an object")
    if patch_type == STRATEGIC:
        return strategic_merge(resource, old, body)
    merged: Object = merge_patch(old, body)
    return merged


def _refusal(resource: Resource, patch_type: str) -> str:
    if patch_type.startswith("application/apply-patch"):
        return _NO_APPLY
    accepted = [JSON, MERGE] if resource.custom else [JSON, MERGE, STRATEGIC]
    return (
        "the body of the request was in an unknown format - accepted media types include: "
        + ", ".join(accepted)
    )
