"""Time of a review of an 8 KB JobSet over keep-alive TLS, at 200 a second, the server in its own process.

Run with ``make bench``, or alone: ``.venv/bin/python tests/benchmarks/webhook.py``.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import ssl
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import aiohttp
import jsonpatch
import pytest

from tests.apiservers import running_sandbox

RATE, SECONDS, CONNECTIONS = 200, 10, 8
TIDEGATE = Path(sys.executable).with_name("tidegate")
POLICY = """
resource gpu = nvidia.com/gpu
cohort research {
  queue vision { quota { gpu 64 borrow 16, cpu 1k } }
  queue speech { quota { gpu 32, cpu 500 } }
}
route vision for Job, JobSet when namespace.startsWith("vision-") to vision
route speech for Job, JobSet when namespace.startsWith("speech-") to speech
deny too-big for Job, JobSet when requests.gpu > 64 {
  message "one workload may ask for at most 64 GPUs, this one asks for {requests.gpu}"
}
"""


def review(size: int = 8 * 1024) -> bytes:
    """An AdmissionReview of a JobSet with five replicated jobs."""
    parts = [_replicated(f"part-{n}") for n in range(5)]
    meta = {"name": "train", "namespace": "vision-prod"}
    obj = {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "metadata": meta}
    request: dict[str, Any] = {
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002",
        "kind": {"group": "jobset.x-k8s.io", "version": "v1alpha2", "kind": "JobSet"},
        "resource": {"group": "jobset.x-k8s.io", "version": "v1alpha2", "resource": "jobsets"},
        "operation": "CREATE",
        "namespace": "vision-prod",
        "name": "train",
        "userInfo": {"username": "alice", "groups": ["system:authenticated"]},
        "object": obj | {"spec": {"replicatedJobs": parts}},
        "oldObject": None,
    }
    body = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}
    missing = size - len(json.dumps(body))
    for part in parts:
        env = part["template"]["spec"]["template"]["spec"]["containers"][0]["env"]
        env.append({"name": "PAD", "value": "x" * max(0, missing // 5 - 30)})
    return json.dumps(body).encode()


def _replicated(name: str) -> dict[str, Any]:
    requests = {"cpu": "4", "memory": "16Gi", "nvidia.com/gpu": "1"}
    container = {
        "name": "main",
        "image": "registry.example/train:1",
        "env": [{"name": f"V{n}", "value": "value"} for n in range(8)],
        "resources": {"requests": requests, "limits": {"nvidia.com/gpu": "1"}},
    }
    pod = {"restartPolicy": "Never", "containers": [container]}
    job = {"parallelism": 2, "completions": 2, "template": {"spec": pod}}
    return {"name": name, "replicas": 1, "template": {"spec": job}}


async def mutated(url: str, tls: ssl.SSLContext) -> bytes:
    """The same review as the validating call gets it: after our own patch."""
    body = review()
    async with (
        aiohttp.ClientSession(trust_env=False) as session,
        session.post(f"{url}/mutate", data=body, ssl=tls) as response,
    ):
        answer = (await response.json())["response"]
    whole = json.loads(body)
    patch = jsonpatch.JsonPatch(json.loads(base64.b64decode(answer["patch"])))
    whole["request"]["object"] = patch.apply(whole["request"]["object"])
    return json.dumps(whole).encode()


async def measure(url: str, tls: ssl.SSLContext, body: bytes) -> list[float]:
    """Requests leave at a fixed rate, whatever became of those before; seconds each, sorted."""
    taken: list[float] = []
    connector = aiohttp.TCPConnector(limit=CONNECTIONS, ssl=tls)
    async with aiohttp.ClientSession(connector=connector, trust_env=False) as session:

        async def one(due: float) -> None:
            async with session.post(url, data=body) as response:
                answer = await response.json()
                assert answer["response"]["allowed"], answer
            taken.append(time.perf_counter() - due)

        await asyncio.gather(*(one(time.perf_counter()) for _ in range(CONNECTIONS)))
        taken.clear()
        began, tasks = time.perf_counter(), []
        for n in range(RATE * SECONDS):
            due = began + n / RATE
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            tasks.append(asyncio.create_task(one(time.perf_counter())))
        await asyncio.gather(*tasks)
    return sorted(taken)


async def run() -> dict[str, tuple[float, float]]:
    """p50 and p99 in milliseconds, by path."""
    with running_sandbox(players=False) as sandbox, tempfile.TemporaryDirectory() as folder:
        policy = Path(folder) / "p.tide"
        policy.write_text(POLICY)
        process = await asyncio.create_subprocess_exec(
            TIDEGATE,
            *("serve", "webhook", "--policies", policy, "--drain", "0", "--log-level", "warning"),
            *("--kubeconfig", sandbox.kubeconfig("loop"), "--listen", "127.0.0.1:0"),
            *("--self-signed-dir", Path(folder) / "certs"),
            stderr=asyncio.subprocess.PIPE,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )
        try:
            assert process.stderr is not None
            line = (await process.stderr.readline()).decode()
            assert line.startswith("ready webhook "), line
            tls = ssl.create_default_context(cafile=str(Path(folder) / "certs" / "ca.crt"))
            url = line.split()[2]
            bodies = {"/mutate": review(), "/validate": await mutated(url, tls)}
            return {
                path: _figures(await measure(url + path, tls, body))
                for path, body in bodies.items()
            }
        finally:
            process.terminate()
            await process.wait()


def _figures(taken: list[float]) -> tuple[float, float]:
    cuts = statistics.quantiles(taken, n=100)
    return cuts[49] * 1000, cuts[98] * 1000


@pytest.mark.bench
async def test_the_time_of_a_review() -> None:
    print()
    for path, (p50, p99) in (await run()).items():
        print(
            f"review of a {len(review()) / 1024:.1f} KB JobSet, {path} at {RATE}/s: "
            f"p50 {p50:.2f} ms, p99 {p99:.2f} ms"
        )


if __name__ == "__main__":
    asyncio.run(test_the_time_of_a_review())
