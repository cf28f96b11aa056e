"""What only the sandbox has: addresses of services, a part of CEL, a count of what failed open."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trustme
from aiohttp import web

from tests.sandbox.manifests import job
from webhook.sandbox import strategies
from webhook.sandbox.api import Api
from webhook.sandbox.resources import JOBS, VALIDATING_WEBHOOKS, User
from webhook.sandbox.status import StatusError
from webhook.sandbox.webhooks import AdmissionChain, warn

ADMIN = User("admin")
SERVICE = {"namespace": "tidegate-system", "name": "tidegate", "path": "/validate"}


class Hook:
    """A validating webhook that allows everything and keeps the reviews."""

    def __init__(self) -> None:
        self.authority = trustme.CA()
        self.reviews: list[dict[str, Any]] = []
        self.address = ""
        self.port = 0
        self.together: asyncio.Barrier | None = None  # answer only when so many are asked

    async def answer(self, request: web.Request) -> web.Response:
        review = await request.json()
        if self.together is not None:
            await self.together.wait()
        self.reviews.append(review["request"] | {"path": request.path_qs})
        response = {"uid": review["request"]["uid"], "allowed": True}
        kind = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
        return web.json_response(kind | {"response": response})

    def bundle(self) -> str:
        import base64

        return base64.b64encode(self.authority.cert_pem.bytes()).decode()

    @asynccontextmanager
    async def served(self, port: int = 0) -> AsyncIterator[None]:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.authority.issue_cert("tidegate.tidegate-system.svc").configure_cert(context)
        application = web.Application()
        application.router.add_post("/{path}", self.answer)
        runner = web.AppRunner(application, access_log=None)
        await runner.setup()
        await web.TCPSite(
            runner, "127.0.0.1", port, ssl_context=context, reuse_address=True
        ).start()
        self.port = runner.addresses[0][1]
        self.address = f"https://127.0.0.1:{self.port}"
        try:
            yield
        finally:
            await runner.cleanup()


@pytest.fixture
async def hook() -> AsyncIterator[Hook]:
    made = Hook()
    async with made.served():
        yield made


def configuration(**fields: Any) -> dict[str, Any]:
    rule = {
        "apiGroups": ["batch"],
        "apiVersions": ["*"],
        "resources": ["*"],
        "operations": ["*"],
    }
    entry = {
        "name": "validate.tidegate.dev",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "clientConfig": {"service": SERVICE},
        "rules": [rule],
        "timeoutSeconds": 2,
    }
    return {"metadata": {"name": "tidegate"}, "webhooks": [entry | fields]}


async def with_chain(hook: Hook | None, **fields: Any) -> tuple[Api, AdmissionChain]:
    api = Api(strategy=strategies)
    key = (SERVICE["namespace"], SERVICE["name"])
    chain = AdmissionChain(api, services={key: hook.address} if hook else {})
    api.use_admission(chain)
    await api.create(VALIDATING_WEBHOOKS, "", configuration(**fields), user=ADMIN)
    return api, chain


async def test_a_service_is_called_at_its_address_under_its_name(hook: Hook):
    client = {"service": SERVICE, "caBundle": hook.bundle()}
    api, chain = await with_chain(hook, clientConfig=client)
    await api.create(JOBS, "default", job("t"), user=ADMIN)
    assert [review["path"] for review in hook.reviews] == ["/validate?timeout=2s"]
    await chain.close()


async def test_a_webhook_that_restarted_is_called_on_a_new_connection():
    hook = Hook()
    async with hook.served():
        client = {"service": SERVICE, "caBundle": hook.bundle()}
        api, chain = await with_chain(hook, clientConfig=client)
        await api.create(JOBS, "default", job("a"), user=ADMIN)
    async with hook.served(hook.port):
        await api.create(JOBS, "default", job("b"), user=ADMIN)
    assert [review["name"] for review in hook.reviews] == ["a", "b"]
    await chain.close()


async def test_a_certificate_for_another_name_is_refused(hook: Hook):
    client = {"url": hook.address + "/validate", "caBundle": hook.bundle()}
    api, chain = await with_chain(hook, clientConfig=client)
    with pytest.raises(StatusError, match="failed to verify certificate"):
        await api.create(JOBS, "default", job("t"), user=ADMIN)
    await chain.close()


async def test_what_failed_open_is_counted():
    api, chain = await with_chain(None, failurePolicy="Ignore")
    await api.create(JOBS, "default", job("t"), user=ADMIN)
    assert chain.failed_open == {"validate.tidegate.dev": 1}


async def test_a_configuration_that_changes_holds_at_once(hook: Hook):
    client = {"service": SERVICE, "caBundle": hook.bundle()}
    api, chain = await with_chain(hook, clientConfig=client)
    await api.create(JOBS, "default", job("a"), user=ADMIN)
    body = configuration(clientConfig=client, objectSelector={"matchLabels": {"a": "b"}})
    await api.update(VALIDATING_WEBHOOKS, "", "tidegate", body, user=ADMIN)
    await api.create(JOBS, "default", job("b"), user=ADMIN)
    await api.delete(VALIDATING_WEBHOOKS, "", "tidegate", user=ADMIN)
    await api.create(JOBS, "default", job("c"), user=ADMIN)
    assert [review["name"] for review in hook.reviews] == ["a"]
    await chain.close()


async def test_an_expression_beyond_the_known_part_of_cel_is_refused():
    condition = {"name": "odd", "expression": "size(object.metadata.labels) > 3"}
    with pytest.raises(StatusError) as refused:
        await with_chain(None, matchConditions=[condition])
    assert refused.value.code == 422
    assert "the sandbox knows only a part of CEL" in refused.value.message


@pytest.mark.parametrize(("policy", "code"), [("Ignore", 0), ("Fail", 403)])
async def test_a_condition_without_a_value_follows_the_failure_policy(policy: str, code: int):
    condition = {"name": "odd", "expression": "object.metadata.nothing == 1"}
    api, chain = await with_chain(None, matchConditions=[condition], failurePolicy=policy)
    if not code:
        await api.create(JOBS, "default", job("t"), user=ADMIN)
        assert chain.failed_open == {}
        return
    with pytest.raises(StatusError) as refused:
        await api.create(JOBS, "default", job("t"), user=ADMIN)
    assert refused.value.code == code


class Stored:
    """A reader of one configuration, as an older API server may have stored it."""

    def __init__(self, side_effects: str) -> None:
        self._side_effects = side_effects

    async def get(self, *_: Any) -> dict[str, Any]:
        return {"metadata": {"labels": {}}}

    async def list(self, resource: Any) -> dict[str, Any]:
        if resource is not VALIDATING_WEBHOOKS:
            return {"items": []}
        body = configuration(sideEffects=self._side_effects)
        body["metadata"] |= {"uid": "u", "resourceVersion": "1"}
        return {"items": [body | {"kind": resource.kind}]}


@pytest.mark.parametrize("side_effects", ["Some", "Unknown"])
async def test_a_webhook_with_side_effects_fails_a_dry_run(side_effects: str):
    chain = AdmissionChain(Stored(side_effects))
    asked: Any = ("CREATE", JOBS, "", "default", "t", None, job("t"), ADMIN, True, {}, [])
    with pytest.raises(StatusError) as refused:
        await chain.validate(*asked)
    assert refused.value.code == 400
    text = 'admission webhook "validate.tidegate.dev" does not support dry run'
    assert refused.value.message == text


async def test_validating_webhooks_are_asked_at_the_same_time(hook: Hook):
    client = {"service": SERVICE, "caBundle": hook.bundle()}
    api, chain = await with_chain(hook, clientConfig=client)
    body = configuration(clientConfig=client, name="second.tidegate.dev")
    body["metadata"]["name"] = "second"
    hook.together = asyncio.Barrier(2)
    await api.create(VALIDATING_WEBHOOKS, "", body, user=ADMIN)
    await api.create(JOBS, "default", job("t"), user=ADMIN)
    assert len(hook.reviews) == 2
    await chain.close()


def test_warnings_without_a_listener_are_dropped():
    warn(None, ["anything"])
    heard: list[str] = []
    warn(heard, ["", "a\tb", "plain", "plain", "umlaut ü"])
    assert heard == ["plain", "umlaut ü"]
