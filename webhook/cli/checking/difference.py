"""What the webhook changes in an object, as a diff of YAML."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any, Final

import yaml

from webhook.model.kinds import Object

CONTEXT: Final = 2
_DUMPER: Final[Any] = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


class _Plain(_DUMPER):  # type: ignore[misc]  # whichever of the two there is
    """Writes a value as often as it is named: a reader of the diff has no use for anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def difference(before: Object, after: Object, name: str) -> Iterator[str]:
    """The lines of a unified diff; none where nothing changes."""
    if before == after:
        return
    lines = difflib.unified_diff(
        _yaml(before), _yaml(after), name, "as it would be stored", lineterm="", n=CONTEXT
    )
    yield from lines


def _yaml(obj: Object) -> list[str]:
    text = yaml.dump(
        obj, Dumper=_Plain, sort_keys=False, default_flow_style=False, allow_unicode=True, width=120
    )
    return str(text).splitlines()
