"""Just enough OpenAPI: which kinds exist and that the server checks fields itself.

kubectl asks for it before create and apply: it looks for the ``fieldValidation`` parameter of the
PATCH of a kind, and for built-in kinds whether strategic merge is offered. Schemas are not served:
``kubectl explain`` and validation of unknown fields do not work against the sandbox.
"""

from __future__ import annotations

from webhook.sandbox.discovery import VERSION, groups
from webhook.sandbox.patches import JSON, MERGE
from webhook.sandbox.resources import RESOURCES, Object, Resource

_INFO = {"title": "Kubernetes", "version": VERSION["gitVersion"]}
_FIELD_VALIDATION = {
    "name": "fieldValidation",
    "in": "query",
    "schema": {"type": "string", "uniqueItems": True},
}


def index() -> Object:
    """GET /openapi/v3."""
    paths = ["api/v1", *(f"apis/{r.api_version}" for r in _one_of_each_group())]
    return {"paths": {path: {"serverRelativeURL": f"/openapi/v3/{path}"} for path in paths}}


def _one_of_each_group() -> list[Resource]:
    return [next(r for r in RESOURCES if r.group == name) for name in groups()]


def document(api_version: str) -> Object | None:
    """GET /openapi/v3/apis/{group}/{version}; None when there is no such version."""
    members = [resource for resource in RESOURCES if resource.api_version == api_version]
    if not members:
        return None
    return {
        "openapi": "3.0.0",
        "info": _INFO,
        "paths": {_path(resource): _operations(resource) for resource in members},
        "components": {"schemas": {}},
    }


def _path(resource: Resource) -> str:
    root = f"/apis/{resource.api_version}" if resource.group else "/api/v1"
    home = "/namespaces/{namespace}" if resource.namespaced else ""
    return f"{root}{home}/{resource.plural}/{{name}}"


def _operations(resource: Resource) -> Object:
    # Strategic merge is left out on purpose: with it kubectl would want the schemas, without it
    # kubectl takes the merge keys from the types compiled into it, which is as good.
    kind = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    return {
        "patch": {
            "x-kubernetes-action": "patch",
            "x-kubernetes-group-version-kind": kind,
            "parameters": [_FIELD_VALIDATION],
            "requestBody": {"content": {JSON: {}, MERGE: {}}},
            "responses": {"200": {"description": "OK"}},
        }
    }
