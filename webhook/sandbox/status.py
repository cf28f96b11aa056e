"""Errors as the API server words them: a StatusError becomes the v1 Status a client receives.

Codes, reasons and messages are those of the real server, because clients branch on them
(409 means "read again", 422 means "the request is wrong") and people search for the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from webhook.sandbox.resources import Object, Resource

BROKEN_PATCH = "the server rejected our request due to an error in our request"
MODIFIED = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


@dataclass(frozen=True, slots=True)
class Cause:
    """One reason why a field is refused; ``message`` without the field, as in ``details.causes``.

    ``reason`` is a cause type such as ``FieldValueInvalid``, ``FieldValueRequired``.
    """

    field: str
    reason: str
    message: str


class StatusError(Exception):
    """A request that failed; ``details``: name, group, kind and causes as a client sees them."""

    def __init__(
        self, code: int, reason: str, message: str, *, details: Object | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details

    def status(self) -> Object:
        """The v1 Status object of the response body."""
        status: Object = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "code": self.code,
        }
        if self.details:
            status["details"] = self.details
        return status


def _details(resource: Resource, name: str) -> Object:
    details: Object = {"name": name, "kind": resource.plural}
    if resource.group:
        details["group"] = resource.group
    return details


def not_found(resource: Resource, name: str) -> StatusError:
    message = f'{resource.qualified} "{name}" not found'
    return StatusError(404, "NotFound", message, details=_details(resource, name))


def no_such_path() -> StatusError:
    return StatusError(404, "NotFound", "the server could not find the requested resource")


def already_exists(resource: Resource, name: str) -> StatusError:
    message = f'{resource.qualified} "{name}" already exists'
    return StatusError(409, "AlreadyExists", message, details=_details(resource, name))


def conflict(resource: Resource, name: str, why: str = MODIFIED) -> StatusError:
    message = f'Operation cannot be fulfilled on {resource.qualified} "{name}": {why}'
    return StatusError(409, "Conflict", message, details=_details(resource, name))


def binding_conflict(name: str, why: str) -> StatusError:
    """409 of POST pods/binding."""
    message = f'Operation cannot be fulfilled on pods/binding "{name}": {why}'
    details = {"name": name, "kind": "pods/binding"}
    return StatusError(409, "Conflict", message, details=details)


def delete_conflict(resource: Resource, name: str, why: str) -> StatusError:
    """409 of a DELETE, where the server names the kind instead of the resource."""
    kind = f"{resource.kind}.{resource.group}" if resource.group else resource.kind
    details = _details(resource, name) | {"kind": resource.kind}
    message = f'Operation cannot be fulfilled on {kind} "{name}": {why}'
    return StatusError(409, "Conflict", message, details=details)


def invalid(resource: Resource, name: str, causes: Sequence[Cause]) -> StatusError:
    """422 with every cause, worded ``Job.batch "t1" is invalid: spec.template: ...``."""
    kind = f"{resource.kind}.{resource.group}" if resource.group else resource.kind
    texts = list(dict.fromkeys(f"{c.field}: {c.message}" for c in causes))
    text = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    details = _details(resource, name) | {
        "kind": resource.kind,
        "causes": [{"reason": c.reason, "message": c.message, "field": c.field} for c in causes],
    }
    return StatusError(422, "Invalid", f'{kind} "{name}" is invalid: {text}', details=details)


def invalid_options(kind: str, cause: Cause) -> StatusError:
    """422 for a parameter of the request; ``kind`` is ListOptions, CreateOptions and so on."""
    details: Object = {
        "group": "meta.k8s.io",
        "kind": kind,
        "causes": [{"reason": cause.reason, "message": cause.message, "field": cause.field}],
    }
    message = f'{kind}.meta.k8s.io "" is invalid: {cause.field}: {cause.message}'
    return StatusError(422, "Invalid", message, details=details)


def broken_patch() -> StatusError:
    """A JSON patch that does not apply; the real server tells no more than this."""
    return StatusError(422, "Invalid", BROKEN_PATCH)


def bad_request(message: str) -> StatusError:
    return StatusError(400, "BadRequest", message)


def forbidden(resource: Resource, name: str, why: str) -> StatusError:
    message = f'{resource.qualified} "{name}" is forbidden: {why}'
    return StatusError(403, "Forbidden", message, details=_details(resource, name))


def unauthorized() -> StatusError:
    return StatusError(401, "Unauthorized", "Unauthorized")


def unsupported_media_type(message: str) -> StatusError:
    return StatusError(415, "UnsupportedMediaType", message)


def expired(message: str) -> StatusError:
    """410: a resourceVersion or a continue token that is too old; list again."""
    return StatusError(410, "Expired", message)


def method_not_allowed(
    message: str = "the server does not allow this method on the requested resource",
) -> StatusError:
    return StatusError(405, "MethodNotAllowed", message)
