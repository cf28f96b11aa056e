"""Build the control plane of the cluster tests from source, once, into a cache outside the tree.

No binary of etcd or Kubernetes can be had from a package registry, but their sources can, as Go
modules. The modules under ``go/`` pin them; this file compiles them and keeps the result under a
key made of the pins and the compiler, so that nothing is compiled twice and an edited pin never
meets an old binary. Only the standard library is used: CI calls this before it installs anything.

Where there is neither Go nor ``KUBEBUILDER_ASSETS`` it says so in one line and exits with 0.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SOURCES = Path(__file__).resolve().parent / "go"
ASSETS_VARIABLE = "KUBEBUILDER_ASSETS"

# What JobSet's manager needs beside its binary, from its own module.
JOBSET_CONFIG = (
    "config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml",
    "config/components/webhook/manifests.yaml",
    "config/components/rbac/role.yaml",
)


class UnavailableError(Exception):
    """The tier cannot run on this machine; the message is the one line to show."""


class BuildError(Exception):
    """Go is here and refused; the message says which command said what."""


@dataclass(frozen=True, slots=True)
class Part:
    """One binary, and where it comes from."""

    name: str
    pinned_in: str  # the folder under go/
    module: str  # the version is this one's
    package: str
    config: tuple[str, ...] = ()

    @property
    def outputs(self) -> list[str]:
        """What its folder in the cache holds that a control plane needs."""
        extra = [f"{self.name}.config", f"{self.name}.version"] if self.config else []
        return [self.name, *extra]

    @property
    def pins(self) -> Path:
        return SOURCES / self.pinned_in


ETCD, KUBERNETES, JOBSET = (
    "go.etcd.io/etcd/server/v3",
    "k8s.io/kubernetes",
    "sigs.k8s.io/jobset",
)
PARTS = (
    Part("etcd", "etcd", ETCD, ETCD),
    *(
        Part(name, "kubernetes", KUBERNETES, f"{KUBERNETES}/cmd/{name}")
        for name in ("kube-apiserver", "kube-controller-manager")
    ),
    Part("jobset", "jobset", JOBSET, JOBSET, JOBSET_CONFIG),
)


@dataclass(frozen=True, slots=True)
class Binaries:
    """Where everything that a control plane is started from lies."""

    etcd: Path
    kube_apiserver: Path
    kube_controller_manager: Path
    jobset: Path
    jobset_config: Path  # folder with the files of JOBSET_CONFIG, by their last name
    jobset_version: str


def ready() -> Binaries:
    """The binaries, if nothing needs to be compiled for them; raises UnavailableError otherwise."""
    return _collect(build_missing=False)


def ensure() -> Binaries:
    """The binaries, compiled if need be; raises UnavailableError or BuildError."""
    return _collect(build_missing=True)


def cache_folder() -> Path:
    """The folder that outlives work trees: ours, else the user's, else the usual one."""
    if own := os.environ.get("TIDEGATE_CACHE"):
        return Path(own) / "cluster"
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "tidegate" / "cluster"


def _collect(*, build_missing: bool) -> Binaries:
    given = _given_binaries()
    found = dict(given)
    for part in PARTS:
        if not given.keys() >= set(part.outputs):
            folder = _folder(part, build_missing=build_missing)
            found = {path.name: path for path in folder.iterdir()} | found
    return Binaries(
        etcd=found["etcd"],
        kube_apiserver=found["kube-apiserver"],
        kube_controller_manager=found["kube-controller-manager"],
        jobset=found["jobset"],
        jobset_config=found["jobset.config"],
        jobset_version=found["jobset.version"].read_text().strip(),
    )


def _given_binaries() -> dict[str, Path]:
    """What ``KUBEBUILDER_ASSETS`` holds; etcd and kube-apiserver must be among it if it is set."""
    assets = os.environ.get(ASSETS_VARIABLE)
    if not assets:
        return {}
    names = [name for part in PARTS for name in part.outputs]
    given = {name: Path(assets) / name for name in names if (Path(assets) / name).exists()}
    for name in ("etcd", "kube-apiserver"):
        if name not in given:
            raise BuildError(f"{ASSETS_VARIABLE} is {assets}, but there is no {name} in it")
    return given


def _folder(part: Part, *, build_missing: bool) -> Path:
    if shutil.which("go") is None:
        raise UnavailableError(
            f"skipped: the tests on a real control plane; no Go to build {part.name} with, and "
            f"{ASSETS_VARIABLE} does not name a folder that has all it takes"
        )
    folder = cache_folder() / f"{part.name}-{_key(part)}"
    if folder.is_dir():
        return folder
    if not build_missing:
        raise UnavailableError(
            f"skipped: the tests on a real control plane; {part.name} is not built yet, "
            "run `python tests/cluster/build.py` (some 15 minutes, once)"
        )
    with _lock(part):
        if not folder.is_dir():  # another process may have built it while we waited
            _build(part, folder)
    return folder


def _key(part: Part) -> str:
    """What must not change for a binary to be used again; raises BuildError."""
    told = _go(part, "env", "GOVERSION", "GOOS", "GOARCH")
    parts = [told.encode(), repr(part).encode()]
    parts += [(part.pins / name).read_bytes() for name in ("go.mod", "go.sum")]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


@contextlib.contextmanager
def _lock(part: Part) -> Iterator[None]:
    """One builder at a time; the lock goes with the process, however it ends."""
    cache_folder().mkdir(parents=True, exist_ok=True)
    with (cache_folder() / f"{part.name}.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say(f"{part.name}: another process builds it, waiting")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _build(part: Part, folder: Path) -> None:
    """Compile into a folder beside, then rename: nobody ever sees half of it."""
    for leftover in folder.parent.glob(f"{part.name}-*.unfinished"):  # of a build that was killed
        shutil.rmtree(leftover)
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    unfinished.mkdir(parents=True)
    version = _go(part, "list", "-m", "-f", "{{.Version}}", part.module).strip()
    started = time.monotonic()
    _say(f"building {part.name} {version}")
    flags = ["-trimpath", "-ldflags", _linker_flags(part, version)]
    _go(part, "build", *flags, "-o", str(unfinished / part.name), part.package)
    _say(f"built {part.name} in {time.monotonic() - started:.0f} s")
    _copy_config(part, unfinished, version)
    unfinished.rename(folder)


def _copy_config(part: Part, folder: Path, version: str) -> None:
    """The manifests that belong to exactly this version of the controller."""
    (folder / f"{part.name}.version").write_text(version + "\n")
    if not part.config:
        return
    origin = Path(_go(part, "list", "-m", "-f", "{{.Dir}}", part.module).strip())
    target = folder / f"{part.name}.config"
    target.mkdir()
    for name in part.config:
        (target / Path(name).name).write_bytes((origin / name).read_bytes())


def _linker_flags(part: Part, version: str) -> str:
    """Kubernetes takes its version from the linker; kubectl refuses to parse what it has else."""
    if part.pinned_in != "kubernetes":
        return "-s -w"
    major, minor, _ = version.removeprefix("v").split(".", 2)
    values = {
        "gitVersion": version,
        "gitMajor": major,
        "gitMinor": minor,
        "gitTreeState": "clean",
        "gitCommit": "unknown",
        "buildDate": "1970-01-01T00:00:00Z",
    }
    return "-s -w " + " ".join(
        f"-X k8s.io/component-base/version.{name}={value}" for name, value in values.items()
    )


@functools.cache
def _go_environment() -> dict[str, str]:
    # The caller's flags may say -mod=mod or name a workspace: then go.sum would decide nothing.
    return os.environ | {
        "CGO_ENABLED": "0",
        "GOFLAGS": "-mod=readonly -buildvcs=false",
        "GOWORK": "off",
    }


def _go(part: Part, *arguments: str) -> str:
    """Run Go in the module's folder and return what it printed; raises BuildError."""
    done = subprocess.run(
        ["go", *arguments],
        cwd=part.pins,
        env=_go_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        tail = "\n".join((done.stdout + done.stderr).strip().splitlines()[-20:])
        command = " ".join(["go", *arguments])
        raise BuildError(f"`{command}` in {part.pins} exited with {done.returncode}:\n{tail}")
    return done.stdout


def _say(text: str) -> None:
    print(text, flush=True)


def main() -> int:
    """Build what is missing and say where it is."""
    try:
        binaries = ensure()
    except UnavailableError as reason:
        _say(str(reason))
        return 0
    except BuildError as error:
        print(error, file=sys.stderr, flush=True)
        return 1
    _say(f"the control plane is ready: {binaries.kube_apiserver.parent}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
