"""A crowd of workloads for the system tests: three priorities, two cohorts, submitted by several people.

The policy text and its plain-arithmetic twin stand side by side; a test compares what they say where it matters.
"""

from __future__ import annotations

import random
from typing import Any

from tests.system.arithmetic import Node
from tests.system.verdict import Policy

POLICY = """
priority urgent    1000
priority normal     100 default
priority scavenger    0

cohort research {
  pool { cpu 2 }
  queue vision { quota { cpu 8 borrow 3 } }
  queue speech {
    quota { cpu 6 lend 4 }
    order strict
  }
}

cohort platform {
  cap { cpu 10 }
  queue etl { quota { cpu 6 } }
  queue web { quota { cpu 6 borrow none } }
}

route vision when namespace.startsWith("vision-") to vision
route speech when namespace.startsWith("speech-") to speech
"""
PRIORITIES = {"urgent": 1000, "normal": 100, "scavenger": 0}
TEAMS = ("vision", "speech", "etl", "web")


def namespaces(run: int) -> list[str]:
    """Each run has its own."""
    return [f"{team}-{run}" for team in TEAMS]


def policy() -> Policy:
    """The same by hand, in thousandths of a cpu."""
    research = Node(
        "research",
        owns=2000,
        children=[
            Node("vision", owns=8000, borrow=3000),
            Node("speech", owns=6000, lend=4000, strict=True),
        ],
    )
    platform = Node(
        "platform", cap=10000, children=[Node("etl", owns=6000), Node("web", owns=6000, borrow=0)]
    )
    return Policy([research, platform], PRIORITIES, default=100)


def jobs(number: int, seed: int) -> list[dict[str, Any]]:
    """So many Jobs of mixed sizes; some name their queue, the rest are routed."""
    rng = random.Random(seed)
    return [_job(f"job-{index}", rng, seed) for index in range(number)]


def jobsets(number: int, seed: int) -> list[dict[str, Any]]:
    """So many JobSets of one or two replicated jobs, with JobSet's defaults spelled out."""
    rng = random.Random(seed)
    return [_jobset(f"set-{index}", rng, seed) for index in range(number)]


def _job(name: str, rng: random.Random, run: int) -> dict[str, Any]:
    pods = rng.choice((1, 1, 1, 2, 2, 3, 4))
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": _metadata(name, rng, run),
        "spec": {
            "parallelism": pods,
            "completions": pods * rng.choice((1, 1, 2)),
            "template": {
                "spec": pod_spec(rng.choice(("500m", "1", "1", "2") if pods < 4 else ("500m", "1")))
            },
        },
    }


def _jobset(name: str, rng: random.Random, run: int) -> dict[str, Any]:
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": _metadata(name, rng, run),
        "spec": {"replicatedJobs": [replicated(part, rng) for part in ("driver", "worker")]},
    }


def replicated(name: str, rng: random.Random) -> dict[str, Any]:
    """One replicated job of a JobSet."""
    pods = rng.choice((1, 2))
    job = {
        "parallelism": pods,
        "completions": pods,
        "backoffLimit": 0,
        "template": {"spec": pod_spec("500m")},
    }
    replicas = rng.choice((1, 2))
    return {"name": name, "replicas": replicas, "template": {"spec": job}}


def pod_spec(cpu: str) -> dict[str, Any]:
    """A pod that asks for so much cpu."""
    container = {
        "name": "main",
        "image": "example.com/work",
        "resources": {"requests": {"cpu": cpu}},
    }
    return {"restartPolicy": "Never", "containers": [container]}


def _metadata(name: str, rng: random.Random, run: int) -> dict[str, Any]:
    team = rng.choice(TEAMS)
    labels = {"tidegate.dev/queue": team} if team in ("etl", "web") else {}
    priority = rng.choice(("urgent", "normal", "scavenger", None))
    if priority:
        labels["tidegate.dev/priority"] = priority
    return {"name": name, "namespace": f"{team}-{run}", "labels": labels}
