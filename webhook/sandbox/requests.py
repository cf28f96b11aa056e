"""The query of a request and the options of a DELETE, read and checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from webhook.sandbox.resources import Object
from webhook.sandbox.status import Cause, bad_request, invalid_options


class Query:
    """The parameters the API server knows; raises StatusError 400 for a value it refuses."""

    def __init__(self, query: Mapping[str, str], user_agent: str) -> None:
        self.watch = _flag(query, "watch")
        self.label_selector = query.get("labelSelector", "")
        self.field_selector = query.get("fieldSelector", "")
        self.limit = _whole(query, "limit")
        self.continue_ = query.get("continue", "")
        self.since = _version(query.get("resourceVersion", ""))
        self.bookmarks = _flag(query, "allowWatchBookmarks")
        self.timeout_seconds = float(_whole(query, "timeoutSeconds")) or None
        self.initial_events = _flag(query, "sendInitialEvents")
        self.include_object = query.get("includeObject", "Metadata")
        self.dry_run = _dry_run(query.get("dryRun", ""))
        self.field_manager = query.get("fieldManager", "") or user_agent.partition("/")[0]
        self.propagation = query.get("propagationPolicy", "")
        self.grace_seconds = query.get("gracePeriodSeconds", "")
        self._check_match(query.get("resourceVersionMatch", ""))

    def _check_match(self, match: str) -> None:
        if match == "Exact":
            raise bad_request("resourceVersionMatch=Exact is not served by the sandbox")
        if self.initial_events and match != "NotOlderThan":
            message = (
                "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
            )
            cause = Cause("resourceVersionMatch", "FieldValueForbidden", message)
            raise invalid_options("ListOptions", cause)


def _flag(query: Mapping[str, str], name: str) -> bool:
    return name in query and query[name].lower() not in ("0", "false", "f")


def _whole(query: Mapping[str, str], name: str) -> int:
    text = query.get(name, "") or "0"
    if not text.isdecimal():
        raise bad_request(f'{name}: Invalid value: "{text}"')
    return int(text)


def _version(text: str) -> str:
    if text and not text.isdecimal():
        raise bad_request(f'invalid resource version: resourceVersion: Invalid value: "{text}"')
    return text


def _dry_run(value: str) -> bool:
    if value not in ("", "All"):
        message = f'Unsupported value: ["{value}"]: supported values: "All"'
        raise invalid_options("CreateOptions", Cause("dryRun", "FieldValueNotSupported", message))
    return value == "All"


def delete_options(query: Query, body: object) -> dict[str, Any]:
    """The arguments of ``Api.delete`` from the body and, where it is silent, the query."""
    options: Object = body if isinstance(body, dict) else {}
    grace = options.get("gracePeriodSeconds", query.grace_seconds)
    propagation = options.get("propagationPolicy") or query.propagation
    if options.get("orphanDependents") is not None and not propagation:
        propagation = "Orphan" if options["orphanDependents"] else "Background"
    return {
        "propagation": propagation,
        "preconditions": options.get("preconditions"),
        "dry_run": query.dry_run or options.get("dryRun") == ["All"],
        "grace_seconds": None if grace in ("", None) else int(grace),
    }
