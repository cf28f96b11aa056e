"""The few synchronous calls that set up a control plane and look at it from a test.

The product's own client is asynchronous and under test; the harness must not depend on it.
"""

from __future__ import annotations

import json
import ssl
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"


class RestError(RuntimeError):
    """The API server answered with an error; ``code`` is the HTTP status."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


class Rest:
    """Calls of one user; every answer is JSON."""

    def __init__(self, url: str, ca_file: Path, token: str) -> None:
        self._url = url
        self._token = token
        self._tls = ssl.create_default_context(cafile=str(ca_file))
        # No proxy from the environment may stand between us and the loopback.
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=self._tls)
        )

    def get(self, path: str) -> dict[str, Any]:
        """One object or list; raises RestError."""
        return self._json("GET", path)

    def create(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """POST to a collection; raises RestError."""
        return self._json("POST", path, body, JSON)

    def merge(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """JSON merge patch; raises RestError."""
        return self._json("PATCH", path, body, MERGE_PATCH)

    def apply(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Server-side apply: create or bring into this shape; raises RestError."""
        return self._json("PATCH", f"{path}?fieldManager=harness&force=true", body, APPLY_PATCH)

    def delete(self, path: str) -> dict[str, Any]:
        """DELETE in the background; raises RestError."""
        return self._json("DELETE", f"{path}?propagationPolicy=Background")

    def healthy(self, path: str) -> bool:
        """Whether a health endpoint says 200; False as long as nobody answers."""
        try:
            self.read("GET", path)
        except (RestError, OSError):
            return False
        return True

    def read(self, method: str, path: str, body: bytes | None = None, kind: str = JSON) -> bytes:
        """The body of the answer as it came; raises RestError, or OSError without an answer."""
        headers = {"Authorization": f"Bearer {self._token}", "Accept": JSON, "Content-Type": kind}
        request = urllib.request.Request(
            self._url + path, data=body, headers=headers, method=method
        )
        try:
            with self._opener.open(request, timeout=30) as answer:
                return bytes(answer.read())
        except urllib.error.HTTPError as error:
            with error:
                raise RestError(error.code, _message(error.read())) from error

    def _json(
        self, method: str, path: str, body: dict[str, Any] | None = None, kind: str = JSON
    ) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        answer: dict[str, Any] = json.loads(self.read(method, path, data, kind))
        return answer


def _message(body: bytes) -> str:
    try:
        return str(json.loads(body)["message"])
    except (ValueError, KeyError, TypeError):
        return body.decode(errors="replace")[:500]
