"""What the API server, and JobSet's own webhook, fill into a new Job or JobSet before anybody else is asked about it.

A policy's conditions read objects with all of this in them: ``!has(object.spec.backoffLimit)`` is never true. The
sandbox stores objects so, and a rehearsal judges them so. What is of a wrong shape is left for others to refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from webhook.model.kinds import JOB, JOBSET, Object

NON_INDEXED: Final = "NonIndexed"
MAX_INT: Final = 2**31 - 1
POD_DEFAULTS: Final = MappingProxyType(
    {
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "terminationGracePeriodSeconds": 30,
    }
)
CONTAINER_DEFAULTS: Final = MappingProxyType(
    {"terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}
)
PROBE_DEFAULTS: Final = MappingProxyType(
    {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
)
JOBSET_DEFAULTS: Final = MappingProxyType(
    {
        "successPolicy": MappingProxyType({"operator": "All"}),
        "startupPolicy": MappingProxyType({"startupPolicyOrder": "AnyOrder"}),
    }
)


def defaulted(obj: Object) -> Object:
    """The object as webhooks see it, a copy; of other kinds the object itself."""
    for kind, fill_in in _KINDS:
        if (obj.get("apiVersion"), obj.get("kind")) == (kind.api_version, kind.name):
            full: Object = _copied(obj)
            fill_in(full)
            return full
    return obj


def default_job(job: Object) -> None:
    """A Job, in place."""
    default_job_spec(_made(job, "spec"))
    default_labels(job)


def default_labels(job: Object) -> None:
    """A Job without labels takes those of its pods, in place."""
    template = _found(job, "spec", "template", "metadata", "labels")
    if template and not _found(job, "metadata", "labels"):
        _made(job, "metadata")["labels"] = dict(template)


def default_job_spec(spec: Object) -> None:
    """The spec of a Job, in place."""
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    by_index = spec.get("backoffLimitPerIndex") is not None
    defaults: Object = {
        "parallelism": 1,
        "backoffLimit": MAX_INT if by_index else 6,
        "completionMode": NON_INDEXED,
        "suspend": False,
        "podReplacementPolicy": "Failed" if spec.get("podFailurePolicy") else "TerminatingOrFailed",
        "manualSelector": False,
    }
    for key, value in defaults.items():
        if spec.get(key) is None:
            spec[key] = value
    default_pod_spec(_made(spec, "template", "spec"))
    _made(spec, "template", "metadata")


def default_jobset(jobset: Object) -> None:
    """A JobSet, in place. It comes as a custom resource: what its webhook does not default stays absent."""
    spec = _made(jobset, "spec")
    for name, value in JOBSET_DEFAULTS.items():
        if not isinstance(spec.get(name), dict):
            spec[name] = dict(value)
    network = _made(spec, "network")
    for name in ("enableDNSHostnames", "publishNotReadyAddresses"):
        if network.get(name) is None:
            network[name] = True
    for replicated in _maps(spec.get("replicatedJobs")):
        _default_replicated(replicated)


def _default_replicated(replicated: Object) -> None:
    if replicated.get("replicas") is None:
        replicated["replicas"] = 1
    if not replicated.get("groupName"):
        replicated["groupName"] = "default"
    job = _made(replicated, "template", "spec")
    if job.get("completionMode") is None:
        job["completionMode"] = "Indexed"
    pod = _made(job, "template", "spec")
    if not pod.get("restartPolicy"):
        pod["restartPolicy"] = "OnFailure"


def default_pod_spec(spec: Object) -> None:
    """A pod spec inside a template, in place."""
    fill(spec, POD_DEFAULTS)
    _made(spec, "securityContext")
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    for container in (*_maps(spec.get("initContainers")), *_maps(spec.get("containers"))):
        _default_container(container)


def fill(target: Object, defaults: Mapping[str, Any]) -> None:
    """Set what is absent, null or an empty string."""
    for key, value in defaults.items():
        if target.get(key) in (None, ""):
            target[key] = value


def _default_container(container: Object) -> None:
    image = str(container.get("image") or "")
    latest = image.endswith(":latest") or ":" not in image.rpartition("/")[2]
    pinned = "@" in image
    fill(container, {"imagePullPolicy": "Always" if latest and not pinned else "IfNotPresent"})
    fill(container, CONTAINER_DEFAULTS)
    resources = _made(container, "resources")
    for amounts in ("requests", "limits"):
        _quantities_as_text(_found(resources, amounts))
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        if isinstance(container.get(probe), dict):
            fill(container[probe], PROBE_DEFAULTS)
    for port in _maps(container.get("ports")):
        fill(port, {"protocol": "TCP"})


def _quantities_as_text(amounts: Object) -> None:
    """A bare number is the same quantity as text; the API server always answers with text."""
    for name, amount in amounts.items():
        if isinstance(amount, int | float) and not isinstance(amount, bool):
            amounts[name] = str(amount)


def _found(obj: Any, *path: str) -> Object:
    """The map at a path; an empty one where none is."""
    for key in path:
        obj = obj.get(key) if isinstance(obj, dict) else None
    return obj if isinstance(obj, dict) else {}


def _made(obj: Object, *path: str) -> Object:
    """The map at a path, made where nothing is; one that belongs to nobody where something else is."""
    for key in path:
        if obj.get(key) is None:
            obj[key] = {}
        obj = obj[key] if isinstance(obj[key], dict) else {}
    return obj


def _maps(value: Any) -> list[Object]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copied(item) for item in value]
    return value


_KINDS: Final[tuple[tuple[Any, Callable[[Object], None]], ...]] = (
    (JOB, default_job),
    (JOBSET, default_jobset),
)
