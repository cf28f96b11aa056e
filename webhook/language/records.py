"""``@dataclass(frozen=True, slots=True)`` whose methods are made when the first value is, and not at import.

The standard decorator compiles six functions for every class, half a millisecond each time; a policy's tree has a
hundred and fifty kinds of nodes, a commit hook reads a file that has twenty of them. Here the class gets its slots
at once and all else, by the standard decorator, with its first value. Nothing but the moment is different; what is
written otherwise than above is left to the standard decorator.
"""

from __future__ import annotations

import dataclasses
from inspect import get_annotations
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(cls=None, /, **options):
        """As the one of the standard library."""
        if cls is not None or options != {"frozen": True, "slots": True}:
            return dataclasses.dataclass(cls, **options)
        return _slotted


__all__ = ["complete", "dataclass"]

_OF_THE_CLASS: Final = frozenset({"__dict__", "__weakref__"})
_written: dict[type, dict[str, Any]] = {}
"""What stands in the body of each class that has no value yet."""


def _slotted(cls: type) -> type:
    names = get_annotations(cls)
    odd = any(
        not isinstance(kind, str) or "Var[" in kind or "KW_ONLY" in kind for kind in names.values()
    )
    if cls.__bases__ != (object,) or odd or not names:
        return dataclasses.dataclass(frozen=True, slots=True)(cls)
    written = {k: v for k, v in cls.__dict__.items() if k not in _OF_THE_CLASS}
    written["__qualname__"] = cls.__qualname__
    body = {name: value for name, value in written.items() if name not in names}
    body |= {"__slots__": tuple(names), "__init__": _first, "__setattr__": _frozen}
    body |= {"__delattr__": _frozen, "__getstate__": _state, "__setstate__": _restore}
    made = type(cls)(cls.__name__, cls.__bases__, body)
    _written[made] = written
    return made


def complete(cls: type) -> None:
    """Give a class its methods. Two threads may do so at once: each makes the same, and ``__init__`` comes last."""
    for made in cls.__mro__:
        written = _written.get(made)
        if written is None:
            continue
        full: type = dataclasses.dataclass(frozen=True)(
            type(made)(made.__name__, (), dict(written))
        )
        for name, value in full.__dict__.items():
            if name not in made.__dict__ and name not in _OF_THE_CLASS:
                setattr(made, name, value)
        made.__init__ = full.__init__  # type: ignore[misc]
        _written.pop(made, None)


def _first(self: Any, /, *args: Any, **named: Any) -> None:
    complete(type(self))
    self.__init__(*args, **named)


def _frozen(self: object, name: str, value: object = None) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot change {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in self.__slots__]


def _restore(self: Any, state: list[Any]) -> None:
    complete(type(self))
    for name, value in zip(self.__slots__, state, strict=True):
        object.__setattr__(self, name, value)
