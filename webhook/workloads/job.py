"""``batch/v1 Job``: one pod set, suspended by ``spec.suspend``, done when Complete or Failed.

What it asks for is what remains: pods that have succeeded, and indexes that are done, are never run again. All is
computed from live fields each time. https://kubernetes.io/docs/concepts/workloads/controllers/job/
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from webhook.model.kinds import JOB, Kind, Object
from webhook.model.patch import put
from webhook.model.workload import PodSet, Workload
from webhook.workloads.adapter import Growth
from webhook.workloads.life import Life, workload
from webhook.workloads.objects import count, is_true, mapping
from webhook.workloads.record import admission_of
from webhook.workloads.requests import pod_requests
from webhook.workloads.templates import Path

MAIN = "main"
"""The name of a Job's only pod set."""
TEMPLATE: Path = ("spec", "template")
BUILT_IN_CONTROLLER = "kubernetes.io/job-controller"


class JobAdapter:
    """Reads Jobs. See ``Adapter`` for what each method answers."""

    kind = JOB

    def ours(self, obj: Object) -> bool:
        return mapping(obj, "spec").get("managedBy") in (None, BUILT_IN_CONTROLLER)

    def suspended(self, obj: Object) -> bool:
        return mapping(obj, "spec").get("suspend") is True

    def finished(self, obj: Object) -> bool:
        return is_true(obj, "Complete", "Failed")

    def pod_sets(self, obj: Object) -> tuple[PodSet, ...]:
        spec = mapping(obj, "spec")
        return (pod_set(spec, at_once(spec)),)

    def read(
        self, obj: Object, *, queue: str, priority: int, children: Sequence[Object] = ()
    ) -> Workload:
        remaining = to_run(obj)
        asks = (pod_set(mapping(obj, "spec"), remaining),)
        life = Life(
            finished=self.finished(obj),
            suspended=self.suspended(obj),
            ending=is_true(obj, "SuccessCriteriaMet", "FailureTarget"),
            live={MAIN: _live(obj)},
            granted={MAIN: max(remaining, _surviving(obj))},
        )
        return workload(self.kind, obj, asks, life, queue=queue, priority=priority)

    def templates(self, obj: Object) -> Mapping[str, Path]:
        return {MAIN: TEMPLATE}

    def template_open(self, obj: Object) -> bool:
        never_ran = mapping(obj, "status").get("startTime") is None
        return self.suspended(obj) and never_ran and pods_left(obj) == 0

    def grown(self, old: Object, new: Object) -> Growth | None:
        was, wants = to_run(old), to_run(new)
        if wants <= was:
            return None
        before = mapping(old, "spec")
        patch = put(new, ("spec", "parallelism"), before.get("parallelism", 1))
        if before.get("completions") != mapping(new, "spec").get("completions"):
            patch += put(new, ("spec", "completions"), before.get("completions"))
        return Growth(was, wants, patch)

    def makes(self, parent: Object, child: Object, child_kind: Kind) -> bool:
        return False


def pod_set(spec: Mapping[str, Any], pods: int, name: str = MAIN) -> PodSet:
    """The pod set of a Job's spec, for so many pods. Raises BadObject."""
    pod_spec = mapping(mapping(spec, "template", "spec"), "spec", "spec.template")
    return PodSet(
        name,
        pods,
        pod_requests(pod_spec, "spec.template.spec"),
        mapping(pod_spec, "nodeSelector", "spec.template.spec"),
    )


def at_once(spec: Mapping[str, Any]) -> int:
    """How many pods of a Job's spec run at once, from the beginning."""
    parallelism = count(spec, "parallelism", 1, "spec")
    return min(parallelism, count(spec, "completions", parallelism, "spec"))


def to_run(obj: Object) -> int:
    """How many pods it would run at once from here on."""
    spec, status = mapping(obj, "spec"), mapping(obj, "status")
    parallelism = count(spec, "parallelism", 1, "spec")
    succeeded = count(status, "succeeded", 0, "status")
    if spec.get("completions") is None:
        return 0 if succeeded else parallelism
    done = succeeded
    if spec.get("completionMode") == "Indexed":
        done = indexes(status.get("completedIndexes")) + indexes(status.get("failedIndexes"))
    return min(parallelism, max(0, count(spec, "completions", 1, "spec") - done))


def indexes(ranges: object) -> int:
    """How many indexes a text such as ``0,3-5`` names; what is no range names none."""
    total = 0
    for part in ranges.split(",") if isinstance(ranges, str) else ():
        first, _, last = part.strip().partition("-")
        if first.isdecimal() and (last or first).isdecimal():
            total += max(0, int(last or first) - int(first) + 1)
    return total


def pods_left(obj: Object) -> int:
    status = mapping(obj, "status")
    return count(status, "active", 0, "status") + count(status, "terminating", 0, "status")


def _live(obj: Object) -> int:
    """Pods that exist, or that the controller may be making since it has not yet seen that the Job is suspended."""
    status, record = mapping(obj, "status"), admission_of(obj)
    unseen = (
        record is not None
        and status.get("startTime") is not None
        and not is_true(obj, "Suspended", "Complete", "Failed")
    )
    expected = sum(pods.count for pods in record.pod_sets) if record and unseen else 0
    return max(pods_left(obj), expected)


def _surviving(obj: Object) -> int:
    """Pods of a started Job beyond what it asks for now: it was shrunk, and they are still going.

    Never more than it was granted: a failed pod that terminates beside its replacement is not growth.
    """
    record, pods = admission_of(obj), pods_left(obj)
    return min(pods, sum(item.count for item in record.pod_sets)) if record else pods
