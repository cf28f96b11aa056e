"""For people: each finding with the line it is about."""

from __future__ import annotations

from webhook.cli.reports.report import Report
from webhook.language.render import render_text


def render(report: Report) -> str:
    """The first fifty, and a count of the others."""
    return render_text(report.problems, report.sources, color=report.color)
