"""All that is known of each finding as JSON, for programs of one's own. ``version`` changes with the form."""

from __future__ import annotations

import json
from typing import Any

from webhook.cli.reports.report import Report
from webhook.language.problems import Fix, Problem, Severity
from webhook.language.syntax import Span


def render(report: Report) -> str:
    """One document; offsets and columns count code points."""
    counts = {
        severity.value: sum(p.severity is severity for p in report.problems)
        for severity in Severity
    }
    document = {
        "version": 1,
        "files": list(report.paths),
        "counts": counts,
        "problems": [_problem(found) for found in report.problems],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _problem(found: Problem) -> dict[str, Any]:
    return {
        "code": found.code,
        "severity": found.severity.value,
        "message": found.message,
        "label": found.label,
        **span(found.span),
        "notes": list(found.notes),
        "others": [{"label": label, **span(place)} for place, label in found.others],
        "help": found.help,
        "fix": _fix(found.fix) if found.fix is not None else None,
    }


def _fix(fix: Fix) -> dict[str, Any]:
    return {"safe": fix.safe, "text": fix.text, **span(fix.span)}


def span(place: Span) -> dict[str, Any]:
    """A place, flat."""
    return {
        "path": place.path,
        "line": place.line,
        "column": place.column,
        "end_line": place.end_line,
        "end_column": place.end_column,
        "start": place.start,
        "end": place.end,
    }
