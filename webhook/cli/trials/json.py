"""All that is known of each test as JSON, for programs of one's own. ``version`` changes with the form."""

from __future__ import annotations

import json
from typing import Any

from webhook.cli.reports.json import span
from webhook.cli.trials.results import Results, place_of
from webhook.language.problems import Problem
from webhook.rehearsal.expecting import happened
from webhook.rehearsal.trials import Trial


def render(results: Results) -> str:
    """One document; ``coverage`` is null where nobody asked for it."""
    trials = results.trials.trials
    passed = sum(trial.passed for trial in trials)
    document = {
        "version": 1,
        "files": list(results.paths),
        "counts": {
            "tests": len(trials),
            "passed": passed,
            "failed": results.failed,
            "not_run": results.not_run,
        },
        "tests": [_test(trial) for trial in trials],
        "coverage": _coverage(results) if results.covering else None,
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _test(trial: Trial) -> dict[str, Any]:
    path, line = place_of(trial)
    outcome = trial.outcome
    return {
        "name": trial.scene.name,
        "path": path,
        "line": line,
        "status": "passed" if trial.passed else "not run" if trial.not_run else "failed",
        "queue": outcome.submitted.queue if outcome is not None else None,
        "outcome": happened(outcome) if outcome is not None else "",
        "not_run": trial.not_run,
        "problems": [_problem(found) for found in trial.problems],
    }


def _problem(found: Problem) -> dict[str, Any]:
    return {
        "code": found.code,
        "message": found.message,
        **span(found.span),
        "notes": list(found.notes),
        "others": [{"label": label, **span(place)} for place, label in found.others],
    }


def _coverage(results: Results) -> dict[str, Any]:
    found = results.trials.coverage
    return {
        "covered": found.covered,
        "total": len(found.items),
        "percent": found.percent,
        "uncovered": [
            {"rule": item.title, "place": item.place, "missing": item.missing}
            for item in found.uncovered
        ],
    }
