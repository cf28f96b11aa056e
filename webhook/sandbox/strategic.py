"""Strategic merge patches of built-in kinds, with the directives kubectl sends.

Maps merge key by key and null removes; lists with a merge key merge element by element, the others
are replaced. Directives: ``$patch: delete|replace|merge`` in a map or as an element,
``$deleteFromPrimitiveList/x``, ``$setElementOrder/x``, ``$retainKeys``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from webhook.sandbox.merge_keys import Field, fields_of
from webhook.sandbox.resources import Object, Resource
from webhook.sandbox.status import bad_request

_PATCH = "$patch"
_RETAIN = "$retainKeys"
_ORDER = "$setElementOrder/"
_DELETE_FROM = "$deleteFromPrimitiveList/"


def strategic_merge(resource: Resource, old: Object, patch: Object) -> Object:
    """The object with the patch applied; raises StatusError 400 for a malformed directive."""
    return _merge_map(old, patch, resource.kind, root=True)


def _merge_map(old: Object, patch: Object, type_name: str, *, root: bool = False) -> Object:
    directive = patch.get(_PATCH, "merge")
    if directive == "replace":
        return {key: value for key, value in patch.items() if key != _PATCH}
    if directive == "delete":
        return {}
    if directive != "merge":
        raise bad_request(f"unknown patch type found in the patch: {directive}")
    merged, fields = _retained(old, patch), fields_of(type_name, root=root)
    for key in _plain_keys(patch):
        if patch.get(key, key) is None:
            merged.pop(key, None)
            continue
        field = fields.get(key, Field())
        merged[key] = _merge_value(merged.get(key), patch, key, field)
    return merged


def _plain_keys(patch: Object) -> list[str]:
    """The fields a patch is about, those named only by a directive too."""
    keys: dict[str, None] = {}
    for key in patch:
        plain = key.removeprefix(_ORDER).removeprefix(_DELETE_FROM)
        if plain not in (_PATCH, _RETAIN):
            keys[plain] = None
    return list(keys)


def _retained(old: Object, patch: Object) -> Object:
    if _RETAIN not in patch:
        return dict(old)
    keep = patch[_RETAIN]
    if not isinstance(keep, list):
        raise bad_request(f"{_RETAIN} is not a list")
    return {key: value for key, value in old.items() if key in keep}


def _merge_value(old: Any, patch: Object, key: str, field: Field) -> Any:
    order, gone = patch.get(_ORDER + key), patch.get(_DELETE_FROM + key)
    given = patch.get(key)
    if isinstance(given, dict):
        return _merge_map(old if isinstance(old, dict) else {}, given, field.type)
    if field.key:
        return _merge_list(old or [], given or [], field, order)
    if field.primitive:
        return _merge_primitives(old or [], given or [], gone or [], order)
    if key in patch:
        return given
    return [item for item in old or [] if item not in (gone or [])]


def _merge_primitives(
    old: list[Any], given: list[Any], gone: list[Any], order: list[Any] | None
) -> list[Any]:
    kept = [item for item in old if item not in gone]
    merged = [*kept, *(item for item in given if item not in kept)]
    return _ordered(merged, old, given if order is None else order, lambda item: item)


def _merge_list(
    old: list[Object], given: list[Object], field: Field, order: list[Object] | None
) -> list[Object]:
    if any(item == {_PATCH: "replace"} for item in given):
        return [item for item in given if _PATCH not in item]
    merged = list(old)
    for item in given:
        merged = _merge_item(merged, item, field)
    wanted = [_key(item, field) for item in (given if order is None else order)]
    return _ordered(merged, old, wanted, lambda item: _key(item, field))


def _merge_item(items: list[Object], given: Object, field: Field) -> list[Object]:
    key = _key(given, field)
    at = next((i for i, item in enumerate(items) if item.get(field.key) == key), None)
    directive = given.get(_PATCH, "merge")
    if directive == "delete":
        return items if at is None else items[:at] + items[at + 1 :]
    merged = _merge_map({} if at is None else items[at], given, field.type)
    return [*items, merged] if at is None else [*items[:at], merged, *items[at + 1 :]]


def _key(item: object, field: Field) -> Any:
    if not isinstance(item, dict) or field.key not in item:
        raise bad_request(f"map: {item} does not contain declared merge key: {field.key}")
    return item[field.key]


def _ordered(
    merged: list[Any], old: list[Any], order: list[Any], key_of: Callable[[Any], Any]
) -> list[Any]:
    """Named elements in the order given; the others where they stood among those.

    Without ``$setElementOrder`` the elements of the patch are the named ones, so that a new one
    comes first.
    """
    place = {_hashable(key): i for i, key in enumerate(order)}
    named = sorted(
        (item for item in merged if _hashable(key_of(item)) in place),
        key=lambda item: place[_hashable(key_of(item))],
    )
    others = [item for item in merged if _hashable(key_of(item)) not in place]
    before = {_hashable(key_of(item)): i for i, item in enumerate(old)}
    return _interleaved(others, named, lambda item: before.get(_hashable(key_of(item))))


def _interleaved(
    others: list[Any], named: list[Any], place: Callable[[Any], int | None]
) -> list[Any]:
    result: list[Any] = []
    rest = list(others)
    for item in named:
        here = place(item)
        while rest and here is not None and (there := place(rest[0])) is not None and there < here:
            result.append(rest.pop(0))
        result.append(item)
    return result + rest


def _hashable(key: object) -> object:
    return key if isinstance(key, str | int | float | bool) else repr(key)
