"""Values written into an object by paths, and what stood there before: how a ``set`` writes.

What is touched is copied, once, and then written in place, so that the work grows with what is written and not with
how often; a list becomes one operation of the patch, so that many small items make no patch larger than the object.
Whoever submits chooses how long lists are: what sets write into is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from webhook.language.paths import Every
from webhook.model.json_patch import same
from webhook.model.kinds import Object
from webhook.model.patch import Op, Patch, pointer
from webhook.workloads.objects import BadObject

Spot: TypeAlias = tuple[str | int, ...]
"""One place in one object: keys of maps and indexes of lists."""
ABSENT: Final = object()
MOST_ITEMS: Final = 10_000
"""of lists, for all that is written into one object"""


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
    _own: dict[int, Any] = field(default_factory=dict)
    """maps and lists that are copies already, by identity"""
    _items_left: int = MOST_ITEMS

    def write(self, path: Sequence[str | int | Every], value: Any) -> bool:
        """Whether there was a place for it; maps on the way are made, items of lists and what is no map are not.

        Raises BadObject where ``[*]`` has led to more items than anybody needs.
        """
        before = len(self.spots)
        self.object = self._write(self.object, tuple(path), value, (), 0)
        return len(self.spots) > before

    def erase(self, spot: Spot, made: int) -> None:
        """What stands there goes, and so do those of the last ``made`` maps on the way there that are empty then."""
        self.object = self._erase(self.object, spot, made)

    def _write(
        self, node: Any, path: tuple[str | int | Every, ...], value: Any, at: Spot, made: int
    ) -> Any:
        if not path:
            return self._leaf(node, value, at, made)
        step, rest = path[0], path[1:]
        if not isinstance(step, str):
            return self._items(node, step, rest, value, at)
        if node is ABSENT or node is None:
            there: Mapping[str, Any] = {}
            made += 1
        elif isinstance(node, Mapping):
            there, made = node, 0
        else:
            return node
        inner = there.get(step, ABSENT)
        new = self._write(inner, rest, value, (*at, step), made)
        return node if new is inner else self._put(there, step, new)

    def _items(
        self, node: Any, step: int | Every, rest: tuple[Any, ...], value: Any, at: Spot
    ) -> Any:
        if not isinstance(node, list):
            return node
        if isinstance(step, Every):
            self._items_left -= len(node)
            if self._items_left < 0:
                raise BadObject(_shown(at), f"more than {MOST_ITEMS} items to write into")
        here = range(len(node)) if isinstance(step, Every) else (step,)
        for index in here:
            if 0 <= index < len(node):
                new = self._write(node[index], rest, value, (*at, index), 0)
                if new is not node[index]:
                    node = self._put(node, index, new)
        return node

    def _leaf(self, node: Any, value: Any, at: Spot, made: int) -> Any:
        self.spots.add(at)
        if node is ABSENT:
            self.changed.append(Before(at, made + 1))
            return value
        if same(node, value):
            return node
        self.changed.append(Before(at, 0, node))
        return value

    def _erase(self, node: Any, spot: Spot, made: int) -> Any:
        step, rest = spot[0], spot[1:]
        if isinstance(step, int):
            if not isinstance(node, list) or not 0 <= step < len(node) or not rest:
                return node
        elif not isinstance(node, Mapping) or step not in node:
            return node
        inner = self._erase(node[step], rest, made) if rest else None
        if isinstance(step, str) and (not rest or (len(spot) <= made and inner == {})):
            mine = self._mine(node)
            del mine[step]
            return mine
        return node if inner is node[step] else self._put(node, step, inner)

    def _put(self, node: Any, step: str | int, value: Any) -> Any:
        mine = self._mine(node)
        mine[step] = value
        return mine

    def _mine(self, node: Any) -> Any:
        """The map or list itself where it is a copy already, else a copy."""
        if id(node) in self._own:
            return node
        mine = list(node) if isinstance(node, list) else dict(node)
        self._own[id(mine)] = mine
        return mine


def undone(obj: Object, changes: Sequence[Before]) -> Object:
    """The object before these changes, the latest undone first."""
    pen = Pen(obj)
    for change in reversed(changes):
        if change.made:
            pen.erase(change.spot, change.made)
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


def _shown(at: Spot) -> str:
    return ".".join(str(step) for step in at)
