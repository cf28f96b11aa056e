"""Responses: an object or a list in the form asked for, a Status, warnings."""

from __future__ import annotations

from datetime import datetime

from aiohttp import web

from webhook.sandbox.negotiation import Form, encode, warning_headers
from webhook.sandbox.resources import Object, Resource
from webhook.sandbox.status import StatusError
from webhook.sandbox.tables import partial, partial_list, table


def answer(
    resource: Resource, obj: Object, form: Form, include: str, now: datetime, code: int = 200
) -> web.Response:
    """The object or list in the form the client asked for; a Status stays one."""
    if obj["kind"] == "Status" or not form.as_kind:
        return json_response(obj, code)
    items = obj.get("items") if obj["kind"].endswith("List") else None
    metadata = obj["metadata"]
    if form.as_kind == "Table":
        if items is None:
            metadata = {"resourceVersion": metadata.get("resourceVersion", "")}
        rows = [obj] if items is None else items
        return json_response(table(resource, rows, metadata, now, include=include), code)
    if items is not None:
        return json_response(partial_list(items, metadata), code)
    return json_response(partial(obj), code)


def json_response(
    value: Object, code: int = 200, *, content_type: str = "application/json"
) -> web.Response:
    return web.Response(body=encode(value), status=code, headers={"Content-Type": content_type})


def refused(error: StatusError) -> web.Response:
    response = json_response(error.status(), error.code)
    if error.code in (429, 503):
        response.headers["Retry-After"] = "1"
    return response


def warned(response: web.Response, warnings: list[str]) -> web.Response:
    for value in warning_headers(warnings):
        response.headers.add("Warning", value)
    return response
