"""Put a text back where it came from: whole or not at all, with its mode and owner, line ends and byte order mark.

A policy in a repository may be read at any time by a server that watches it, so it is never seen half written.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

BOM: Final = b"\xef\xbb\xbf"


def write_text(path: str, text: str) -> None:
    """Replace the file's text. A link stays a link: what it leads to is replaced. Raises OSError."""
    real = Path(os.path.realpath(path))
    old = real.read_bytes()
    data = text.encode("utf-8")
    if old.startswith(BOM) and not data.startswith(BOM):
        data = BOM + data
    descriptor, made = tempfile.mkstemp(prefix=f".{real.name}.", dir=real.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        with suppress(OSError):  # only root may give a file away
            os.chown(made, real.stat().st_uid, real.stat().st_gid)
        shutil.copymode(real, made)
        Path(made).replace(real)
    except BaseException:
        Path(made).unlink(missing_ok=True)
        raise
