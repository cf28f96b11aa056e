"""HTTP: bytes in, one verb of the Api called, bytes out.

Everything a path can mean is decided here; what a verb does is not. Whatever is not served is
answered with a Status of the reason a real server would give.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from aiohttp import web

from webhook.sandbox import reviews
from webhook.sandbox.answers import answer, json_response, refused, warned
from webhook.sandbox.api import Api
from webhook.sandbox.deeds import Deed
from webhook.sandbox.documents import document
from webhook.sandbox.faults import Faults
from webhook.sandbox.identity import identify
from webhook.sandbox.negotiation import Form, decode, form_of
from webhook.sandbox.requests import Query
from webhook.sandbox.resources import Object, User
from webhook.sandbox.routes import Target, target_of
from webhook.sandbox.status import StatusError, method_not_allowed
from webhook.sandbox.streaming import stream_watch

log = logging.getLogger(__name__)

LARGEST_BODY = 8 * 2**20
_HEALTH = ("/healthz", "/readyz", "/livez")
_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


class Front:
    """The handler of all requests; ``tokens`` says who may come in."""

    def __init__(self, api: Api, tokens: Mapping[str, User], faults: Faults) -> None:
        self.api = api
        self.faults = faults
        self._tokens = tokens

    def application(self) -> web.Application:
        application = web.Application(client_max_size=LARGEST_BODY)
        application.router.add_route("*", "/{path:.*}", self.handle)
        return application

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one request, in any case with JSON."""
        try:
            if request.path.startswith(_HEALTH):
                return web.Response(text="ok")
            return await self._route(request, identify(request.headers, self._tokens))
        except StatusError as error:
            return refused(error)
        except web.HTTPException:
            raise
        except Exception:
            log.exception("%s %s", request.method, request.path_qs)
            return refused(StatusError(500, "InternalError", "an error on the server: see its log"))

    async def _route(self, request: web.Request, user: User) -> web.StreamResponse:
        path = request.path.rstrip("/")
        if path in reviews.PATHS and request.method == "POST":
            body = decode(await request.read(), request.content_type)
            return json_response(reviews.review(path, body, user), 201)
        if (target := target_of(path)) is None:
            return document(request, path)
        query = Query(request.query, request.headers.get("User-Agent", ""))
        verb = _verb(request.method, target, query)
        await self.faults.before(verb, target.label)
        if verb == "watch":
            return await self._watch(request, target, query)
        if verb in ("get", "list"):
            return await self._read(request, target, query)
        return await self._write(request, verb, target, query, user)

    async def _read(self, request: web.Request, target: Target, query: Query) -> web.Response:
        form = form_of(request.headers.get("Accept", ""))
        if target.name:
            obj = await self.api.get(target.resource, target.namespace, target.name)
            return self._answer(target, obj, form, query)
        found = await self.api.list(
            target.resource,
            target.namespace,
            label_selector=query.label_selector,
            field_selector=query.field_selector,
            limit=query.limit,
            continue_=query.continue_,
        )
        return self._answer(target, found, form, query)

    async def _watch(
        self, request: web.Request, target: Target, query: Query
    ) -> web.StreamResponse:
        form = form_of(request.headers.get("Accept", ""))
        selector = query.field_selector
        if target.name:
            selector = ",".join(filter(None, [selector, f"metadata.name={target.name}"]))
        events = self.api.watch(
            target.resource,
            target.namespace,
            since=query.since,
            label_selector=query.label_selector,
            field_selector=selector,
            bookmarks=query.bookmarks,
            timeout_seconds=query.timeout_seconds,
            initial_events=query.initial_events,
        )
        include = query.include_object
        return await stream_watch(request, self.api, target, events, form, include, self.faults)

    async def _write(
        self, request: web.Request, verb: str, target: Target, query: Query, user: User
    ) -> web.Response:
        form = form_of(request.headers.get("Accept", ""))
        kind = request.headers.get("Content-Type", "")
        body = decode(await request.read(), kind, patch=verb == "patch")
        warnings: list[str] = []
        deed = Deed(self.api, target, query, user, body, warnings, request.content_type)
        try:
            obj, code = await deed.done(verb)
        except StatusError as error:
            return warned(refused(error), warnings)
        return warned(self._answer(target, obj, form, query, code), warnings)

    def _answer(
        self, target: Target, obj: Object, form: Form, query: Query, code: int = 200
    ) -> web.Response:
        include, now = query.include_object, self.api.clock()
        return answer(target.resource, obj, form, include, now, code)


def _verb(method: str, target: Target, query: Query) -> str:
    if method == "GET":
        if query.watch:
            return "watch"
        return "get" if target.name else "list"
    if method not in _VERBS:
        raise method_not_allowed()
    posted = target.subresource in ("binding", "eviction")
    collection = not target.name
    if method == "POST" and (collection or posted):
        if collection and target.resource.namespaced and not target.namespace:
            raise method_not_allowed()
        return "create"
    if method == "DELETE" and not target.subresource:
        return "delete"
    if method in ("PUT", "PATCH") and not collection and not posted:
        return _VERBS[method]
    raise method_not_allowed()
