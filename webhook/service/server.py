"""The webhook's HTTP: bytes in, bytes out; what they mean is decided in ``admission``.

Ready means usable: TLS listens, a policy is in force and every watched kind has been listed. More
requests than can be answered in time are turned away at once, because the API server waits for no
more than two seconds and then does what the failure policy says anyway.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterator
from typing import Any

import orjson
from aiohttp import web

from webhook.admission.decide import Judge, mutate, validate, wanted
from webhook.admission.decision import Account, Decision, Refusal
from webhook.admission.knowledge import Identity
from webhook.admission.respond import respond, respond_to_bad
from webhook.admission.review import BadReview, Request, read_review
from webhook.admission.rules import Rules
from webhook.cluster.client import Client
from webhook.service.knowledge import ClusterMemory
from webhook.service.metrics import CONTENT_TYPE, Metrics
from webhook.service.policies import PolicySource

log = logging.getLogger(__name__)

MAX_BODY = 32 * 1024 * 1024
"""An object and its old state, each at most the 1.5 MiB etcd holds; the API server writes ``<`` as ``\\u003c``, which
is six times as long. What is too large for us is not judged, so nobody may be able to make it so."""
MISTAKE = Decision(
    refusals=(Refusal("tidegate failed to judge it; its log says why"),), code=500, note="mistake"
)
"""An answer, since no answer would let it pass wherever the failure policy is Ignore."""

UNKNOWN_PARENT = Decision(
    refusals=(Refusal("tidegate could not ask the API server for the owner; try again"),),
    code=503,
    note="unknown parent",
)
"""Whose controller made it will try again. To take it for a root would queue it apart from its parent for ever."""

Answer = Callable[[Request, Judge, float], Decision]


class Readiness:
    """Named conditions; ready when all hold."""

    def __init__(self, *names: str) -> None:
        self._missing = dict.fromkeys(names)

    def done(self, name: str) -> None:
        """The condition holds."""
        self._missing.pop(name, None)

    def lost(self, name: str) -> None:
        """It does not, or no longer."""
        self._missing[name] = None

    @property
    def missing(self) -> tuple[str, ...]:
        """What is waited for."""
        return tuple(self._missing)


class Webhook:
    """The handlers of one server."""

    def __init__(
        self,
        *,
        policies: PolicySource,
        memory: ClusterMemory,
        client: Client,
        identity: Identity,
        metrics: Metrics,
        max_in_flight: int = 256,
        lookup_seconds: float = 0.5,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.readiness = Readiness("tls", "policy", "lists")
        self._policies, self._memory, self._client = policies, memory, client
        self._identity, self._metrics, self._clock = identity, metrics, clock
        self._max_in_flight, self._lookup_seconds = max_in_flight, lookup_seconds
        self._in_flight = 0
        self._rules: Rules | None = None

    def app(self) -> web.Application:
        """The application to serve over TLS."""
        app = web.Application(client_max_size=MAX_BODY)
        app.router.add_post("/mutate", self._mutate)
        app.router.add_post("/validate", self._validate)
        add_health(app, self.readiness, self._metrics)
        return app

    async def _mutate(self, request: web.Request) -> web.Response:
        return await self._bounded(request, "mutate", mutate)

    async def _validate(self, request: web.Request) -> web.Response:
        return await self._bounded(request, "validate", validate)

    async def _bounded(self, request: web.Request, path: str, answer: Answer) -> web.Response:
        if self._in_flight >= self._max_in_flight:
            self._metrics.count("tidegate_overload_total")
            return _text(503, "too many reviews at a time", headers={"Retry-After": "1"})
        if self._policies.current is None or not self._memory.synced.is_set():
            return _text(503, "not ready: " + ", ".join(self.readiness.missing))
        began = time.perf_counter()
        self._in_flight += 1
        self._metrics.set("tidegate_reviews_in_flight", self._in_flight)
        try:
            return await self._review(request, path, answer)
        finally:
            self._in_flight -= 1
            self._metrics.set("tidegate_reviews_in_flight", self._in_flight)
            self._metrics.observe("tidegate_review_seconds", time.perf_counter() - began, path)

    async def _review(self, request: web.Request, path: str, answer: Answer) -> web.Response:
        """The body is decoded once, here."""
        try:
            review = read_review(orjson.loads(await request.read()))
        except (orjson.JSONDecodeError, RecursionError) as error:
            self._metrics.count("tidegate_reviews_total", path, "malformed")
            return _text(400, f"the body is not JSON: {error}")
        except BadReview as error:
            self._metrics.count("tidegate_reviews_total", path, "malformed")
            return _json(respond_to_bad(error)) if error.uid else _text(400, str(error))
        return _json(await self._answered(review, path, answer))

    async def _answered(self, review: Request, path: str, answer: Answer) -> dict[str, Any]:
        try:
            decision = await self._decided(review, answer)
            response = respond(review, decision)
        except BadReview as error:
            self._metrics.count("tidegate_reviews_total", path, "malformed")
            return respond_to_bad(error)
        except Exception:
            log.exception("%s %s/%s: a mistake of ours", path, review.namespace, review.name)
            decision, response = MISTAKE, respond(review, MISTAKE)
        self._metrics.count("tidegate_reviews_total", path, decision.note or "answered")
        if not review.dry_run:
            account = decision.account
            told = ((one.rule for one in many) for many in (account.audited, account.failed))
            self._metrics.rules(*told)
        _tell(review, path, decision)
        return response

    async def _decided(self, review: Request, answer: Answer) -> Decision:
        if ref := wanted(review, self._judge()):
            self._metrics.count("tidegate_lookups_total")
            if not await self._memory.look_up(self._client, ref, seconds=self._lookup_seconds):
                return UNKNOWN_PARENT
        return answer(review, self._judge(), self._clock())

    def _judge(self) -> Judge:
        """Made once a policy: its quota tree takes a while."""
        policy = self._policies.current
        assert policy is not None  # noqa: S101 - asked before the review was read
        if self._rules is None or self._rules.policy is not policy:
            self._rules = Rules.of(policy)
        return Judge(self._rules, self._memory, self._identity)


def add_health(app: web.Application, readiness: Readiness, metrics: Metrics) -> None:
    """/healthz: the process turns; /readyz: it is of use; /metrics."""

    async def healthz(_: web.Request) -> web.Response:
        return _text(200, "ok")

    async def readyz(_: web.Request) -> web.Response:
        missing = readiness.missing
        return _text(503, f"waiting for: {', '.join(missing)}") if missing else _text(200, "ok")

    async def exposition(_: web.Request) -> web.Response:
        body = await asyncio.to_thread(metrics.render)
        return web.Response(body=body, headers={"Content-Type": CONTENT_TYPE})

    app.router.add_get("/healthz", healthz)
    app.router.add_get("/readyz", readyz)
    app.router.add_get("/metrics", exposition)


def _tell(review: Request, path: str, decision: Decision) -> None:
    """One line a decision that is not "none of our business"; objects are named, never shown."""
    quiet = decision.note in ("ignored", "child", "") and not any(_said(decision.account))
    level = logging.DEBUG if quiet else logging.INFO
    if not log.isEnabledFor(level):
        return
    log.log(
        level,
        "%s %s namespace=%s name=%s user=%s decision=%s operations=%d%s%s",
        path,
        review.kind,
        review.namespace,
        review.name,
        review.user,
        decision.note,
        len(decision.patch),
        "".join(f" refusal={refusal.line!r}" for refusal in decision.refusals),
        "".join(f" {word}={said!r}" for word, said in _said(decision.account)),
    )


def _said(account: Account) -> Iterator[tuple[str, str]]:
    """What rules had to say that nobody else is told."""
    for word, told in (("audit", account.audited), ("failed", account.failed)):
        for one in told:
            yield word, f"{one.rule}: {one.message}" if one.message else one.rule


def _json(body: dict[str, Any]) -> web.Response:
    return web.Response(body=orjson.dumps(body), content_type="application/json")


def _text(status: int, text: str, *, headers: dict[str, str] | None = None) -> web.Response:
    return web.Response(status=status, text=text + "\n", headers=headers)
