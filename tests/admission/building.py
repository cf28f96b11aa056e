"""Reviews, objects and a judge for the tests of admission: built as the API server would send them."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import jsonpatch

from webhook.admission.decide import Judge, mutate, validate
from webhook.admission.decision import Decision
from webhook.admission.knowledge import Identity, ParentRef, QueueNews
from webhook.admission.review import Request, read_review
from webhook.admission.rules import Rules
from webhook.language.check import load_policy

POLICY = """
resource gpu = nvidia.com/gpu
priority urgent 1000
priority normal 100 default

flavor a100 {
  node "accelerator" = "a100"
  tolerate "nvidia.com/gpu" = "present" : NoSchedule
}

cohort research {
  queue vision { quota a100 { gpu 8, cpu 64 } }
  queue speech { quota a100 { gpu 4 borrow 2, cpu 32 } }
}
queue small { quota { cpu 10 } }

route vision for Job, JobSet when namespace == "team-vision" to vision
deny too-many for Job when pods > 50 {
  message "one workload may have at most 50 pods, this one has {pods}"
}
"""
LOOP = "system:serviceaccount:tidegate-system:tidegate"
NOW = 1_800_000_000.0
_uids = itertools.count(1)


@dataclass
class Cluster:
    """What the webhook knows, held in plain dictionaries."""

    namespaces: dict[str, dict[str, Any]] = field(default_factory=dict)
    classes: dict[str, int] = field(default_factory=dict)
    parents: list[dict[str, Any]] = field(default_factory=list)
    news: dict[str, QueueNews] = field(default_factory=dict)

    def namespace_object(self, name: str) -> dict[str, Any] | None:
        return self.namespaces.get(name)

    def priority_class(self, name: str) -> int | None:
        return self.classes.get(name)

    def parent(self, ref: ParentRef) -> dict[str, Any] | None:
        for parent in self.parents:
            metadata = parent["metadata"]
            same = (metadata["namespace"], metadata["name"], metadata["uid"])
            if parent["kind"] == ref.kind.name and same == (ref.namespace, ref.name, ref.uid):
                return parent
        return None

    def queue_news(self, queue: str) -> QueueNews | None:
        return self.news.get(queue)


def judge(policy: str = POLICY, cluster: Cluster | None = None) -> Judge:
    rules = Rules.of(load_policy([("policies/ml.tide", policy)]))
    return Judge(rules, cluster or Cluster(), Identity())


def pod_spec(**requests: str) -> dict[str, Any]:
    container = {"name": "main", "image": "x", "resources": {"requests": requests or {"cpu": "1"}}}
    return {"restartPolicy": "Never", "containers": [container]}


def job(name: str = "train", namespace: str = "default", **spec: Any) -> dict[str, Any]:
    labels = spec.pop("labels", None)
    pod = spec.pop("pod", pod_spec())
    metadata: dict[str, Any] = {"name": name, "namespace": namespace}
    if labels:
        metadata["labels"] = labels
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": {"parallelism": 1, "completions": 1, "suspend": False, "template": {"spec": pod}}
        | spec,
    }


def jobset(name: str = "js", namespace: str = "default", **extra: Any) -> dict[str, Any]:
    labels = extra.pop("labels", None)
    child = {"parallelism": 2, "completions": 2, "template": {"spec": pod_spec()}}
    metadata: dict[str, Any] = {"name": name, "namespace": namespace, "uid": f"uid-{name}"}
    if labels:
        metadata["labels"] = labels
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": metadata,
        "spec": {
            "suspend": False,
            "replicatedJobs": [{"name": "workers", "replicas": 2, "template": {"spec": child}}],
        }
        | extra,
    }


def owned(child: dict[str, Any], parent: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
    metadata = parent["metadata"]
    reference = {
        "apiVersion": parent["apiVersion"],
        "kind": parent["kind"],
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
    }
    child["metadata"]["ownerReferences"] = [reference | changes]
    return child


def review(
    obj: dict[str, Any] | None, old: dict[str, Any] | None = None, user: str = "alice", **extra: Any
) -> dict[str, Any]:
    some = obj or old or {}
    group, _, version = some["apiVersion"].rpartition("/")
    request = {
        "uid": f"review-{next(_uids)}",
        "kind": {"group": group, "version": version, "kind": some["kind"]},
        "resource": {"group": group, "version": version, "resource": f"{some['kind'].lower()}s"},
        "operation": "CREATE" if old is None else "UPDATE",
        "name": some["metadata"].get("name", ""),
        "namespace": some["metadata"].get("namespace", "default"),
        "userInfo": {"username": user, "groups": ["system:authenticated"]},
        "object": obj,
        "oldObject": old,
        "dryRun": False,
    }
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": request | extra,
    }


def request(obj: dict[str, Any] | None, old: dict[str, Any] | None = None, **extra: Any) -> Request:
    return read_review(review(obj, old, **extra))


def patched(obj: dict[str, Any], decision: Decision) -> dict[str, Any]:
    ops = [op.as_json() for op in decision.patch]
    result: dict[str, Any] = jsonpatch.apply_patch(copy.deepcopy(obj), ops)
    return result


def submit(
    obj: dict[str, Any], by: Judge | None = None, *, user: str = "alice", now: float = NOW
) -> tuple[dict[str, Any], Decision, Decision]:
    """The object as stored, and what both calls said; the second sees what the first left."""
    here = by or judge()
    first = mutate(request(obj, user=user), here, now)
    stored = patched(obj, first)
    return stored, first, validate(request(stored, user=user), here, now)


def edit(
    old: dict[str, Any], new: dict[str, Any], by: Judge | None = None, *, user: str = "alice"
) -> tuple[dict[str, Any], Decision, Decision]:
    """The same for an update."""
    here = by or judge()
    first = mutate(request(new, old, user=user), here, NOW)
    stored = patched(new, first)
    return stored, first, validate(request(stored, old, user=user), here, NOW)
