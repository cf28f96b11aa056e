"""``tidegate serve webhook`` and ``tidegate serve loop``: the two long-running processes.

The options are made from the settings, so that every flag, its default and its meaning stand in
one place. When the process is of use it says so in one line on standard error, which begins with
``ready``.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from webhook.cli.exits import Exit
from webhook.service.settings import (
    Address,
    Common,
    Flag,
    LoopSettings,
    SettingsError,
    WebhookSettings,
    flags_of,
    read_address,
)


class AddressType(click.ParamType[Address]):
    """HOST:PORT."""

    name = "address"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Address:
        """An Address, or a usage error."""
        try:
            return value if isinstance(value, Address) else read_address(value)
        except SettingsError as error:
            self.fail(str(error), param, ctx)


_PATHS = ("policies", "kubeconfig", "tls_cert", "tls_key", "self_signed_dir")


def _option(flag: Flag) -> click.Option:
    note = f"  [default: {flag.shown_default}]" if flag.shown_default else ""
    return click.Option(
        [flag.name, flag.field],
        type=_type(flag),
        default=flag.default,
        multiple=flag.many,
        metavar=flag.metavar or flag.unit.upper(),
        help=flag.meaning + note,
    )


def _type(flag: Flag) -> Any:
    if flag.metavar == "HOST:PORT":
        return AddressType()
    if flag.field in _PATHS:
        return click.Path(path_type=Path)
    return type(flag.default) if isinstance(flag.default, int | float) else str


def _settings(kind: type[Common], values: dict[str, Any]) -> Any:
    """Checked settings; whatever cannot work is a usage error."""
    settings = kind(**values)
    try:
        settings.check()
    except SettingsError as error:
        raise click.UsageError(str(error)) from error
    return settings


def _process(name: str, kind: type[Common], meaning: str) -> click.Command:
    def start(**values: Any) -> None:
        _start(name, _settings(kind, values))

    return click.Command(
        name, params=list(map(_option, flags_of(kind))), callback=start, help=meaning
    )


def _start(name: str, settings: Any) -> None:
    """Importing the service takes a second, so bad flags are told before."""
    from webhook.service import run
    from webhook.service.logs import set_up_logs

    set_up_logs(settings.log_level, settings.log_format)
    mains: dict[str, Callable[..., Any]] = {"webhook": run.run_webhook, "loop": run.run_loop}
    try:
        run.run(mains[name](settings, ready=lambda line: click.echo(line, err=True)))
    except run.StartError as error:
        click.echo(f"error: {error}", err=True)
        raise click.exceptions.Exit(Exit.USAGE) from error


@click.group()
def command() -> None:
    """Run the webhook or the loop."""


command.add_command(
    _process(
        "webhook",
        WebhookSettings,
        "Answer admission reviews: suspend what is submitted, and say where it waits.",
    )
)
command.add_command(_process("loop", LoopSettings, "Start what waits, in order, as quota frees."))
