"""A real control plane on the loopback: etcd, API server, controllers, JobSet.

What comes in are the binaries that ``build.py`` made; what goes out are a URL, a CA file and a
token for each user. There are no nodes: ``player.py`` plays the pods. Free of pytest, so that a
benchmark or a person can use it as well::

    with ControlPlane() as plane:
        print(plane.url, plane.kubeconfig("alice"))
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import yaml

from tests.cluster import bootstrap, build, certificates, commands
from tests.cluster.processes import Component, free_ports, is_alive
from tests.cluster.rest import Rest, RestError

PREFIX = "tidegate-cluster-"
OWNER = "owner.pid"
CRD_PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
ACCESS_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
JOBSETS = "/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets"

# What must be granted before a test may start: (user, group, resource, verb). RBAC is answered
# from the API server's own caches, which lag behind the objects.
GRANTS = (
    ("alice", "batch", "jobs", "create"),
    ("alice", "jobset.x-k8s.io", "jobsets", "create"),
    ("argocd", "rbac.authorization.k8s.io", "clusterroles", "create"),
    ("loop", "batch", "jobs", "patch"),
    ("jobset", "batch", "jobs", "create"),
)


def sweep_leftovers() -> None:
    """Remove the folders of test runs that were killed; etcd's are not small."""
    for owner in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{OWNER}"):
        with contextlib.suppress(OSError, ValueError):  # gone meanwhile, or somebody else's
            if not is_alive(int(owner.read_text())):
                shutil.rmtree(owner.parent, ignore_errors=True)


class ControlPlane:
    """One control plane with its own data, users and certificates; start, use, stop."""

    def __init__(
        self,
        binaries: build.Binaries | None = None,
        *,
        feature_gates: Mapping[str, bool] | None = None,
        keep_work_dir: bool = False,
    ) -> None:
        """Starts nothing yet; raises build.UnavailableError if there is nothing to start.

        ``feature_gates`` go to the API server and the controllers, for instance to see how an
        older version behaves; ``keep_work_dir`` leaves logs and data behind for a person to read.
        """
        self._binaries = binaries or build.ready()
        self._gates = dict(feature_gates or {})
        self._keep = keep_work_dir
        self._users = bootstrap.users()
        self._ports = commands.Ports(*free_ports(6))
        sweep_leftovers()
        self.work_dir = Path(tempfile.mkdtemp(prefix=PREFIX))
        (self.work_dir / OWNER).write_text(str(os.getpid()))
        self._files = commands.Files(self.work_dir)
        self._authority = certificates.Authority()
        self._components = {part.name: part for part in self._make_components()}

    @property
    def url(self) -> str:
        return self._ports.apiserver_url

    @property
    def etcd_url(self) -> str:
        """Where the stored history can be read, whatever becomes of the API server."""
        return self._ports.etcd_url

    @property
    def ca_file(self) -> Path:
        return self._files.ca

    def token(self, user: str) -> str:
        """The bearer token of a user by the short name; raises KeyError for an unknown one."""
        return self._users[user].token

    def username(self, user: str) -> str:
        """The name that the API server and admission reviews give to the user."""
        return self._users[user].name

    def kubeconfig(self, user: str = "admin") -> Path:
        """A file that kubectl and every client library read."""
        return self._files.kubeconfig(user)

    def rest(self, user: str = "admin") -> Rest:
        """Plain synchronous calls as this user, for the set-up of a test."""
        return Rest(self.url, self.ca_file, self.token(user))

    def logs(self, component: str) -> Path:
        """The log of etcd, kube-apiserver, kube-controller-manager or jobset."""
        return self._components[component].log

    @functools.cached_property
    def versions(self) -> dict[str, str]:
        """What runs, by component, as each says itself (JobSet: as its module is called)."""
        return {
            "etcd": _first_number([self._binaries.etcd, "--version"]),
            "kube-apiserver": _first_number([self._binaries.kube_apiserver, "--version"]),
            "kube-controller-manager": _first_number(
                [self._binaries.kube_controller_manager, "--version"]
            ),
            "jobset": self._binaries.jobset_version.removeprefix("v"),
        }

    def __enter__(self) -> ControlPlane:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start everything and return once it answers; raises ComponentError."""
        atexit.register(self.stop)
        try:
            self._write_files()
            self._start_storage()
            self._grant_permissions()
            self._start_controllers()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End everything and remove its files; may be called at any time, and twice."""
        atexit.unregister(self.stop)
        for component in reversed(self._components.values()):
            component.stop(kill=True)  # nothing of it is needed any more
        if self._keep:
            (self.work_dir / OWNER).unlink(missing_ok=True)  # so that nobody sweeps it
        else:
            shutil.rmtree(self.work_dir, ignore_errors=True)

    def add_namespace(self, name: str, labels: Mapping[str, str] | None = None) -> None:
        """Create a namespace and wait until pods are accepted in it; raises ComponentError."""
        path, body = bootstrap.namespace(name)
        body["metadata"]["labels"] = dict(labels or {})
        self.rest().apply(path, body)
        self._components["kube-controller-manager"].wait_until(
            lambda: self._accepts_pods(name), f"{name} had a default service account"
        )

    def restart_apiserver(self, *, kill: bool = False) -> None:
        """End the API server, gracefully or at once, and start it on the same port and data.

        Returns once it is ready. Clients see refused connections meanwhile.
        """
        self.stop_apiserver(kill=kill)
        self.start_apiserver()

    def stop_apiserver(self, *, kill: bool = False) -> None:
        """End only the API server: an outage that lasts until ``start_apiserver``."""
        self._components["kube-apiserver"].stop(kill=kill)

    def start_apiserver(self) -> None:
        """Start it and wait until it is ready; raises ComponentError."""
        apiserver = self._components["kube-apiserver"]
        apiserver.start()
        admin = self.rest()
        apiserver.wait_until(lambda: admin.healthy("/readyz"), "/readyz answered")

    def restart_controllers(self) -> None:
        """Start the controllers and JobSet anew, which puts an end to their backing off.

        After an outage their watches come back only within half a minute; a test that is not
        about them need not wait for that.
        """
        for name in ("kube-controller-manager", "jobset"):
            self._components[name].stop(kill=True)
            self._components[name].start()
        jobset = self._components["jobset"]
        jobset.wait_until(self._jobset_answers, "its webhooks answered")

    def _make_components(self) -> list[Component]:
        """In the order of their start."""
        binaries, files, ports = self._binaries, self._files, self._ports
        lines = {
            "etcd": commands.etcd(binaries, files, ports),
            "kube-apiserver": commands.apiserver(binaries, files, ports, self._gates),
            "kube-controller-manager": commands.controller_manager(
                binaries, files, ports, self._gates
            ),
            "jobset": commands.jobset(binaries, files),
        }
        return [Component(name, line, log=files.log(name)) for name, line in lines.items()]

    def _write_files(self) -> None:
        files = self._files
        files.ca.write_bytes(self._authority.pem)
        self._authority.write_server_pair(files.tls)
        files.account_key.write_bytes(certificates.key_pem(certificates.new_key()))
        files.tokens.write_text(bootstrap.token_file(self._users.values()))
        files.jobset_settings.write_text(commands.jobset_settings(files, self._ports))
        for name, user in self._users.items():
            config = commands.kubeconfig(files, self._ports, user.token)
            files.kubeconfig(name).write_text(config)

    def _start_storage(self) -> None:
        self._components["etcd"].start()
        # The API server waits for etcd by itself; it takes longer to get that far than etcd.
        self.start_apiserver()

    def _grant_permissions(self) -> None:
        admin = self.rest()
        admin.apply(*bootstrap.namespace(bootstrap.NAMESPACE))
        for path, body in bootstrap.permissions(self._binaries.jobset_config / "role.yaml"):
            admin.apply(path, body)

    def _start_controllers(self) -> None:
        manager, jobset = self._components["kube-controller-manager"], self._components["jobset"]
        manager.start()
        self._register_jobset()
        jobset.start()
        jobset.wait_until(self._jobset_answers, "its webhooks answered")
        manager.wait_until(lambda: self._accepts_pods("default"), "pods were accepted")
        manager.wait_until(self._grants_hold, "the users had their rights")

    def _register_jobset(self) -> None:
        config, admin = self._binaries.jobset_config, self.rest()
        crd = yaml.safe_load((config / "jobset.x-k8s.io_jobsets.yaml").read_text())
        path = f"{CRD_PATH}/{crd['metadata']['name']}"
        admin.apply(path, crd)
        self._components["kube-apiserver"].wait_until(
            lambda: _is_true(admin.get(path), "Established"), "the kind JobSet was established"
        )
        webhooks = bootstrap.jobset_webhooks(
            config / "manifests.yaml", self._ports.jobset_url, self._authority.pem
        )
        for place, body in webhooks:
            admin.apply(place, body)

    def _jobset_answers(self) -> bool:
        """A dry run passes through both of its webhooks and leaves nothing."""
        body = {
            "apiVersion": "jobset.x-k8s.io/v1alpha2",
            "kind": "JobSet",
            "metadata": {"name": "probe", "namespace": "default"},
            "spec": {"replicatedJobs": []},
        }
        try:
            self.rest().create(f"{JOBSETS}?dryRun=All", body)
        except RestError:
            return False
        return True

    def _accepts_pods(self, namespace: str) -> bool:
        """Pods are refused in a namespace that has no default service account yet."""
        return self.rest().healthy(f"/api/v1/namespaces/{namespace}/serviceaccounts/default")

    def _grants_hold(self) -> bool:
        return all(self._granted(*grant) for grant in GRANTS)

    def _granted(self, user: str, group: str, resource: str, verb: str) -> bool:
        wanted = {"group": group, "resource": resource, "verb": verb, "namespace": "default"}
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": wanted},
        }
        return bool(self.rest(user).create(ACCESS_REVIEWS, body)["status"]["allowed"])


def _is_true(thing: dict[str, Any], condition: str) -> bool:
    known = thing.get("status", {}).get("conditions") or []  # null at first
    return any(one["type"] == condition and one["status"] == "True" for one in known)


def _first_number(command: list[str | Path]) -> str:
    """The version in what a program prints: `etcd Version: 3.7.3`, `Kubernetes v1.37.2`."""
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    words = printed.splitlines()[0].split()
    return next(word.removeprefix("v") for word in words if word.strip("v")[:1].isdigit())
