"""Policy texts with the cursor written in: ``queue vi|sion``."""

from __future__ import annotations

from webhook.cli.editor.workspace import Workspace, read_workspace

FILE = "ml.tide"


def marked(text: str) -> tuple[str, int]:
    """The text without the first ``¦``, and where it stood."""
    assert "¦" in text
    return text.replace("¦", "", 1), text.index("¦")


def workspace(*texts: str) -> Workspace:
    """Files named ml.tide, 1.tide, 2.tide … with these texts."""
    names = [FILE, *(f"{at}.tide" for at in range(1, len(texts)))]
    return read_workspace(list(zip(names, texts, strict=True)))
