"""JSON Patch (RFC 6902) as values: what the webhook answers with and the loop writes.

Operations are built directly, never by comparing documents: a difference of two JobSets costs milliseconds, an
operation costs nothing. Add below a map that is absent is refused by the API server, so ``put`` makes parents first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

OpName: TypeAlias = Literal["add", "remove", "replace", "test"]


@dataclass(frozen=True, slots=True)
class Op:
    """One operation; ``value`` is ignored for ``remove``."""

    op: OpName
    path: str
    value: Any = None

    def as_json(self) -> dict[str, Any]:
        """As it goes over the wire."""
        if self.op == "remove":
            return {"op": self.op, "path": self.path}
        return {"op": self.op, "path": self.path, "value": self.value}


Patch: TypeAlias = tuple[Op, ...]
NO_PATCH: Patch = ()


def pointer(*parts: str | int) -> str:
    """JSON pointer (RFC 6901): ``pointer("metadata", "a/b")`` → ``/metadata/a~1b``; ``~`` is escaped first."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def put(document: Mapping[str, Any], path: Sequence[str | int], value: Any) -> Patch:
    """Operations that make ``document`` hold ``value`` at ``path``; none where it already does.

    Absent maps on the way are added whole, in one operation; what is no map there gives way to one. Lists on the way
    must be there. Each call looks at the document alone: two of them below one absent map would undo each other.
    """
    here: Any = document
    for depth, part in enumerate(path):
        last = depth == len(path) - 1
        present = _has(here, part)
        if last and present and _same(here[part], value):
            return NO_PATCH
        if last or not present or not isinstance(here[part], (Mapping, list)):
            name: OpName = "replace" if present else "add"
            return (Op(name, pointer(*path[: depth + 1]), _nested(path[depth + 1 :], value)),)
        here = here[part]
    raise ValueError("an empty path has no place to put a value")


def drop(document: Mapping[str, Any], path: Sequence[str | int]) -> Patch:
    """The operation that removes what stands at ``path``; none where nothing does."""
    here: Any = document
    for part in path:
        if not _has(here, part):
            return NO_PATCH
        here = here[part]
    return (Op("remove", pointer(*path)),)


def _has(here: Any, part: str | int) -> bool:
    if isinstance(here, Mapping):
        return part in here
    return isinstance(here, list) and isinstance(part, int) and 0 <= part < len(here)


def _same(one: Any, other: Any) -> bool:
    """Equal as JSON: true is not 1, at any depth."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return type(one) is type(other) and bool(one == other)


def _nested(path: Sequence[str | int], value: Any) -> Any:
    for part in reversed(path):
        value = {part: value}
    return value
