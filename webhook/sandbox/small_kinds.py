"""The few defaults of kinds that are otherwise kept as they come."""

from __future__ import annotations

import base64

from webhook.sandbox.resources import Object, Resource

_STATUS_IS_THE_CONTROLLERS = frozenset({"StatefulSet", "CronJob"})


def prepared(resource: Resource, obj: Object) -> Object:
    """A new or changed object with its defaults; the same object where there are none."""
    if resource.kind == "Secret":
        return _secret(obj)
    if resource.kind == "PriorityClass":
        return {"preemptionPolicy": "PreemptLowerPriority", **obj}
    return obj


def without_status(resource: Resource, obj: Object) -> Object:
    """A client cannot create an object with a status."""
    if resource.kind not in _STATUS_IS_THE_CONTROLLERS:
        return obj
    return {**obj, "status": {}}


def _secret(obj: Object) -> Object:
    """``stringData`` is only for writing: it ends up, encoded, in ``data``."""
    made = {"type": "Opaque", **obj}
    if texts := made.pop("stringData", None):
        encoded = {key: base64.b64encode(text.encode()).decode() for key, text in texts.items()}
        made["data"] = {**(made.get("data") or {}), **encoded}
    return made
