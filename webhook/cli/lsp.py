"""``tidegate lsp``: the language server an editor starts, speaking over its standard streams."""

from __future__ import annotations

from importlib.util import find_spec

import click

from webhook.cli.exits import Exit


@click.command()
@click.option(
    "--stdio", is_flag=True, help="Speak over stdin and stdout; the default, and the only way."
)
@click.pass_context
def command(ctx: click.Context, *, stdio: bool) -> None:
    """Serve an editor: diagnostics, completion, hover, rename, fixes.

    An editor starts it and speaks the Language Server Protocol over stdin and stdout; docs/editors.md says how.
    Needs the extra `lsp`.
    """
    if find_spec("pygls") is None:
        click.echo("error: the language server needs pygls: pip install 'tidegate[lsp]'", err=True)
        ctx.exit(Exit.USAGE)
    from webhook.cli.editor.server import speak

    speak()
