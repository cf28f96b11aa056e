"""SARIF 2.1.0, as code scanning services and editors read it, with related places and fixes.

Columns count code points, which the run says. Rules carry the text of their page, so a reader without network has it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from typing import Any, Final

from webhook import __version__
from webhook.cli.reports.places import uri
from webhook.cli.reports.report import Report
from webhook.language.codes import CODES
from webhook.language.pages import page
from webhook.language.problems import Problem, Severity
from webhook.language.syntax import Span

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: Final = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.STYLE: "note",
}


def render(report: Report) -> str:
    """One log of one run."""
    codes = sorted({found.code for found in report.problems})
    driver = {"name": "tidegate", "version": __version__, "rules": [_rule(code) for code in codes]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "artifacts": [{"location": {"uri": uri(path)}} for path in report.paths],
        "results": [_result(found, codes, report) for found in report.problems],
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, ensure_ascii=False) + "\n"


def _rule(code: str) -> dict[str, Any]:
    severity, summary = CODES[code]
    rule: dict[str, Any] = {
        "id": code,
        "shortDescription": {"text": summary},
        "defaultConfiguration": {"level": _LEVELS[severity]},
    }
    text = page(code)
    if text:
        rule["help"] = {"text": text, "markdown": text}
    return rule


def _result(found: Problem, codes: Sequence[str], report: Report) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": found.code,
        "ruleIndex": codes.index(found.code),
        "level": _LEVELS[found.severity],
        "message": {"text": _message(found)},
        "locations": [_location(found.span)],
        "partialFingerprints": {"tidegate/v1": _fingerprint(found, report)},
    }
    if found.others:
        result["relatedLocations"] = [
            {"id": at, "message": {"text": label or "related"}, **_location(span)}
            for at, (span, label) in enumerate(found.others)
        ]
    if found.fix is not None:
        result["fixes"] = [_fix(found)]
    return result


def _message(found: Problem) -> str:
    notes = [f"note: {note}" for note in found.notes]
    advice = [f"help: {found.help}"] if found.help else []
    return "\n".join([found.message, *notes, *advice])


def _fingerprint(found: Problem, report: Report) -> str:
    """The same while the line is the same, wherever it moves to."""
    source = report.sources.get(found.span.path)
    line = source.line(found.span.line).strip() if source is not None else ""
    text = "\0".join((found.code, uri(found.span.path), line, found.message))
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _location(span: Span) -> dict[str, Any]:
    return {
        "physicalLocation": {"artifactLocation": {"uri": uri(span.path)}, "region": _region(span)}
    }


def _region(span: Span) -> dict[str, int]:
    return {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
        "charOffset": span.start,
        "charLength": span.end - span.start,
    }


def _fix(found: Problem) -> dict[str, Any]:
    assert found.fix is not None  # noqa: S101 - the caller asked
    fix = found.fix
    replacement = {"deletedRegion": _region(fix.span), "insertedContent": {"text": fix.text}}
    change = {"artifactLocation": {"uri": uri(fix.span.path)}, "replacements": [replacement]}
    doubt = "" if fix.safe else " (unsafe: look at the result)"
    return {"description": {"text": (found.help or "fix") + doubt}, "artifactChanges": [change]}
