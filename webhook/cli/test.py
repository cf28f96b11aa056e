"""``tidegate test``: the ``test`` blocks of the policy files below some paths, run by the code of webhook and loop.

Results go to stdout, the count to stderr. Nothing of the Kubernetes client or a web server is loaded: the command
runs in commit hooks.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from webhook.cli.exits import Exit
from webhook.cli.trials.results import FORMATS, Results, renderer

if TYPE_CHECKING:
    from webhook.cli.reports.report import Report
    from webhook.language.policy import Policy
    from webhook.language.syntax import File
    from webhook.service.policy_files import PolicyFile


@dataclass(frozen=True, slots=True)
class _Linted:
    """What lint says of the files; ``policy`` is None where there are errors."""

    policy: Policy | None
    files: Sequence[File]
    report: Report


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="How results are written.",
)
@click.option(
    "--filter",
    "text",
    default="",
    metavar="TEXT",
    help="Run only the tests whose name contains this.",
)
@click.option("--coverage", is_flag=True, help="Show which rules no test exercises.")
@click.option(
    "--min-coverage",
    type=click.IntRange(0, 100),
    metavar="PERCENT",
    help="Exit with 1 where fewer of the rules are covered.",
)
@click.option("--allow-no-tests", is_flag=True, help="Exit with 0 where there is no test.")
@click.option("--strict", is_flag=True, help="Warnings of lint stop the tests, too.")
@click.pass_context
def command(
    ctx: click.Context, paths: tuple[str, ...], *, form: str, text: str,
    coverage: bool, min_coverage: int | None, allow_no_tests: bool, strict: bool,
) -> None:  # fmt: skip
    """Run the tests inside policy files.

    All .tide files below the PATHs are one policy. Lint runs first; its errors stop the tests. Exits with 0 where
    every test passes, with 1 where one fails or cannot be run, with 2 where nothing could be: a path that is missing
    or unreadable, no .tide file, no test.
    """
    coverage = coverage or min_coverage is not None
    if text and coverage:
        raise click.UsageError("--filter does not go with --coverage, which is about all tests")
    linted = _lint(_files(ctx, paths), strict=strict)
    if linted.policy is None or linted.report.failed:
        _show_lint(linted.report, form)
        ctx.exit(Exit.FOUND)
    if not any(text in scene.name for scene in linted.policy.tests) and not allow_no_tests:
        click.echo(f"error: {_none(text)}", err=True)
        ctx.exit(Exit.USAGE)
    results = _results(linted.policy, linted, text, covering=coverage)
    click.echo(renderer(form)(results), nl=False, color=True)
    click.echo(_summary(results), err=True)
    ctx.exit(
        Exit.FOUND if not results.trials.passed or _too_few(results, min_coverage) else Exit.OK
    )


def _files(ctx: click.Context, paths: Sequence[str]) -> Sequence[PolicyFile]:
    from webhook.service.policy_files import Unreadable, read_policy_files

    try:
        return read_policy_files(paths)
    except (Unreadable, OSError) as error:
        click.echo(f"error: {error}", err=True)
        ctx.exit(Exit.USAGE)


def _lint(files: Sequence[PolicyFile], *, strict: bool) -> _Linted:
    from webhook.cli.reports.report import Report
    from webhook.language.check import lint_parsed, lint_sources
    from webhook.language.parse import parse

    texts = [(file.path, file.text) for file in files]
    paths = [file.path for file in files]
    flaws = [file.flaw for file in files if file.flaw is not None]
    if flaws:
        problems, sources = lint_sources(texts, flaws=flaws)
        return _Linted(None, (), Report(problems, sources, paths, strict, _colorful()))
    parsed = [parse(text, path=path) for path, text in texts]
    policy, problems = lint_parsed(parsed)
    sources = {each.file.path: each.file.source for each in parsed}
    report = Report(problems, sources, paths, strict, _colorful())
    return _Linted(policy, [each.file for each in parsed], report)


def _show_lint(report: Report, form: str) -> None:
    from webhook.cli.reports.report import renderer as lint_renderer

    click.echo(lint_renderer(form)(report), nl=False, color=True)
    count = sum(report.fails(found) for found in report.problems)
    what = "problem of lint" if count == 1 else "problems of lint"
    click.echo(f"no test was run: {count} {what}", err=True)


def _results(policy: Policy, linted: _Linted, text: str, *, covering: bool) -> Results:
    from webhook.cli.trials.submitted import read_submitted
    from webhook.rehearsal.trials import try_all

    trials = try_all(policy, linted.files, read_submitted, name_contains=text)
    report = linted.report
    return Results(trials, report.sources, report.paths, covering, report.color, _has_marks())


def _colorful() -> bool:
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


def _has_marks() -> bool:
    """Whether whoever reads can be shown ✓ and ✗."""
    try:
        "✓✗".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def _none(text: str) -> str:
    if text:
        return f"no test has a name that contains `{text}`"
    return "there is no test; --allow-no-tests lets that pass"


def _summary(results: Results) -> str:
    """``4 tests passed``, or how many did not."""
    count = len(results.trials.trials)
    tests = "1 test" if count == 1 else f"{count} tests"
    parts = [f"{results.failed} failed"] if results.failed else []
    parts += [f"{results.not_run} not run"] if results.not_run else []
    return f"{tests}, {', '.join(parts)}" if parts else f"{tests} passed"


def _too_few(results: Results, asked: int | None) -> bool:
    percent = results.trials.coverage.percent
    if asked is None or percent >= asked:
        return False
    click.echo(f"coverage is {percent} %, at least {asked} % is asked for", err=True)
    return True
