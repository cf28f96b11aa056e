"""How to reach the API server, and as whom: a kubeconfig, or the pod's service account.

The kubernetes client reads both; what it leaves open is closed here. A failing exec plugin is only
logged by it, and would show as 401s much later: we refuse to start. Tokens of exec plugins are not
renewed by it: we do. Proxies of the environment are not asked for, because that costs a look-up
in a thread for every request. Importing it takes a second, so it is imported on use.
"""

from __future__ import annotations

import asyncio
import logging
import os
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from webhook.cluster.errors import cut

log = logging.getLogger(__name__)

TOKEN_RENEWAL_SECONDS = 60.0


class AccessError(Exception):
    """The configuration does not lead to an API server; the message is one line for a person."""


async def nobody() -> str | None:
    """No Authorization header: a client certificate, or a test server."""
    return None


@dataclass(frozen=True, slots=True)
class Access:
    """Where requests go and what they carry. ``authorization`` is asked before each one."""

    server: str
    tls: ssl.SSLContext | None = None
    authorization: Callable[[], Awaitable[str | None]] = nobody
    server_name: str | None = None
    proxy: str | None = None
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    async def close(self) -> None:
        """End the renewal of tokens."""
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)


async def find_access(kubeconfig: Path | None = None, *, context: str | None = None) -> Access:
    """The given kubeconfig; else the pod's service account; else the user's own kubeconfig.

    Raises AccessError.
    """
    from kubernetes.aio import client, config

    in_pod = kubeconfig is None and context is None and "KUBERNETES_SERVICE_HOST" in os.environ
    if not in_pod:
        _expect_file(kubeconfig)
    found = client.Configuration()
    try:
        if in_pod:
            config.load_incluster_config(client_configuration=found)  # type: ignore[no-untyped-call]
            return _access(found, [])
        loader = await config.load_kube_config(  # type: ignore[no-untyped-call]
            config_file=str(kubeconfig) if kubeconfig else None,
            context=context,
            client_configuration=found,
            persist_config=False,
        )
        await _check_credentials(loader, found)
        return _access(found, _renewals(loader, found))
    except AccessError:
        raise
    except Exception as error:  # its parsers raise anything
        raise AccessError(f"cannot use {_source(kubeconfig)}: {_told(error)}") from error


def _expect_file(kubeconfig: Path | None) -> None:
    """The client reads what is missing as empty, and then complains of what stands in it."""
    if kubeconfig is not None:
        if not kubeconfig.is_file():
            raise AccessError(f"no kubeconfig at `{kubeconfig}`")
        return
    given = os.environ.get("KUBECONFIG", "~/.kube/config")
    if not any(Path(one).expanduser().is_file() for one in given.split(os.pathsep) if one):
        raise AccessError(f"no kubeconfig at `{given}`, and this is no pod: give --kubeconfig FILE")


def _source(kubeconfig: Path | None) -> str:
    return f"kubeconfig `{kubeconfig}`" if kubeconfig else "the default kubeconfig"


def _told(error: Exception) -> str:
    return cut(str(error)) or type(error).__name__


async def _check_credentials(loader: Any, found: Any) -> None:
    """A user with an exec plugin must have got a token or a certificate from it."""
    if "exec" not in loader._user:  # noqa: SLF001 - the loader has no public form of this
        return
    if not await found.auth_settings() and not found.cert_file:
        raise AccessError("the exec plugin of the kubeconfig gave no credentials; run it by hand")


def _renewals(loader: Any, found: Any) -> list[asyncio.Task[None]]:
    if "exec" not in loader._user:  # noqa: SLF001
        return []
    return [asyncio.create_task(_renew(loader, found), name="renew-token")]


async def _renew(loader: Any, found: Any) -> None:
    """Run the exec plugin again and again; one failure must not end the renewal."""
    while True:
        await asyncio.sleep(TOKEN_RENEWAL_SECONDS)
        try:
            await loader.load_from_exec_plugin()
        except Exception as error:  # noqa: BLE001 - plugins fail in every way there is
            log.warning("the exec plugin failed: %s", _told(error))
            continue
        if getattr(loader, "token", None):
            found.api_key["BearerToken"] = loader.token


def _access(found: Any, tasks: list[asyncio.Task[None]]) -> Access:
    secure = found.host.startswith("https:")
    return Access(
        server=found.host.rstrip("/"),
        tls=_tls(found) if secure else None,
        authorization=_bearer(found),
        server_name=found.tls_server_name or None,
        proxy=found.proxy or None,
        tasks=tasks,
    )


def _tls(found: Any) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=found.ssl_ca_cert, cadata=found.ca_cert_data)
    if found.cert_file:
        context.load_cert_chain(found.cert_file, keyfile=found.key_file)
    if not found.verify_ssl:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if found.disable_strict_ssl_verification:
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def _bearer(found: Any) -> Callable[[], Awaitable[str | None]]:
    """Asked anew each time: a service account's token is re-read once a minute."""

    async def authorization() -> str | None:
        settings = await found.auth_settings()
        token = settings.get("BearerToken")
        # a newline at the end of the file would make every request fail
        return str(token["value"]).strip() if token and token.get("value") else None

    return authorization
