"""How far a Job is: its pods counted, and whether that ends it.

Pure. Pods that were counted before are not counted again (``counted``: their uids), so that a pod
deleted after it succeeded still counts. Completion indexes need no such memory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from webhook.sandbox.players.indexes import parse_indexes
from webhook.sandbox.resources import Object
from webhook.sandbox.strategies.fields import condition, holds, number, section
from webhook.sandbox.strategies.job import INDEXED
from webhook.workloads.defaults import MAX_INT

INDEX = "batch.kubernetes.io/job-completion-index"
FAILURES = "batch.kubernetes.io/job-index-failure-count"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why a Job ends: the interim condition, SuccessCriteriaMet or FailureTarget."""

    condition: str
    reason: str
    message: str

    @property
    def final(self) -> str:
        return "Complete" if self.condition == "SuccessCriteriaMet" else "Failed"


REACHED = Verdict(
    "SuccessCriteriaMet", "CompletionsReached", "Reached expected number of succeeded pods"
)
BACKOFF = Verdict(
    "FailureTarget", "BackoffLimitExceeded", "Job has reached the specified backoff limit"
)
DEADLINE = Verdict(
    "FailureTarget", "DeadlineExceeded", "Job was active longer than specified deadline"
)
FAILED_INDEXES = Verdict("FailureTarget", "FailedIndexes", "Job has failed indexes")
TOO_MANY_INDEXES = Verdict(
    "FailureTarget",
    "MaxFailedIndexesExceeded",
    "Job has exceeded the specified maximal number of failed indexes",
)


@dataclass(frozen=True, slots=True)
class Progress:
    """The pods of a Job, counted."""

    active: tuple[Object, ...]
    terminating: int
    ready: int
    succeeded: int
    failed: int
    completed_indexes: frozenset[int]
    failed_indexes: frozenset[int]
    newly_counted: frozenset[str]


def phase(pod: Object) -> str:
    return str(section(pod, "status").get("phase") or "Pending")


def ended(pod: Object) -> bool:
    return phase(pod) in ("Succeeded", "Failed")


def going(pod: Object) -> bool:
    return "deletionTimestamp" in pod["metadata"]


def index_of(pod: Object) -> int | None:
    """The completion index, from the annotation."""
    text = section(pod, "metadata", "annotations").get(INDEX)
    return int(text) if isinstance(text, str) and text.isdecimal() else None


def failures_of(pod: Object) -> int:
    """How often this index had failed before this pod."""
    text = section(pod, "metadata", "annotations").get(FAILURES)
    return int(text) if isinstance(text, str) and text.isdecimal() else 0


def progress_of(job: Object, pods: Collection[Object], counted: Collection[str]) -> Progress:
    status, spec = section(job, "status"), section(job, "spec")
    active = tuple(pod for pod in pods if not ended(pod) and not going(pod))
    fresh = [pod for pod in pods if ended(pod) and pod["metadata"]["uid"] not in counted]
    won = [pod for pod in fresh if phase(pod) == "Succeeded"]
    completed = _completed(job, pods)
    succeeded = number(status.get("succeeded")) + len(won)
    if spec.get("completionMode") == INDEXED:
        succeeded = len(completed)
    return Progress(
        active=active,
        terminating=sum(1 for pod in pods if going(pod) and not ended(pod)),
        ready=sum(1 for pod in active if holds(pod, "Ready")),
        succeeded=succeeded,
        failed=number(status.get("failed")) + len(fresh) - len(won),
        completed_indexes=frozenset(completed),
        failed_indexes=frozenset(_failed_indexes(job, pods) - completed),
        newly_counted=frozenset(str(pod["metadata"]["uid"]) for pod in fresh),
    )


def _completed(job: Object, pods: Iterable[Object]) -> set[int]:
    if section(job, "spec").get("completionMode") != INDEXED:
        return set()
    known = parse_indexes(str(section(job, "status").get("completedIndexes") or ""))
    new = {index_of(pod) for pod in pods if phase(pod) == "Succeeded"}
    limit = number(section(job, "spec").get("completions"))
    return {index for index in known | new if index is not None and index < limit}


def _failed_indexes(job: Object, pods: Iterable[Object]) -> set[int]:
    limit = section(job, "spec").get("backoffLimitPerIndex")
    if limit is None:
        return set()
    known = parse_indexes(str(section(job, "status").get("failedIndexes") or ""))
    lost = [p for p in pods if phase(p) == "Failed" and failures_of(p) >= number(limit)]
    return known | {index for pod in lost if (index := index_of(pod)) is not None}


def verdict_of(job: Object, progress: Progress, *, overdue: bool) -> Verdict | None:
    """Whether the Job ends, given that no active pod is in the way of success."""
    for name in ("SuccessCriteriaMet", "FailureTarget"):
        if holds(job, name):
            known = condition(job, name) or {}
            return Verdict(name, str(known.get("reason")), str(known.get("message")))
    if failed := _failure(job, progress, overdue):
        return failed
    wanted = section(job, "spec").get("completions")
    reached = progress.succeeded >= (1 if wanted is None else number(wanted))
    return REACHED if reached and not progress.active else None


def _failure(job: Object, progress: Progress, overdue: bool) -> Verdict | None:
    spec = section(job, "spec")
    if progress.failed > number(spec.get("backoffLimit"), MAX_INT):
        return BACKOFF
    if overdue:
        return DEADLINE
    lost = len(progress.failed_indexes)
    most = spec.get("maxFailedIndexes")
    if most is not None and lost > number(most):
        return TOO_MANY_INDEXES
    if lost and lost + progress.succeeded >= number(spec.get("completions")):
        return FAILED_INDEXES
    return None


def missing_indexes(job: Object, progress: Progress, pods: Iterable[Object]) -> list[int]:
    """The indexes that have no pod and want one, lowest first."""
    replaces_failed_only = section(job, "spec").get("podReplacementPolicy") == "Failed"
    taken = {index_of(pod) for pod in progress.active}
    if replaces_failed_only:
        taken |= {index_of(pod) for pod in pods if going(pod) and not ended(pod)}
    gone = progress.completed_indexes | progress.failed_indexes
    count = number(section(job, "spec").get("completions"))
    return [index for index in range(count) if index not in taken and index not in gone]


def missing_count(job: Object, progress: Progress) -> int:
    """How many pods to create (positive) or to delete (negative)."""
    spec = section(job, "spec")
    wanted = number(spec.get("parallelism"), 1)
    if spec.get("completions") is not None:
        lost = progress.succeeded + len(progress.failed_indexes)
        wanted = min(wanted, max(number(spec["completions"]) - lost, 0))
    elif progress.succeeded:
        wanted = min(wanted, len(progress.active))
    active = len(progress.active)
    if active >= wanted:
        return wanted - active
    blocked = progress.terminating if spec.get("podReplacementPolicy") == "Failed" else 0
    return max(wanted - active - blocked, 0)
