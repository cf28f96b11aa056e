"""The pods of a Job: what the controller creates from the template."""

from __future__ import annotations

from webhook.sandbox.players.job_progress import FAILURES, INDEX
from webhook.sandbox.resources import Object
from webhook.sandbox.strategies.fields import copied, items, made, section
from webhook.sandbox.strategies.job import INDEXED

INDEX_VARIABLE = "JOB_COMPLETION_INDEX"


def controller_reference(owner: Object) -> Object:
    """An owner reference as a controller writes it."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def pod_of(job: Object, index: int | None, failures: int) -> Object:
    """A new pod; ``index`` for an Indexed Job, ``failures``: those of earlier pods of the index."""
    template: Object = copied(section(job, "spec", "template"))
    name = job["metadata"]["name"]
    pod: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "generateName": f"{name}-" if index is None else f"{name}-{index}-",
            "namespace": job["metadata"]["namespace"],
            "ownerReferences": [controller_reference(job)],
        },
        "spec": template.get("spec") or {},
    }
    for key in ("labels", "annotations"):
        if values := section(template, "metadata", key):
            pod["metadata"][key] = values
    if index is not None:
        _mark_index(job, pod, index, failures)
    return pod


def _mark_index(job: Object, pod: Object, index: int, failures: int) -> None:
    made(pod, "metadata", "labels")[INDEX] = str(index)
    annotations = made(pod, "metadata", "annotations")
    annotations[INDEX] = str(index)
    if section(job, "spec").get("backoffLimitPerIndex") is not None:
        annotations[FAILURES] = str(failures)
    pod["spec"]["hostname"] = f"{job['metadata']['name']}-{index}"
    path = f"metadata.labels['{INDEX}']"
    source = {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}
    for kind in ("containers", "initContainers"):
        for container in items(pod, "spec", kind):
            variables = items(container, "env")
            if all(variable.get("name") != INDEX_VARIABLE for variable in variables):
                container["env"] = [*variables, {"name": INDEX_VARIABLE, "valueFrom": source}]


def indexed(job: Object) -> bool:
    return section(job, "spec").get("completionMode") == INDEXED
