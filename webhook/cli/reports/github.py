"""Workflow commands of GitHub Actions: printed in a job, each becomes an annotation at its line."""

from __future__ import annotations

from typing import Final

from webhook.cli.reports.places import relative
from webhook.cli.reports.report import Report
from webhook.language.problems import Problem, Severity

_LEVELS: Final = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.STYLE: "notice",
}


def render(report: Report) -> str:
    """One command a finding. Paths are those of the repository where the command runs at its root."""
    return "".join(f"{_command(found)}\n" for found in report.problems)


def _command(found: Problem) -> str:
    span = found.span
    properties = {
        "file": relative(span.path),
        "line": span.line,
        "endLine": span.end_line,
        "col": span.column,
        "endColumn": span.end_column,
        "title": f"{found.code} {found.message}",
    }
    if span.end_line != span.line:  # columns of different lines are refused
        del properties["col"], properties["endColumn"]
    shown = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    return f"::{_LEVELS[found.severity]} {shown}::{_data(_body(found))}"


def _body(found: Problem) -> str:
    notes = [f"note: {note}" for note in found.notes]
    advice = [f"help: {found.help}"] if found.help else []
    return "\n".join([found.label or found.message, *notes, *advice])


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: object) -> str:
    return _data(str(value)).replace(":", "%3A").replace(",", "%2C")
