"""``tidegate demo``: a day's work of four teams, webhook and loop as real processes, on one screen.

Without a cluster it runs in a small API server in memory; with ``--kubeconfig`` or ``--context`` in
that cluster, in namespaces of its own. The summary goes to stdout, all talk to stderr.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from webhook.cli.exits import Exit

if TYPE_CHECKING:
    from webhook.cli.demonstration.show import Options, Outcome

EXAMPLES = Path("policies/examples")
LIVE_SECONDS, ONCE_SECONDS = 60.0, 20.0
INTERRUPTED = 130


@click.command()
@click.option(
    "--policies",
    type=click.Path(path_type=Path),
    help=f"The policy; it needs the queues of the examples.  [default: {EXAMPLES}]",
)
@click.option(
    "--seconds",
    type=click.FloatRange(1, 3600),
    help="How long the day of submissions takes."
    f"  [default: {LIVE_SECONDS:.0f}, with --once {ONCE_SECONDS:.0f}]",
)
@click.option("--seed", default=1, show_default=True, help="Another number, another day.")
@click.option("--once", is_flag=True, help="No screen: a summary at the end.")
@click.option("--json", "as_json", is_flag=True, help="The summary as JSON; implies --once.")
@click.option("--stay", is_flag=True, help="Go on until Ctrl-C when the day is over.")
@click.option(
    "--kubeconfig",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Play in the cluster of this file.",
)
@click.option("--context", help="Play in the cluster of this context.")
@click.option(
    "--webhook-url",
    metavar="URL",
    help="https://HOST:PORT by which that cluster's API server reaches this machine.",
)
@click.pass_context
def command(
    ctx: click.Context,
    policies: Path | None,
    seconds: float | None,
    seed: int,
    *,
    once: bool,
    as_json: bool,
    stay: bool,
    kubeconfig: Path | None,
    context: str | None,
    webhook_url: str | None,
) -> None:
    """Show queues at work: a day of four teams, in a minute.

    Exits with 0 if all work that was let in has ended and no queue ever held more than the policy
    grants, with 1 if not, with 2 where it could not begin.
    """
    from webhook.cli.demonstration.borrowed import Lent
    from webhook.cli.demonstration.show import CannotRun, Options

    live = sys.stdout.isatty() and not (once or as_json)
    lent = Lent(kubeconfig, context, webhook_url) if kubeconfig or context else None
    if webhook_url and (lent is None or not webhook_url.startswith("https://")):
        raise click.UsageError(
            "--webhook-url is https://HOST:PORT, beside --context or --kubeconfig"
        )
    if seconds is None:
        seconds = LIVE_SECONDS if live else ONCE_SECONDS
    try:
        options = Options(_policies(policies), seconds, seed, live, stay, lent)
        outcome = _run(options)
    except CannotRun as error:
        click.echo(f"error: {error}", err=True)
        ctx.exit(Exit.USAGE)
    ctx.exit(_told(outcome, as_json=as_json))


def _policies(given: Path | None) -> Path:
    from webhook.cli.demonstration.show import CannotRun

    path = given or EXAMPLES
    if path.exists():
        return path
    if given is not None:
        raise CannotRun(f"there is nothing at `{given}`")
    raise CannotRun(
        f"no `{EXAMPLES}` here: run it in a clone of the repository, or give --policies PATH"
    )


def _run(options: Options) -> Outcome:
    from rich.console import Console

    from webhook.cli.demonstration.show import Show, load

    def say(line: str) -> None:
        click.echo(line, err=True)

    show = Show(options, load(options.policies), say, Console())
    return asyncio.run(show.run())


def _told(outcome: Outcome, *, as_json: bool) -> int:
    """Print how it went; the exit code."""
    from webhook.cli.demonstration import summary as words

    if outcome.trouble:
        click.echo(f"error: {outcome.trouble}", err=True)
    if outcome.logs is not None:
        click.echo(f"the logs are kept in {outcome.logs}", err=True)
    if outcome.summary is None:
        return INTERRUPTED if outcome.interrupted else Exit.FOUND
    summary = outcome.summary
    click.echo(words.as_json(summary) if as_json else words.as_text(summary, outcome.aliases))
    if outcome.summary.good and not outcome.trouble:
        return Exit.OK
    return INTERRUPTED if outcome.interrupted else Exit.FOUND
