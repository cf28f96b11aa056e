"""``tidegate sandbox`` from the outside: it says where it is, serves kubectl, ends on Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from tests.cluster.kubectl import Kubectl


def test_kubectl_can_join_in_and_ctrl_c_ends_it(tmp_path: Path):
    kubeconfig = tmp_path / "config"
    script = "from webhook.cli.sandbox import command; command()"
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-c", script, f"--kubeconfig={kubeconfig}"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline().startswith("serving on https://127.0.0.1:")
        assert running.stdout.readline() == f"export KUBECONFIG={kubeconfig}\n"
        assert "default" in Kubectl(kubeconfig).ok("get", "namespaces", "-o", "name")
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=20)
    assert (running.returncode, errors) == (0, "")
    assert not kubeconfig.exists()
