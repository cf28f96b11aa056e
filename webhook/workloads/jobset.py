"""``jobset.x-k8s.io/v1alpha2 JobSet``: one pod set a replicated job, suspended by ``spec.suspend``.

Counts and requests are immutable, so a JobSet neither grows nor starts in part. Its pods belong to child Jobs: while
it stops, the children are asked what is left, not the JobSet, whose own status counts Jobs and not pods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from webhook.model.kinds import JOB, JOBSET, Kind, Object
from webhook.model.workload import PodSet, Workload
from webhook.workloads import job
from webhook.workloads.adapter import Growth
from webhook.workloads.life import Life, workload
from webhook.workloads.objects import BadObject, count, is_true, labels, mapping, metadata, sequence
from webhook.workloads.templates import Path

REPLICATED_JOB = "jobset.sigs.k8s.io/replicatedjob-name"
BUILT_IN_CONTROLLER = "jobset.sigs.k8s.io/jobset-controller"
_JOB = job.JobAdapter()


class JobSetAdapter:
    """Reads JobSets. See ``Adapter`` for what each method answers."""

    kind = JOBSET

    def ours(self, obj: Object) -> bool:
        return mapping(obj, "spec").get("managedBy") in (None, BUILT_IN_CONTROLLER)

    def suspended(self, obj: Object) -> bool:
        return mapping(obj, "spec").get("suspend") is True

    def finished(self, obj: Object) -> bool:
        return is_true(obj, "Completed", "Failed")

    def pod_sets(self, obj: Object) -> tuple[PodSet, ...]:
        return tuple(_pod_set(item, _replicas(item)) for item in _replicated(obj))

    def read(
        self, obj: Object, *, queue: str, priority: int, children: Sequence[Object] = ()
    ) -> Workload:
        asks = tuple(
            _pod_set(item, max(0, _replicas(item) - _succeeded(obj, _name(item))))
            for item in _replicated(obj)
        )
        suspended, finished = self.suspended(obj), self.finished(obj)
        life = Life(
            finished=finished,
            suspended=suspended,
            ending=False,
            live=_live(children, may_grow=not finished) if finished or suspended else {},
            granted={pods.name: pods.count for pods in asks},
        )
        return workload(self.kind, obj, asks, life, queue=queue, priority=priority)

    def templates(self, obj: Object) -> Mapping[str, Path]:
        return {
            _name(item): ("spec", "replicatedJobs", index, "template", "spec", "template")
            for index, item in enumerate(_replicated(obj))
        }

    def template_open(self, obj: Object) -> bool:
        return self.suspended(obj)

    def grown(self, old: Object, new: Object) -> Growth | None:
        return None

    def makes(self, parent: Object, child: Object, child_kind: Kind) -> bool:
        if child_kind != JOB:
            return False
        owner, name = (
            str(metadata(parent).get("name") or ""),
            str(metadata(child).get("name") or ""),
        )
        for item in _replicated(parent):
            prefix = f"{owner}-{_name(item)}-"
            index = name.removeprefix(prefix)
            if name.startswith(prefix) and index.isdecimal() and str(int(index)) == index:
                return int(index) < _replicas(item) and _no_more_than(item, child)
        return False


def replicated_job_of(child: Object) -> str:
    """The pod set a child Job belongs to."""
    return str(labels(child).get(REPLICATED_JOB) or "")


def _replicated(obj: Object) -> list[Mapping[str, Any]]:
    return sequence(mapping(obj, "spec"), "replicatedJobs", "spec")


def _name(item: Mapping[str, Any]) -> str:
    return str(item.get("name") or "")


def _replicas(item: Mapping[str, Any]) -> int:
    return count(item, "replicas", 1, f"spec.replicatedJobs[{_name(item)}]")


def _job_spec(item: Mapping[str, Any]) -> Mapping[str, Any]:
    return mapping(mapping(item, "template"), "spec")


def _pod_set(item: Mapping[str, Any], replicas: int) -> PodSet:
    spec = _job_spec(item)
    try:
        return job.pod_set(spec, replicas * job.at_once(spec), _name(item))
    except BadObject as error:
        inner = f"spec.replicatedJobs[{_name(item)}].template.{error.path}"
        raise BadObject(inner, str(error).removeprefix(f"{error.path}: ")) from None


def _succeeded(obj: Object, name: str) -> int:
    """Child Jobs of one replicated job that are done in this attempt; a restart counts anew, and so do we."""
    for item in sequence(mapping(obj, "status"), "replicatedJobsStatus", "status"):
        if item.get("name") == name:
            return count(item, "succeeded", 0, "status.replicatedJobsStatus")
    return 0


def _live(children: Sequence[Object], *, may_grow: bool) -> Mapping[str, int]:
    """Pods left, by pod set; a child that nobody has suspended yet may still be making its pods."""
    left: dict[str, int] = {}
    for child in children:
        pods = job.pods_left(child)
        if may_grow and not _JOB.suspended(child) and not _JOB.finished(child):
            pods = max(pods, job.to_run(child))
        name = replicated_job_of(child)
        left[name] = left.get(name, 0) + pods
    return left


def _no_more_than(item: Mapping[str, Any], child: Object) -> bool:
    """Whether a child Job asks, in count and per pod, for no more than the template it is said to come from."""
    allowed, asked = _pod_set(item, 1), _JOB.pod_sets(child)[0]
    within = all(amount <= allowed.requests.get(r, 0) for r, amount in asked.requests.items())
    return within and asked.count <= allowed.count
