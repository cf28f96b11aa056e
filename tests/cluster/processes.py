"""The servers of the control plane as processes: started, watched, ended, their logs kept.

Nothing here knows Kubernetes. A process that ends while somebody waits for it is reported with the
end of its log, since that is nearly always the whole story.
"""

from __future__ import annotations

import contextlib
import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

GUARD = Path(__file__).resolve().parent / "guard.py"
LOG_LINES = 40
POLL_SECONDS = 0.05


class ComponentError(RuntimeError):
    """A component did not start, or ended early; carries the end of its log."""

    def __init__(self, name: str, problem: str, log: Path) -> None:
        lines = log.read_text(errors="replace").splitlines() if log.exists() else []
        tail = "\n".join(lines[-LOG_LINES:])
        super().__init__(f"{name} {problem}; the last {LOG_LINES} lines of its log:\n{tail}")


class Component:
    """One server; can be started again after it was stopped, with the same command."""

    def __init__(
        self, name: str, command: Iterable[str | Path], *, log: Path, grace_seconds: float = 5.0
    ) -> None:
        self.name = name
        self.log = log
        self._command = [str(part) for part in command]
        self._grace_seconds = grace_seconds
        self._guard: subprocess.Popen[bytes] | None = None

    @property
    def running(self) -> bool:
        return self._guard is not None and self._guard.poll() is None

    def start(self) -> None:
        """Start it under a guard that ends it with us; the log is appended to."""
        with self.log.open("ab") as log:
            self._guard = subprocess.Popen(
                [sys.executable, "-I", "-S", GUARD, str(self._grace_seconds), *self._command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # a Ctrl-C in the terminal is ours to act on
            )

    def stop(self, *, kill: bool = False) -> None:
        """End it, wait until it is gone; does nothing if it is not running."""
        guard, self._guard = self._guard, None
        if guard is None or guard.stdin is None:
            return
        with contextlib.suppress(BrokenPipeError):
            if not kill:
                guard.stdin.write(b"t")
            guard.stdin.close()  # which flushes, and kills if nothing was said
        guard.wait(self._grace_seconds + 10)

    def wait_until(
        self, condition: Callable[[], bool], what: str, *, timeout_seconds: float = 60.0
    ) -> None:
        """Return once the condition holds; raises ComponentError if it ends or takes too long."""
        deadline = time.monotonic() + timeout_seconds
        while not condition():
            if not self.running:
                raise ComponentError(self.name, f"ended before {what}", self.log)
            if time.monotonic() > deadline:
                problem = f"did not get so far that {what} within {timeout_seconds:.0f} s"
                raise ComponentError(self.name, problem, self.log)
            time.sleep(POLL_SECONDS)


def is_alive(pid: int) -> bool:
    """Whether there is such a process, whoever owns it."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def free_ports(count: int) -> list[int]:
    """Ports of the loopback that nobody listens on, all different.

    Below the range that the kernel takes outgoing connections from: a server that restarts on its
    port would otherwise sometimes find it taken by one of its own clients.
    """
    found: list[int] = []
    for port in random.sample(range(20000, 32000), 2000):
        if _is_free(port):
            found.append(port)
        if len(found) == count:
            return found
    raise RuntimeError(f"fewer than {count} free ports between 20000 and 32000")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
