"""Which files are one policy with an open buffer, and their texts: the buffer where one is open, else the disk.

All files below a folder of the workspace are one policy. A file outside of every folder is a policy of its own, and so
is a buffer that was never saved.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from webhook.language.problems import Problem
from webhook.service.policy_files import SUFFIX, Unreadable, read_policy_files


@dataclass(frozen=True, slots=True)
class Texts:
    """Path and text of every file of a policy, in the order in which it reads them."""

    texts: tuple[tuple[str, str], ...]
    flaws: tuple[Problem, ...] = ()
    trouble: str = ""
    """Why the disk could not be read; the open buffers are there all the same."""


def root_of(path: str, folders: Sequence[str]) -> str:
    """The folder of the workspace a file belongs to, the innermost of several; itself where it is in none."""
    around = [folder for folder in folders if _below(path, folder)]
    return max(around, key=len) if around else path


def read_texts(root: str, buffers: Mapping[str, str]) -> Texts:
    """What is below a root, with the buffers that belong to it (by path) on top."""
    texts: dict[str, str] = {}
    flaws: list[Problem] = []
    trouble = ""
    try:
        for file in read_policy_files([root]) if os.path.exists(root) else ():  # noqa: PTH110 - a root may be no path
            texts[file.path] = file.text
            if file.flaw is not None and file.path not in buffers:
                flaws.append(file.flaw)
    except Unreadable as error:
        trouble = "" if str(error).startswith(f"no {SUFFIX} file") else str(error)
    texts.update(buffers)
    order = sorted(texts, key=lambda path: os.fsencode(os.path.relpath(path, root)))
    return Texts(tuple((path, texts[path]) for path in order), tuple(flaws), trouble)


def _below(path: str, folder: str) -> bool:
    """True for a file that a policy of this folder reads: no part of its path begins with `.`."""
    relative = Path(os.path.relpath(path, folder))
    return not any(part.startswith(".") for part in relative.parts)
