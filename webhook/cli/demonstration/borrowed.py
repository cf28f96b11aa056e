"""A cluster that somebody lends: looked at before, left as it was after.

What the demo makes bears its label and is deleted by uid at the end, whatever ended it. Webhook and
loop get an account of their own that may read everywhere and write in the demo's namespaces only:
that nothing else is touched is held by the API server, not by our care.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from webhook.cli.demonstration.stage import (
    MUTATING,
    NoStage,
    Say,
    Stage,
    connected,
    gone,
    namespace,
)
from webhook.cli.demonstration.workday import NAMESPACES
from webhook.cluster.client import Client
from webhook.cluster.errors import ApiError, Conflict, NotFound
from webhook.model.kinds import JOB, JOBSET, NAMESPACE, Key, Kind, Object

NAME = "tidegate-demo"
MARK = "tidegate.dev/demo"
ACCOUNT = "tidegate"
TOKEN_SECONDS = 4 * 3600
_RBAC = "rbac.authorization.k8s.io"
GPU = "nvidia.com/gpu"
NODE = Kind("Node", "", "v1", "nodes")
_KINDS = (
    "namespaces,clusterroles,clusterrolebindings,"
    "mutatingwebhookconfigurations,validatingwebhookconfigurations"
)
SERVICE_ACCOUNT = Kind("ServiceAccount", "", "v1", "serviceaccounts")
TOKEN = Kind("TokenRequest", "authentication.k8s.io", "v1", f"serviceaccounts/{ACCOUNT}/token")
CLUSTER_ROLE = Kind("ClusterRole", _RBAC, "v1", "clusterroles")
CLUSTER_BINDING = Kind("ClusterRoleBinding", _RBAC, "v1", "clusterrolebindings")
BINDING = Kind("RoleBinding", _RBAC, "v1", "rolebindings")


@dataclass(frozen=True, slots=True)
class Lent:
    """What the reader said about the cluster."""

    kubeconfig: Path | None
    context: str | None
    webhook_url: str | None
    listen: str = "127.0.0.1:0"


@dataclass(slots=True)
class Belongings:
    """Everything that was made, to be deleted in reverse."""

    client: Client
    say: Say
    made: list[tuple[Kind, str, str, str]] = field(default_factory=list)

    async def make(self, kind: Kind, namespace: str, body: Object) -> Object:
        """Create it, marked as ours. What is there already belongs to somebody else."""
        about = body["metadata"]
        about["labels"] = about.get("labels", {}) | {MARK: "true"}
        body = {"apiVersion": kind.api_version, "kind": kind.name} | body
        try:
            created = await self.client.post(kind, namespace, body)
        except Conflict as error:
            raise NoStage(
                f"{kind.name} {about['name']} is there already and not this demo's; if an earlier demo"
                f" left it: kubectl delete {_KINDS} -l {MARK}"
            ) from error
        except ApiError as error:
            raise NoStage(f"cannot create {kind.name} {about['name']}: {error}") from error
        self.made.append((kind, namespace, about["name"], created["metadata"]["uid"]))
        return created

    async def clear(self) -> None:
        """Delete all of it; a namespace takes along what is in it."""
        for kind, space, name, uid in reversed(self.made):
            trouble = None if space else await gone(self.client, kind, space, name, uid)
            if trouble is not None:
                self.say(f"warning: {trouble}")
        if self.made:
            self.say("deleted what the demo made in the cluster")


@asynccontextmanager
async def borrowed(lent: Lent, folder: Path, say: Say) -> AsyncIterator[Stage]:
    """The cluster of a context, with the demo's namespaces in it while the body runs."""
    async with connected(lent.kubeconfig, lent.context) as client:
        await _look(client)
        await _warn(client, say)
        mine = Belongings(client, say)
        try:
            await _furnish(mine)
            token = await _token(client)
            serve = folder / "loop.kubeconfig"
            serve.write_text(kubeconfig_of_account(lent, token), encoding="utf-8")
            serve.chmod(0o600)
            yield _stage(client, lent, serve)
        finally:
            await mine.clear()


def _stage(client: Client, lent: Lent, serve: Path) -> Stage:
    files = lent.kubeconfig or os.environ.get("KUBECONFIG") or Path.home() / ".kube" / "config"
    context = f" && kubectl config use-context {lent.context}" if lent.context else ""
    port = urlsplit(lent.webhook_url).port or 443 if lent.webhook_url else 0
    return Stage(
        client,
        reader=f"export KUBECONFIG={files}{context}",
        serve=serve,
        loop_user=f"system:serviceaccount:{NAME}:{ACCOUNT}",
        own_namespace=NAME,
        name=NAME,
        listen=f"0.0.0.0:{port}" if lent.webhook_url else "127.0.0.1:0",
        url=lent.webhook_url,
        label=MARK,
    )


async def _look(client: Client) -> None:
    """Whoever is there already must neither be counted nor disturbed."""
    try:
        await client.get(MUTATING, "", "tidegate")
    except NotFound:
        pass
    except ApiError as error:
        raise NoStage(f"cannot ask the API server: {error}") from error
    else:
        raise NoStage("Tidegate is installed in this cluster; its loop would start the demo's work")
    for kind in (JOB, JOBSET):
        try:
            async for page in client.pages(kind, label_selector=Key.QUEUE, limit=1):
                if page.items:
                    raise NoStage(f"there are {kind.plural} in queues in this cluster already")
                break
        except NotFound as error:
            raise NoStage(f"the cluster serves no {kind.plural}, which the demo needs") from error
        except ApiError as error:
            raise NoStage(f"cannot list {kind.plural}: {error}") from error


async def _warn(client: Client, say: Say) -> None:
    """Quota is given without a look at nodes: what no node can run starts, and its pods wait."""
    try:
        async for page in client.pages(NODE):
            if any(GPU in node.get("status", {}).get("allocatable", {}) for node in page.items):
                return
    except ApiError:
        return
    say(f"warning: no node offers {GPU}; pods that ask for it will not run, and the demo not end")


async def _furnish(mine: Belongings) -> None:
    """Namespaces, and the account of webhook and loop with just the rights it needs."""
    await mine.make(NAMESPACE, "", namespace(NAME, {}))
    for name, team in NAMESPACES.items():
        await mine.make(NAMESPACE, "", namespace(name, {"team": team}))
    await mine.make(SERVICE_ACCOUNT, NAME, {"metadata": {"name": ACCOUNT}})
    for role, rules in ((f"{NAME}-reads", _READS), (f"{NAME}-writes", _WRITES)):
        await mine.make(CLUSTER_ROLE, "", {"metadata": {"name": role}, "rules": rules})
    await mine.make(CLUSTER_BINDING, "", _binding(f"{NAME}-reads", f"{NAME}-reads"))
    for name in NAMESPACES:
        await mine.make(BINDING, name, _binding(NAME, f"{NAME}-writes"))


def _rule(group: str, resources: str, verbs: str) -> dict[str, Any]:
    return {"apiGroups": [group], "resources": resources.split(), "verbs": verbs.split()}


_READ = "get list watch"
_READS = [
    _rule("batch", "jobs", _READ),
    _rule("jobset.x-k8s.io", "jobsets", _READ),
    _rule("", "pods namespaces limitranges", _READ),
    _rule("scheduling.k8s.io", "priorityclasses", _READ),
    _rule("node.k8s.io", "runtimeclasses", _READ),
]
_WRITES = [
    _rule("batch", "jobs jobs/status", "patch delete"),
    _rule("jobset.x-k8s.io", "jobsets", "patch"),
    _rule("events.k8s.io", "events", "create patch"),
]


def _binding(name: str, role: str) -> Object:
    return {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "ServiceAccount", "namespace": NAME, "name": ACCOUNT}],
    }


async def _token(client: Client) -> str:
    body = {
        "apiVersion": TOKEN.api_version,
        "kind": TOKEN.name,
        "spec": {"expirationSeconds": TOKEN_SECONDS},
    }
    where = Kind(TOKEN.name, "", "v1", TOKEN.plural)  # a subresource: its path is of another group
    try:
        answer = await client.post(where, NAME, body)
    except ApiError as error:
        raise NoStage(f"cannot get a token for the demo's account: {error}") from error
    return str(answer["status"]["token"])


def kubeconfig_of_account(lent: Lent, token: str) -> str:
    """The reader's cluster, and nothing of the reader's own credentials. Raises NoStage."""
    name, cluster = _cluster(lent)
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": name, "cluster": cluster}],
            "users": [{"name": NAME, "user": {"token": token}}],
            "contexts": [{"name": NAME, "context": {"cluster": name, "user": NAME}}],
            "current-context": NAME,
        }
    )


def _cluster(lent: Lent) -> tuple[str, dict[str, Any]]:
    """The cluster of the context, its files as absolute paths."""
    contexts: dict[str, Any] = {}
    clusters: dict[str, dict[str, Any]] = {}
    current = lent.context
    for path in _files(lent.kubeconfig):
        body = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
        current = current or body.get("current-context")
        for one in body.get("contexts") or ():
            contexts.setdefault(one["name"], one["context"])
        for one in body.get("clusters") or ():
            clusters.setdefault(one["name"], _absolute(one["cluster"], path.parent))
    try:
        name = contexts[current or ""]["cluster"]
        return name, clusters[name]
    except KeyError as error:
        raise NoStage(f"the kubeconfig has no {error}") from error


def _files(kubeconfig: Path | None) -> list[Path]:
    if kubeconfig is not None:
        return [kubeconfig]
    named = [Path(one) for one in os.environ.get("KUBECONFIG", "").split(os.pathsep) if one]
    return [path for path in named or [Path.home() / ".kube" / "config"] if path.is_file()]


def _absolute(cluster: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    found = dict(cluster)
    if "certificate-authority" in found:
        found["certificate-authority"] = str((folder / found["certificate-authority"]).resolve())
    return found
