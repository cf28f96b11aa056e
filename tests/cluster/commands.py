"""The command line of each component, and why each flag is there.

Everything listens on the loopback. What is not set is the component's default, on purpose: the
tests want the API server that people run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.build import Binaries

LOOPBACK = "127.0.0.1"

# Not "*": without kubelets and Node objects the pod garbage collector and the node life cycle
# controller would delete what the pod player runs, and on two cores each idle controller costs.
CONTROLLERS = (
    "clusterrole-aggregation-controller",  # the role `edit` is empty without it
    "cronjob-controller",
    "deployment-controller",
    "garbage-collector-controller",
    "job-controller",
    "namespace-controller",
    "replicaset-controller",
    "resourcequota-controller",
    "serviceaccount-controller",
    "statefulset-controller",
    "ttl-after-finished-controller",
    "validatingadmissionpolicy-status-controller",
)


@dataclass(frozen=True, slots=True)
class Ports:
    """One for each thing that listens."""

    etcd: int
    etcd_peer: int
    apiserver: int
    controller_manager: int
    jobset_webhook: int
    jobset_health: int

    @property
    def apiserver_url(self) -> str:
        return f"https://{LOOPBACK}:{self.apiserver}"

    @property
    def etcd_url(self) -> str:
        return f"http://{LOOPBACK}:{self.etcd}"

    @property
    def jobset_url(self) -> str:
        return f"https://{LOOPBACK}:{self.jobset_webhook}"


@dataclass(frozen=True, slots=True)
class Files:
    """Where the components of one control plane find what they share."""

    work_dir: Path

    @property
    def ca(self) -> Path:
        return self.work_dir / "ca.crt"

    @property
    def tls(self) -> Path:
        return self.work_dir / "tls"

    @property
    def tokens(self) -> Path:
        return self.work_dir / "tokens.csv"

    @property
    def account_key(self) -> Path:
        return self.work_dir / "service-accounts.key"

    @property
    def jobset_settings(self) -> Path:
        return self.work_dir / "jobset.json"

    def kubeconfig(self, user: str) -> Path:
        return self.work_dir / f"{user}.kubeconfig"

    def log(self, component: str) -> Path:
        return self.work_dir / f"{component}.log"


def etcd(binaries: Binaries, files: Files, ports: Ports) -> list[str | Path]:
    """Plain HTTP: nothing in it is worth a certificate. No compaction unless somebody asks."""
    client, peer = ports.etcd_url, f"http://{LOOPBACK}:{ports.etcd_peer}"
    return [
        binaries.etcd,
        "--name=test",
        f"--data-dir={files.work_dir / 'etcd'}",
        "--unsafe-no-fsync",  # the data does not outlive the machine, and disks in CI are slow
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=test={peer}",
        "--log-level=warn",
    ]


def apiserver(
    binaries: Binaries, files: Files, ports: Ports, gates: Mapping[str, bool]
) -> list[str | Path]:
    """Static tokens and RBAC; the service account admission plug-in stays on as everywhere."""
    return [
        binaries.kube_apiserver,
        f"--etcd-servers={ports.etcd_url}",
        # The whole history of a test stays readable in etcd, and in a form that tests can read.
        "--etcd-compaction-interval=0",
        "--storage-media-type=application/json",
        f"--bind-address={LOOPBACK}",
        f"--advertise-address={LOOPBACK}",
        f"--secure-port={ports.apiserver}",
        "--endpoint-reconciler-type=none",  # refuses a loopback address as an endpoint
        f"--cert-dir={files.work_dir}",
        f"--tls-cert-file={files.tls / 'tls.crt'}",
        f"--tls-private-key-file={files.tls / 'tls.key'}",
        f"--token-auth-file={files.tokens}",
        "--authorization-mode=RBAC",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={files.account_key}",
        f"--service-account-signing-key-file={files.account_key}",
        # Without it a graceful end waits a minute for watches that nobody closes.
        "--shutdown-watch-termination-grace-period=1s",
        "--service-cluster-ip-range=10.96.0.0/16",
        *_gates(gates),
    ]


def controller_manager(
    binaries: Binaries, files: Files, ports: Ports, gates: Mapping[str, bool]
) -> list[str | Path]:
    """Each controller under its own service account, as installers have it."""
    return [
        binaries.kube_controller_manager,
        f"--kubeconfig={files.kubeconfig('kube-controller-manager')}",
        "--authentication-skip-lookup=true",  # else it waits for a client CA that there is not
        "--use-service-account-credentials=true",
        f"--service-account-private-key-file={files.account_key}",
        f"--bind-address={LOOPBACK}",
        f"--secure-port={ports.controller_manager}",
        f"--cert-dir={files.work_dir}",
        "--leader-elect=false",
        f"--controllers={','.join(CONTROLLERS)}",
        "--kube-api-qps=500",  # 20 by default, which would be what a load test measures
        "--kube-api-burst=1000",
        *_gates(gates),
    ]


def jobset(binaries: Binaries, files: Files) -> list[str | Path]:
    """JobSet's manager with the settings that ``jobset_settings`` wrote."""
    return [
        binaries.jobset,
        f"--config={files.jobset_settings}",
        f"--kubeconfig={files.kubeconfig('jobset')}",
        "--zap-log-level=info",
    ]


def jobset_settings(files: Files, ports: Ports) -> str:
    """Our certificates instead of its own: it would write them into a Secret and wait."""
    settings = {
        "apiVersion": "config.jobset.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {"enable": False},
        "webhook": {
            "host": LOOPBACK,
            "port": ports.jobset_webhook,
            "certDir": str(files.tls),
        },
        "metrics": {"bindAddress": "0"},
        "health": {"healthProbeBindAddress": f"{LOOPBACK}:{ports.jobset_health}"},
    }
    return json.dumps(settings, indent=2)


def kubeconfig(files: Files, ports: Ports, token: str) -> str:
    """For one user; JSON is YAML, and every client reads it."""
    cluster = {"server": ports.apiserver_url, "certificate-authority": str(files.ca)}
    context = {"cluster": "test", "user": "test", "namespace": "default"}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": cluster}],
        "users": [{"name": "test", "user": {"token": token}}],
        "contexts": [{"name": "test", "context": context}],
        "current-context": "test",
    }
    return json.dumps(config, indent=2)


def _gates(gates: Mapping[str, bool]) -> list[str]:
    if not gates:
        return []
    named = ",".join(f"{name}={str(on).lower()}" for name, on in gates.items())
    return [f"--feature-gates={named}"]
