"""The loop's /waiting: who is next in each queue and why, a few of each, however many wait."""

from __future__ import annotations

import json
from typing import Any

from tests.quota.building import job, pods, queue, quota, quotas, see_all
from webhook.quota.plan import Core
from webhook.service.status import FEW, render_waiting


def told(core: Core) -> Any:
    return json.loads(render_waiting(core.front(FEW, 0.0)))


def test_those_who_ask_for_the_same_are_told_once() -> None:
    core = Core(quotas(queue("a", quota(cpu=4)), queue("b", quota(cpu=1))))
    see_all(core, job("first", "a", pods(cpu=3)))
    core.plan(0.0)
    see_all(core, *(job(f"same-{i}", "a", pods(cpu=2), place=1.0 + i) for i in range(5)))
    see_all(core, *(job(f"size-{i}", "a", pods(cpu=3, memory=i), place=9.0 + i) for i in range(5)))
    core.plan(0.0)
    found = told(core)
    assert found["b"] == []
    assert [(one["name"], one["alike"]) for one in found["a"]] == [
        ("same-0", 4),
        ("size-0", 0),
        ("size-1", 0),
    ]
    assert found["a"][0]["reason"] == "quota"
    assert found["a"][0]["text"] == "needs 2 cpu, 1 free of 4"


def test_in_a_strict_queue_the_others_wait_behind_the_first() -> None:
    core = Core(quotas(queue("a", quota(cpu=4), strict=True)))
    see_all(core, job("big", "a", pods(cpu=3)))
    core.plan(0.0)
    see_all(core, job("one", "a", pods(cpu=2), place=1.0), job("two", "a", pods(cpu=1), place=2.0))
    core.plan(0.0)
    assert [one["reason"] for one in told(core)["a"]] == ["quota", "order"]
