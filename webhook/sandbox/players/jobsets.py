"""The JobSet controller (0.12): child Jobs, suspend and resume, restarts, the end.

Not played: startup order, ``dependsOn``, failure policy rules, the headless service, volume
claims. Children are created at once, suspended while the JobSet is.
"""

from __future__ import annotations

from webhook.sandbox.api import Api
from webhook.sandbox.players.conditions import Conditions, conditions_of, with_condition
from webhook.sandbox.players.informer import Informer, Key, controller_of, key_of, uid_of
from webhook.sandbox.players.job_progress import going
from webhook.sandbox.players.jobset_children import (
    Children,
    children_of,
    missing,
    restarts_of,
    resumed,
    statuses,
    succeeded,
    suspended,
)
from webhook.sandbox.players.workqueue import WorkQueue
from webhook.sandbox.resources import JOBS, JOBSETS, Object, User
from webhook.sandbox.status import StatusError
from webhook.sandbox.strategies.fields import holds, number, same, section

USER = User("system:serviceaccount:jobset-system:jobset-controller-manager")
BUILT_IN = "jobset.sigs.k8s.io/jobset-controller"


class JobSetController:
    """Plays all JobSets; ``run`` never ends."""

    def __init__(self, api: Api, jobsets: Informer, jobs: Informer) -> None:
        self._api = api
        self._jobsets = jobsets
        self._jobs = jobs
        self._queue: WorkQueue[Key] = WorkQueue(self._sync)
        jobsets.listen(self._jobset_changed)
        jobs.listen(self._job_changed)

    async def run(self) -> None:
        await self._queue.run()

    def _jobset_changed(self, _: Object | None, after: Object | None) -> None:
        if after is not None:
            self._queue.add(key_of(after))

    def _job_changed(self, before: Object | None, after: Object | None) -> None:
        for job in (before, after):
            owner = controller_of(job) if job is not None else None
            if job is not None and owner is not None and owner.get("kind") == "JobSet":
                self._queue.add((job["metadata"]["namespace"], str(owner["name"])))

    async def _sync(self, key: Key) -> None:
        jobset = self._jobsets.get(key)
        if jobset is None or going(jobset):
            return
        if section(jobset, "spec").get("managedBy", BUILT_IN) != BUILT_IN:
            return
        uid = uid_of(jobset)
        jobs = [j for j in self._jobs.owned_by(uid) if (controller_of(j) or {}).get("uid") == uid]
        children = children_of(jobset, jobs)
        status = section(jobset, "status") | {"replicatedJobsStatus": statuses(jobset, children)}
        if holds(jobset, "Completed", "Failed"):
            await self._delete(children.active)
        else:
            await self._delete(children.previous)
            status |= await self._advance(jobset, children)
        await self._report(jobset, status)

    async def _advance(self, jobset: Object, children: Children) -> Object:
        """The next step; returns the fields of the status that it changes."""
        if children.failed:
            return self._failed(jobset)
        if succeeded(jobset, children):
            conditions = self._conditions(
                jobset, "Completed", True, "AllJobsCompleted", "jobset completed successfully"
            )
            return {"terminalState": "Completed", "conditions": conditions}
        for job in missing(jobset, children):
            made = await self._api.create(JOBS, job["metadata"]["namespace"], job, user=USER)
            self._jobs.note(made)
        for job in children.active:
            if suspended(job) is not suspended(jobset):
                await self._follow(jobset, job)
        reason, text = "ResumeJobs", "jobset is resumed"
        if suspended(jobset):
            reason, text = "SuspendedJobs", "jobset is suspended"
        conditions = self._conditions(jobset, "Suspended", suspended(jobset), reason, text)
        return {"conditions": conditions} if conditions else {}

    async def _follow(self, jobset: Object, job: Object) -> None:
        """Suspend or resume a child as the JobSet is."""
        if suspended(jobset):
            new = job | {"spec": job["spec"] | {"suspend": True}}
        else:
            new = resumed(jobset, await self._without_start(job))
        self._jobs.note(await self._api.update(JOBS, *key_of(job), new, user=USER))

    async def _without_start(self, job: Object) -> Object:
        """The template of a Job that bears a start time is immutable; take it away first."""
        status = section(job, "status")
        if "startTime" not in status:
            return job
        rest = {key: value for key, value in status.items() if key != "startTime"}
        new = job | {"status": rest}
        return await self._api.update(JOBS, *key_of(job), new, user=USER, subresource="status")

    def _failed(self, jobset: Object) -> Object:
        """A child failed: run everything again, or give up."""
        policy = section(jobset, "spec").get("failurePolicy")
        counted = number(section(jobset, "status").get("restartsCountTowardsMax"))
        if isinstance(policy, dict) and counted < number(policy.get("maxRestarts")):
            again: Object = {"restarts": restarts_of(jobset) + 1}
            return again | {"restartsCountTowardsMax": counted + 1}
        reason, text = "FailedJobs", "jobset failed due to one or more job failures"
        if isinstance(policy, dict) and number(policy.get("maxRestarts")):
            reason = "ReachedMaxRestarts"
            text = "jobset failed due to reaching max number of restarts"
        conditions = self._conditions(jobset, "Failed", True, reason, text)
        return {"terminalState": "Failed", "conditions": conditions}

    def _conditions(
        self, jobset: Object, name: str, status: bool, reason: str, message: str
    ) -> Conditions:
        now = self._api.clock()
        return with_condition(
            conditions_of(jobset), name, status, reason, message, now=now, probed=False
        )

    async def _delete(self, jobs: list[Object]) -> None:
        for job in jobs:
            if going(job):
                continue
            try:
                await self._api.delete(
                    JOBS,
                    *key_of(job),
                    user=USER,
                    propagation="Foreground",
                    preconditions={"uid": uid_of(job)},
                )
            except StatusError as error:
                if error.code != 404:
                    raise

    async def _report(self, jobset: Object, status: Object) -> None:
        status.setdefault("restarts", 0)
        if same(status, section(jobset, "status")):
            return
        new = jobset | {"status": status}
        self._jobsets.note(
            await self._api.update(JOBSETS, *key_of(jobset), new, user=USER, subresource="status")
        )
