"""For people: a line a test below the name of its file, then each failure with the line it is about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from webhook.admission.decision import LONGEST_LINE, one_line
from webhook.cli.reports import concise
from webhook.cli.reports.report import Report
from webhook.cli.trials.results import Results
from webhook.language.problems import Severity
from webhook.language.render import colored, render_text
from webhook.rehearsal.trials import Trial

_GREEN: Final = "\x1b[32m"
_RESET: Final = "\x1b[0m"


def render(results: Results) -> str:
    """Failures stand at the end, where a terminal shows them."""
    blocks = ["\n".join(_file(path, results)) for path in results.paths if results.of(path)]
    problems = render_text(results.trials.problems, results.sources, color=results.color)
    blocks.append(problems.removesuffix("\n"))
    if results.covering:
        blocks.append(_coverage(results))
    return "\n\n".join(block for block in blocks if block) + "\n"


def _file(path: str, results: Results) -> Iterator[str]:
    yield path
    for trial in results.of(path):
        why = f": {trial.not_run}" if trial.not_run else ""
        name = one_line(trial.scene.name, "", LONGEST_LINE)
        yield f"  {_mark(trial, results)} {name}{why}"


def _mark(trial: Trial, results: Results) -> str:
    """A sign where the terminal has it, else a word."""
    if trial.passed:
        sign = "✓" if results.marks else "ok     "
        return f"{_GREEN}{sign}{_RESET}" if results.color else sign
    if trial.not_run:
        sign = "!" if results.marks else "not run"
        return colored(Severity.WARNING, sign, color=results.color)
    return colored(Severity.ERROR, "✗" if results.marks else "FAILED ", color=results.color)


def _coverage(results: Results) -> str:
    """The count, and a line for each rule that is missing."""
    found = results.trials.coverage
    head = f"coverage: {found.covered} of {len(found.items)} rules, {found.percent} %"
    untested = results.trials.untested
    lines = concise.render(Report(untested, results.sources, results.paths, color=results.color))
    return f"{head}\n{lines}".rstrip("\n")
