"""Webhook and loop as processes against the sandbox: a crowd runs through, judged from the history."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.apiservers import Client, running_sandbox
from tests.system import crowd
from tests.system.history import Recorder, finished, is_child
from tests.system.rig import Rig
from tests.system.sources import Watch
from tests.system.verdict import judge

PATHS = {
    "Job": "/apis/batch/v1/namespaces/{}/jobs",
    "JobSet": "/apis/jobset.x-k8s.io/v1alpha2/namespaces/{}/jobsets",
}


def playing(obj: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Its pods end by themselves after so long."""
    spec = obj["spec"]
    parts = (
        [spec] if obj["kind"] == "Job" else [p["template"]["spec"] for p in spec["replicatedJobs"]]
    )
    for part in parts:
        about = part["template"].setdefault("metadata", {}).setdefault("annotations", {})
        about["tidegate.dev/play-seconds"] = str(seconds)
    return obj


def submit(client: Client, items: list[dict[str, Any]]) -> None:
    for obj in items:
        path = PATHS[obj["kind"]].format(obj["metadata"]["namespace"])
        answer = client.call("POST", path, playing(obj, 0.3))
        assert answer.code == 201, answer.body


def all_done(recorder: Recorder, number: int) -> bool:
    roots = [
        obj
        for kind in PATHS
        for obj in recorder.latest(kind).values()
        if not is_child(obj) and finished(obj)
    ]
    return len(roots) == number


@pytest.mark.timeout(240)
@pytest.mark.parametrize("kills", [0, 4], ids=["undisturbed", "loop killed"])
async def test_a_crowd_runs_in_order_never_over_quota_by_one_write_each(tmp_path: Path, kills: int):
    policies = tmp_path / "policies"
    policies.mkdir()
    (policies / "crowd.tide").write_text(crowd.POLICY)
    items = crowd.jobs(40, 3) + crowd.jobsets(6, 3)
    with running_sandbox() as sandbox:
        admin = Client(sandbox, "")
        for name in sorted({obj["metadata"]["namespace"] for obj in items}):
            admin.call("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
        async with (
            Recorder(
                Watch(sandbox.url, sandbox.token("admin"), sandbox.ca_file), crowd.namespaces(3)
            ) as recorder,
            Rig(sandbox, policies, tmp_path) as rig,
        ):
            await asyncio.to_thread(submit, Client(sandbox, "", user="alice"), items)
            for _ in range(kills):
                await rig.loop.kill()
                await rig.loop.start()
            await recorder.until(lambda: all_done(recorder, len(items)), within=180, what="the end")
    verdict = judge(recorder.entries, crowd.policy())
    assert verdict.starts == len(items)
    assert verdict.over == []
    assert verdict.writes == []
    assert kills or verdict.out_of_order == []
