"""Who may do what in a fresh control plane, and what else must exist before a test starts.

All of it as plain values: the users with their tokens, the RBAC objects, the webhook
configurations of JobSet. ``controlplane.py`` sends them.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

NAMESPACE = "tidegate-system"
LOOP_ACCOUNT = f"system:serviceaccount:{NAMESPACE}:tidegate"
JOBSET_ACCOUNT = "system:serviceaccount:jobset-system:jobset-controller-manager"

RBAC = "rbac.authorization.k8s.io"
READ = ["get", "list", "watch"]
WEBHOOK_CONFIGURATIONS = ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"]

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class User:
    """One line of the API server's token file."""

    name: str
    groups: tuple[str, ...] = ()
    token: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)

    @property
    def line(self) -> str:
        return f'{self.token},{self.name},{self.name},"{",".join(self.groups)}"'


def users() -> dict[str, User]:
    """By the short name that a test uses, each with a new token."""
    account = ("system:serviceaccounts", "system:authenticated")
    loop_groups = (*account, f"system:serviceaccounts:{NAMESPACE}")
    jobset_groups = (*account, "system:serviceaccounts:jobset-system")
    return {
        "admin": User("admin", ("system:masters",)),
        "alice": User("alice"),
        "bob": User("bob"),
        "argocd": User("argocd"),
        "loop": User(LOOP_ACCOUNT, loop_groups),
        "jobset": User(JOBSET_ACCOUNT, jobset_groups),
        "kube-controller-manager": User("system:kube-controller-manager"),
    }


def token_file(known: Iterable[User]) -> str:
    """The CSV that ``--token-auth-file`` reads."""
    return "".join(f"{user.line}\n" for user in known)


def namespace(name: str) -> tuple[str, Object]:
    """A namespace and where to apply it."""
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    return f"/api/v1/namespaces/{name}", body


def permissions(jobset_role: Path) -> Iterator[tuple[str, Object]]:
    """Every RBAC object with the path to apply it at."""
    jobset_rules = yaml.safe_load(jobset_role.read_text())["rules"]
    yield _role("jobset-editor", [_rule("jobset.x-k8s.io", ["jobsets"], ["*"])])
    yield _role("jobset-manager", jobset_rules)
    yield _role("tidegate-loop", loop_rules())
    yield _binding("edit", ["alice", "bob"])
    yield _binding("jobset-editor", ["alice", "bob"])
    yield _binding("cluster-admin", ["argocd"], name="argocd")
    yield _binding("jobset-manager", [JOBSET_ACCOUNT])
    yield _binding("tidegate-loop", [LOOP_ACCOUNT])


def loop_rules() -> list[Object]:
    """What the loop may do: no more, so that a missing right shows in a test."""
    return [
        _rule("batch", ["jobs"], [*READ, "patch", "delete"]),
        _rule("batch", ["jobs/status"], ["patch"]),
        _rule("jobset.x-k8s.io", ["jobsets"], [*READ, "patch"]),
        _rule("", ["pods"], [*READ, "patch", "delete"]),
        _rule("", ["namespaces", "limitranges"], READ),
        _rule("scheduling.k8s.io", ["priorityclasses"], READ),
        _rule("node.k8s.io", ["runtimeclasses"], READ),
        _rule("apps", ["statefulsets"], READ),
        _rule("coordination.k8s.io", ["leases"], [*READ, "create", "update", "patch", "delete"]),
        _rule("", ["events"], ["create", "patch"]),
        _rule("events.k8s.io", ["events"], ["create", "patch"]),
        _rule("", ["secrets"], [*READ, "create", "update", "patch"]),
        _rule("admissionregistration.k8s.io", WEBHOOK_CONFIGURATIONS, ["get", "patch"]),
    ]


def jobset_webhooks(manifests: Path, url: str, ca: bytes) -> Iterator[tuple[str, Object]]:
    """JobSet's own configurations, pointed at a process on the loopback instead of a Service."""
    for body in yaml.safe_load_all(manifests.read_text()):
        plural = f"{body['kind'].lower()}s"
        body["metadata"]["name"] = f"jobset-{body['metadata']['name']}"
        for webhook in body["webhooks"]:
            path = webhook["clientConfig"]["service"]["path"]
            bundle = base64.b64encode(ca).decode()
            webhook["clientConfig"] = {"url": url + path, "caBundle": bundle}
            if path.endswith("-pod"):  # as its kustomize patches do: only pods of a JobSet
                webhook["objectSelector"] = _exists("jobset.sigs.k8s.io/jobset-name")
        group = "/apis/admissionregistration.k8s.io/v1"
        yield f"{group}/{plural}/{body['metadata']['name']}", body


def _exists(label: str) -> Object:
    return {"matchExpressions": [{"key": label, "operator": "Exists"}]}


def _rule(group: str, resources: list[str], verbs: list[str]) -> Object:
    return {"apiGroups": [group], "resources": resources, "verbs": verbs}


def _role(name: str, rules: list[Object]) -> tuple[str, Object]:
    body = {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name},
        "rules": rules,
    }
    return f"/apis/{RBAC}/v1/clusterroles/{name}", body


def _binding(role: str, subjects: list[str], *, name: str = "") -> tuple[str, Object]:
    name = name or f"test-{role}"
    body = {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": RBAC, "kind": "User", "name": one} for one in subjects],
    }
    return f"/apis/{RBAC}/v1/clusterrolebindings/{name}", body
