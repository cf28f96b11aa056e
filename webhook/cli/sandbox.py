"""``tidegate sandbox``: run a small API server on this machine until Ctrl-C.

Prints where its kubeconfig is, so that kubectl in another terminal can join in.
"""

from __future__ import annotations

import asyncio
import signal
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from webhook.cli.exits import Exit

if TYPE_CHECKING:
    from webhook.sandbox.server import Sandbox


_OURS = b"apiVersion: v1\nkind: Config\nclusters:\n- name: sandbox\n"
"""How the file of a sandbox begins: one that was killed leaves it behind."""


class _CannotRun(Exception):
    """It cannot begin; the text is one line for a person."""


@click.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default="any free port",
    help="Port on 127.0.0.1.",
)
@click.option(
    "--kubeconfig",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the kubeconfig of the administrator here instead of to a temporary file.",
)
@click.option("--players/--no-players", default=True, help="Let Jobs, JobSets and pods run.")
@click.pass_context
def command(ctx: click.Context, port: int, kubeconfig: Path | None, players: bool) -> None:
    """Run a small Kubernetes API server in memory.

    kubectl can create, watch and delete Jobs, JobSets and pods in it; webhooks are called. There
    is no RBAC and nothing is kept: all is gone when it ends.
    """
    try:
        _look_at(kubeconfig)
        asyncio.run(_serve(port, kubeconfig, players=players))
    except _CannotRun as error:
        click.echo(f"error: {error}", err=True)
        ctx.exit(Exit.USAGE)
    if kubeconfig is not None:
        kubeconfig.unlink(missing_ok=True)  # it names a server that is no more


def _look_at(kubeconfig: Path | None) -> None:
    """It is overwritten now and deleted at the end, so it must be a sandbox's, or not there."""
    if kubeconfig is None:
        return
    try:
        if not kubeconfig.parent.is_dir():
            raise _CannotRun(f"cannot write `{kubeconfig}`: there is no such folder")
        if kubeconfig.exists() and not kubeconfig.read_bytes().startswith(_OURS):
            raise _CannotRun(f"`{kubeconfig}` is there and no sandbox's: it is not overwritten")
    except OSError as error:
        raise _CannotRun(f"cannot read `{kubeconfig}`: {error.strerror}") from error


async def _serve(port: int, kubeconfig: Path | None, *, players: bool) -> None:
    from webhook.sandbox.server import Sandbox

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with AsyncExitStack() as stack:
        try:
            sandbox = await stack.enter_async_context(Sandbox(port=port, players=players))
        except OSError as error:
            raise _CannotRun(f"cannot listen on 127.0.0.1:{port}: {error.strerror}") from error
        written = _written(sandbox, kubeconfig)
        click.echo(f"serving on {sandbox.url}; Ctrl-C ends it")
        click.echo(f"export KUBECONFIG={written}")
        await stop.wait()


def _written(sandbox: Sandbox, kubeconfig: Path | None) -> Path:
    try:
        return sandbox.kubeconfig("admin", path=kubeconfig)
    except OSError as error:
        raise _CannotRun(f"cannot write `{kubeconfig}`: {error.strerror}") from error
