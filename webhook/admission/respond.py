"""A decision in the words of AdmissionReview: version as asked, uid echoed always, patch only where there is one."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any

from webhook.admission.decision import WARNING_LIMIT, Decision, one_line
from webhook.admission.review import BadReview, Request
from webhook.model.patch import Patch

WARNINGS_LIMIT = 4096
"""Characters of all warnings together; beyond it the API server cuts each at 256 and drops what is left over."""

REASONS = {403: "Forbidden", 500: "InternalError", 503: "ServiceUnavailable"}


def respond(request: Request, decision: Decision) -> dict[str, Any]:
    """The AdmissionReview to send back."""
    response: dict[str, Any] = {"uid": request.uid, "allowed": decision.allowed}
    if not decision.allowed:
        message = "\n".join(refusal.line for refusal in decision.refusals)
        reason = REASONS.get(decision.code, "Forbidden")
        response["status"] = {"code": decision.code, "reason": reason, "message": message}
    elif decision.patch:
        response |= {"patchType": "JSONPatch", "patch": encode_patch(decision.patch)}
    if decision.warnings:
        response["warnings"] = shown(decision.warnings)
    return _envelope(request.api_version, response)


def respond_to_bad(error: BadReview) -> dict[str, Any]:
    """The answer to a review that could not be read but told its uid."""
    status = {"code": 400, "reason": "BadRequest", "message": str(error)}
    return _envelope(error.api_version, {"uid": error.uid, "allowed": False, "status": status})


def encode_patch(patch: Patch) -> str:
    """A JSON Patch as the API server wants it: base64 of the list of operations."""
    text = json.dumps([op.as_json() for op in patch], separators=(",", ":"), ensure_ascii=False)
    return base64.b64encode(text.encode()).decode()


def _envelope(api_version: str, response: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": "AdmissionReview", "response": response}


def shown(warnings: Sequence[str]) -> list[str]:
    """As many as the API server passes on, each on one line; the last says how many there would be."""
    lines = [one_line(warning, "", WARNING_LIMIT) for warning in dict.fromkeys(warnings)]
    if sum(map(len, lines)) <= WARNINGS_LIMIT:
        return lines
    kept: list[str] = []
    room = WARNINGS_LIMIT - len(_more(len(lines)))
    for line in lines:
        room -= len(line)
        if room < 0:
            break
        kept.append(line)
    return [*kept, _more(len(lines) - len(kept))]


def _more(number: int) -> str:
    return f"and {number} warnings more"
