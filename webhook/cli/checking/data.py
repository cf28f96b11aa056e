"""Verdicts for programs: one JSON document."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from webhook.admission.decision import Refusal
from webhook.cli.checking.answers import Answer, name_of
from webhook.model.quantity import Amount, format_quantity
from webhook.rehearsal.verdict import Reach, Verdict


def render(answers: Sequence[Answer]) -> str:
    """An object for each manifest; amounts are quantities as Kubernetes writes them."""
    return json.dumps({"objects": [_answer(each) for each in answers]}, indent=2) + "\n"


def _answer(answer: Answer) -> Mapping[str, Any]:
    manifest, verdict = answer.manifest, answer.verdict
    submitted = verdict.submitted
    priority = verdict.priority
    return {
        "path": manifest.path,
        "line": manifest.line,
        "document": manifest.document,
        "kind": submitted.request.kind,
        "namespace": submitted.request.namespace,
        "name": name_of(manifest.object),
        "outcome": verdict.outcome.value,
        "why": verdict.why,
        "place": verdict.place,
        "queue": submitted.queue,
        "priority": None if priority is None else {"name": priority[0], "value": priority[1]},
        "pods": verdict.pods,
        "asks": _amounts(verdict),
        "room": [_reach(reach) for reach in verdict.reaches],
        "uncounted": list(verdict.uncounted),
        "refusals": [_refusal(each) for each in submitted.refusals],
        "warnings": list(submitted.warnings),
        "notes": list(verdict.notes),
        "patch": [op.as_json() for op in submitted.patch],
    }


def _amounts(verdict: Verdict) -> Mapping[str, str]:
    asks: Mapping[str, Amount] = verdict.asks or {}
    return {
        resource: format_quantity(amount, resource) for resource, amount in sorted(asks.items())
    }


def _reach(reach: Reach) -> Mapping[str, str | None]:
    """``borrow`` null: without bound."""
    borrow = None if reach.borrow is None else format_quantity(reach.borrow, reach.resource)
    return {
        "flavor": reach.flavor,
        "resource": reach.resource,
        "own": format_quantity(reach.own, reach.resource),
        "most": format_quantity(reach.most, reach.resource),
        "borrow": borrow,
    }


def _refusal(refusal: Refusal) -> Mapping[str, str]:
    return {
        "reason": refusal.reason.value,
        "rule": refusal.rule,
        "place": refusal.place,
        "message": refusal.message,
    }
