"""``jobset.x-k8s.io/v1alpha2 JobSet``: one pod set a replicated job, suspended by ``spec.suspend``.

Counts and requests are immutable, so a JobSet neither grows nor starts in part. Its pods belong to child Jobs: while
it stops, the children are asked what is left, not the JobSet, whose own status counts Jobs and not pods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from webhook.model.kinds import JOB, JOBSET, Kind, Object
from webhook.model.patch import NO_PATCH, Patch
from webhook.model.quantity import largest
from webhook.model.workload import Admission, PodSet, Workload
from webhook.workloads import job
from webhook.workloads.adapter import Growth
from webhook.workloads.life import Life, workload
from webhook.workloads.objects import (
    BadObject,
    count,
    is_true,
    labels,
    mapping,
    metadata,
    ordinal,
    sequence,
)
from webhook.workloads.record import admission_of, injected_into
from webhook.workloads.templates import Path

PARENT_UID = "jobset.sigs.k8s.io/jobset-uid"
"""Label of child Jobs and of their pods."""
REPLICATED_JOB = "jobset.sigs.k8s.io/replicatedjob-name"
BUILT_IN_CONTROLLER = "jobset.sigs.k8s.io/jobset-controller"
MOST_REPLICATED_JOBS = 1000
"""To count more, in a review that JobSet refuses later, would keep the others waiting."""
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
        record = admission_of(obj)
        return tuple(_pod_set(item, _replicas(item), record) for item in _replicated(obj))

    def read(
        self, obj: Object, *, queue: str, priority: int, children: Sequence[Object] = ()
    ) -> Workload:
        record = admission_of(obj)
        asks = tuple(
            _pod_set(item, max(0, _replicas(item) - _succeeded(obj, _name(item))), record)
            for item in _replicated(obj)
        )
        suspended, finished = self.suspended(obj), self.finished(obj)
        granted = {pods.name: pods.count for pods in asks}
        if not suspended:
            granted = largest([granted, at_work(obj, children)])
        left: Mapping[str, int] = {}
        if finished or suspended:
            left = left_to_children(obj, children, may_grow=not finished)
        if suspended and record and not is_true(obj, "Suspended", "Completed", "Failed"):
            # its controller has not said that it stopped, so it may be making children still
            left = largest([left, granted])
        ready = all(_replicas_ready(obj, item) for item in _replicated(obj))
        life = Life(finished, suspended, ending=False, live=left, granted=granted, ready=ready)
        return workload(self.kind, obj, asks, life, queue=queue, priority=priority)

    def templates(self, obj: Object) -> Mapping[str, Path]:
        return {
            _name(item): ("spec", "replicatedJobs", index, "template", "spec", "template")
            for index, item in enumerate(_replicated(obj))
        }

    def template_open(self, obj: Object) -> bool:
        return self.suspended(obj)

    def reopening(self, obj: Object) -> Patch:
        return NO_PATCH

    def succeeded(self, obj: Object) -> Mapping[str, int]:
        return {}

    def resized(self, obj: Object, pods: Mapping[str, int]) -> Patch:
        return NO_PATCH

    def grown(self, old: Object, new: Object) -> Growth | None:
        was, wants = self.pod_sets(old), self.pod_sets(new)
        before = {pods.name: pods.count for pods in was}
        if all(pods.count <= before.get(pods.name, 0) for pods in wants):
            return None
        return Growth(sum(pods.count for pods in was), sum(pods.count for pods in wants), NO_PATCH)

    def makes(self, parent: Object, child: Object, child_kind: Kind) -> bool:
        named = _replica_of(parent, child) if child_kind == JOB else None
        if named is None:
            return False
        name, index = named
        return any(
            _name(item) == name and index < _replicas(item) and _no_more_than(item, child)
            for item in _replicated(parent)
        )


def replicated_job_of(child: Object) -> str:
    """The replicated job a child Job belongs to, as its label says."""
    return str(labels(child).get(REPLICATED_JOB) or "")


def _replica_of(parent: Object, child: Object) -> tuple[str, int] | None:
    """The replicated job and the index in a child's name: ``sets-workers-3``; None where it bears no such name.

    The last dash parts the two, so replicated jobs ``a`` and ``a-0`` are never mistaken for each other. Labels say
    the same but can be edited at any time, a name cannot.
    """
    owner = str(metadata(parent).get("name") or "")
    name, _, digits = str(metadata(child).get("name") or "").rpartition("-")
    index = ordinal(digits)
    if not owner or index is None or str(index) != digits or not name.startswith(f"{owner}-"):
        return None
    return name.removeprefix(f"{owner}-"), index


def _replicated(obj: Object) -> list[Mapping[str, Any]]:
    found = sequence(mapping(obj, "spec"), "replicatedJobs", "spec")
    if len(found) > MOST_REPLICATED_JOBS:
        raise BadObject("spec.replicatedJobs", f"more than {MOST_REPLICATED_JOBS} of them")
    return found


def _name(item: Mapping[str, Any]) -> str:
    return str(item.get("name") or "")


def _replicas(item: Mapping[str, Any]) -> int:
    return count(item, "replicas", 1, f"spec.replicatedJobs[{_name(item)}]")


def _pod_set(item: Mapping[str, Any], replicas: int, record: Admission | None = None) -> PodSet:
    name, here = _name(item), f"spec.replicatedJobs[{_name(item)}]"
    spec = mapping(mapping(item, "template", here), "spec", f"{here}.template")
    try:
        pods = replicas * job.at_once(spec)
        return job.pod_set(spec, pods, name, injected=injected_into(record, name))
    except BadObject as error:
        message = str(error).removeprefix(f"{error.path}: ")
        raise BadObject(f"{here}.template.{error.path}", message) from None


def _succeeded(obj: Object, name: str) -> int:
    """Child Jobs of one replicated job that are done in this attempt; a restart counts anew, and so do we."""
    return _children(obj, name, "succeeded")


def _replicas_ready(obj: Object, item: Mapping[str, Any]) -> bool:
    """Whether every child Job of one replicated job is done, or has all its pods ready."""
    name = _name(item)
    return _children(obj, name, "ready") + _succeeded(obj, name) >= _replicas(item)


def _children(obj: Object, name: str, which: str) -> int:
    """How many child Jobs of one replicated job its status counts so."""
    for item in sequence(mapping(obj, "status"), "replicatedJobsStatus", "status"):
        if item.get("name") == name:
            return count(item, which, 0, "status.replicatedJobsStatus")
    return 0


def left_to_children(
    obj: Object, children: Sequence[Object], *, may_grow: bool = True
) -> Mapping[str, int]:
    """Pods left, by pod set; a child that nobody has suspended yet may still be making its pods.

    What bears no name of this JobSet's making is none of its children, whoever owns it: it queues by itself.
    """
    left = {_name(item): 0 for item in _replicated(obj)}
    for child in children:
        name, _ = _replica_of(obj, child) or ("", 0)
        if name not in left:
            continue
        pods = job.live(child)
        if may_grow and not _JOB.suspended(child) and not _JOB.finished(child):
            pods = max(pods, job.to_run(child))
        left[name] += pods
    return left


def at_work(obj: Object, children: Sequence[Object]) -> dict[str, int]:
    """Pods that children run or may make, by pod set: whatever the JobSet's status says, that is what they take."""
    running = {_name(item): 0 for item in _replicated(obj)}
    for child in children:
        name, _ = _replica_of(obj, child) or ("", 0)
        if name in running and not _JOB.suspended(child) and not _JOB.finished(child):
            running[name] += job.to_run(child)
    return running


def _no_more_than(item: Mapping[str, Any], child: Object) -> bool:
    """Whether a child Job asks, in count and per pod, for no more than the template it is said to come from."""
    allowed, asked = _pod_set(item, 1), _JOB.pod_sets(child)[0]
    within = all(amount <= allowed.requests.get(r, 0) for r, amount in asked.requests.items())
    return within and asked.count <= allowed.count
