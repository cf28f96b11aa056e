"""Reading fields of an object that anybody may have written: a wrong type is an error with a path, no traceback."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from webhook.model.kinds import Key, Object


class BadObject(ValueError):
    """An object that cannot be counted; ``path`` says where, the message is fit to be shown."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path


def mapping(parent: Mapping[str, Any], key: str, path: str = "") -> Mapping[str, Any]:
    """The map at ``key``; empty where absent or null. Raises BadObject for anything else."""
    value = parent.get(key)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise BadObject(_join(path, key), "want an object")
    return value


def sequence(parent: Mapping[str, Any], key: str, path: str = "") -> list[Mapping[str, Any]]:
    """The list of objects at ``key``; empty where absent or null. Raises BadObject for anything else."""
    value = parent.get(key)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
        raise BadObject(_join(path, key), "want a list of objects")
    return value


def count(parent: Mapping[str, Any], key: str, default: int, path: str = "") -> int:
    """A number of things, at least 0. Raises BadObject."""
    value = parent.get(key)
    if value is None:
        return default
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise BadObject(_join(path, key), "want a number that is not negative")
    return value


def ordinal(text: str) -> int | None:
    """The number a text spells in plain digits; None for anything else, and for more digits than an index has."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 11 else None


def metadata(obj: Object) -> Mapping[str, Any]:
    """The object's metadata."""
    return mapping(obj, "metadata")


def labels(obj: Object) -> Mapping[str, str]:
    """The object's labels; empty at worst."""
    return mapping(metadata(obj), "labels", "metadata")


def notes(obj: Object) -> Mapping[str, str]:
    """The object's annotations; empty at worst."""
    return mapping(metadata(obj), "annotations", "metadata")


def controller(obj: Object) -> str:
    """What controls it, as messages name it: ``CronJob team-a/nightly``; empty for what stands by itself."""
    about = metadata(obj)
    for reference in sequence(about, "ownerReferences", "metadata"):
        if reference.get("controller") is True:
            owner = f"{about.get('namespace') or ''}/{reference.get('name') or ''}"
            return f"{reference.get('kind') or ''} {owner}"
    return ""


def check_texts(obj: Object) -> None:
    """Labels and annotations are texts. Raises BadObject, as the API server would, but later than it asks webhooks."""
    for part, found in (("labels", labels(obj)), ("annotations", notes(obj))):
        for key, value in found.items():
            if not isinstance(value, str):
                raise BadObject(f"metadata.{part}[{key}]", "want a text")


def is_true(obj: Object, *conditions: str) -> bool:
    """Whether any of these conditions of its status stands at True."""
    return any(
        item.get("type") in conditions and item.get("status") == "True"
        for item in sequence(mapping(obj, "status"), "conditions", "status")
    )


def is_deleting(obj: Object) -> bool:
    """Whether somebody has deleted it, and finalizers keep it."""
    return bool(metadata(obj).get("deletionTimestamp"))


def place_in_line(obj: Object) -> float:
    """Seconds since the epoch: when it was submitted by its stamp, else when it was created, else 0."""
    for text in (notes(obj).get(Key.SUBMITTED), metadata(obj).get("creationTimestamp")):
        moment = read_time(text)
        if moment is not None:
            return moment
    return 0.0


def read_time(text: object) -> float | None:
    """RFC 3339 to seconds since the epoch; None for what is no such time."""
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def write_time(moment: float) -> str:
    """Seconds since the epoch to RFC 3339 with microseconds, as our stamps are written."""
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
