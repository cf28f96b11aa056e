"""The kinds this server knows: the table discovery, routing and storage read from.

A JobSet is served as if its CRD were installed (``custom``): other rules hold for such kinds on a
real server, for example no strategic merge patch and no update without a resourceVersion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Resource:
    """One served kind; ``subresources`` holds names such as ``status``."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool
    singular: str
    short_names: tuple[str, ...] = ()
    subresources: frozenset[str] = frozenset()

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def qualified(self) -> str:
        """The name used in messages: ``jobs.batch``, ``pods``."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def custom(self) -> bool:
        """Served as a custom resource (the rules of CRDs hold)."""
        return self.group in CUSTOM_GROUPS

    @property
    def storage(self) -> tuple[str, str]:
        """Where objects are kept: both APIs for events share one place, as on a real server."""
        return ("", "events") if self.plural == "events" else (self.group, self.plural)


@dataclass(frozen=True, slots=True)
class User:
    """Who asks."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""


CUSTOM_GROUPS = frozenset({"jobset.x-k8s.io"})
ADMISSION_GROUP = "admissionregistration.k8s.io"


def _resource(
    api_version: str,
    plural: str,
    kind: str,
    *,
    short: str = "",
    sub: str = "",
    namespaced: bool = True,
) -> Resource:
    group, _, version = api_version.rpartition("/")
    return Resource(
        group=group,
        version=version,
        plural=plural,
        kind=kind,
        namespaced=namespaced,
        singular=kind.lower(),
        short_names=tuple(short.split()),
        subresources=frozenset(sub.split()),
    )


NAMESPACES = _resource(
    "v1", "namespaces", "Namespace", short="ns", sub="status finalize", namespaced=False
)
PODS = _resource("v1", "pods", "Pod", short="po", sub="status binding eviction")
EVENTS = _resource("v1", "events", "Event", short="ev")
NODES = _resource("v1", "nodes", "Node", short="no", sub="status", namespaced=False)
JOBS = _resource("batch/v1", "jobs", "Job", sub="status")
JOBSETS = _resource("jobset.x-k8s.io/v1alpha2", "jobsets", "JobSet", sub="status")
LEASES = _resource("coordination.k8s.io/v1", "leases", "Lease")
EVENTS_V1 = _resource("events.k8s.io/v1", "events", "Event", short="ev")
MUTATING_WEBHOOKS = _resource(
    f"{ADMISSION_GROUP}/v1",
    "mutatingwebhookconfigurations",
    "MutatingWebhookConfiguration",
    namespaced=False,
)
VALIDATING_WEBHOOKS = _resource(
    f"{ADMISSION_GROUP}/v1",
    "validatingwebhookconfigurations",
    "ValidatingWebhookConfiguration",
    namespaced=False,
)
PRIORITY_CLASSES = _resource(
    "scheduling.k8s.io/v1", "priorityclasses", "PriorityClass", short="pc", namespaced=False
)

RESOURCES: tuple[Resource, ...] = (
    NAMESPACES,
    PODS,
    EVENTS,
    _resource("v1", "configmaps", "ConfigMap", short="cm"),
    _resource("v1", "secrets", "Secret"),
    _resource("v1", "serviceaccounts", "ServiceAccount", short="sa"),
    _resource("v1", "limitranges", "LimitRange", short="limits"),
    NODES,
    _resource("apps/v1", "statefulsets", "StatefulSet", short="sts", sub="status"),
    JOBS,
    _resource("batch/v1", "cronjobs", "CronJob", short="cj", sub="status"),
    JOBSETS,
    PRIORITY_CLASSES,
    _resource("node.k8s.io/v1", "runtimeclasses", "RuntimeClass", namespaced=False),
    LEASES,
    EVENTS_V1,
    MUTATING_WEBHOOKS,
    VALIDATING_WEBHOOKS,
)

_BY_PATH = {(r.group, r.version, r.plural): r for r in RESOURCES}


def resource_at(group: str, version: str, plural: str) -> Resource | None:
    """The resource served at a path, or None."""
    return _BY_PATH.get((group, version, plural))
