"""Starting a process: settings in, everything wired together, and an orderly end at SIGTERM.

Whatever cannot work is found before the first request: a policy that is broken, a kubeconfig that
leads nowhere, a certificate without its key. Each is a StartError with one line, or a report.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from aiohttp import web

from webhook.admission.knowledge import Identity
from webhook.cluster.access import AccessError, find_access
from webhook.cluster.client import Client
from webhook.service.certificates import ensure_certificates, renew_leaf
from webhook.service.knowledge import ClusterMemory
from webhook.service.loop import Loop
from webhook.service.metrics import Metrics
from webhook.service.policies import PolicySource, PolicyTrouble
from webhook.service.server import Readiness, Webhook, add_health
from webhook.service.settings import Address, Common, LoopSettings, WebhookSettings
from webhook.service.status import StatusBoard, StatusReader, serve_waiting
from webhook.service.tls import ServingTls, TlsError

log = logging.getLogger(__name__)

Ready = Callable[[str], None]
"""Told once, with the line a supervisor waits for."""


class StartError(Exception):
    """It cannot start; the text is for a person, one line but for a report on a policy."""


def run(main: Coroutine[Any, Any, None]) -> None:
    """In this process, on the faster event loop if it is installed."""
    try:
        from uvloop import new_event_loop
    except ImportError:
        factory: Callable[[], asyncio.AbstractEventLoop] | None = None
    else:
        factory = new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(main)


async def run_webhook(settings: WebhookSettings, *, ready: Ready) -> None:
    """Serve until SIGTERM or SIGINT."""
    stop = _stop_signal()
    metrics = Metrics()
    async with _connected(settings) as client:
        policies = await _first_policy(settings, metrics)
        tls = await asyncio.to_thread(_tls, settings)
        reader = (
            StatusReader(settings.status_url, clock=time.monotonic) if settings.status_url else None
        )
        memory = ClusterMemory(news=reader)
        webhook = Webhook(
            policies=policies,
            memory=memory,
            client=client,
            identity=Identity(settings.loop_user, settings.own_namespace),
            metrics=metrics,
            max_in_flight=settings.max_in_flight,
            lookup_seconds=settings.lookup_timeout,
        )
        webhook.readiness.done("policy")
        background = [
            memory.follow(client, on_trouble=_counts(metrics)),
            policies.follow(_tells(policies, metrics), every_seconds=settings.policy_poll),
            tls.follow(every_seconds=settings.tls_poll, renew=_renewal(settings)),
            _observe(tls, policies, reader, metrics),
        ]
        if reader is not None:
            background.append(reader.follow())
        async with _background(background, stop):
            await _serve_webhook(webhook, memory, settings, tls, stop, ready)


async def _serve_webhook(
    webhook: Webhook,
    memory: ClusterMemory,
    settings: WebhookSettings,
    tls: ServingTls,
    stop: asyncio.Event,
    ready: Ready,
) -> None:
    async with _listening(webhook.app(), settings.listen, tls) as address:
        webhook.readiness.done("tls")
        if await _either(memory.synced, stop):
            webhook.readiness.done("lists")
            ready(f"ready webhook https://{address}")
            await stop.wait()
        # endpoints take a moment to learn that we leave; who still comes is served
        webhook.readiness.lost("shutting down")
        log.info("shutting down drain=%.1f", settings.drain)
        await asyncio.sleep(settings.drain)


async def run_loop(settings: LoopSettings, *, ready: Ready) -> None:
    """Plan and start until SIGTERM or SIGINT."""
    stop = _stop_signal()
    metrics = Metrics()
    async with _connected(settings) as client:
        policies = await _first_policy(settings, metrics)
        board = StatusBoard()
        loop = Loop(
            client,
            policies,
            metrics=metrics,
            board=board,
            max_writes=settings.max_writes,
            retry_seconds=settings.retry,
            ask_again_seconds=settings.ask_again,
        )
        readiness = Readiness("lists")
        tell = _tells(policies, metrics)

        def changed() -> None:
            tell()
            loop.wake()

        background = [policies.follow(changed, every_seconds=settings.policy_poll)]
        app = _status_app(board, readiness, metrics)
        app.router.add_get("/waiting", serve_waiting(loop.front))
        async with (
            _background(background, stop),
            _listening(app, settings.status_listen) as address,
            _exposed(settings.metrics_listen, readiness, metrics),
        ):
            announced = asyncio.create_task(_announce(loop, readiness, f"{address}", ready))
            await loop.run(stop)
            announced.cancel()
            log.info("shut down")


async def _announce(loop: Loop, readiness: Readiness, address: str, ready: Ready) -> None:
    await loop.synced.wait()
    readiness.done("lists")
    ready(f"ready loop http://{address}")


def _status_app(board: StatusBoard, readiness: Readiness, metrics: Metrics) -> web.Application:
    app = web.Application()
    app.router.add_get("/status", board.serve)
    app.on_shutdown.append(board.end)
    add_health(app, readiness, metrics)
    return app


@asynccontextmanager
async def _exposed(
    address: Address | None, readiness: Readiness, metrics: Metrics
) -> AsyncIterator[None]:
    """Metrics and health for others, without the status."""
    if address is None:
        yield
        return
    app = web.Application()
    add_health(app, readiness, metrics)
    async with _listening(app, address):
        yield


@asynccontextmanager
async def _listening(
    app: web.Application, address: Address, tls: ServingTls | None = None
) -> AsyncIterator[Address]:
    """Serve; yields the address that was taken. Answers under way are let to end."""
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=3.0, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, address.host, address.port, ssl_context=tls.context if tls else None)
    try:
        await site.start()
    except OSError as error:
        await runner.cleanup()
        raise StartError(f"cannot listen on {address}: {error.strerror or error}") from error
    try:
        host, port = runner.addresses[0][:2]
        yield Address(str(host), int(port))
    finally:
        await runner.cleanup()


@asynccontextmanager
async def _background(
    jobs: list[Coroutine[Any, Any, None]], stop: asyncio.Event
) -> AsyncIterator[None]:
    """Endless jobs beside the body. One that ends by a mistake of ours ends the process."""
    tasks = [asyncio.create_task(job) for job in jobs]
    failed: list[BaseException] = []

    def ended(task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            failed.append(error)
            stop.set()

    for task in tasks:
        task.add_done_callback(ended)
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    if failed:
        raise failed[0]


@asynccontextmanager
async def _connected(settings: Common) -> AsyncIterator[Client]:
    try:
        access = await find_access(settings.kubeconfig, context=settings.context)
    except AccessError as error:
        raise StartError(str(error)) from error
    async with Client(access) as client:
        yield client


async def _first_policy(settings: Common, metrics: Metrics) -> PolicySource:
    policies = PolicySource(settings.policies)
    try:
        await policies.load()
    except PolicyTrouble as trouble:
        text = trouble.text.rstrip()
        report = f"the policy is broken\n\n{text}" if "\n" in text else text
        raise StartError(report) from trouble
    _tells(policies, metrics)()
    return policies


def _tls(settings: WebhookSettings) -> ServingTls:
    try:
        if settings.self_signed_dir is not None:
            files = ensure_certificates(settings.self_signed_dir, _names(settings))
            return ServingTls(files.certificate, files.key)
        return ServingTls(Path(settings.tls_cert or ""), Path(settings.tls_key or ""))
    except TlsError as error:
        raise StartError(str(error)) from error
    except OSError as error:
        raise StartError(
            f"cannot keep certificates in `{error.filename}`: {error.strerror}"
        ) from error


def _renewal(settings: WebhookSettings) -> Callable[[], None] | None:
    """What keeps a certificate of our own from running out while it is served; None where others make it."""
    directory = settings.self_signed_dir
    if directory is None:
        return None

    def renew() -> None:
        try:
            renew_leaf(directory, _names(settings))
        except OSError as error:
            raise TlsError(f"cannot renew it: `{error.filename}`: {error.strerror}") from error

    return renew


def _names(settings: WebhookSettings) -> tuple[str, ...]:
    """What the API server may call us: on this machine, and as a service."""
    service = f"tidegate.{settings.own_namespace}.svc"
    return (*settings.tls_names, service, "localhost", "127.0.0.1", "::1")


def _tells(policies: PolicySource, metrics: Metrics) -> Callable[[], None]:
    def tell() -> None:
        stale = policies.stale.since if policies.stale else None
        metrics.policy(policies.current.revision if policies.current else "", stale)

    return tell


def _counts(metrics: Metrics) -> Callable[[Any, Exception], None]:
    return lambda kind, _: metrics.count("tidegate_watch_failures_total", kind.name)


async def _observe(
    tls: ServingTls, policies: PolicySource, reader: StatusReader | None, metrics: Metrics
) -> None:
    """What changes without a request; a loop under another policy is said once."""
    differed = False
    while True:
        metrics.set("tidegate_certificate_expiry_seconds", tls.expires_at)
        ours = policies.current.revision if policies.current else ""
        differs = reader is not None and reader.is_fresh and reader.revision != ours
        if reader is not None and differs and not differed:
            log.warning("the loop goes by another policy ours=%s loop=%s", ours, reader.revision)
        metrics.set("tidegate_policy_differs", differs)
        differed = differs
        await asyncio.sleep(5)


def _stop_signal() -> asyncio.Event:
    """Set at SIGTERM or SIGINT; a second one ends the process at once."""
    stop = asyncio.Event()
    turning = asyncio.get_running_loop()

    def asked(number: signal.Signals) -> None:
        turning.remove_signal_handler(number)
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        with suppress(NotImplementedError):
            turning.add_signal_handler(number, asked, number)
    return stop


async def _either(wanted: asyncio.Event, stop: asyncio.Event) -> bool:
    """True when ``wanted`` comes before ``stop``."""
    waits = [asyncio.create_task(event.wait()) for event in (wanted, stop)]
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for wait in waits:
        wait.cancel()
    return wanted.is_set() and not stop.is_set()
