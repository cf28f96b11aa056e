"""The objects of ``-f``: files, folders and standard input, all that is wrong with them told at once."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Final

from webhook.rehearsal.manifests import MOST_CHARACTERS, BadManifests, Manifest, read_manifests
from webhook.service.policy_files import files_in

STDIN: Final = "-"
ENDINGS: Final = (".json", ".yaml", ".yml")
"""Of the files that are read in a folder, as kubectl has it; a file that is named may be called anything."""


class CannotRead(Exception):
    """Files that are missing, unreadable or no manifests; ``lines`` are fit to be shown."""

    def __init__(self, lines: Sequence[str]) -> None:
        super().__init__("\n".join(lines))
        self.lines = tuple(lines)


def read_all(roots: Sequence[str]) -> tuple[Manifest, ...]:
    """Every object, in the order of the roots, then of the paths. Raises CannotRead."""
    found: list[Manifest] = []
    wrong: list[str] = []
    for root in roots:
        try:
            for path in _below(root):
                found += _read(path)
        except BadManifests as error:
            wrong += [flaw.text for flaw in error.flaws]
        except (OSError, ValueError) as error:
            wrong.append(_why(error, root))
    if not found and not wrong:
        wrong = [f"no object in {', '.join(roots)}"]
    if wrong:
        raise CannotRead(wrong)
    return tuple(found)


def _below(root: str) -> Iterator[str]:
    if re.match(r"https?://", root):
        raise ValueError(
            f"{root}: nothing is fetched here; pipe it in: curl … | tidegate check … -f -"
        )
    if root == STDIN or not Path(root).is_dir():
        yield root
        return
    yield from sorted(files_in(root, ENDINGS))


def _read(path: str) -> tuple[Manifest, ...]:
    if path == STDIN:
        return read_manifests("standard input", _text(sys.stdin.buffer, "standard input"))
    with Path(path).open("rb") as stream:
        return read_manifests(path, _text(stream, path))


def _text(stream: BinaryIO, path: str) -> str:
    """No more than may be read, whatever sends it."""
    data = stream.read(MOST_CHARACTERS + 1)
    if len(data) > MOST_CHARACTERS:
        raise ValueError(f"{path}: longer than {MOST_CHARACTERS >> 20} MiB")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"{path}:{line}: not UTF-8") from None


def _why(error: Exception, root: str) -> str:
    if isinstance(error, OSError):
        return f"{error.filename or root}: {(error.strerror or str(error)).lower()}"
    return str(error)
