"""What ``tidegate check`` foretells is what an API server that asks the webhook then stores, or refuses."""

from __future__ import annotations

import asyncio
import copy
import re
import time
from pathlib import Path
from typing import Any

import yaml

from tests.apiservers import Answer, Client, running_sandbox
from tests.system.rig import Rig
from webhook.admission.rules import Rules
from webhook.language.check import load_policy
from webhook.model.kinds import Key
from webhook.rehearsal.submission import PaperCluster, Submitted, submit

POLICY = """
resource gpu = nvidia.com/gpu
queue vision {
  quota { gpu 8, cpu 64 }
  accept when labels["team"] == "vision"
}
queue small { quota { cpu 10 } }

route vision for Job, JobSet when namespace == "team-vision" to vision
route by-label when namespaceObject.metadata.labels["pool"] == "small" to small

deny too-many for Job when pods > 50 {
  message "at most 50 pods, not {pods}"
}
warn nameless when !("owner" in labels) {
  message "say whose {name} is"
}
set retries for Job when !has(object.spec.backoffLimit) {
  spec.backoffLimit = 2
}
set owner when !("tier" in labels) {
  metadata.labels["tier"] = user
}
"""
NAMESPACES = {"team-vision": {}, "pooled": {"pool": "small"}, "elsewhere": {}}
PATHS = {
    "Job": "batch/v1/namespaces/{}/jobs",
    "JobSet": "jobset.x-k8s.io/v1alpha2/namespaces/{}/jobsets",
}
POD = """{restartPolicy: Never, containers: [{name: m, image: x, resources: {requests: {cpu: CPU}}}]}"""
JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: NAME, namespace: SPACE, labels: {LABELS}}
spec: {parallelism: PODS, completions: PODS, completionMode: NonIndexed, template: {spec: POD}}
"""
JOBSET = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: NAME, namespace: SPACE, labels: {LABELS}}
spec:
  replicatedJobs:
  - {name: w, replicas: 2, template: {spec: {parallelism: PODS, completions: PODS, template: {spec: POD}}}}
"""


def written(
    text: str, name: str, space: str, labels: str = "", pods: int = 1, cpu: str = "1"
) -> dict[str, Any]:
    values = {
        "POD": POD,
        "PODS": str(pods),
        "CPU": cpu,
        "NAME": name,
        "SPACE": space,
        "LABELS": labels,
    }
    for key in ("PODS", "POD", "CPU", "NAME", "SPACE", "LABELS"):
        text = re.sub(rf"\b{key}\b", values[key], text)
    found: dict[str, Any] = yaml.safe_load(text)
    return found


OBJECTS = [
    written(JOB, "routed", "team-vision", "team: vision, owner: x"),
    written(JOB, "warned", "pooled", pods=3),
    written(JOB, "labelled", "elsewhere", f"{Key.QUEUE}: small, tier: a"),
    written(JOB, "left-alone", "elsewhere"),
    written(JOB, "denied", "pooled", pods=51, cpu="100m"),
    written(JOB, "never", "pooled", cpu="11"),
    written(JOB, "both", "pooled", pods=60),
    written(JOB, "unknown", "elsewhere", f"{Key.QUEUE}: smal"),
    written(JOB, "not-accepted", "team-vision"),
    written(JOBSET, "set", "team-vision", "team: vision", pods=2),
    written(JOBSET, "set-too-large", "pooled", pods=2, cpu="3"),
    written(JOBSET, "set-alone", "elsewhere"),
]  # fmt: skip


def foretold(obj: dict[str, Any]) -> Submitted:
    rules = Rules.of(load_policy([("policies/p.tide", POLICY)]))
    cluster = PaperCluster(NAMESPACES)
    return submit(rules, cluster, copy.deepcopy(obj), user="alice", now=time.time())


def lacks(stored: Any, expected: Any, path: str = "") -> list[str]:
    """Where something that was foretold is not stored; the API server adds of its own, and the time is not ours."""
    if isinstance(expected, dict) and isinstance(stored, dict):
        found = (lacks(stored.get(key), value, f"{path}/{key}") for key, value in expected.items())
        return [each for part in found for each in part]
    if isinstance(expected, list) and isinstance(stored, list) and len(stored) == len(expected):
        pairs = enumerate(zip(stored, expected, strict=True))
        return [each for at, (one, other) in pairs for each in lacks(one, other, f"{path}/{at}")]
    timed = path.endswith(f"/{Key.SUBMITTED}") and isinstance(stored, str)
    return [] if timed or stored == expected else [f"{path}: {stored!r} is not {expected!r}"]


def marks(node: Any, path: str = "") -> set[str]:
    """Everything of ours in an object, and whether it waits."""
    if isinstance(node, dict):
        here = {f"{path}/{key}" for key in node if key.startswith(Key.PREFIX) or key == "suspend"}
        return here.union(*(marks(value, f"{path}/{key}") for key, value in node.items()))
    if isinstance(node, list):
        return set().union(*(marks(each, f"{path}/{at}") for at, each in enumerate(node)))
    return set()


def lines(answer: Answer) -> set[str]:
    return {
        line.partition("denied the request: ")[2] or line for line in answer.message.splitlines()
    }


def warnings(answer: Answer) -> list[str]:
    return [text.split('"', 1)[1].rstrip('"') for text in answer.headers.get_all("Warning", [])]


async def test_what_check_foretells_is_what_is_stored_or_refused(tmp_path: Path) -> None:
    policies = tmp_path / "policies"
    policies.mkdir()
    (policies / "p.tide").write_text(POLICY)
    with running_sandbox(players=False) as sandbox:
        admin, alice = Client(sandbox, ""), Client(sandbox, "", user="alice")
        for name, labels in NAMESPACES.items():
            admin.call("POST", "/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}})
        async with Rig(sandbox, policies, tmp_path):
            for obj in OBJECTS:
                path = "/apis/" + PATHS[obj["kind"]].format(obj["metadata"]["namespace"])
                answer = await asyncio.to_thread(alice.call, "POST", path, obj)
                compare(foretold(obj), answer)


def compare(expected: Submitted, answer: Answer) -> None:
    name = expected.original["metadata"]["name"]
    if expected.admitted:
        assert answer.code == 201, f"{name}: {answer.message}"
        assert lacks(answer.json, expected.object) == [], name
        assert marks(answer.json["metadata"]) == marks(expected.object["metadata"]), name
    else:
        assert (answer.code, lines(answer)) == (403, {r.line for r in expected.refusals}), name
    told = [text for text in warnings(answer) if not text.startswith("queued in")]
    assert told == [text for text in expected.warnings if not text.startswith("queued in")], name


def test_the_objects_are_of_every_sort() -> None:
    done = {each.original["metadata"]["name"]: each for each in map(foretold, OBJECTS)}
    refused = {
        name: [r.reason.value for r in each.refusals]
        for name, each in done.items()
        if each.refusals
    }
    assert refused == {
        "denied": ["denied"],
        "never": ["never-fits"],
        "both": ["denied", "never-fits"],
        "unknown": ["unknown-queue"],
        "not-accepted": ["accept"],
        "set-too-large": ["never-fits"],
    }
    queues = {name: each.queue for name, each in done.items() if each.admitted}
    assert queues == {
        "routed": "vision",
        "warned": "small",
        "labelled": "small",
        "left-alone": None,
        "set": "vision",
        "set-alone": None,
    }
