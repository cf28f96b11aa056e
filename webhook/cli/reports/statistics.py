"""How often each code was found, most often first: where to begin in a policy that was never linted."""

from __future__ import annotations

import json
from collections import Counter

from webhook.cli.reports.report import Report
from webhook.language.codes import CODES


def render(report: Report, *, as_json: bool = False) -> str:
    """A line a code: how often, its severity, what it is about."""
    counts = Counter(found.code for found in report.problems)
    rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    if as_json:
        listed = [
            {"code": code, "count": count, "severity": CODES[code].severity.value}
            for code, count in rows
        ]
        return json.dumps(listed, indent=2) + "\n"
    return "".join(
        f"{count:>5}  {code}  {CODES[code].severity.value:<7}  {CODES[code].summary}\n"
        for code, count in rows
    )
