"""Status conditions of Jobs and JobSets, changed without touching what came in."""

from __future__ import annotations

from datetime import datetime

from webhook.sandbox.metadata import rfc3339
from webhook.sandbox.resources import Object
from webhook.sandbox.strategies.fields import items

Conditions = list[Object]


def conditions_of(obj: Object) -> Conditions:
    return items(obj, "status", "conditions")


def with_condition(
    conditions: Conditions,
    name: str,
    status: bool,
    reason: str,
    message: str,
    *,
    now: datetime,
    probed: bool,
) -> Conditions:
    """The conditions with one set; ``probed``: with lastProbeTime, as a Job has it.

    A condition that is false and was never true is not added; one that is as wanted stays as it is.
    """
    text = "True" if status else "False"
    known = next((c for c in conditions if c.get("type") == name), None)
    if (known is None and not status) or (known is not None and known.get("status") == text):
        return conditions
    moment = rfc3339(now)
    made: Object = {"type": name, "status": text, "reason": reason, "message": message}
    made["lastTransitionTime"] = moment
    if probed:
        made["lastProbeTime"] = moment
    if known is None:
        return [*conditions, made]
    return [made if c is known else c for c in conditions]
