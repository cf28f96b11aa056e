"""The server's certificate, replaced while it serves.

Loading a new pair into the live context is not enough: OpenSSL keeps one pair a key type, so after
a change from EC to RSA the old certificate would still be shown. Each load makes a fresh context
and the SNI callback, which also runs for clients that send no name, hands it to new connections.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import ssl
from collections.abc import Callable
from pathlib import Path

from cryptography import x509

from webhook.cluster.errors import cut

log = logging.getLogger(__name__)


class TlsError(Exception):
    """The pair of files cannot be used; one line, fit to be shown."""


class ServingTls:
    """A certificate and a key on disk, and the context that serves them."""

    def __init__(self, certificate: Path, key: Path) -> None:
        """Reads the files. Raises TlsError."""
        self.certificate, self.key = certificate, key
        self._seen = self._digest()
        self._current, self.expires_at = self._load()
        self.context = _server_context()
        self.context.load_cert_chain(certificate, key)
        self.context.sni_callback = self._choose

    def _choose(self, connection: ssl.SSLObject, _name: str | None, _old: ssl.SSLContext) -> None:
        connection.context = self._current

    def reload(self) -> bool:
        """True if another pair is served now. Raises TlsError, and the old pair goes on."""
        digest = self._digest()
        if digest == self._seen:
            return False
        self._current, self.expires_at = self._load()
        self._seen = digest
        return True

    async def follow(
        self, *, every_seconds: float, renew: Callable[[], object] | None = None
    ) -> None:
        """Look for ever; a bad pair is said once for each time it changes.

        ``renew`` is called before each look, and may write a new pair; it raises TlsError.
        """
        said = ""
        while True:
            await asyncio.sleep(every_seconds)
            try:
                if renew is not None:
                    await asyncio.to_thread(renew)
                if await asyncio.to_thread(self.reload):
                    log.info("new certificate expires_at=%d", self.expires_at)
                said = ""
            except TlsError as error:
                if str(error) != said:
                    log.error("the certificate stays as it is: %s", error)
                said = str(error)

    def _digest(self) -> str:
        try:
            return hashlib.sha256(
                self.certificate.read_bytes() + b"\0" + self.key.read_bytes()
            ).hexdigest()
        except OSError as error:
            raise TlsError(f"cannot read `{error.filename}`: {error.strerror}") from error

    def _load(self) -> tuple[ssl.SSLContext, float]:
        context = _server_context()
        try:
            context.load_cert_chain(self.certificate, self.key)
            leaf = x509.load_pem_x509_certificate(self.certificate.read_bytes())
        except (OSError, ValueError) as error:
            text = cut(str(error))
            raise TlsError(
                f"`{self.certificate}` and `{self.key}` are no certificate and its key: {text}"
            ) from error
        return context, leaf.not_valid_after_utc.timestamp()


def _server_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context
