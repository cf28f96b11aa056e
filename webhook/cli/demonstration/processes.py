"""The webhook and the loop as processes of their own, as in a cluster: started, watched, ended with the demo.

They get a process group of their own, so that Ctrl-C reaches the demo alone and it ends them in
order. What they say goes to a file each; when one dies, its last lines are the message.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

READY_SECONDS = 60.0
END_SECONDS = 8.0
LAST_LINES = 12


class ChildDied(Exception):
    """A process of ours ended, or did not get ready; the text has its last lines."""


class Child:
    """``tidegate serve …``; ``address`` is where it says that it listens."""

    def __init__(self, name: str, arguments: Sequence[str], folder: Path) -> None:
        self.name = name
        self.log = folder / f"{name}.log"
        self.address = ""
        self._arguments = list(arguments)
        self._last: deque[str] = deque(maxlen=LAST_LINES)
        self._ready = asyncio.Event()
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Returns when it is of use. Raises ChildDied."""
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "webhook.cli.main", "serve", self.name, *self._arguments),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.PIPE,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
            process_group=0,
            limit=2**20,
        )
        self._reader = asyncio.create_task(self._read(self._process))
        ready = asyncio.create_task(self._ready.wait())
        await asyncio.wait(
            [ready, self._reader],
            timeout=READY_SECONDS,
            return_when=asyncio.FIRST_COMPLETED,
        )
        ready.cancel()
        if not self._ready.is_set():
            raise self.death("did not get ready")

    async def died(self) -> ChildDied:
        """Returns when it ends, which it never should."""
        if self._reader is not None:
            await asyncio.shield(self._reader)
        return self.death("ended")

    def death(self, what: str) -> ChildDied:
        """With its last lines."""
        said = "\n".join(f"  {line}" for line in self._last) or "  (it said nothing)"
        return ChildDied(f"the {self.name} {what}; its last lines ({self.log}):\n{said}")

    async def end(self) -> None:
        """SIGTERM, and SIGKILL for whoever does not listen."""
        if self._process is None:
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                self._process.send_signal(number)
            with suppress(TimeoutError):
                async with asyncio.timeout(END_SECONDS):
                    await self._process.wait()
                    break
        if self._reader is not None:
            await self._reader

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        if process.stderr is None:
            return
        with self.log.open("w", encoding="utf-8") as kept:
            while raw := await process.stderr.readline():
                line = raw.decode(errors="replace").rstrip()
                kept.write(line + "\n")
                kept.flush()
                self._last.append(line)
                if line.startswith("ready "):
                    self.address = line.split()[-1]
                    self._ready.set()
        await process.wait()


@asynccontextmanager
async def running(child: Child) -> AsyncIterator[Child]:
    """Between its start and its end, whatever happens in between."""
    try:
        await child.start()
        yield child
    finally:
        await child.end()
