"""The Job controller: pods up to parallelism, and the status that tells how far the Job is.

As that of 1.36: suspending deletes the active pods and takes the start time away, a Job is
Complete or Failed only when no pod is terminating any more, and one that is managed by another
controller is left alone. Not played: CronJobs, pod failure policies, success policies, the pause
before a failed pod is replaced, and the finalizer by which the real one tracks pods.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime

from webhook.sandbox.api import Api
from webhook.sandbox.metadata import rfc3339
from webhook.sandbox.players.conditions import Conditions, conditions_of, with_condition
from webhook.sandbox.players.indexes import format_indexes
from webhook.sandbox.players.informer import Informer, Key, controller_of, key_of, uid_of
from webhook.sandbox.players.job_pods import indexed, pod_of
from webhook.sandbox.players.job_progress import (
    Progress,
    Verdict,
    failures_of,
    going,
    index_of,
    missing_count,
    missing_indexes,
    phase,
    progress_of,
    verdict_of,
)
from webhook.sandbox.players.workqueue import WorkQueue
from webhook.sandbox.resources import JOBS, PODS, Object, User
from webhook.sandbox.status import StatusError
from webhook.sandbox.strategies.fields import holds, number, same, section

USER = User("system:serviceaccount:kube-system:job-controller", ("system:serviceaccounts",))
BUILT_IN = "kubernetes.io/job-controller"


class JobController:
    """Plays all Jobs; ``run`` never ends."""

    def __init__(self, api: Api, jobs: Informer, pods: Informer) -> None:
        self._api = api
        self._jobs = jobs
        self._pods = pods
        self._counted: defaultdict[str, set[str]] = defaultdict(set)  # Job uid -> pod uids
        self._queue: WorkQueue[Key] = WorkQueue(self._sync)
        jobs.listen(self._job_changed)
        pods.listen(self._pod_changed)

    async def run(self) -> None:
        await self._queue.run()

    def _job_changed(self, before: Object | None, after: Object | None) -> None:
        if after is not None:
            self._queue.add(key_of(after))
        elif before is not None:
            self._counted.pop(uid_of(before), None)

    def _pod_changed(self, before: Object | None, after: Object | None) -> None:
        for pod in (before, after):
            owner = controller_of(pod) if pod is not None else None
            if pod is not None and owner is not None and owner.get("kind") == "Job":
                self._queue.add((pod["metadata"]["namespace"], str(owner["name"])))

    async def _sync(self, key: Key) -> None:
        job = self._jobs.get(key)
        if job is None or section(job, "spec").get("managedBy", BUILT_IN) != BUILT_IN:
            return
        if holds(job, "Complete", "Failed"):
            await self._expire(job)
        else:
            await self._advance(job)

    async def _expire(self, job: Object) -> None:
        """Delete a finished Job when its time to live is over."""
        seconds = section(job, "spec").get("ttlSecondsAfterFinished")
        if seconds is None or going(job):
            return
        ended = max(
            parse_time(str(c["lastTransitionTime"]))
            for c in conditions_of(job)
            if c.get("type") in ("Complete", "Failed")
        )
        left = number(seconds) - (self._api.clock() - ended).total_seconds()
        if left > 0:
            self._queue.add_after(key_of(job), left)
            return
        await self._api.delete(
            JOBS,
            *key_of(job),
            user=USER,
            propagation="Foreground",
            preconditions={"uid": uid_of(job)},
        )

    async def _advance(self, job: Object) -> None:
        """Create or delete pods, then write the status as it is after that."""
        counted = self._counted[uid_of(job)]
        progress = progress_of(job, self._pods_of(job), counted)
        verdict = verdict_of(job, progress, overdue=self._overdue(job))
        if verdict is not None or _suspended(job):
            await self._delete(progress.active)
        elif not going(job):
            await self._scale(job, progress)
        progress = progress_of(job, self._pods_of(job), counted)
        verdict = verdict or verdict_of(job, progress, overdue=False)
        await self._report(job, _status(job, progress, verdict, self._api.clock()))
        counted |= progress.newly_counted

    def _pods_of(self, job: Object) -> list[Object]:
        uid = uid_of(job)
        pods = self._pods.owned_by(uid)
        return [pod for pod in pods if (controller_of(pod) or {}).get("uid") == uid]

    def _overdue(self, job: Object) -> bool:
        """Past activeDeadlineSeconds; asks to be woken when it will be."""
        limit = section(job, "spec").get("activeDeadlineSeconds")
        started = section(job, "status").get("startTime")
        if limit is None or not started or _suspended(job):
            return False
        left = number(limit) - (self._api.clock() - parse_time(str(started))).total_seconds()
        if left > 0:
            self._queue.add_after(key_of(job), left)
        return left <= 0

    async def _scale(self, job: Object, progress: Progress) -> None:
        missing = missing_count(job, progress)
        if missing < 0:
            surplus = sorted(progress.active, key=lambda pod: (holds(pod, "Ready"), phase(pod)))
            await self._delete(surplus[:-missing])
        pods = self._pods_of(job)
        indexes: list[int | None] = [None] * max(missing, 0)
        if indexed(job):
            indexes = [*missing_indexes(job, progress, pods)[: max(missing, 0)]]
        for index in indexes:
            await self._create(job, index, pods)

    async def _create(self, job: Object, index: int | None, pods: list[Object]) -> None:
        lost = [p for p in pods if index is not None and index_of(p) == index]
        failures = max((failures_of(p) + 1 for p in lost if phase(p) == "Failed"), default=0)
        pod = pod_of(job, index, failures)
        namespace = job["metadata"]["namespace"]
        self._pods.note(await self._api.create(PODS, namespace, pod, user=USER))

    async def _delete(self, pods: Sequence[Object]) -> None:
        for pod in pods:
            try:
                left = await self._api.delete(
                    PODS, *key_of(pod), user=USER, preconditions={"uid": uid_of(pod)}
                )
            except StatusError as error:
                if error.code not in (404, 409):
                    raise
                continue
            if going(left):
                self._pods.note(left)
            else:
                self._pods.forget(pod)

    async def _report(self, job: Object, status: Object) -> None:
        if same(status, section(job, "status")):
            return
        new = job | {"status": status}
        self._jobs.note(
            await self._api.update(JOBS, *key_of(job), new, user=USER, subresource="status")
        )


def _suspended(job: Object) -> bool:
    return section(job, "spec").get("suspend") is True


def parse_time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _status(job: Object, progress: Progress, verdict: Verdict | None, now: datetime) -> Object:
    """The status in the form of the API server: zero counts that it omits are absent."""
    status = dict(section(job, "status"))
    counts = {
        "active": len(progress.active),
        "succeeded": progress.succeeded,
        "failed": progress.failed,
        "completedIndexes": format_indexes(progress.completed_indexes),
    }
    for name, value in counts.items():
        if value:
            status[name] = value
        else:
            status.pop(name, None)
    if section(job, "spec").get("backoffLimitPerIndex") is not None:
        status["failedIndexes"] = format_indexes(progress.failed_indexes)
    status |= {"ready": progress.ready, "terminating": progress.terminating}
    status["uncountedTerminatedPods"] = {}
    _set_start(job, status, verdict, now)
    conditions = _conditions(job, status, verdict, now)
    if conditions:
        status["conditions"] = conditions
    return status


def _set_start(job: Object, status: Object, verdict: Verdict | None, now: datetime) -> None:
    """A finished Job has a start time, a suspended one has none."""
    if verdict is not None:
        status.setdefault("startTime", rfc3339(now))
    elif _suspended(job):
        status.pop("startTime", None)
    elif not status.get("startTime") or holds(job, "Suspended"):
        status["startTime"] = rfc3339(now)


def _conditions(job: Object, status: Object, verdict: Verdict | None, now: datetime) -> Conditions:
    conditions = conditions_of(job)
    suspended = _suspended(job)
    if verdict is None or suspended:
        reason, text = (
            ("JobSuspended", "Job suspended") if suspended else ("JobResumed", "Job resumed")
        )
        conditions = with_condition(
            conditions, "Suspended", suspended, reason, text, now=now, probed=True
        )
    if verdict is None:
        return conditions
    names = [verdict.condition]
    if not status.get("active") and not status.get("terminating"):
        names.append(verdict.final)
        if verdict.final == "Complete":
            status["completionTime"] = rfc3339(now)
    for name in names:
        conditions = with_condition(
            conditions, name, True, verdict.reason, verdict.message, now=now, probed=True
        )
    return conditions
