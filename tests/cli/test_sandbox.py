"""``tidegate sandbox`` from the outside: it says where it is, serves kubectl, ends on Ctrl-C."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.cluster.kubectl import Kubectl
from webhook.cli.exits import Exit
from webhook.cli.sandbox import command
from webhook.sandbox.kubeconfig import kubeconfig_text


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


@pytest.mark.parametrize("text", ["kind: Config\ncurrent-context: work\n", "", b"\xff"])
def test_a_kubeconfig_that_is_somebody_elses_is_left_alone(tmp_path: Path, text: str | bytes):
    kubeconfig = tmp_path / "config"
    data = text.encode() if isinstance(text, str) else text
    kubeconfig.write_bytes(data)
    result = CliRunner().invoke(command, [f"--kubeconfig={kubeconfig}"])
    assert (result.exit_code, result.stdout) == (Exit.USAGE, "")
    assert result.stderr.startswith("error: ")
    assert kubeconfig.read_bytes() == data


def test_the_kubeconfig_of_a_sandbox_that_was_killed_is_no_obstacle(tmp_path: Path):
    (tmp_path / "config").write_text(kubeconfig_text("https://x", b"", "admin", "t"))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        flags = [f"--port={taken.getsockname()[1]}", f"--kubeconfig={tmp_path / 'config'}"]
        assert "cannot listen" in CliRunner().invoke(command, flags).stderr


def test_a_folder_that_is_not_there_and_a_port_that_is_taken_are_told_in_one_line(tmp_path: Path):
    missing, kubeconfig = tmp_path / "none" / "config", tmp_path / "config"
    result = CliRunner().invoke(command, [f"--kubeconfig={missing}"])
    assert result.stderr == f"error: cannot write `{missing}`: there is no such folder\n"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = CliRunner().invoke(command, [f"--port={port}", f"--kubeconfig={kubeconfig}"])
    assert result.exit_code == Exit.USAGE
    assert result.stderr.startswith(f"error: cannot listen on 127.0.0.1:{port}: ")
    assert not kubeconfig.exists()
