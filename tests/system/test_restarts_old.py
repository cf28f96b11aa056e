"""A Job that starts again on another flavor, before Kubernetes 1.36 and from then on, judged from its stored history.

Up to 1.35 its controller leaves the start time and the template is immutable while it is there, so the start takes one
write more. Two gates of the API server and the controllers make the one into the other. Both processes have the
rights that docs/operations.md says they need, and no more.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import bootstrap, build
from tests.cluster.controlplane import ControlPlane
from tests.cluster.kubectl import Kubectl
from tests.cluster.player import PodPlayer
from tests.system.history import Recorder, in_order, suspended
from tests.system.rig import Rig
from tests.system.sources import Etcd

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(300)]
POLICY = """
flavor blue {
  node "pool" = "blue"
  tolerate "blue" : NoSchedule
}
flavor red {
  node "pool" = "red"
  tolerate "red" : NoSchedule
}
queue pools {
  quota blue { cpu 1 }
  quota red { cpu 1 }
}
"""
OLDER = {
    "MutableSchedulingDirectivesForSuspendedJobs": False,
    "MutablePodResourcesForSuspendedJobs": False,
}
PAGE = Path(__file__).parents[2] / "docs" / "operations.md"
HOLD = "tidegate.dev/hold"
WITHIN = 60.0
Object = dict[str, Any]


@pytest.fixture(scope="module", params=["up to 1.35", "from 1.36"])
def plane(request: pytest.FixtureRequest) -> Iterator[ControlPlane]:
    """Both behaviours; one of our own each, since the one of all tests has a rig already."""
    request.getfixturevalue("control_plane")  # it skips where none is built
    with ControlPlane(feature_gates=OLDER if request.param == "up to 1.35" else None) as plane:
        plane.rest().apply(*rights_of_the_page())
        yield plane


def rights_of_the_page() -> tuple[str, Object]:
    """The role of webhook and loop, and where to apply it."""
    path, role = next(
        (path, body)
        for path, body in bootstrap.permissions(build.ready().jobset_config / "role.yaml")
        if body["metadata"]["name"] == "tidegate-loop"
    )
    table = PAGE.read_text().split("| process | group |")[1].split("\n\n")[0].splitlines()[2:]
    rows = ([cell.replace("`", "").split() for cell in line.split("|")[2:5]] for line in table)
    keys = ("apiGroups", "resources", "verbs")
    rules = [
        dict(zip(keys, (group or [""], what, verbs), strict=True)) for group, what, verbs in rows
    ]
    return path, role | {"rules": rules}


@pytest.fixture
def older(request: pytest.FixtureRequest) -> bool:
    return bool(request.node.callspec.params["plane"] == "up to 1.35")


@dataclass(frozen=True, slots=True)
class Play:
    """Everything at work, in one namespace."""

    recorder: Recorder
    player: PodPlayer
    kubectl: Kubectl

    async def ask(self, *words: str, stdin: str = "") -> str:
        return await asyncio.to_thread(self.kubectl.ok, *words, stdin=stdin)

    async def until(self, name: str, true: Callable[[Object], bool], what: str) -> Object:
        """The Job, once it is so."""
        await self.recorder.until(lambda: any(map(true, self._now(name))), within=WITHIN, what=what)
        return self._now(name)[0]

    def _now(self, name: str) -> list[Object]:
        return [job for job in self.recorder.latest("Job").values() if self._is(job, name)]

    def versions(self, name: str) -> list[Object]:
        """The Job as it was after every write."""
        jobs = (entry.object for entry in in_order(self.recorder.entries) if entry.kind == "Job")
        return [job for job in jobs if self._is(job, name)]

    def _is(self, job: Object, name: str) -> bool:
        return (job["metadata"]["namespace"], job["metadata"]["name"]) == (
            self.kubectl.namespace,
            name,
        )

    async def runs(self, name: str) -> Object:
        """Submitted; its pod, once it runs."""
        await self.ask("create", "-f", "-", stdin=json.dumps(manifest(name)))
        return (await self.player.running(self.kubectl.namespace, name))[0]

    async def stop(self, name: str) -> None:
        """Its user suspends it and holds it; until its controller has said that it stopped."""
        change = {"metadata": {"annotations": {HOLD: "a look"}}, "spec": {"suspend": True}}
        await self.ask("patch", "job", name, "--type=merge", "-p", json.dumps(change))
        await self.until(name, stopped, f"{name} stopped")
        await self.recorder.quiet(1.0, within=WITHIN)

    async def restart(self, name: str) -> list[Object]:
        """Released; what it was after each write from then on until it was started."""
        await self.ask("annotate", "job", name, f"{HOLD}-")
        await self.until(name, lambda job: not suspended(job), f"{name} started again")
        await self.player.running(self.kubectl.namespace, name)
        after = [job for job in self.versions(name) if not held(job)]
        released = after[[suspended(job) for job in after].index(True, first_stop(after)) :]
        first = [suspended(job) for job in released].index(False)
        return released[1 : first + 1]


def first_stop(versions: list[Object]) -> int:
    """From where on it had run before."""
    return [suspended(job) for job in versions].index(False)


def manifest(name: str) -> Object:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "labels": {"tidegate.dev/queue": "pools"}},
        "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [container]}}},
    }


def held(job: Object) -> bool:
    return HOLD in job["metadata"]["annotations"]


def stopped(job: Object) -> bool:
    status = job["status"]
    said = {c["type"] for c in status.get("conditions", ()) if c["status"] == "True"}
    return "Suspended" in said and not status.get("active") and not status.get("terminating")


def has_start_time(job: Object) -> bool:
    return "startTime" in job["status"]


def keys(spec: Object) -> tuple[Object, list[str]]:
    """Where it may run: the node selector, and the tolerations that no controller adds."""
    tolerations = [t["key"] for t in spec.get("tolerations", ()) if t["effect"] != "NoExecute"]
    return spec.get("nodeSelector", {}), tolerations


def template_keys(job: Object) -> tuple[Object, list[str]]:
    return keys(job["spec"]["template"]["spec"])


@asynccontextmanager
async def playing(plane: ControlPlane, folder: Path, namespace: str) -> AsyncIterator[Play]:
    policies = folder / "policies"
    policies.mkdir()
    (policies / "pools.tide").write_text(POLICY)
    plane.add_namespace(namespace)
    async with (
        Recorder(Etcd(plane.etcd_url), [namespace]) as recorder,
        Rig(plane, policies, folder),
        PodPlayer.of(plane) as player,
    ):
        play = Play(recorder, player, Kubectl(plane.kubeconfig("alice"), namespace))
        try:
            yield play
        finally:  # with their pods, or the next test would find its quota used
            await play.ask("delete", "jobs", "--all", "--cascade=foreground")
    plane.rest().delete(f"/api/v1/namespaces/{namespace}")


async def test_on_another_flavor_it_has_only_the_new_keys(
    plane: ControlPlane, older: bool, tmp_path: Path
) -> None:
    async with playing(plane, tmp_path, "restart-moves") as play:
        assert keys((await play.runs("first"))["spec"]) == ({"pool": "blue"}, ["blue"])
        await play.stop("first")
        waits = play.versions("first")[-1]
        assert has_start_time(waits) is older
        assert keys((await play.runs("other"))["spec"]) == ({"pool": "blue"}, ["blue"])

        *before, start = await play.restart("first")

        assert [has_start_time(job) for job in before] == ([False] if older else [])
        assert all(template_keys(job) == ({"pool": "blue"}, ["blue"]) for job in before)
        assert template_keys(start) == ({"pool": "red"}, ["red"])
        (pod,) = play.player.pods(play.kubectl.namespace, "first")
        assert keys(pod["spec"]) == ({"pool": "red"}, ["red"])


async def test_on_the_same_flavor_it_is_one_write(
    plane: ControlPlane, older: bool, tmp_path: Path
) -> None:
    async with playing(plane, tmp_path, "restart-stays") as play:
        await play.runs("first")
        await play.stop("first")

        (start,) = await play.restart("first")

        assert has_start_time(start) is older
        assert template_keys(start) == ({"pool": "blue"}, ["blue"])
