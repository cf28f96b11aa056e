"""A webhook for the tests: real TLS, every review recorded, each answer up to the test.

It runs in threads of its own, so that neither a sandbox nor a real API server waits for the test.
"""

from __future__ import annotations

import base64
import json
import secrets
import ssl
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

import trustme

from tests.apiservers import Client, config_map
from tests.waiting import eventually

Object = dict[str, Any]
Answer = Callable[[Object], Object]
GROUP = "/apis/admissionregistration.k8s.io/v1"
PLURALS = {
    "MutatingWebhookConfiguration": "mutatingwebhookconfigurations",
    "ValidatingWebhookConfiguration": "validatingwebhookconfigurations",
}


def allow(_: Object) -> Object:
    return {"allowed": True}


def patching(*operations: Object, warnings: list[str] | None = None) -> Answer:
    """An answer that changes the object."""
    patch = base64.b64encode(json.dumps(operations).encode()).decode()
    response = {"allowed": True, "patchType": "JSONPatch", "patch": patch}
    return lambda _: response | ({"warnings": warnings} if warnings else {})


class HookServer:
    """``answers`` by path; a path without one allows."""

    def __init__(self, url: str, bundle: str) -> None:
        self.url = url
        self.bundle = bundle  # base64, for caBundle
        self.answers: dict[str, Answer] = {}
        self.reviews: defaultdict[str, list[Object]] = defaultdict(list)
        self.released = threading.Event()  # set at the end, so that no answer hangs for ever

    def respond(self, path: str, body: bytes) -> Object:
        review = json.loads(body)
        request = review["request"]
        self.reviews[path].append(request)
        response = {"uid": request["uid"]} | self.answers.get(path, allow)(request)
        return {"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response}

    def hang(self, _: Object) -> Object:
        """An answer that does not come while the test lasts."""
        self.released.wait(30)
        return {"allowed": True}

    def client_config(self, path: str) -> Object:
        return {"url": self.url + path, "caBundle": self.bundle}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        hooks = cast("_Server", self.server).hooks
        answer = json.dumps(hooks.respond(self.path.partition("?")[0], body)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Silence."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    hooks: HookServer

    def handle_error(self, *_: object) -> None:
        """A client that gave up is part of the tests."""


@contextmanager
def running_hooks() -> Iterator[HookServer]:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    server = _Server(("127.0.0.1", 0), _Handler)
    server.socket = context.wrap_socket(
        server.socket, server_side=True, do_handshake_on_connect=False
    )
    bundle = base64.b64encode(authority.cert_pem.bytes()).decode()
    hooks = HookServer(f"https://127.0.0.1:{server.server_port}", bundle)
    server.hooks = hooks
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield hooks
    finally:
        hooks.released.set()
        server.shutdown()
        server.server_close()
        thread.join(10)


class Registrar:
    """Writes webhook configurations for one namespace, waits until they work, removes them."""

    def __init__(self, client: Client, hooks: HookServer) -> None:
        self.client = client
        self.hooks = hooks
        self._written: list[str] = []

    def mutating(self, *entries: Object, name: str = "m") -> None:
        self._write("MutatingWebhookConfiguration", name, entries)

    def validating(self, *entries: Object, name: str = "v") -> None:
        self._write("ValidatingWebhookConfiguration", name, entries)

    def entry(self, path: str = "/hook", **fields: Any) -> Object:
        """One webhook, for Jobs of the namespace unless stated otherwise."""
        name = path.strip("/").replace("/", "-")
        here = {"matchLabels": {"kubernetes.io/metadata.name": self.client.namespace}}
        return {
            "name": f"{name}.tidegate.test",
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "failurePolicy": "Fail",
            "timeoutSeconds": 10,
            "clientConfig": self.hooks.client_config(path),
            "namespaceSelector": here,
            "rules": [
                {
                    "apiGroups": ["batch"],
                    "apiVersions": ["v1"],
                    "resources": ["jobs"],
                    "operations": ["CREATE", "UPDATE", "DELETE"],
                }
            ],
        } | fields

    def _write(self, kind: str, name: str, entries: tuple[Object, ...]) -> None:
        full = f"{name}-{self.client.namespace}"
        body = {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": kind,
            "metadata": {"name": full},
            "webhooks": [*entries, self._probe(full)],
        }
        answer = self.client.call("POST", f"{GROUP}/{PLURALS[kind]}", body)
        assert answer.code == 201, answer.body
        self._written.append(f"{GROUP}/{PLURALS[kind]}/{full}")
        self._wait(full)

    def _probe(self, full: str) -> Object:
        rule = {
            "apiGroups": [""],
            "apiVersions": ["v1"],
            "resources": ["configmaps"],
            "operations": ["CREATE"],
        }
        selector = {"matchLabels": {"probe": full}}
        return self.entry(f"/probe/{full}", rules=[rule], objectSelector=selector)

    def _wait(self, full: str) -> None:
        """A real API server reads configurations from a cache that lags behind."""

        def asked() -> bool:
            probe = config_map(f"probe-{secrets.token_hex(3)}", labels={"probe": full})
            self.client.create("configmaps", probe, "?dryRun=All")
            return bool(self.hooks.reviews[f"/probe/{full}"])

        eventually(asked)

    def remove(self) -> None:
        for path in self._written:
            self.client.call("DELETE", path)
