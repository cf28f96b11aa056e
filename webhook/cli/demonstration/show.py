"""The demo as a whole: stage, processes, registration, day, screen, and the way back from all of it."""

from __future__ import annotations

import asyncio
import shutil
import signal
import tempfile
import time
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
from rich.console import Console, RenderableType
from rich.live import Live

from webhook.cli.demonstration.borrowed import Lent, borrowed
from webhook.cli.demonstration.day import Day
from webhook.cli.demonstration.picture import Fronts, Painter
from webhook.cli.demonstration.processes import Child, ChildDied, running
from webhook.cli.demonstration.screen import screen
from webhook.cli.demonstration.stage import NoStage, Say, Stage, is_asked, registered, sandboxed
from webhook.cli.demonstration.summary import Summary
from webhook.cli.demonstration.watching import WATCHED, World, follow
from webhook.cli.demonstration.workday import QUEUES, hour_seconds, workday
from webhook.language.policy import Policy
from webhook.service.policies import PolicyTrouble, checked
from webhook.service.policy_files import Unreadable, read_policy_files

ASKED_SECONDS = 20.0
FRAMES = 5
"""Pictures a second"""
TALK_SECONDS = 5.0
OVER = "the day is over; Ctrl-C ends the demo"


class CannotRun(Exception):
    """The demo cannot begin; the text says why and what would help."""


class Overdue(Exception):
    """Not everything had ended when the patience was over."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line says. ``lent`` None: a sandbox."""

    policies: Path
    seconds: float
    seed: int
    live: bool
    stay: bool
    lent: Lent | None

    @property
    def limit_seconds(self) -> float:
        """Until then everything has to be done."""
        return 60.0 + 4 * self.seconds


@dataclass(slots=True)
class Outcome:
    """``summary`` None: it did not come to a day. ``logs``: kept because something went wrong."""

    summary: Summary | None = None
    interrupted: bool = False
    trouble: str = ""
    logs: Path | None = None
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Resource → the policy's short name for it"""


@dataclass(slots=True)
class Show:
    """One run. ``say`` takes lines for standard error."""

    options: Options
    policy: Policy
    say: Say
    console: Console
    outcome: Outcome = field(default_factory=Outcome)
    fronts: Fronts = field(default_factory=dict)

    async def run(self) -> Outcome:
        """To the end of the day, or to Ctrl-C, SIGTERM or the closing of the terminal."""
        aliases = self.policy.aliases.items()
        self.outcome.aliases = {resource: short for short, resource in aliases}
        folder = Path(tempfile.mkdtemp(prefix="tidegate-demo-"))
        try:
            await self._until_stopped(self._play(folder))
        except (ChildDied, Overdue) as error:
            self.outcome.trouble, self.outcome.logs = str(error), folder
        except NoStage as error:
            raise CannotRun(str(error)) from error
        finally:
            if self.outcome.logs is None:
                shutil.rmtree(folder, ignore_errors=True)
        return self.outcome

    async def _until_stopped(self, play: Coroutine[Any, Any, None]) -> None:
        turning = asyncio.get_running_loop()
        task = asyncio.create_task(play)

        def stop() -> None:
            if not self.outcome.interrupted:  # once: clearing up is not to be interrupted
                self.outcome.interrupted = True
                task.cancel()

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            turning.add_signal_handler(number, stop)
        with suppress(asyncio.CancelledError):
            await task

    async def _play(self, folder: Path) -> None:
        async with AsyncExitStack() as stack:
            stage = await stack.enter_async_context(self._stage(folder))
            self.say("starting webhook and loop")
            loop = await stack.enter_async_context(running(self._loop(stage, folder)))
            webhook = self._webhook(stage, folder, loop)
            await stack.enter_async_context(running(webhook))
            authority = (folder / "certs" / "ca.crt").read_bytes()
            await stack.enter_async_context(registered(stage, authority, webhook.address))
            await until_asked(stage, webhook)
            async with attended(loop, webhook):
                await self._day(stage, loop)

    def _stage(self, folder: Path) -> Any:
        if self.options.lent is None:
            return sandboxed(folder)
        return borrowed(self.options.lent, folder, self.say)

    def _loop(self, stage: Stage, folder: Path) -> Child:
        flags = ["--status-listen", "127.0.0.1:0"]
        return Child("loop", [*self._common(stage), *flags], folder)

    def _webhook(self, stage: Stage, folder: Path, loop: Child) -> Child:
        flags = ["--listen", stage.listen, "--self-signed-dir", str(folder / "certs")]
        flags += ["--loop-user", stage.loop_user, "--own-namespace", stage.own_namespace]
        flags += ["--status-url", loop.address, "--drain", "0"]
        for name in stage.tls_names:
            flags += ["--tls-names", name]
        return Child("webhook", [*self._common(stage), *flags], folder)

    def _common(self, stage: Stage) -> Sequence[str]:
        return ("--policies", str(self.options.policies), "--kubeconfig", str(stage.serve))

    async def _day(self, stage: Stage, loop: Child) -> None:
        options, began = self.options, time.monotonic()

        def clock() -> float:
            return time.monotonic() - began

        world = World(self.policy.quotas, clock, hour_seconds(options.seconds))
        day = Day(
            workday(seed=options.seed, seconds=options.seconds), options.seconds, clock, world
        )
        changed = asyncio.Event()
        try:
            async with beside(
                *(follow(stage.client, kind, world, changed.set) for kind in WATCHED),
                day.submit(stage.client),
                self._ask_loop(loop.address),
                self._display(Painter(self.policy), day, stage),
            ):
                await self._until_done(day, changed)
                if options.stay:
                    await asyncio.Event().wait()
        finally:
            self.outcome.summary = day.summary()

    async def _until_done(self, day: Day, changed: asyncio.Event) -> None:
        try:
            async with asyncio.timeout(self.options.limit_seconds):
                while not day.done:
                    changed.clear()
                    with suppress(TimeoutError):
                        await asyncio.wait_for(changed.wait(), 0.5)
        except TimeoutError:
            raise Overdue(
                f"not all work had ended after {self.options.limit_seconds:.0f} s"
            ) from None

    async def _ask_loop(self, address: str) -> None:
        """Who is next and why, twice a second; the demo goes on without an answer."""
        timeout = aiohttp.ClientTimeout(total=2.0)
        async with aiohttp.ClientSession(timeout=timeout, trust_env=False) as session:
            while self.options.live:
                with suppress(aiohttp.ClientError, TimeoutError, ValueError):
                    async with session.get(f"{address}/waiting") as answer:
                        self.fronts = await answer.json()
                await asyncio.sleep(0.5)

    async def _display(self, painter: Painter, day: Day, stage: Stage) -> None:
        if self.options.live:
            await self._animate(painter, day, stage)
        else:
            self.say(f"join in: {stage.reader}")
            await self._talk(day)

    async def _animate(self, painter: Painter, day: Day, stage: Stage) -> None:
        def draw() -> RenderableType:
            note = OVER if day.done and self.options.stay else ""
            picture = painter.paint(
                day.world, self.fronts, day.progress(), reader=stage.reader, note=note
            )
            size = self.console.size
            return screen(picture, width=size.width, height=size.height)

        try:
            with Live(console=self.console, screen=True, auto_refresh=False) as live:
                while True:
                    live.update(draw(), refresh=True)
                    await asyncio.sleep(1 / FRAMES)
        finally:
            self.console.print(draw())  # the other screen is gone: leave the last picture here

    async def _talk(self, day: Day) -> None:
        while not day.done:
            await asyncio.sleep(TALK_SECONDS)
            now = day.progress()
            running = now.started - now.finished
            waiting = now.submitted - now.refused - now.started
            self.say(
                f"{now.clock}  {now.submitted}/{now.planned} submitted, {running} running,"
                f" {waiting} waiting, {now.finished} finished, {now.refused} refused"
            )
        if self.options.stay:
            self.say(OVER)


def load(path: Path) -> Policy:
    """The policy, checked before anything is started. Raises CannotRun."""
    try:
        policy = checked(read_policy_files([str(path)]))
    except Unreadable as error:
        raise CannotRun(str(error)) from error
    except PolicyTrouble as trouble:
        raise CannotRun(trouble.text.rstrip()) from trouble
    missing = [queue for queue in QUEUES if queue not in policy.quotas.queues]
    if missing:
        raise CannotRun(
            f"the demo's day is written for the queues {', '.join(QUEUES)};"
            f" the policy in `{path}` has no {', '.join(missing)}"
        )
    return policy


async def until_asked(stage: Stage, webhook: Child) -> None:
    """Returns once the API server asks the webhook. Raises NoStage with what it says instead."""
    ends, answer = time.monotonic() + ASKED_SECONDS, ""
    while time.monotonic() < ends:
        found = await is_asked(stage)
        if found is None:
            return
        answer = found
        await asyncio.sleep(0.2)
    where = stage.url or webhook.address
    hint = (
        ""
        if stage.url
        else "; a loopback address serves an API server on this machine only:"
        " give --webhook-url https://HOST:PORT that leads from there to here"
    )
    raise NoStage(f"the API server cannot reach the webhook at {where} ({answer}){hint}")


@asynccontextmanager
async def beside(*jobs: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Jobs while the body runs; one that fails ends the body, and the failure is the caller's."""
    body = asyncio.current_task()
    failed: list[BaseException] = []

    def ended(task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            failed.append(error)
            if body is not None:
                body.cancel()

    tasks = [asyncio.create_task(job) for job in jobs]
    for task in tasks:
        task.add_done_callback(ended)
    try:
        yield
    except asyncio.CancelledError:
        if not failed:
            raise
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    if failed:
        if body is not None:
            body.uncancel()
        raise failed[0]


@asynccontextmanager
async def attended(*children: Child) -> AsyncIterator[None]:
    """While the body runs, the death of a process is an exception."""

    async def mourn(child: Child) -> None:
        raise await child.died()

    async with beside(*map(mourn, children)):
        yield
