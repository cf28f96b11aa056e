"""The pages of the codes, one a code, shipped with the package: ``tidegate explain TG203`` works without network.

Each says what the finding is, why it is bad, what to avoid and what to prefer; a test runs both examples.
"""

from __future__ import annotations

from importlib.resources import files


def page(code: str) -> str:
    """The text of a code's page, in Markdown; "" where there is none."""
    found = files(__name__) / f"{code}.md"
    return found.read_text(encoding="utf-8") if found.is_file() else ""
