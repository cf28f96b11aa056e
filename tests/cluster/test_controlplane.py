"""The harness itself: if these fail, no other failure on the real control plane means anything."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.controlplane import OWNER, PREFIX, ControlPlane, sweep_leftovers
from tests.cluster.kubectl import Kubectl
from tests.cluster.player import PLAY_SECONDS, PodPlayer
from tests.cluster.rest import RestError

pytestmark = pytest.mark.cluster

TIMEOUT_SECONDS = 60.0


def job(name: str, *, play_seconds: float | None = None, **spec: Any) -> dict[str, Any]:
    annotations = {} if play_seconds is None else {PLAY_SECONDS: str(play_seconds)}
    container = {"name": "main", "image": "example/train"}
    pod = {"restartPolicy": "Never", "containers": [container]}
    template = {"metadata": {"annotations": annotations}, "spec": pod}
    body = {"template": template, **spec}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": body}


def jobset(name: str, *, play_seconds: float) -> dict[str, Any]:
    def replicated(name: str, replicas: int) -> dict[str, Any]:
        spec = job("unused", play_seconds=play_seconds, parallelism=2, completions=2)["spec"]
        return {"name": name, "replicas": replicas, "template": {"spec": spec}}

    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": name},
        "spec": {"replicatedJobs": [replicated("leader", 1), replicated("worker", 2)]},
    }


def jobs_path(namespace: str, name: str = "") -> str:
    return f"/apis/batch/v1/namespaces/{namespace}/jobs/{name}".rstrip("/")


def has(thing: dict[str, Any], condition: str) -> bool:
    conditions = thing.get("status", {}).get("conditions", [])
    return any(one["type"] == condition and one["status"] == "True" for one in conditions)


async def until(condition: Callable[[], bool], what: str) -> None:
    """Poll the API server beside the player; a test must never hang on a lost condition."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while not await asyncio.to_thread(condition):
        assert time.monotonic() < deadline, f"not within {TIMEOUT_SECONDS} s: {what}"
        await asyncio.sleep(0.05)


@pytest.fixture
def alice(control_plane: ControlPlane, namespace: str) -> Kubectl:
    return Kubectl(control_plane.kubeconfig("alice"), namespace)


def test_every_component_says_its_version(control_plane):
    assert set(control_plane.versions) == {
        "etcd",
        "kube-apiserver",
        "kube-controller-manager",
        "jobset",
    }
    assert all(version[0].isdigit() for version in control_plane.versions.values())
    assert control_plane.versions["kube-apiserver"].startswith("1.")


def test_kubectl_understands_the_version_of_the_server(control_plane, alice):
    server = json.loads(alice.ok("version", "-o", "json"))["serverVersion"]
    assert server["gitVersion"] == f"v{control_plane.versions['kube-apiserver']}"
    assert server["minor"] == control_plane.versions["kube-apiserver"].split(".")[1]


def test_each_user_is_who_the_token_says(control_plane):
    for user in ("admin", "alice", "bob", "argocd", "loop"):
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
        told = control_plane.rest(user).create(path, body)["status"]["userInfo"]
        assert told["username"] == control_plane.username(user)
    assert control_plane.username("loop") == "system:serviceaccount:tidegate-system:tidegate"


@pytest.mark.parametrize(
    ("user", "path"),
    [
        ("alice", "/apis/rbac.authorization.k8s.io/v1/clusterroles"),
        ("loop", "/apis/rbac.authorization.k8s.io/v1/clusterroles"),
        ("loop", "/apis/apps/v1/deployments"),
    ],
)
def test_rights_end_where_they_should(control_plane, user, path):
    with pytest.raises(RestError) as refused:
        control_plane.rest(user).get(path)
    assert refused.value.code == 403


async def test_a_job_of_alice_runs_to_its_end(control_plane, namespace, alice, player):
    alice.ok("create", "-f", "-", stdin=json.dumps(job("train", play_seconds=0.2, completions=2)))
    rest = control_plane.rest()
    await until(lambda: has(rest.get(jobs_path(namespace, "train")), "Complete"), "Complete")
    assert rest.get(jobs_path(namespace, "train"))["status"]["succeeded"] == 2


async def test_the_test_decides_when_pods_end(control_plane, namespace, player):
    rest = control_plane.rest("alice")
    rest.create(jobs_path(namespace), job("wave", parallelism=2, completions=4))
    assert len(await player.running(namespace, "wave", 2)) == 2
    assert await player.finish(namespace, "wave") >= 2  # and what follows
    await until(lambda: has(rest.get(jobs_path(namespace, "wave")), "Complete"), "Complete")


async def test_pods_fail_when_told(control_plane, namespace, player):
    rest = control_plane.rest("alice")
    rest.create(jobs_path(namespace), job("bad", backoffLimit=0))
    assert await player.fail(namespace, "bad", exit_code=3) == 1
    await until(lambda: has(rest.get(jobs_path(namespace, "bad")), "Failed"), "Failed")
    (pod,) = player.pods(namespace, "bad")
    ended = pod["status"]["containerStatuses"][0]["state"]["terminated"]
    assert (pod["status"]["phase"], ended["exitCode"]) == ("Failed", 3)


async def test_a_jobset_creates_jobs_and_completes(control_plane, namespace, alice, player):
    alice.ok("create", "-f", "-", stdin=json.dumps(jobset("js", play_seconds=0.2)))
    rest = control_plane.rest("alice")
    path = f"/apis/jobset.x-k8s.io/v1alpha2/namespaces/{namespace}/jobsets/js"
    await until(lambda: has(rest.get(path), "Completed"), "Completed")
    children = {one["metadata"]["name"] for one in rest.get(jobs_path(namespace))["items"]}
    assert children == {"js-leader-0", "js-worker-0", "js-worker-1"}


async def test_the_jobset_webhooks_are_the_real_ones(control_plane, namespace):
    body = jobset("js", play_seconds=1)
    body["spec"]["replicatedJobs"][1]["name"] = "leader"  # twice
    path = f"/apis/jobset.x-k8s.io/v1alpha2/namespaces/{namespace}/jobsets"
    with pytest.raises(RestError, match="leader"):
        control_plane.rest("alice").create(path, body)


async def test_gated_pods_are_left_alone(control_plane, namespace, player):
    rest = control_plane.rest("alice")
    gated = job("gated")
    gates = [{"name": "tidegate.dev/quota"}]
    gated["spec"]["template"]["spec"]["schedulingGates"] = gates
    rest.create(jobs_path(namespace), gated)
    rest.create(jobs_path(namespace), job("free"))
    await player.running(namespace, "free")  # by then the gated one was seen, being older
    (pod,) = player.pods(namespace, "gated")
    assert (pod["status"]["phase"], pod["spec"].get("nodeName")) == ("Pending", None)
    name = pod["metadata"]["name"]
    rest.merge(f"/api/v1/namespaces/{namespace}/pods/{name}", {"spec": {"schedulingGates": []}})
    await player.running(namespace, "gated")


async def test_deleted_pods_linger_and_go(control_plane, namespace):
    rest = control_plane.rest("alice")
    async with PodPlayer.of(control_plane, linger_seconds=0.5) as player:
        rest.create(jobs_path(namespace), job("stop"))
        await player.running(namespace, "stop")
        rest.merge(jobs_path(namespace, "stop"), {"spec": {"suspend": True}})

        def terminating() -> int:
            return int(rest.get(jobs_path(namespace, "stop"))["status"].get("terminating", 0))

        await until(lambda: terminating() == 1, "a terminating pod")
        await until(lambda: terminating() == 0, "no terminating pod")
        await until(lambda: not player.pods(namespace, "stop"), "the pod is gone")


@pytest.mark.parametrize("kill", [False, True], ids=["gracefully", "killed"])
async def test_the_api_server_restarts_on_its_data(control_plane, namespace, player, kill):
    rest = control_plane.rest("alice")
    rest.create(jobs_path(namespace), job("long"))
    await player.running(namespace, "long")
    before = rest.get(jobs_path(namespace, "long"))["metadata"]
    await asyncio.to_thread(control_plane.restart_apiserver, kill=kill)
    if kill:  # the second in a row: the controllers would back off for long
        await asyncio.to_thread(control_plane.restart_controllers)
    assert rest.get(jobs_path(namespace, "long"))["metadata"]["uid"] == before["uid"]
    rest.create(jobs_path(namespace), job("after"))  # the player and the controllers go on
    await player.running(namespace, "after")
    await player.finish(namespace, "long")
    await until(lambda: has(rest.get(jobs_path(namespace, "long")), "Complete"), "Complete")


def test_the_folder_of_a_killed_run_is_swept(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    killed = subprocess.Popen([sys.executable, "-c", ""])
    killed.wait()
    for name, pid in (("killed", killed.pid), ("running", os.getpid())):
        folder = tmp_path / f"{PREFIX}{name}"
        folder.mkdir()
        (folder / OWNER).write_text(str(pid))
    (tmp_path / f"{PREFIX}kept").mkdir()
    sweep_leftovers()
    assert {one.name.removeprefix(PREFIX) for one in tmp_path.iterdir()} == {"running", "kept"}


def test_an_aborted_run_leaves_nothing_behind(tmp_path):
    """A harness that is killed outright cannot clean up: the guards must."""
    script = tmp_path / "hold.py"
    script.write_text(HOLD)
    root = Path(__file__).resolve().parents[2]
    holder = subprocess.Popen(
        [sys.executable, script], cwd=root, stdout=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": str(root)},
    )  # fmt: skip
    with holder:
        assert holder.stdout is not None
        pid = int(holder.stdout.readline())
        os.kill(pid, 0)
        holder.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists() and _state(pid) != "Z":
        assert time.monotonic() < deadline
        time.sleep(0.02)


HOLD = """
import sys, time
from pathlib import Path
from tests.cluster.processes import Component
code = "import os, time; print(os.getpid(), flush=True); time.sleep(600)"
log = Path(__file__).with_suffix(".log")
component = Component("sleeper", [sys.executable, "-c", code], log=log)
component.start()
component.wait_until(lambda: log.read_text().endswith("\\n"), "it said its process id")
print(log.read_text(), end="", flush=True)
time.sleep(600)
"""


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return "Z"
