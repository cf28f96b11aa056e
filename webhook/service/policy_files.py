"""Find and read the policy files below some paths: the one place where policy text comes from disk.

All commands and both servers read a policy by this module, so that what was linted is what is served. A mounted
ConfigMap shows each file twice (``..data`` and a link to it), hence the rules: names that begin with `.` are skipped,
and a file that is reached twice counts once. Imports neither the Kubernetes client nor a web server.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from webhook.language.characters import decode, not_utf8
from webhook.language.problems import Problem
from webhook.language.syntax import Source

SUFFIX: Final = ".tide"


class Unreadable(Exception):
    """A path that is missing, cannot be read, or holds no policy; the message is fit to be shown."""


@dataclass(frozen=True, slots=True)
class PolicyFile:
    """A file as read. ``flaw`` is set where it is not UTF-8; what is not is then U+FFFD."""

    path: str
    text: str
    flaw: Problem | None = None


def read_policy_files(roots: Sequence[str], *, brief: bool = False) -> tuple[PolicyFile, ...]:
    """Every file below the roots, in their order, then bytewise by path. Raises Unreadable.

    ``brief``: paths are shown from the root's own name on (``policies/ml.tide``), as those who submit read them;
    where a server mounts its policy is no business of theirs.
    """
    seen: set[str] = set()
    found: list[PolicyFile] = []
    for root in roots:
        for path in _below(root):
            real = os.path.realpath(path)
            if real not in seen:
                seen.add(real)
                found.append(_read(path, _brief(root, path) if brief else path))
    if not found:
        raise Unreadable(f"no {SUFFIX} file below {', '.join(roots)}")
    return tuple(found)


def _below(root: str) -> Iterator[str]:
    """The files of one root: itself, whatever it is called, or what is below it."""
    try:
        if not Path(root).is_dir():
            Path(root).stat()
            yield root
            return
        below = sorted(
            files_in(root, (SUFFIX,)), key=lambda path: os.fsencode(os.path.relpath(path, root))
        )
    except OSError as error:
        raise Unreadable(_why(error, root)) from error
    yield from below


def files_in(root: str, endings: tuple[str, ...]) -> Iterator[str]:
    """The files below a folder whose names end so, in no order; hidden ones are passed over.

    Folders are entered once each, so that a link to a parent ends. Raises OSError.
    """
    entered: set[str] = set()
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        real = os.path.realpath(folder)
        if real in entered:
            continue
        entered.add(real)
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if entry.is_dir():
                    waiting.append(entry.path)
                elif entry.name.endswith(endings):
                    yield entry.path


def _brief(root: str, path: str) -> str:
    return os.path.relpath(path, os.path.dirname(os.path.abspath(root)))  # noqa: PTH120, PTH100 - links stay


def _read(path: str, name: str) -> PolicyFile:
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise Unreadable(_why(error, path)) from error
    shown = name.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    text, flaw = decode(data)
    if flaw is None:
        return PolicyFile(shown, text)
    return PolicyFile(shown, text, not_utf8(Source(shown, text), flaw))


def _why(error: OSError, path: str) -> str:
    return f"{error.filename or path}: {(error.strerror or str(error)).lower()}"
