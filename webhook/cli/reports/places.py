"""Paths as machines want them: relative to where the command runs, with slashes, as a repository has them."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote


def relative(path: str) -> str:
    """The path below the working directory where it lies there, else as it was given."""
    given = Path(path)
    if not given.is_absolute():
        return given.as_posix()
    here = Path.cwd()
    return given.relative_to(here).as_posix() if given.is_relative_to(here) else given.as_posix()


def uri(path: str) -> str:
    """The same as a URI reference; an absolute path becomes a ``file:`` URI."""
    shown = relative(path)
    return f"file://{quote(shown)}" if shown.startswith("/") else quote(shown)
