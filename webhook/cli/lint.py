"""``tidegate lint``: every problem of the policy files below some paths, at its place.

Problems go to stdout, the count to stderr. Nothing of the Kubernetes client or a web server is loaded: the command
runs in commit hooks.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import click

from webhook.cli.choosing import chosen, codes, refuse_errors
from webhook.cli.exits import Exit
from webhook.cli.reports.report import FORMATS, Report, renderer

if TYPE_CHECKING:
    from webhook.language.problems import Problem
    from webhook.service.policy_files import PolicyFile

Files: TypeAlias = "Sequence[PolicyFile]"
Command = TypeVar("Command", bound=Callable[..., Any])


def _options(command: Command) -> Command:
    """What decides about findings, apart from what decides about fixes."""
    for option in (
        click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True,
                     help="How findings are written."),
        click.option("--select", multiple=True, callback=codes, metavar="CODE…",
                     help="Beside errors report these only; TG2 stands for all that begin so."),
        click.option("--ignore", multiple=True, callback=refuse_errors, metavar="CODE…",
                     help="Do not report these. Errors are always reported."),
        click.option("--strict", is_flag=True, help="Exit with 1 for warnings, too."),
        click.option("--statistics", is_flag=True, help="Show how often each code was found, and no more."),
    ):  # fmt: skip
        command = option(command)
    return command


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@_options
@click.option("--fix", is_flag=True, help="Apply the fixes that cannot change what was meant.")
@click.option(
    "--unsafe-fixes", is_flag=True, help="With --fix: also those that guess. Look at the diff."
)
@click.pass_context
def command(
    ctx: click.Context, paths: tuple[str, ...], *,
    form: str, select: frozenset[str], ignore: frozenset[str], strict: bool, statistics: bool,
    fix: bool, unsafe_fixes: bool,
) -> None:  # fmt: skip
    """Check policy files and report every problem.

    All .tide files below the PATHs are one policy. Exits with 0 where there is nothing to report, with 1 for
    errors, with 2 where it could not run: a path that is missing or unreadable, no .tide file.
    """
    if unsafe_fixes and not fix:
        raise click.UsageError("--unsafe-fixes goes with --fix")
    if statistics and form not in ("text", "json"):
        raise click.UsageError("--statistics goes with --format text or json")
    with _no_collecting():
        report, fixed = _run(
            ctx, paths, select, ignore, strict=strict, fix=fix, unsafe=unsafe_fixes
        )
    click.echo(_shown(report, form, statistics=statistics), nl=False, color=True)
    click.echo(_summary(report, fixed), err=True)
    ctx.exit(Exit.FOUND if report.failed else Exit.OK)


@contextmanager
def _no_collecting() -> Iterator[None]:
    """Nothing of a run becomes garbage before its end, and looking for some costs a sixth of a short one."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _run(
    ctx: click.Context, paths: tuple[str, ...], select: frozenset[str], ignore: frozenset[str],
    *, strict: bool, fix: bool, unsafe: bool,
) -> tuple[Report, int]:  # fmt: skip
    from webhook.service.policy_files import Unreadable, read_policy_files

    fixed = 0
    try:
        files: Files = read_policy_files(paths)
        if fix:
            files, fixed = _fixed(files, select, ignore, unsafe=unsafe)
    except (Unreadable, OSError) as error:
        click.echo(f"error: {error}", err=True)
        ctx.exit(Exit.USAGE)
    return _report(files, select, ignore, strict=strict), fixed


def _report(
    files: Files, select: frozenset[str], ignore: frozenset[str], *, strict: bool = False
) -> Report:
    from webhook.language.check import lint_sources

    problems, sources = lint_sources(
        [(file.path, file.text) for file in files],
        flaws=[file.flaw for file in files if file.flaw is not None],
        form="TG701" in select - ignore,
    )
    found = chosen(problems, select, ignore)
    return Report(found, sources, [file.path for file in files], strict, _colorful())


def _fixed(
    files: Files, select: frozenset[str], ignore: frozenset[str], *, unsafe: bool
) -> tuple[Files, int]:
    """The files with what could be fixed, written where it changed; a file that is no UTF-8 is not touched."""
    from dataclasses import replace

    from webhook.cli.writing import write_text
    from webhook.language.fixes import fix_all

    flawed = {file.path for file in files if file.flaw is not None}

    def look(texts: Mapping[str, str]) -> Sequence[Problem]:
        report = _report([replace(f, text=texts[f.path]) for f in files], select, ignore)
        return [p for p in report.problems if p.span.path not in flawed]

    fixed = fix_all({file.path: file.text for file in files}, look, unsafe=unsafe)
    for file in files:
        if fixed.texts[file.path] != file.text:
            write_text(file.path, fixed.texts[file.path])
    return [replace(f, text=fixed.texts[f.path]) for f in files], fixed.count


def _colorful() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _shown(report: Report, form: str, *, statistics: bool) -> str:
    if statistics:
        from webhook.cli.reports.statistics import render

        return render(report, as_json=form == "json")
    return renderer(form)(report)


def _summary(report: Report, fixed: int) -> str:
    """``4 files, 12 errors``; what was fixed, and what could be."""
    parts = [_count(len(report.paths), "file")]
    if fixed:
        parts.append(f"{fixed} fixed")
    parts.append(_verdict(report.problems))
    fixable = sum(p.fix is not None and p.fix.safe for p in report.problems)
    return ", ".join(parts) + (f" ({fixable} fixable with --fix)" if fixable else "")


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
