"""Ages and the STATUS of Jobs and pods, as kubectl shows them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from webhook.sandbox.columns import columns_of
from webhook.sandbox.durations import age, human
from webhook.sandbox.resources import JOBS, PODS, RESOURCES

NOW = datetime(2026, 12, 1, 10, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-5, "<invalid>"),
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (190, "3m10s"),
        (600, "10m"),
        (3 * 3600, "3h"),
        (3 * 3600 + 60, "3h1m"),
        (47 * 3600, "47h"),
        (48 * 3600, "2d"),
        (51 * 3600, "2d3h"),
        (30 * 86400, "30d"),
        (3 * 365 * 86400 + 86400, "3y1d"),
        (9 * 365 * 86400 + 86400, "9y"),
    ],
)
def test_ages(seconds: int, text: str):
    assert human(seconds) == text


def test_an_age_without_a_time_is_unknown():
    assert age(None, NOW) == age("soon", NOW) == "<unknown>"
    assert age("2026-12-01T09:59:00.5Z", NOW) == "59s"


def cell(resource, name: str, obj: dict) -> object:
    column = next(column for column in columns_of(resource) if column.name == name)
    return column.cell({"metadata": {"name": "a"}, **obj}, NOW)


def condition(name: str, **fields: str) -> dict:
    return {"type": name, "status": "True", **fields}


@pytest.mark.parametrize(
    ("obj", "word"),
    [
        ({}, "Running"),
        ({"status": {"conditions": [condition("Suspended")]}}, "Suspended"),
        ({"status": {"conditions": [condition("Complete")]}}, "Complete"),
        ({"status": {"conditions": [condition("FailureTarget"), condition("Failed")]}}, "Failed"),
        ({"metadata": {"deletionTimestamp": "x"}}, "Terminating"),
    ],
)
def test_the_status_of_a_job(obj: dict, word: str):
    assert cell(JOBS, "Status", obj) == word


def test_completions_and_duration_of_a_job():
    status = {"succeeded": 2, "startTime": "2026-12-01T09:57:00Z"}
    assert cell(JOBS, "Completions", {"spec": {"completions": 3}, "status": status}) == "2/3"
    assert cell(JOBS, "Completions", {"spec": {"parallelism": 4}}) == "0/1 of 4"
    assert cell(JOBS, "Duration", {"status": status}) == "3m"
    status = {**status, "completionTime": "2026-12-01T09:57:05Z"}
    assert cell(JOBS, "Duration", {"status": status}) == "5s"


@pytest.mark.parametrize(
    ("obj", "word"),
    [
        ({"status": {"phase": "Pending"}}, "Pending"),
        (
            {
                "status": {
                    "phase": "Pending",
                    "conditions": [{"type": "PodScheduled", "reason": "SchedulingGated"}],
                }
            },
            "SchedulingGated",
        ),
        (
            {
                "status": {
                    "phase": "Succeeded",
                    "containerStatuses": [{"state": {"terminated": {"reason": "Completed"}}}],
                }
            },
            "Completed",
        ),
        ({"metadata": {"deletionTimestamp": "x"}, "status": {"phase": "Running"}}, "Terminating"),
    ],
)
def test_the_status_of_a_pod(obj: dict, word: str):
    assert cell(PODS, "Status", obj) == word


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda r: f"{r.plural}.{r.group}")
def test_every_kind_has_cells_even_for_an_empty_object(resource):
    obj = {"metadata": {"name": "a"}, "spec": {}}
    assert all(column.cell(obj, NOW) is not Ellipsis for column in columns_of(resource))
