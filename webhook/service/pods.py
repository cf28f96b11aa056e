"""What a pod tells of the workload it belongs to, when the workload itself is gone.

Labels of the built-in controllers name the owner by uid, and they stay when the owner is deleted
and even when the pod is orphaned.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from webhook.model.kinds import JOB, JOBSET, Key, Kind, Object
from webhook.model.workload import Phase, PodSet, Uid, Workload
from webhook.workloads.job import MAIN
from webhook.workloads.jobset import REPLICATED_JOB
from webhook.workloads.objects import BadObject, labels, mapping
from webhook.workloads.requests import pod_requests

JOB_UID = "batch.kubernetes.io/controller-uid"
JOBSET_UID = "jobset.sigs.k8s.io/jobset-uid"
_LABELS = {JOBSET.name: JOBSET_UID, JOB.name: JOB_UID}


def selector_of(kind: Kind, uid: Uid) -> str:
    """The label selector that finds its pods, whatever else they bear."""
    return f"{_LABELS[kind.name]}={uid}"


def roots_of(pod: Object) -> tuple[str, ...]:
    """The uids a pod may be charged to, the outermost first."""
    marks = labels(pod)
    return tuple(marks[key] for key in (JOBSET_UID, JOB_UID) if marks.get(key))


def live_pods(pods: Iterable[Object]) -> list[Object]:
    """Those that hold something: not yet Succeeded or Failed."""
    ended = ("Succeeded", "Failed")
    return [pod for pod in pods if mapping(pod, "status").get("phase") not in ended]


def pod_set_of(pod: Object, workload: Workload) -> str:
    """The pod set of its workload; the first one where the pod does not tell."""
    names = [pods.name for pods in workload.asks]
    told = labels(pod).get(REPLICATED_JOB)
    if told in names or len(names) < 2:
        return str(told) if told in names else (names[0] if names else MAIN)
    asked = requests_of(pod)
    alike = [pods.name for pods in workload.asks if dict(pods.requests) == asked]
    return alike[0] if alike else names[0]


def trim_pod(pod: Object) -> Object:
    """A watched pod, less what nobody here reads."""
    about = pod["metadata"]
    kept = ("name", "namespace", "uid", "resourceVersion", "labels")
    spec = pod.get("spec") or {}
    parts = ("containers", "initContainers", "overhead", "resources", "priorityClassName")
    return {
        "kind": pod["kind"],
        "apiVersion": pod["apiVersion"],
        "metadata": {key: about[key] for key in kept if key in about},
        "spec": {key: _small(spec[key]) for key in parts if key in spec},
        "status": {"phase": (pod.get("status") or {}).get("phase")},
    }


def workload_of_pods(uid: Uid, pods: Sequence[Object]) -> tuple[Kind, Workload]:
    """A workload as far as its pods alone can tell: what they hold, and in which queue."""
    first = labels(pods[0])
    kind = JOBSET if first.get(JOBSET_UID) == uid else JOB
    asks, holds = _shapes(pods)
    about = pods[0]["metadata"]
    workload = Workload(
        uid=uid,
        kind=kind,
        namespace=str(about.get("namespace") or ""),
        name=str(about.get("name") or ""),
        queue=str(first.get(Key.QUEUE) or ""),
        priority=0,
        place=0.0,
        phase=Phase.STOPPING,
        asks=asks,
        holds=holds,
        deleting=True,
    )
    return kind, workload


def _shapes(pods: Sequence[Object]) -> tuple[tuple[PodSet, ...], dict[str, int]]:
    """Pods that ask for the same make one pod set."""
    found = Counter(tuple(sorted(requests_of(pod).items())) for pod in pods)
    asks = tuple(
        PodSet(f"pods-{at}", count, dict(shape)) for at, (shape, count) in enumerate(found.items())
    )
    return asks, {pods_of.name: pods_of.count for pods_of in asks}


def requests_of(pod: Object) -> dict[str, int]:
    """What it asks for; nothing where that cannot be read."""
    try:
        return dict(pod_requests(mapping(pod, "spec"), "spec"))
    except BadObject:
        return {}


def _small(part: object) -> object:
    """Of a container only its name, its requests and whether it is a sidecar."""
    if not isinstance(part, list):
        return part
    kept = ("name", "resources", "restartPolicy")
    return [{key: one[key] for key in kept if key in one} for one in part]
