"""``tidegate sandbox``: run a small API server on this machine until Ctrl-C.

Prints where its kubeconfig is, so that kubectl in another terminal can join in.
"""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

import click


@click.command()
@click.option("--port", default=0, show_default="any free port", help="Port on 127.0.0.1.")
@click.option(
    "--kubeconfig",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the kubeconfig of the administrator here instead of to a temporary file.",
)
@click.option("--players/--no-players", default=True, help="Let Jobs, JobSets and pods run.")
def command(port: int, kubeconfig: Path | None, players: bool) -> None:
    """Run a small Kubernetes API server in memory.

    kubectl can create, watch and delete Jobs, JobSets and pods in it; webhooks are called. There
    is no RBAC and nothing is kept: all is gone when it ends.
    """
    asyncio.run(_serve(port, kubeconfig, players=players))
    if kubeconfig is not None:
        kubeconfig.unlink(missing_ok=True)  # it names a server that is no more


async def _serve(port: int, kubeconfig: Path | None, *, players: bool) -> None:
    from webhook.sandbox.server import Sandbox

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with Sandbox(port=port, players=players) as sandbox:
        written = sandbox.kubeconfig("admin", path=kubeconfig)
        click.echo(f"serving on {sandbox.url}; Ctrl-C ends it")
        click.echo(f"export KUBECONFIG={written}")
        await stop.wait()
