"""Where the demo plays: a sandbox of its own, or (see ``borrowed``) a cluster that somebody lends it.

A stage knows who is who there and what is there already; the rest of the demo is the same for both.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from webhook.cli.demonstration.workday import NAMESPACES
from webhook.cluster.access import AccessError, find_access
from webhook.cluster.client import Client
from webhook.cluster.errors import ApiError
from webhook.model.kinds import JOB, NAMESPACE, Key, Kind, Object
from webhook.service.registration import Reach, registrations
from webhook.service.settings import DEFAULT_USER

MUTATING = Kind(
    "MutatingWebhookConfiguration",
    "admissionregistration.k8s.io",
    "v1",
    "mutatingwebhookconfigurations",
)
VALIDATING = Kind(
    "ValidatingWebhookConfiguration",
    "admissionregistration.k8s.io",
    "v1",
    "validatingwebhookconfigurations",
)
CONFIGURATIONS = {kind.name: kind for kind in (MUTATING, VALIDATING)}

Say = Callable[[str], None]


class NoStage(Exception):
    """The demo cannot play there; the text is one line for a person."""


@dataclass(frozen=True, slots=True)
class Stage:
    """``reader``: what the reader's kubectl needs. ``serve``: the kubeconfig of webhook and loop."""

    client: Client
    reader: str
    serve: Path
    loop_user: str
    own_namespace: str
    name: str
    listen: str = "127.0.0.1:0"
    url: str | None = None
    """How the API server reaches the webhook, where that is not the address it listens on"""
    label: str | None = None
    """Of the namespaces whose objects are reviewed, and of the configurations; None: all but the system's"""

    @property
    def tls_names(self) -> Sequence[str]:
        """Further names of the webhook's certificate."""
        host = urlsplit(self.url).hostname if self.url else None
        return (host,) if host else ()

    def configurations(self, authority: bytes, address: str) -> list[Object]:
        """What the API server is to be told of the webhook."""
        label = {self.label: "true"} if self.label else None
        bodies = registrations(
            Reach(ca=authority, url=self.url or address),
            failure_policy="Fail",
            loop_user=self.loop_user,
            own_namespace=self.own_namespace,
            only_namespaces=label,
            name=self.name,
        )
        for body in bodies if label else ():
            body["metadata"]["labels"] = label
        return list(bodies)


@asynccontextmanager
async def connected(kubeconfig: Path | None, context: str | None = None) -> AsyncIterator[Client]:
    """A client; a kubeconfig that leads nowhere is told in one line."""
    try:
        access = await find_access(kubeconfig, context=context)
    except AccessError as error:
        raise NoStage(str(error)) from error
    async with Client(access, user_agent="tidegate-demo") as client:
        yield client


@asynccontextmanager
async def sandboxed(folder: Path) -> AsyncIterator[Stage]:
    """A small API server in this process; its data end with it."""
    from webhook.sandbox.server import Sandbox

    async with Sandbox() as sandbox:
        admin = sandbox.kubeconfig("admin", path=folder / "kubeconfig")
        serve = sandbox.kubeconfig("loop", path=folder / "loop.kubeconfig")
        async with connected(admin) as client:
            for name, team in NAMESPACES.items():
                await client.post(NAMESPACE, "", namespace(name, {"team": team}))
            reader = f"export KUBECONFIG={admin}"
            yield Stage(client, reader, serve, DEFAULT_USER, "tidegate-system", "tidegate")


def namespace(name: str, labels: dict[str, str]) -> Object:
    """As it is created."""
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


@asynccontextmanager
async def registered(stage: Stage, authority: bytes, address: str) -> AsyncIterator[None]:
    """The API server asks the webhook while the body runs, and never after it."""
    made: list[tuple[Kind, str]] = []
    try:
        for body in stage.configurations(authority, address):
            kind = CONFIGURATIONS[body["kind"]]
            created = await stage.client.post(kind, "", body)
            made.append((kind, created["metadata"]["uid"]))
        yield
    finally:
        for kind, uid in made:
            await gone(stage.client, kind, "", stage.name, uid)


async def gone(client: Client, kind: Kind, namespace: str, name: str, uid: str) -> str | None:
    """Delete this very object; returns what went wrong, which must not stop other clearing up."""
    from webhook.cluster.errors import NotFound

    try:
        await client.delete(kind, namespace, name, uid=uid)
    except NotFound:
        return None
    except ApiError as error:
        return f"could not delete {kind.name} {name}: {error}"
    return None


async def is_asked(stage: Stage) -> str | None:
    """None once the API server asks the webhook; else what came instead.

    An unknown queue is refused by nobody but us. What slips through is suspended, and deleted.
    """
    probe = _probe(next(iter(NAMESPACES)))
    try:
        made = await stage.client.post(JOB, probe["metadata"]["namespace"], probe)
    except ApiError as error:
        return None if "no queue named" in str(error) else str(error)
    about = made["metadata"]
    await gone(stage.client, JOB, about["namespace"], about["name"], about["uid"])
    return "the API server does not ask the webhook"


def _probe(namespace: str) -> Object:
    pod = {"restartPolicy": "Never", "containers": [{"name": "probe", "image": "probe"}]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "generateName": "probe-",
            "namespace": namespace,
            "labels": {Key.QUEUE: "no-such-queue"},
        },
        "spec": {"suspend": True, "template": {"spec": pod}},
    }
