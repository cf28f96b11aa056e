"""The object that a `submit` line describes, as the API server would show it to a webhook.

A test says kind, namespace, labels and pods; the rest is what the API server itself fills in, so that conditions read
here what they read in a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from webhook.language.scenes import Submission
from webhook.model.kinds import JOB, JOBSET, Key, Kind, Object
from webhook.model.quantity import Amount, format_quantity

NAME: Final = "test"
"""What is submitted is called so; `name` in a condition reads it."""


class CannotPlay(Exception):
    """A test that cannot be run as things are; the message says what is missing."""


def composed(submission: Submission) -> Object:
    """The object of a submission that names no file. Raises CannotPlay for a kind this version cannot read."""
    write = _WRITERS.get(submission.kind)
    if write is None:
        known = " and ".join(_WRITERS)
        raise CannotPlay(
            f"this version has no adapter for the kind {submission.kind}, only for {known}"
        )
    kind, spec = write
    labels = dict(submission.labels)
    if submission.priority is not None:
        labels[Key.PRIORITY] = submission.priority
    about: dict[str, Any] = {"name": NAME, "namespace": submission.namespace}
    if labels:
        about["labels"] = labels
    return {
        "apiVersion": kind.api_version,
        "kind": kind.name,
        "metadata": about,
        "spec": spec(submission.pods, submission.each),
    }


def _job(pods: int, each: Mapping[str, Amount]) -> dict[str, Any]:
    return {
        "parallelism": pods,
        "completions": pods,
        "completionMode": "NonIndexed",
        "backoffLimit": 6,
        "podReplacementPolicy": "TerminatingOrFailed",
        "suspend": False,
        "template": {"metadata": {}, "spec": _pod(each)},
    }


def _jobset(pods: int, each: Mapping[str, Amount]) -> dict[str, Any]:
    job = {**_job(pods, each), "completionMode": "Indexed"}
    del job["suspend"]
    one = {"name": "main", "replicas": 1, "template": {"metadata": {}, "spec": job}}
    return {
        "suspend": False,
        "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
        "successPolicy": {"operator": "All"},
        "replicatedJobs": [one],
    }


def _pod(each: Mapping[str, Amount]) -> dict[str, Any]:
    """One container that asks for all; what is neither cpu nor memory is asked for as a limit, too."""
    requests = {resource: format_quantity(amount, resource) for resource, amount in each.items()}
    resources: dict[str, Any] = {"requests": requests}
    limits = {resource: text for resource, text in requests.items() if _whole(resource)}
    if limits:
        resources["limits"] = limits
    container = {
        "name": "main",
        "image": "example.com/test",
        "imagePullPolicy": "IfNotPresent",
        "resources": resources,
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
    }
    return {
        "containers": [container],
        "restartPolicy": "Never",
        "dnsPolicy": "ClusterFirst",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
    }


def _whole(resource: str) -> bool:
    """Extended resources and huge pages cannot be overcommitted: the API server wants limits equal to requests."""
    return "/" in resource or resource.startswith("hugepages-")


_WRITERS: Final[
    Mapping[str, tuple[Kind, Callable[[int, Mapping[str, Amount]], dict[str, Any]]]]
] = MappingProxyType({JOB.name: (JOB, _job), JOBSET.name: (JOBSET, _jobset)})
