"""One finding a line, in the form editors and ``grep`` know: ``path:line:column: severity[code] message``."""

from __future__ import annotations

from webhook.cli.reports.report import Report
from webhook.language.problems import Problem
from webhook.language.render import colored


def render(report: Report) -> str:
    """All findings; the help stands behind the message."""
    return "".join(f"{_line(found, color=report.color)}\n" for found in report.problems)


def _line(found: Problem, *, color: bool) -> str:
    span = found.span
    place = f"{span.path}:{span.line}:{span.column}"
    head = f"{found.severity.value}[{found.code}]"
    advice = f" ({found.help})" if found.help else ""
    text = f"{place}: {colored(found.severity, head, color=color)} {found.message}{advice}"
    return " ".join(text.splitlines())
