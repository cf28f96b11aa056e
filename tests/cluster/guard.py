"""Run one command and end it when whoever asked for it is gone.

A test run can be killed at any moment and must not leave an API server behind. So the harness does
not start its servers itself but starts this, with a pipe as standard input: the end of the pipe,
which the kernel delivers whatever happened to the other side, kills the command. A byte ``t`` on
the pipe ends it gracefully. Should this process be killed too, the command goes with it (Linux).

Run as ``python guard.py GRACE_SECONDS COMMAND...``; only the standard library, no threads.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys

PR_SET_PDEATHSIG = 1
OURS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _prepare_child() -> None:
    """Runs in the child before exec; safe here because this process has one thread."""
    for number in OURS:
        signal.signal(number, signal.SIG_DFL)  # an ignored signal would stay so
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _end(child: subprocess.Popen[bytes], grace_seconds: float) -> None:
    """Ask the child to end, then insist; the group, because it may have started others."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGTERM if grace_seconds else signal.SIGKILL)
    try:
        child.wait(grace_seconds or None)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)


def main() -> int:
    """Wait for whichever comes first: the end of the command or of the pipe."""
    grace_seconds = float(sys.argv[1])
    readable, writable = os.pipe()
    os.set_blocking(writable, False)
    signal.set_wakeup_fd(writable)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # only for its wake-up
    for number in OURS:  # a Ctrl-C is the harness's business: it closes the pipe
        signal.signal(number, signal.SIG_IGN)
    child = subprocess.Popen(
        sys.argv[2:],
        stdin=subprocess.DEVNULL,
        preexec_fn=_prepare_child,  # noqa: PLW1509
        start_new_session=True,
    )
    while child.poll() is None:
        ready, _, _ = select.select([0, readable], [], [])
        if readable in ready:
            os.read(readable, 512)
        if 0 in ready:
            _end(child, grace_seconds if os.read(0, 1) == b"t" else 0.0)
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


if __name__ == "__main__":
    raise SystemExit(main())
