"""The kinds of object Tidegate manages, as values.

A kind is data, not code: what the API server calls it and where its fields stand. What an object of the kind asks
for and how it is started lives in ``workloads``; a kind declared in a policy reaches it as one of these values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

Object: TypeAlias = dict[str, Any]
"""An object as the API server sends it, decoded once at the rim. Nobody changes one in place."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of object: ``batch/v1 Job`` is ``Kind("Job", "batch", "v1", "jobs")``."""

    name: str
    group: str
    version: str
    plural: str

    @property
    def api_version(self) -> str:
        """As it stands in ``apiVersion``."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def path(self) -> str:
        """The path of the resource below the API server's root, over all namespaces."""
        root = f"/apis/{self.group}" if self.group else "/api"
        return f"{root}/{self.version}/{self.plural}"

    def path_of(self, namespace: str, name: str) -> str:
        """The path of one object."""
        root = f"/apis/{self.group}" if self.group else "/api"
        return f"{root}/{self.version}/namespaces/{namespace}/{self.plural}/{name}"

    @property
    def resource(self) -> str:
        """As messages of the API server name it: ``jobs.batch``."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


JOB = Kind("Job", "batch", "v1", "jobs")
JOBSET = Kind("JobSet", "jobset.x-k8s.io", "v1alpha2", "jobsets")
POD = Kind("Pod", "", "v1", "pods")
NAMESPACE = Kind("Namespace", "", "v1", "namespaces")
PRIORITY_CLASS = Kind("PriorityClass", "scheduling.k8s.io", "v1", "priorityclasses")
BUILT_IN = (JOB, JOBSET)


class Key:
    """Labels and annotations of ours, spelled in one place (behaviour.md §1 says who writes which)."""

    QUEUE = "tidegate.dev/queue"
    PRIORITY = "tidegate.dev/priority"
    SUBMITTED = "tidegate.dev/submitted"
    SUBMITTED_BY = "tidegate.dev/submitted-by"
    ADMISSION = "tidegate.dev/admission"
    HOLD = "tidegate.dev/hold"
    WANTED = "tidegate.dev/wanted"
    EVICTED = "tidegate.dev/evicted"
    BEFORE_SETS = "tidegate.dev/before-sets"
    MIN_PARALLELISM = "tidegate.dev/min-parallelism"
    PREFIX = "tidegate.dev/"
