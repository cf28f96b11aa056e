"""``tidegate explain TG203``: the page of a code, without network."""

from __future__ import annotations

import click

from webhook.cli.exits import Exit


@click.command()
@click.argument("codes", nargs=-1, metavar="[CODE]...")
@click.pass_context
def command(ctx: click.Context, codes: tuple[str, ...]) -> None:
    """Explain what a finding means, why it is bad and what to write instead.

    Without a CODE every code is listed. Exits with 2 for a code that does not exist.
    """
    from webhook.language.codes import CODES
    from webhook.language.pages import page
    from webhook.language.suggest import did_you_mean

    for code, (severity, summary) in sorted(CODES.items()) if not codes else ():
        click.echo(f"{code}  {severity.value:<7}  {summary}")
    for at, code in enumerate(codes):
        text = page(code.upper()) if code.upper() in CODES else ""
        if not text:
            advice = did_you_mean(code.upper(), CODES)
            click.echo(f"error: there is no code {code}{', ' + advice if advice else ''}", err=True)
            ctx.exit(Exit.USAGE)
        click.echo(("\n" if at else "") + text, nl=False)
