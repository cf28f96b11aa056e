"""``batch/v1 Job``: one pod set, suspended by ``spec.suspend``, done when Complete or Failed.

What it asks for is what remains: pods that have succeeded, and indexes that are done, are never run again. All is
computed from live fields each time. https://kubernetes.io/docs/concepts/workloads/controllers/job/
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from webhook.model.kinds import JOB, Kind, Object
from webhook.model.patch import NO_PATCH, Patch, drop, put
from webhook.model.workload import Admission, Injected, PodSet, Workload
from webhook.workloads.adapter import Growth
from webhook.workloads.counts import asked, check_fewest, fewest, resized
from webhook.workloads.life import Life, workload
from webhook.workloads.objects import count, is_true, mapping, ordinal, read_time
from webhook.workloads.record import NOTHING_INJECTED, admission_of, injected_into
from webhook.workloads.requests import pod_requests
from webhook.workloads.templates import Path, own_selector

MAIN = "main"
"""The name of a Job's only pod set."""
TEMPLATE: Path = ("spec", "template")
START_TIME: Path = ("status", "startTime")
BUILT_IN_CONTROLLER = "kubernetes.io/job-controller"
ENDING = ("SuccessCriteriaMet", "FailureTarget")
"""Conditions that come before Complete and Failed: no pod is made any more, but some may still run."""


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
        check_fewest(obj)
        if self.suspended(obj):
            obj = asked(obj)
        spec = mapping(obj, "spec")
        return (_pod_set(obj, at_once(spec), fewest(obj)),)

    def read(
        self, obj: Object, *, queue: str, priority: int, children: Sequence[Object] = ()
    ) -> Workload:
        suspended, wanted = self.suspended(obj), to_run(asked(obj))
        remaining = wanted if suspended else to_run(obj)
        growth = () if suspended or wanted <= remaining else (_growth(obj, wanted - remaining),)
        life = Life(
            finished=self.finished(obj),
            suspended=suspended,
            ending=is_true(obj, *ENDING),
            live={MAIN: live(obj)},
            granted={MAIN: max(remaining, _surviving(obj))},
            ready=_all_ready(obj, remaining),
            started_at=read_time(mapping(obj, "status").get("startTime")),
        )
        asks = (_pod_set(obj, remaining, fewest(obj) if suspended else None),)
        found = workload(self.kind, obj, asks, life, queue=queue, priority=priority)
        return replace(found, growth=growth) if growth else found

    def templates(self, obj: Object) -> Mapping[str, Path]:
        return {MAIN: TEMPLATE}

    def template_open(self, obj: Object) -> bool:
        never_ran = mapping(obj, "status").get("startTime") is None
        return self.suspended(obj) and never_ran and pods_left(obj) == 0

    def reopening(self, obj: Object) -> Patch:
        """Up to Kubernetes 1.35 nobody else takes the start time away, and while it is there the template is fixed."""
        stopped = self.suspended(obj) and is_true(obj, "Suspended") and pods_left(obj) == 0
        return drop(obj, START_TIME) if stopped else NO_PATCH

    def succeeded(self, obj: Object) -> Mapping[str, int]:
        return {MAIN: count(mapping(obj, "status"), "succeeded", 0, "status")}

    def resized(self, obj: Object, pods: Mapping[str, int]) -> Patch:
        return resized(obj, pods.get(MAIN, 0), to_run(asked(obj)))

    def grown(self, old: Object, new: Object) -> Growth | None:
        # A status sent with an edit is dropped later, by the API server: who lies there ("all done") must not grow.
        was, wants = to_run(old), to_run({**new, "status": old.get("status")})
        if wants <= was:
            return None
        back = (_as_before(old, new, key) for key in ("parallelism", "completions"))
        return Growth(was, wants, tuple(op for patch in back for op in patch))

    def makes(self, parent: Object, child: Object, child_kind: Kind) -> bool:
        return False


def pod_set(
    spec: Mapping[str, Any], pods: int, name: str = MAIN, *, injected: Injected = NOTHING_INJECTED
) -> PodSet:
    """The pod set of a Job's spec, for so many pods; what a start injected is not its own wish. Raises BadObject."""
    pod_spec = mapping(mapping(spec, "template", "spec"), "spec", "spec.template")
    return PodSet(
        name,
        pods,
        pod_requests(pod_spec, "spec.template.spec"),
        own_selector(pod_spec, injected, "spec.template.spec"),
    )


def at_once(spec: Mapping[str, Any]) -> int:
    """How many pods of a Job's spec run at once, from the beginning."""
    parallelism = count(spec, "parallelism", 1, "spec")
    return min(parallelism, count(spec, "completions", parallelism, "spec"))


def to_run(obj: Object) -> int:
    """How many pods it would run at once from here on."""
    parallelism, left = count(mapping(obj, "spec"), "parallelism", 1, "spec"), _unfinished(obj)
    return parallelism if left is None else min(parallelism, left)


def _unfinished(obj: Object) -> int | None:
    """How many pods have yet to succeed; None for a work queue, which is done when any pod of it says so."""
    spec, status = mapping(obj, "spec"), mapping(obj, "status")
    succeeded = count(status, "succeeded", 0, "status")
    if spec.get("completions") is None:
        return 0 if succeeded else None
    wanted = count(spec, "completions", 1, "spec")
    if spec.get("completionMode") != "Indexed":
        return max(0, wanted - succeeded)
    done = (indexes(status.get(key), wanted) for key in ("completedIndexes", "failedIndexes"))
    return max(0, wanted - sum(done))


def indexes(ranges: object, below: int) -> int:
    """How many indexes a text such as ``0,3-5`` names; what is no range names none.

    An Indexed Job that was shrunk may still name indexes it no longer has: those from ``below`` on do not count.
    """
    total = 0
    for part in ranges.split(",") if isinstance(ranges, str) else ():
        first, _, last = part.strip().partition("-")
        low, high = ordinal(first), ordinal(last or first)
        if low is not None and high is not None:
            total += max(0, min(high, below - 1) - low + 1)
    return total


def pods_left(obj: Object) -> int:
    """Pods of it that exist: at work, or on their way out."""
    status = mapping(obj, "status")
    return count(status, "active", 0, "status") + count(status, "terminating", 0, "status")


def live(obj: Object) -> int:
    """Pods that exist, or that the controller may be making since it has not yet seen that the Job is suspended."""
    return max(pods_left(obj), _in_the_making(obj))


def _in_the_making(obj: Object) -> int:
    """The most pods its controller may have on the way beyond those its status tells of.

    None where it has said that it stopped. A Job started and suspended again before the controller saw either still
    bears the ``Suspended`` of its first wait, and nothing is charged: should a pod have been made all the same, the
    next status tells of it and the Job is stopping. To charge it on suspicion would be for ever, because a controller
    that saw nothing writes nothing.
    """
    ran = mapping(obj, "status").get("startTime") is not None
    if not ran or is_true(obj, "Suspended", "Complete", "Failed", *ENDING):
        return 0
    record, left = admission_of(obj), _unfinished(obj)
    most = count(mapping(obj, "spec"), "parallelism", 1, "spec")
    if record is not None:
        most = _granted(record)
    return most if left is None else min(most, left)


def _all_ready(obj: Object, remaining: int) -> bool:
    """Whether all pods it should run are ready; what has succeeded since the start was ready, too.

    Without the latter a Job of many short pods would never seem ready: some are always just beginning.
    """
    ready = count(mapping(obj, "status"), "ready", 0, "status")
    if ready >= remaining:
        return True
    record = admission_of(obj)
    if record is None:
        return False
    done = sum(pods.done for pods in record.pod_sets)
    since = count(mapping(obj, "status"), "succeeded", 0, "status") - done
    return ready + since >= _granted(record)


def _surviving(obj: Object) -> int:
    """Pods of a started Job beyond what it asks for now: it was shrunk, and they are still going.

    Never more than it was granted: a failed pod that terminates beside its replacement is not growth.
    """
    record, pods = admission_of(obj), pods_left(obj)
    return min(pods, _granted(record)) if record else pods


def _granted(record: Admission) -> int:
    return sum(pods.count for pods in record.pod_sets)


def _pod_set(obj: Object, pods: int, fewest: int | None = None) -> PodSet:
    found = pod_set(mapping(obj, "spec"), pods, injected=_injected(obj))
    return found if fewest is None else replace(found, min_count=fewest)


def _growth(obj: Object, pods: int) -> PodSet:
    """The pods it wants beyond those it has; one by one if it could have started with fewer."""
    return _pod_set(obj, pods, 1 if fewest(obj) is not None else None)


def _injected(obj: Object) -> Injected:
    return injected_into(admission_of(obj), MAIN)


def _as_before(old: Object, new: Object, key: str) -> Patch:
    """Operations that put a field of the spec back to the letter."""
    value = mapping(old, "spec").get(key)
    return drop(new, ("spec", key)) if value is None else put(new, ("spec", key), value)
