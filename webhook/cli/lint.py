"""``tidegate lint``: every problem of the policy files below some paths, at its place.

Problems go to stdout, the count to stderr. Nothing of the Kubernetes client or a web server is loaded: the command
runs in commit hooks.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from webhook.cli.exits import Exit

if TYPE_CHECKING:
    from webhook.language.problems import Problem


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--strict", is_flag=True, help="Exit with 1 for warnings, too.")
@click.pass_context
def command(ctx: click.Context, paths: tuple[str, ...], *, strict: bool) -> None:
    """Check policy files and report every problem.

    All .tide files below the PATHs are one policy. Exits with 0 where there is nothing to report, with 1 for
    errors, with 2 where it could not run: a path that is missing or unreadable, no .tide file.
    """
    from webhook.language.check import lint_sources
    from webhook.language.render import render_text
    from webhook.service.policy_files import Unreadable, read_policy_files

    try:
        files = read_policy_files(paths)
    except Unreadable as error:
        click.echo(f"error: {error}", err=True)
        ctx.exit(Exit.USAGE)
    problems, sources = lint_sources(
        [(file.path, file.text) for file in files],
        flaws=[file.flaw for file in files if file.flaw is not None],
    )
    click.echo(render_text(problems, sources, color=_colorful()), nl=False, color=True)
    click.echo(f"{_count(len(files), 'file')}, {_verdict(problems)}", err=True)
    ctx.exit(_exit(problems, strict=strict))


def _colorful() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _exit(problems: Sequence[Problem], *, strict: bool) -> Exit:
    errors = sum(p.severity.value == "error" for p in problems)
    warnings = sum(p.severity.value == "warning" for p in problems)
    return Exit.FOUND if errors or (strict and warnings) else Exit.OK


def _verdict(problems: Sequence[Problem]) -> str:
    if not problems:
        return "no problems"
    kinds = [p.severity.value for p in problems]
    counts = [(kind, kinds.count(kind)) for kind in ("error", "warning", "style") if kind in kinds]
    names = {"style": "note on style"}
    return ", ".join(_count(number, names.get(kind, kind)) for kind, number in counts)


def _count(number: int, noun: str) -> str:
    if number == 1:
        return f"1 {noun}"
    return f"{number} {'notes on style' if noun == 'note on style' else noun + 's'}"
