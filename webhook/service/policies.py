"""The policy in force, kept up to date with its files.

Files are polled by content, because notification misses the way a ConfigMap is mounted: a symlink
is swapped and no file ever changes. A set of files that does not pass as a whole changes nothing:
the last good policy stays, and it is loud. Reading and checking run in a thread.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from webhook.cluster.errors import cut
from webhook.language.check import load_policy
from webhook.language.policy import Policy
from webhook.language.problems import PolicyErrors
from webhook.language.render import render_text
from webhook.language.syntax import Source
from webhook.service.policy_files import PolicyFile, Unreadable, read_policy_files

log = logging.getLogger(__name__)

Read = Callable[[Sequence[str]], Sequence[PolicyFile]]
_brief: Read = partial(read_policy_files, brief=True)
SETTLING_READS = 5


class PolicyTrouble(Exception):
    """The files cannot be read, or are no policy; ``text`` is the whole report, many lines."""

    def __init__(self, text: str) -> None:
        super().__init__(cut(text))
        self.text = text


@dataclass(frozen=True, slots=True)
class Stale:
    """The files on disk are not what is in force."""

    since: float
    text: str


class PolicySource:
    """Paths of policy files and what was last good of them. ``current`` is None before that."""

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        read: Read = _brief,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.paths = tuple(paths)
        self.current: Policy | None = None
        self.stale: Stale | None = None
        self._read = read
        self._clock = clock
        self._seen = ""

    async def load(self) -> Policy:
        """The first time. Raises PolicyTrouble, and then nothing is in force."""
        await self._take(*await asyncio.to_thread(self._settled))
        if self.current is None:
            raise PolicyTrouble(self.stale.text if self.stale else "no policy")
        return self.current

    async def poll(self) -> bool:
        """Look once; True if another policy is in force now. Never raises PolicyTrouble."""
        try:
            files, digest = await asyncio.to_thread(self._settled)
        except PolicyTrouble as trouble:
            self._seen = ""
            self._complain(trouble.text)
            return False
        return digest != self._seen and await self._take(files, digest)

    async def follow(self, changed: Callable[[], None], *, every_seconds: float) -> None:
        """Poll for ever; ``changed`` is called on every change of what is in force or stale."""
        while True:
            await asyncio.sleep(every_seconds)
            was = self.stale
            if await self.poll() or self.stale is not was:
                changed()

    async def _take(self, files: Sequence[PolicyFile], digest: str) -> bool:
        self._seen = digest
        try:
            policy = await asyncio.to_thread(checked, files)
        except PolicyTrouble as trouble:
            self._complain(trouble.text)
            return False
        self.stale = None
        before, self.current = self.current, policy
        log.info("policy in force revision=%s files=%d", policy.revision, len(files))
        return before is None or before.revision != policy.revision

    def _complain(self, text: str) -> None:
        """Said once for each new report; the moment of the first one is kept."""
        if self.stale is not None and self.stale.text == text:
            return
        since = self.stale.since if self.stale is not None else self._clock()
        self.stale = Stale(since, text)
        if self.current is not None:  # at the first start whoever asked shows the report and ends
            kept = self.current.revision
            log.error("the policy files are broken; in force stays revision=%s: %s", kept, text)

    def _settled(self) -> tuple[Sequence[PolicyFile], str]:
        """Sequence[PolicyFile] and their digest, read twice alike: a swap in the middle is never half seen."""
        files, digest = self._once()
        for _ in range(SETTLING_READS):
            files, again = self._once()
            if again == digest:
                return files, digest
            digest = again
        raise PolicyTrouble("the policy files change faster than they can be read")

    def _once(self) -> tuple[Sequence[PolicyFile], str]:
        try:
            files = self._read([str(path) for path in self.paths])
        except (Unreadable, OSError) as error:
            raise PolicyTrouble(str(error)) from error
        digest = hashlib.sha256()
        for file in files:
            whole = f"{file.path}\0{file.flaw is None}\0{len(file.text)}\0{file.text}"
            digest.update(whole.encode(errors="surrogatepass"))
        return files, digest.hexdigest()


def checked(files: Sequence[PolicyFile]) -> Policy:
    """The policy of these files. Raises PolicyTrouble with the whole report."""
    flaws = [file.flaw for file in files if file.flaw is not None]
    try:
        policy = load_policy([(file.path, file.text) for file in files], flaws=flaws)
    except PolicyErrors as errors:
        sources = {file.path: Source(file.path, file.text) for file in files}
        raise PolicyTrouble(render_text(errors.problems, sources)) from errors
    if policy.not_obeyed:
        raise PolicyTrouble(_not_obeyed(policy))
    return policy


def _not_obeyed(policy: Policy) -> str:
    """What is understood and would be ignored: nobody may rely on it, so nothing of the policy is taken."""
    lines = [
        f"{place}: this version does not obey `{word}` yet" for word, place in policy.not_obeyed
    ]
    return "\n".join([*lines, "remove these statements, or keep the version that obeys them", ""])
