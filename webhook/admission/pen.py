"""Values written into an object by paths, and what stood there before: how a ``set`` writes.

Only what is touched is copied, so a list of thousands is walked once for each path through it; and it becomes one
operation of the patch, so an object of many small items makes no patch that is larger than the object.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from webhook.language.paths import Every
from webhook.model.json_patch import same
from webhook.model.kinds import Object
from webhook.model.patch import Op, Patch, pointer

Spot: TypeAlias = tuple[str | int, ...]
"""One place in one object: keys of maps and indexes of lists."""
ABSENT: Final = object()


@dataclass(frozen=True, slots=True)
class Before:
    """What stood at a spot: a value, or nothing, and then the last ``made`` steps of its path were made."""

    spot: Spot
    made: int = 0
    was: Any = None


@dataclass(slots=True)
class Pen:
    """An object that is being written into; the object it was is not changed."""

    object: Object
    changed: list[Before] = field(default_factory=list)
    spots: set[Spot] = field(default_factory=set)
    """everywhere it wrote, also where that value stood already"""

    def write(self, path: Sequence[str | int | Every], value: Any) -> bool:
        """Whether there was a place for it; maps on the way are made, items of lists and what is no map are not."""
        before = len(self.spots)
        self.object = self._write(self.object, tuple(path), value, (), 0)
        return len(self.spots) > before

    def _write(
        self, node: Any, path: tuple[str | int | Every, ...], value: Any, at: Spot, made: int
    ) -> Any:
        if not path:
            return self._leaf(node, value, at, made)
        step, rest = path[0], path[1:]
        if not isinstance(step, str):
            return self._items(node, step, rest, value, at)
        if node is ABSENT or node is None:
            node_or_made: Mapping[str, Any] = {}
            made += 1
        elif isinstance(node, Mapping):
            node_or_made, made = node, 0
        else:
            return node
        inner = node_or_made.get(step, ABSENT)
        new = self._write(inner, rest, value, (*at, step), made)
        return node if new is inner else {**node_or_made, step: new}

    def _items(
        self, node: Any, step: int | Every, rest: tuple[Any, ...], value: Any, at: Spot
    ) -> Any:
        if not isinstance(node, list):
            return node
        here = range(len(node)) if isinstance(step, Every) else (step,)
        items = list(node)
        for index in here:
            if 0 <= index < len(items):
                items[index] = self._write(items[index], rest, value, (*at, index), 0)
        return node if all(map(_is, items, node)) else items

    def _leaf(self, node: Any, value: Any, at: Spot, made: int) -> Any:
        self.spots.add(at)
        if node is ABSENT:
            self.changed.append(Before(at, made + 1))
            return value
        if same(node, value):
            return node
        self.changed.append(Before(at, 0, node))
        return value


def undone(obj: Object, changes: Sequence[Before]) -> Object:
    """The object before these changes, the latest undone first."""
    pen = Pen(obj)
    for change in reversed(changes):
        if change.made:
            pen.object = _without(pen.object, change.spot, change.made)
        else:
            pen.write(change.spot, change.was)
    return pen.object


def operations(old: Object, new: Object) -> Patch:
    """What makes the old object the new one, which was written from it: what was not touched is the same object."""
    return tuple(_operations(old, new, ()))


def _operations(old: Any, new: Any, at: Spot) -> Iterator[Op]:
    if old is new:
        return
    if not isinstance(old, Mapping) or not isinstance(new, Mapping) or old.keys() - new.keys():
        if not same(old, new):
            yield Op("replace", pointer(*at), new)
        return
    for key, value in new.items():
        if key in old:
            yield from _operations(old[key], value, (*at, key))
        else:
            yield Op("add", pointer(*at, key), value)


def _without(node: Any, spot: Spot, made: int) -> Any:
    """Without what stands at the spot, and without those maps on the way there that were made and are empty now."""
    step, rest = spot[0], spot[1:]
    if isinstance(step, int):
        if not isinstance(node, list) or not 0 <= step < len(node) or not rest:
            return node
        return [*node[:step], _without(node[step], rest, made), *node[step + 1 :]]
    if not isinstance(node, Mapping) or step not in node:
        return node
    inner = _without(node[step], rest, made) if rest else None
    if not rest or (len(spot) <= made and inner == {}):
        return {key: value for key, value in node.items() if key != step}
    return {**node, step: inner}


def _is(one: object, other: object) -> bool:
    return one is other
