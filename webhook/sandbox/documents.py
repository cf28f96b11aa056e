"""The documents a client reads before it asks for objects: discovery, OpenAPI, the version."""

from __future__ import annotations

from aiohttp import web

from webhook.sandbox import discovery, openapi
from webhook.sandbox.answers import json_response
from webhook.sandbox.negotiation import form_of
from webhook.sandbox.resources import Object
from webhook.sandbox.status import no_such_path


def document(request: web.Request, path: str) -> web.Response:
    """Discovery, OpenAPI, version: what is neither a resource nor health."""
    if request.method != "GET":
        raise no_such_path()
    if path == "/version":
        return json_response(discovery.VERSION)
    if path.startswith("/openapi/"):
        return _openapi(path)
    form = form_of(request.headers.get("Accept", ""))
    if path in ("/api", "/apis") and form.as_kind == "APIGroupDiscoveryList":
        return json_response(
            discovery.aggregated(core=path == "/api"), content_type=form.content_type
        )
    found = _legacy_discovery([part for part in path.split("/") if part])
    if found is None:
        raise no_such_path()
    return json_response(found)


def _legacy_discovery(parts: list[str]) -> Object | None:
    match parts:
        case ["api"]:
            return discovery.api_versions()
        case ["api", version]:
            return discovery.resource_list("", version)
        case ["apis"]:
            return discovery.group_list()
        case ["apis", name] if name in discovery.groups():
            return discovery.group(name)
        case ["apis", name, version]:
            return discovery.resource_list(name, version)
    return None


def _openapi(path: str) -> web.Response:
    if path == "/openapi/v3":
        return json_response(openapi.index())
    version = path.removeprefix("/openapi/v3/").removeprefix("apis/").removeprefix("api/")
    if (found := openapi.document(version)) is None:
        raise no_such_path()
    return json_response(found)
