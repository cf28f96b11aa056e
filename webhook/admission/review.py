"""AdmissionReview, as it comes in: read once into a frozen request.

The envelope is all that is judged here; objects stay the dictionaries the API server sent, since conditions read them
as they are. https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from webhook.model.kinds import Object

VERSIONS = ("admission.k8s.io/v1", "admission.k8s.io/v1beta1")


class BadReview(ValueError):
    """Not an AdmissionReview we can answer. ``uid`` is "" where even that could not be read."""

    def __init__(self, message: str, *, uid: str = "", api_version: str = VERSIONS[0]) -> None:
        super().__init__(message)
        self.uid = uid
        self.api_version = api_version


class Operation(Enum):
    """What the API server is about to do."""

    CREATE = "CREATE"
    UPDATE = "UPDATE"
    DELETE = "DELETE"
    CONNECT = "CONNECT"


@dataclass(frozen=True, slots=True)
class Request:
    """One request to judge. ``raw`` is the request as sent, for conditions; ``object`` is None at DELETE."""

    uid: str
    api_version: str
    operation: Operation
    group: str
    kind: str
    resource: str
    subresource: str
    namespace: str
    name: str
    user: str
    groups: tuple[str, ...]
    dry_run: bool
    object: Object | None
    old_object: Object | None
    raw: Mapping[str, Any]

    @property
    def subject(self) -> Object:
        """The object the request is about. Raises BadReview where there is none."""
        if self.object is None:
            raise BadReview("the request carries no object", uid=self.uid)
        return self.object


def read_review(review: object) -> Request:
    """The request inside a decoded AdmissionReview. Raises BadReview."""
    if not isinstance(review, Mapping):
        raise BadReview("the body is no JSON object")
    raw = review.get("request")
    uid = raw.get("uid") if isinstance(raw, Mapping) else None
    uid = uid if isinstance(uid, str) else ""
    version = review.get("apiVersion")
    if version not in VERSIONS or review.get("kind") != "AdmissionReview":
        raise BadReview(f"want AdmissionReview of {' or '.join(VERSIONS)}", uid=uid)
    if not isinstance(raw, Mapping) or not uid:
        raise BadReview(
            "an AdmissionReview needs a request with a uid", uid=uid, api_version=version
        )
    try:
        return _request(raw, uid, version)
    except (AttributeError, TypeError, ValueError) as error:
        raise BadReview(f"malformed request: {error}", uid=uid, api_version=version) from error


def _request(raw: Mapping[str, Any], uid: str, version: str) -> Request:
    kind, resource, user = (
        raw.get("kind") or {},
        raw.get("resource") or {},
        raw.get("userInfo") or {},
    )
    obj, old = raw.get("object"), raw.get("oldObject")
    return Request(
        uid=uid,
        api_version=version,
        operation=Operation(raw.get("operation")),
        group=str(kind.get("group") or ""),
        kind=str(kind.get("kind") or ""),
        resource=str(resource.get("resource") or ""),
        subresource=str(raw.get("subResource") or ""),
        namespace=str(raw.get("namespace") or ""),
        name=str(raw.get("name") or _name(obj)),
        user=str(user.get("username") or ""),
        groups=tuple(str(group) for group in user.get("groups") or ()),
        dry_run=raw.get("dryRun") is True,
        object=_object(obj),
        old_object=_object(old),
        raw=raw,
    )


def _name(obj: Any) -> str:
    metadata = obj.get("metadata") or {} if isinstance(obj, dict) else {}
    return str(metadata.get("name") or metadata.get("generateName") or "")


def _object(value: Any) -> Object | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise ValueError("object and oldObject are JSON objects or null")
    return value
