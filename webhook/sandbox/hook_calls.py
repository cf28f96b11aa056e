"""One call of one webhook: the AdmissionReview out, the response in, each fault in its own words.

``CallFailed`` is a webhook that could not be asked or made no sense (failurePolicy decides);
``StatusError`` is a webhook that said no. The connection is kept between calls, as the real server
keeps it; proxies of the environment are not used.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import ssl
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp
import orjson
from yarl import URL

from webhook.sandbox.hooks import Hook, Review, request_of
from webhook.sandbox.resources import Object
from webhook.sandbox.status import StatusError

REVIEW = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1"}
UNKNOWN_AUTHORITY = (
    "tls: failed to verify certificate: x509: certificate signed by unknown authority"
)
REASONS = {401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 409: "Conflict", 422: "Invalid"}
Services = Mapping[tuple[str, str], str]


class CallFailed(Exception):
    """The webhook could not be called, or what it answered is no answer."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An allowed request; ``patch`` only from a mutating webhook."""

    patch: list[Object] | None
    warnings: list[str]


class HookClient:
    """Calls webhooks; ``services`` maps (namespace, name) to the address of a service.

    The certificate of a service is checked for its name in the cluster, not for that address.
    """

    def __init__(self, services: Services | None = None) -> None:
        self.services: Services = services or {}
        self._session: aiohttp.ClientSession | None = None
        self._trust: dict[str, ssl.SSLContext] = {}

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def call(self, hook: Hook, review: Review) -> Answer:
        """Ask; raises CallFailed, or StatusError when the request is denied."""
        uid = str(uuid.uuid4())
        body = orjson.dumps(REVIEW | {"request": _request(uid, review)})
        target, server_name = self._address(hook)
        try:
            async with asyncio.timeout(hook.timeout_seconds):
                raw = await self._post_again(target, server_name, hook, body)
        except TimeoutError:
            raise _unreachable(target, "context deadline exceeded") from None
        except (aiohttp.ClientError, OSError) as error:
            raise _unreachable(target, _reason(error, target)) from error
        return _answer(hook, uid, raw)

    def _address(self, hook: Hook) -> tuple[URL, str | None]:
        timeout = {"timeout": f"{hook.timeout_seconds}s"}
        if url := hook.client.get("url"):
            return URL(url) % timeout, None
        service = hook.client["service"]
        host = f"{service['name']}.{service['namespace']}.svc"
        path = service.get("path") or "/"
        address = self.services.get((service["namespace"], service["name"]))
        if address is None:
            port, seconds = service.get("port", 443), hook.timeout_seconds
            asked = f"https://{host}:{port}{path}?timeout={seconds}s"
            raise _unreachable(asked, f'service "{service["name"]}" not found')
        return URL(address).with_path(path) % timeout, host

    async def _post_again(
        self, target: URL, server_name: str | None, hook: Hook, body: bytes
    ) -> tuple[int, bytes]:
        """A kept connection may have been closed meanwhile: like Go's client, try a new one."""
        try:
            return await self._post(target, server_name, hook, body)
        except aiohttp.ClientConnectorError:
            raise
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
            return await self._post(target, server_name, hook, body)

    async def _post(
        self, target: URL, server_name: str | None, hook: Hook, body: bytes
    ) -> tuple[int, bytes]:
        if self._session is None:
            self._session = aiohttp.ClientSession(trust_env=False, auto_decompress=True)
        async with self._session.post(
            target,
            data=body,
            headers={"Content-Type": "application/json", "Accept": "application/json"},
            ssl=self._context(str(hook.client.get("caBundle") or "")),
            server_hostname=server_name,
            allow_redirects=False,
        ) as response:
            return response.status, await response.read()

    def _context(self, bundle: str) -> ssl.SSLContext:
        if bundle not in self._trust:
            self._trust[bundle] = ssl.create_default_context(cadata=_certificates(bundle))
        return self._trust[bundle]


def _certificates(bundle: str) -> str | None:
    try:
        return base64.b64decode(bundle, validate=True).decode() if bundle else None
    except (binascii.Error, UnicodeDecodeError) as error:
        raise CallFailed("unable to load root certificates: unable to parse bytes") from error


def _unreachable(target: URL | str, reason: str) -> CallFailed:
    return CallFailed(f'failed to call webhook: Post "{target}": {reason}')


def _reason(error: Exception, target: URL) -> str:
    """The words of Go's client for what aiohttp met."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError | ssl.SSLError):
        return UNKNOWN_AUTHORITY
    if isinstance(error, aiohttp.ClientConnectorSSLError):
        return "tls: handshake failure"
    if isinstance(error, aiohttp.ClientConnectorError):
        refused = isinstance(error.os_error, ConnectionRefusedError)
        why = "connect: connection refused" if refused else str(error.os_error)
        return f"dial tcp {target.host}:{target.port}: {why}"
    if isinstance(error, aiohttp.ServerDisconnectedError | aiohttp.ClientPayloadError):
        return "EOF"
    return str(error)


def _request(uid: str, review: Review) -> Object:
    rest = {"uid": uid, "object": review.new, "oldObject": review.old}
    return request_of(review) | rest


def _answer(hook: Hook, uid: str, raw: tuple[int, bytes]) -> Answer:
    code, body = raw
    if code != 200:
        raise CallFailed(f"failed to call webhook: {_http_fault(code, body)}")
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        text = f"couldn't get version/kind; json parse error: {error}"
        raise CallFailed(f"failed to call webhook: {text}") from error
    response = _verified(answer, uid)
    patch = _patch(hook, response)
    warnings = [w for w in response.get("warnings") or () if isinstance(w, str)]
    if response.get("allowed") is not True:
        raise Denied(hook.name, response.get("status"), warnings)
    return Answer(patch, warnings)


class Denied(StatusError):
    """The webhook said no; its warnings are shown all the same."""

    def __init__(self, name: str, status: Any, warnings: list[str]) -> None:
        stated: Object = status if isinstance(status, dict) else {}
        code = stated.get("code")
        code = code if isinstance(code, int) and code >= 400 else 400
        why = stated.get("message") or stated.get("reason")
        denied = f'admission webhook "{name}" denied the request'
        message = f"{denied}: {why}" if why else f"{denied} without explanation"
        details = stated.get("details") if isinstance(stated.get("details"), dict) else None
        reason = str(stated.get("reason") or "")
        super().__init__(code, reason, message, details=details)
        self.warnings = warnings


def _http_fault(code: int, body: bytes) -> str:
    text = body.decode(errors="replace").strip()
    match code:
        case 404:
            return "the server could not find the requested resource"
        case _ if code >= 500:
            return f'an error on the server ("{text}") has prevented the request from succeeding'
        case _:
            return f"the server rejected our request for an unknown reason ({code})"


def _verified(answer: Any, uid: str) -> Object:
    """The response of an AdmissionReview v1; raises CallFailed."""
    if not isinstance(answer, dict):
        raise _senseless("webhook response was absent")
    got = f"{answer.get('apiVersion', '')}, Kind={answer.get('kind', '')}"
    if got != "admission.k8s.io/v1, Kind=AdmissionReview":
        expected = "/v1, Kind=AdmissionReview"
        raise _senseless(f"expected webhook response of admission.k8s.io{expected}, got {got}")
    response = answer.get("response")
    if not isinstance(response, dict):
        raise _senseless("webhook response was absent")
    if response.get("uid") != uid:
        got = response.get("uid", "")
        raise _senseless(f'expected response.uid="{uid}", got "{got}"')
    return response


def _senseless(reason: str) -> CallFailed:
    return CallFailed(f"received invalid webhook response: {reason}")


def _patch(hook: Hook, response: Object) -> list[Object] | None:
    patch, kind = response.get("patch"), response.get("patchType")
    if not hook.mutating:
        for name in ("patch", "patchType"):
            if response.get(name):
                raise _senseless(f"validating webhook may not return response.{name}")
        return None
    if patch and not kind:
        raise _senseless("webhook returned response.patch but not response.patchType")
    if kind and not patch:
        raise _senseless("webhook returned response.patchType but not response.patch")
    if kind and kind != "JSONPatch":
        raise _senseless(f'webhook returned invalid response.patchType of "{kind}"')
    return _decoded(patch) if patch else None


def _decoded(patch: Any) -> list[Object]:
    try:
        operations = orjson.loads(base64.b64decode(patch, validate=True))
    except (binascii.Error, TypeError, ValueError) as error:
        text = f"received undecodable patch in webhook response: {error}"
        raise CallFailed(text) from error
    if not isinstance(operations, list):
        raise CallFailed("received undecodable patch in webhook response: not a list")
    return operations
