"""The command ``tidegate``: finds a sub-command by name and imports that one only.

A linter in a pre-commit hook must not pay for the Kubernetes client, so the help of the whole is
shown from the table below and a command's module is imported when it is called. To add a command,
write ``webhook/cli/<name>.py`` with a click command named ``command`` and add its line here.
"""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import NamedTuple

import click
from click.shell_completion import CompletionItem

from webhook import __version__


class Entry(NamedTuple):
    """Where a command lives, and the line that the help of the whole shows for it."""

    module: str
    help: str


COMMANDS: dict[str, Entry] = {
    "lint": Entry("webhook.cli.lint", "Check policy files and report every problem."),
    "test": Entry("webhook.cli.test", "Run the tests inside policy files."),
    "explain": Entry("webhook.cli.explain", "Explain the code of a problem."),
    "fmt": Entry("webhook.cli.fmt", "Put policy files into their one form."),
    "check": Entry("webhook.cli.check", "Say what would become of manifests under a policy."),
    "lsp": Entry("webhook.cli.lsp", "Serve an editor: diagnostics, completion, rename, fixes."),
    "demo": Entry("webhook.cli.demo", "Show queues at work, on this machine, without a cluster."),
    "sandbox": Entry("webhook.cli.sandbox", "Run a small API server in memory."),
    "serve": Entry("webhook.cli.serve", "Run the webhook or the loop."),
    "version": Entry("webhook.cli.version", "Print the version of Tidegate and of Python."),
}


class Program(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        command = import_module(entry.module).command
        assert isinstance(command, click.Command)  # noqa: S101 - holds by the convention above
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.NoSuchCommand as error:  # click looks among those that were imported
            raise click.NoSuchCommand(error.command_name, None, COMMANDS, ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        names = [
            CompletionItem(name, help=entry.help)
            for name, entry in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return names + click.Command.shell_complete(self, ctx, incomplete)


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="tidegate")
def program() -> None:
    """Queue and quota policy as code for Kubernetes."""


@contextmanager
def _reader_may_leave() -> Iterator[None]:
    """``tidegate lint | head`` ends quietly, also where the last lines were still in a buffer."""
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except OSError as error:
        if error.errno != errno.EPIPE:
            raise
        # the interpreter flushes once more at its end: give it something that takes the rest
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def main() -> None:
    """Run the command line of this process; ends by ``SystemExit``."""
    with _reader_may_leave():
        program(prog_name="tidegate")


if __name__ == "__main__":
    main()
