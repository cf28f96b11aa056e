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
from pathlib import Path
from typing import TYPE_CHECKING

from webhook.cluster.errors import cut

if TYPE_CHECKING:
    from webhook.language.policy import Policy

log = logging.getLogger(__name__)

Texts = Sequence[tuple[str, str]]
Read = Callable[[Sequence[Path]], Texts]
Load = Callable[[Texts], "Policy"]
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
        read: Read | None = None,
        load: Load | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.paths = tuple(paths)
        self.current: Policy | None = None
        self.stale: Stale | None = None
        self._read = read or _read_files
        self._load = load or _load
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
            texts, digest = await asyncio.to_thread(self._settled)
        except PolicyTrouble as trouble:
            self._seen = ""
            self._complain(trouble.text)
            return False
        return digest != self._seen and await self._take(texts, digest)

    async def follow(self, changed: Callable[[], None], *, every_seconds: float) -> None:
        """Poll for ever; ``changed`` is called on every change of what is in force or stale."""
        while True:
            await asyncio.sleep(every_seconds)
            was = self.stale
            if await self.poll() or self.stale is not was:
                changed()

    async def _take(self, texts: Texts, digest: str) -> bool:
        self._seen = digest
        try:
            policy = await asyncio.to_thread(self._checked, texts)
        except PolicyTrouble as trouble:
            self._complain(trouble.text)
            return False
        self.stale = None
        before, self.current = self.current, policy
        log.info("policy in force revision=%s files=%d", policy.revision, len(texts))
        return before is None or before.revision != policy.revision

    def _complain(self, text: str) -> None:
        """Said once for each new report; the moment of the first one is kept."""
        if self.stale is not None and self.stale.text == text:
            return
        since = self.stale.since if self.stale is not None else self._clock()
        self.stale = Stale(since, text)
        kept = self.current.revision if self.current else "none"
        log.error("the policy files are broken; in force stays revision=%s: %s", kept, text)

    def _settled(self) -> tuple[Texts, str]:
        """Texts and their digest, read twice alike: a swap in the middle is never half seen."""
        texts, digest = self._once()
        for _ in range(SETTLING_READS):
            texts, again = self._once()
            if again == digest:
                return texts, digest
            digest = again
        raise PolicyTrouble("the policy files change faster than they can be read")

    def _once(self) -> tuple[Texts, str]:
        try:
            texts = self._read(self.paths)
        except (OSError, ValueError) as error:
            raise PolicyTrouble(str(error)) from error
        digest = hashlib.sha256()
        for path, text in texts:
            digest.update(f"{path}\0{len(text)}\0{text}".encode(errors="surrogatepass"))
        return texts, digest.hexdigest()

    def _checked(self, texts: Texts) -> Policy:
        from webhook.language.problems import PolicyErrors, render_text

        try:
            return self._load(texts)
        except PolicyErrors as errors:
            raise PolicyTrouble(render_text(errors.problems, dict(texts), color=False)) from errors


def _read_files(paths: Sequence[Path]) -> Texts:
    from webhook.service.policy_files import read_policy_files

    return read_policy_files(paths)


def _load(texts: Texts) -> Policy:
    from webhook.language.load import load_policy

    return load_policy(texts)
