"""The child Jobs of a JobSet: how they are made, sorted, and changed when it is resumed.

Pure. ``resumed`` MERGES node selectors, tolerations, labels, annotations and gates into the child,
as JobSet does: keys of an earlier flavor stay, which is why a loop has to reset children before
it starts a JobSet on another one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from webhook.sandbox.players.job_pods import controller_reference
from webhook.sandbox.resources import Object
from webhook.sandbox.strategies.fields import copied, holds, items, made, number, section

PREFIX = "jobset.sigs.k8s.io/"
NAME = f"{PREFIX}jobset-name"
REPLICATED = f"{PREFIX}replicatedjob-name"
ATTEMPT = f"{PREFIX}restart-attempt"


@dataclass(frozen=True, slots=True)
class Children:
    """The child Jobs by what they are to the present run."""

    active: list[Object] = field(default_factory=list)
    succeeded: list[Object] = field(default_factory=list)
    failed: list[Object] = field(default_factory=list)
    previous: list[Object] = field(default_factory=list)  # of an earlier attempt: to be deleted

    def names(self) -> set[str]:
        every = (self.active, self.succeeded, self.failed, self.previous)
        return {str(job["metadata"]["name"]) for jobs in every for job in jobs}


def children_of(jobset: Object, jobs: Iterable[Object]) -> Children:
    children = Children()
    attempt = restarts_of(jobset)
    for job in jobs:
        label = str(section(job, "metadata", "labels").get(ATTEMPT) or "0")
        if label.isdecimal() and int(label) < attempt:
            children.previous.append(job)
        elif holds(job, "Failed"):
            children.failed.append(job)
        elif holds(job, "Complete"):
            children.succeeded.append(job)
        else:
            children.active.append(job)
    return children


def restarts_of(jobset: Object) -> int:
    return number(section(jobset, "status").get("restarts"))


def replicas_of(replicated: Object) -> int:
    return number(replicated.get("replicas"), 1)


def suspended(obj: Object) -> bool:
    return section(obj, "spec").get("suspend") is True


def missing(jobset: Object, children: Children) -> list[Object]:
    """The Jobs that are yet to be created."""
    strategy = section(jobset, "spec", "failurePolicy").get("restartStrategy")
    if children.previous and strategy == "BlockingRecreate":
        return []
    there = children.names()
    wanted = (
        _child(jobset, replicated, index)
        for replicated in items(jobset, "spec", "replicatedJobs")
        for index in range(replicas_of(replicated))
    )
    return [job for job in wanted if job["metadata"]["name"] not in there]


def _child(jobset: Object, replicated: Object, index: int) -> Object:
    template: Object = copied(section(replicated, "template"))
    name = f"{jobset['metadata']['name']}-{replicated['name']}-{index}"
    job: Object = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": jobset["metadata"]["namespace"],
            "labels": section(template, "metadata", "labels"),
            "annotations": section(template, "metadata", "annotations"),
            "ownerReferences": [controller_reference(jobset)],
        },
        "spec": section(template, "spec"),
    }
    marks = _marks(jobset, replicated, index, name)
    for metadata in (job["metadata"], made(job, "spec", "template", "metadata")):
        for kind in ("labels", "annotations"):
            metadata[kind] = section(metadata, kind) | marks
    network = section(jobset, "spec", "network")
    if network.get("enableDNSHostnames") is True:
        subdomain = network.get("subdomain") or jobset["metadata"]["name"]
        made(job, "spec", "template", "spec")["subdomain"] = subdomain
    job["spec"]["suspend"] = suspended(jobset)
    return job


def _marks(jobset: Object, replicated: Object, index: int, name: str) -> dict[str, str]:
    """The labels of a child and its pods; the same are its annotations."""
    metadata, every = jobset["metadata"], items(jobset, "spec", "replicatedJobs")
    position = every.index(replicated)
    group = str(replicated.get("groupName") or "default")
    same_group = [r for r in every if (r.get("groupName") or "default") == group]
    before = sum(map(replicas_of, every[:position]))
    grouped = sum(map(replicas_of, same_group[: same_group.index(replicated)]))
    path = f"{metadata['namespace']}/{name}"
    marks: dict[str, object] = {
        "jobset-name": metadata["name"],
        "jobset-uid": metadata["uid"],
        "replicatedjob-name": replicated["name"],
        "restart-attempt": restarts_of(jobset),
        "replicatedjob-replicas": replicas_of(replicated),
        "global-replicas": sum(map(replicas_of, every)),
        "job-index": index,
        "job-key": hashlib.sha1(path.encode(), usedforsecurity=False).hexdigest(),
        "job-global-index": before + index,
        "group-name": group,
        "group-replicas": sum(map(replicas_of, same_group)),
        "job-group-index": grouped + index,
    }
    return {f"{PREFIX}{key}": str(value) for key, value in marks.items()}


def resumed(jobset: Object, job: Object) -> Object:
    """The child, unsuspended, with the template of its replicated Job merged into its own."""
    new: Object = copied(job)
    new["spec"]["suspend"] = False
    name = section(job, "metadata", "labels").get(REPLICATED)
    every = items(jobset, "spec", "replicatedJobs")
    replicated = next((r for r in every if r.get("name") == name), {})
    source = section(replicated, "template", "spec", "template")
    target = made(new, "spec", "template")
    for path in (("metadata", "labels"), ("metadata", "annotations"), ("spec", "nodeSelector")):
        if extra := section(source, *path):
            made(target, path[0])[path[1]] = section(target, *path) | copied(extra)
    for key in ("tolerations", "schedulingGates"):
        present = items(target, "spec", key)
        extras = [item for item in items(source, "spec", key) if item not in present]
        if extras:
            made(target, "spec")[key] = [*present, *copied(extras)]
    return new


def statuses(jobset: Object, children: Children) -> list[Object]:
    """``status.replicatedJobsStatus``."""
    return [
        _status(str(replicated["name"]), children)
        for replicated in items(jobset, "spec", "replicatedJobs")
    ]


def _status(name: str, children: Children) -> Object:
    def count(jobs: list[Object]) -> int:
        return sum(section(j, "metadata", "labels").get(REPLICATED) == name for j in jobs)

    return {
        "name": name,
        "ready": count([job for job in children.active if _ready(job)]),
        "succeeded": count(children.succeeded),
        "failed": count(children.failed),
        "active": count([j for j in children.active if section(j, "status").get("active")]),
        "suspended": count([job for job in children.active if suspended(job)]),
    }


def _ready(job: Object) -> bool:
    spec, status = section(job, "spec"), section(job, "status")
    wanted = number(spec.get("parallelism"), 1)
    if spec.get("completions") is not None:
        wanted = min(wanted, number(spec["completions"]))
    return number(status.get("succeeded")) + number(status.get("ready")) >= wanted


def succeeded(jobset: Object, children: Children) -> bool:
    """The success policy is met."""
    policy = section(jobset, "spec", "successPolicy")
    targets = policy.get("targetReplicatedJobs") or [
        r.get("name") for r in items(jobset, "spec", "replicatedJobs")
    ]
    done = [
        job
        for job in children.succeeded
        if section(job, "metadata", "labels").get(REPLICATED) in targets
    ]
    if policy.get("operator") == "Any":
        return bool(done)
    every = items(jobset, "spec", "replicatedJobs")
    return len(done) >= sum(replicas_of(r) for r in every if r.get("name") in targets)
