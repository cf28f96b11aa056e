"""Every policy of docs/quota.md is read, and every row of the tables below it holds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.quota.building import job, n, pods, running
from webhook.language.check import load_policy
from webhook.model.queues import Quotas
from webhook.model.workload import Cause, Evicted, Uid, Workload
from webhook.quota.ledger import Ledger
from webhook.quota.plan import Core
from webhook.quota.stops import late
from webhook.quota.tree import Tree
from webhook.workloads.stops import render_evicted

PAGE = Path(__file__).parents[2] / "docs" / "quota.md"
BLOCK = re.compile(r"```tide\n(?P<policy>.*?)```(?P<after>.*?)(?=```tide|\Z)", re.DOTALL)


def _tables() -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Every table below a policy, up to the next policy."""
    for block in BLOCK.finditer(PAGE.read_text(encoding="utf-8")):
        for table in re.findall(r"(?:^\|.*\n)+", block["after"], re.MULTILINE):
            rows = [
                [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()
            ]
            yield block["policy"], rows[0], rows[2:]


@pytest.mark.parametrize(
    ("count", "each", "fewest", "outcome"),
    [row for _policy, head, rows in _tables() if head[0] == "pods" for row in rows],
)
def test_starts_in_part(count: str, each: str, fewest: str, outcome: str) -> None:
    core = Core(_quotas("queue team { quota { cpu 10 } }"))
    core.see(running(job("r", "team", cpu=3)))
    asked = replace(pods(count=int(count), cpu=int(each)), min_count=int(fewest))
    core.see(job("x", "team", asked))
    starts = core.plan(0.0).starts
    found = [f"{start.admission.pod_sets[0].count} pods" for start in starts]
    assert outcome == (found[0] if found else core.reason(Uid("x"), 0.0).text)


def _of(kind: str) -> list[tuple[str, list[str], list[list[str]]]]:
    return [table for table in _tables() if table[1][0] == kind]


def _quotas(policy: str) -> Quotas:
    return load_policy([("docs.tide", policy)]).quotas


@pytest.mark.parametrize(("policy", "head", "rows"), _of("held"))
def test_what_is_free(policy: str, head: list[str], rows: list[list[str]]) -> None:
    for held, *free in rows:
        ledger = Ledger(Tree(_quotas(policy)))
        for name, amount in re.findall(r"`(\w+)` (\d+)", held):
            ledger.hold(name, ledger.tree.nodes[name], ((0, n(int(amount))),))
        for column, expected in zip(head[1:], free, strict=True):
            node = ledger.tree.nodes[column.removeprefix("free in ").strip("`")]
            assert ledger.now.available(node, 0) == n(int(expected)), (held, column)


@pytest.mark.parametrize(("policy", "head", "rows"), _of("workload"))
def test_who_starts(policy: str, head: list[str], rows: list[list[str]]) -> None:
    core = Core(_quotas(policy))
    outcomes: dict[str, str] = {}
    jobs = [_workload(at, dict(zip(head, row, strict=True))) for at, row in enumerate(rows)]
    early, rest = ([j for j in jobs if (j.name == "early") is first] for first in (True, False))
    for some in (early, rest):
        for each in some:
            core.see(each)
        for start in core.plan(0.0).starts:
            flavor = start.admission.pod_sets[0].flavors["cpu"]
            where = "" if flavor == "default" else f" on {flavor}"
            outcomes[start.workload.name] = f"starts{where}"
    for each in jobs:
        outcomes.setdefault(each.name, core.reason(each.uid, 0.0).text)
    assert outcomes == {row[0]: row[-1] for row in rows}


def _workload(at: int, row: dict[str, str]) -> Workload:
    name, cpu, priority = row["workload"], int(row["cpu"]), int(row["priority"])
    one = job(name, row["queue"], cpu=cpu, priority=priority, place=float(at))
    return replace(one, submitted_by=row.get("user", ""))


def test_the_page_has_both_kinds_of_table() -> None:
    assert (len(_of("held")), len(_of("workload"))) == (5, 7)


def test_the_page_tells_of_every_field_of_a_stop() -> None:
    text = PAGE.read_text(encoding="utf-8")
    record = Evicted(Cause.NOT_READY, 1.0, "x", 1, 2.0, 3.0)
    for field in json.loads(render_evicted(record)):
        assert f"\n| `{field}` |" in text
    for cause in Cause:
        assert f"`{cause.value}`" in text


def test_the_page_counts_retries_and_waits_as_the_core_does() -> None:
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    deadline = _quotas("queue a {\n quota { cpu 1 }\n ready within 10m retries 3\n}").queues["a"]
    assert deadline.deadline is not None
    one, waits, hold = job("x", "a", cpu=1), [], None
    while hold is None:
        record, hold = late(one, deadline.deadline, 0.0)
        waits.append(record.not_before)
        one = replace(one, evicted=record)
    assert waits == [60.0, 120.0, 240.0, None]
    assert "60 s, then 120 s, 240 s" in text
    assert f"`{hold}`" in text
