"""JSON patches (RFC 6902) applied, copying only what they touch: what the API server makes of what the webhook answers.

The sandbox stands in for that server and a rehearsal for both, so the one applier is here. As on the
real server, where it differs from the RFC: ``test`` of a missing member against null is true,
``replace`` sets a missing member, and an index may count from the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from webhook.model.kinds import Object
from webhook.model.patch import Patch


class DoesNotApply(ValueError):
    """A patch that fits not this document."""


_MISSING = object()


def apply_patch(document: Object, patch: Patch) -> Object:
    """The document with operations of ours applied. Raises DoesNotApply."""
    applied: Object = apply_operations(document, [op.as_json() for op in patch])
    return applied


def apply_operations(document: Any, operations: Iterable[Mapping[str, Any]]) -> Any:
    """The document with operations applied as they go over the wire. Raises DoesNotApply."""
    for operation in operations:
        document = _applied(document, operation)
    return document


def _applied(document: Any, operation: Mapping[str, Any]) -> Any:
    path = _pointer(operation.get("path"))
    match operation.get("op"):
        case "add":
            return _set(document, path, _value(operation), insert=True)
        case "replace":
            _need(document, path[:-1])
            return _set(document, path, _value(operation), insert=False)
        case "remove":
            _need(document, path)
            return _remove(document, path)
        case "test":
            return _tested(document, path, operation.get("value"))
        case "copy":
            source = _need(document, _pointer(operation.get("from")))
            return _set(document, path, source, insert=True)
        case "move":
            return _moved(document, _pointer(operation.get("from")), path)
    raise DoesNotApply("unknown operation")


def _moved(document: Any, source: list[str], path: list[str]) -> Any:
    if path[: len(source)] == source and path != source:
        raise DoesNotApply("a value cannot be moved into itself")
    value = _need(document, source)
    return _set(_remove(document, source), path, value, insert=True)


def _tested(document: Any, path: list[str], expected: Any) -> Any:
    found = _find(document, path[:-1]) if path else document
    if path:
        if found is _MISSING:
            raise DoesNotApply("the parent is missing")
        found = _step(found, path[-1])
    if not same(None if found is _MISSING else found, expected):
        raise DoesNotApply("the test failed")
    return document


def same(left: Any, right: Any) -> bool:
    """Equality of JSON values: true is not 1."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(v, right[k]) for k, v in left.items())
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right)


def _pointer(path: object) -> list[str]:
    if not isinstance(path, str) or (path and not path.startswith("/")):
        raise DoesNotApply("not a JSON pointer")
    return [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:]]


def _value(operation: Mapping[str, Any]) -> Any:
    if "value" not in operation:
        raise DoesNotApply("no value")
    return operation["value"]


def _index(part: str, length: int) -> int:
    if not re.fullmatch(r"-?[0-9]{1,9}", part):
        raise DoesNotApply("not an index")
    at = int(part)
    if not -length <= at < length:
        raise DoesNotApply("beyond the end")
    return at % length


def _step(node: Any, part: str) -> Any:
    if isinstance(node, dict):
        return node.get(part, _MISSING)
    if isinstance(node, list):
        return node[_index(part, len(node))]
    return _MISSING


def _find(node: Any, path: list[str]) -> Any:
    for part in path:
        node = _step(node, part)
        if node is _MISSING:
            break
    return node


def _need(document: Any, path: list[str]) -> Any:
    found = _find(document, path)
    if found is _MISSING:
        raise DoesNotApply("no such path")
    return found


def _set(node: Any, path: list[str], value: Any, *, insert: bool) -> Any:
    if not path:
        return value
    head, rest = path[0], path[1:]
    if rest:
        return _replaced(node, head, _set(_need(node, [head]), rest, value, insert=insert))
    if isinstance(node, list) and insert:
        at = len(node) if head == "-" else _index(head, len(node) + 1)
        return [*node[:at], value, *node[at:]]
    return _replaced(node, head, value)


def _replaced(node: Any, key: str, value: Any) -> Any:
    if isinstance(node, dict):
        return node | {key: value}
    if isinstance(node, list):
        at = _index(key, len(node))
        return [*node[:at], value, *node[at + 1 :]]
    raise DoesNotApply("neither a map nor a list")


def _remove(node: Any, path: list[str]) -> Any:
    if not path:
        raise DoesNotApply("the whole document cannot be removed")
    head, rest = path[0], path[1:]
    if rest:
        return _replaced(node, head, _remove(_step(node, head), rest))
    if isinstance(node, dict):
        return {key: value for key, value in node.items() if key != head}
    at = _index(head, len(node))
    return [*node[:at], *node[at + 1 :]]
