"""Values whose methods come with the first of them are those of the standard decorator in everything else."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import FrozenInstanceError, field, fields, replace
from typing import ClassVar, Generic, TypeVar

import pytest

from webhook.language.records import dataclass

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ours:
    """A value."""

    a: int
    b: tuple[str, ...] = ()
    c: dict[str, int] = field(default_factory=dict)
    d: str = field(default="", compare=False, repr=False, kw_only=True)

    @property
    def twice(self) -> int:
        """What methods see."""
        return 2 * self.a


@dataclasses.dataclass(frozen=True, slots=True)
class Theirs:
    """A value."""

    a: int
    b: tuple[str, ...] = ()
    c: dict[str, int] = field(default_factory=dict)
    d: str = field(default="", compare=False, repr=False, kw_only=True)

    @property
    def twice(self) -> int:
        """What methods see."""
        return 2 * self.a


def test_they_are_made_compared_shown_and_matched_alike() -> None:
    mine, theirs = Ours(1, ("x",), d="e"), Theirs(1, ("x",), d="e")
    assert repr(mine).replace("Ours", "Theirs") == repr(theirs)
    assert mine == Ours(1, b=("x",), d="another") != Ours(2)
    other: object = theirs
    assert mine != other
    assert [(f.name, f.compare, f.kw_only) for f in fields(mine)] == [
        (f.name, f.compare, f.kw_only) for f in fields(theirs)
    ]
    assert (mine.twice, mine.d, replace(mine, a=3).a, Ours(1).c) == (2, "e", 3, {})
    match mine:
        case Ours(a, b):
            assert (a, b) == (1, ("x",))
    assert (Ours.__slots__, Ours.__doc__, Ours.__match_args__) == (
        Theirs.__slots__,
        Theirs.__doc__,
        Theirs.__match_args__,
    )


def test_they_hash_by_what_is_compared() -> None:
    @dataclass(frozen=True, slots=True)
    class Key:
        """A key."""

        a: int
        place: str = field(compare=False)

    assert hash(Key(1, "x")) == hash(Key(1, "y")) != hash(Key(2, "x"))
    assert Key.__qualname__.endswith(".Key")


def test_nothing_can_be_changed_added_or_taken_away() -> None:
    value = Ours(1)
    for name in ("a", "new"):
        with pytest.raises(FrozenInstanceError):
            setattr(value, name, 2)
    with pytest.raises(FrozenInstanceError):
        del value.a
    assert not hasattr(value, "__dict__")
    with pytest.raises(TypeError):
        Ours()  # type: ignore[call-arg]


def test_they_travel_also_where_there_was_none_of_them_before() -> None:
    value = Ours(1, ("x",), {"y": 2}, d="e")
    for again in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
        assert (again, again.d) == (value, "e")

    @dataclass(frozen=True, slots=True)
    class Fresh:
        """Never made."""

        a: int

    raw = object.__new__(Fresh)
    raw.__setstate__([7])  # type: ignore[attr-defined]
    assert raw == Fresh(7)


def test_the_first_may_be_several_at_once() -> None:
    for _ in range(20):

        @dataclass(frozen=True, slots=True)
        class Fresh:
            """Made by many."""

            a: int
            b: int = field(default=5, compare=False)

        def make(number: int, kind: type[Fresh] = Fresh) -> Fresh:
            return kind(number % 2, number)

        with ThreadPoolExecutor(8) as pool:
            made = list(pool.map(make, range(16)))
        assert set(made) == {Fresh(0), Fresh(1)}
        assert [value.b for value in made] == list(range(16))


def test_what_is_written_otherwise_is_left_to_the_standard_decorator() -> None:
    @dataclass(frozen=True)
    class Open(Generic[T]):
        """Not slotted."""

        a: T

    @dataclass
    class Loose:
        """May change."""

        a: int

    @dataclass(frozen=True, slots=True)
    class Counted:
        """Has something of the class."""

        a: int
        known: ClassVar[int] = 3

    loose = Loose(1)
    loose.a = 2
    assert (Open(1).__dict__, loose, Counted(1).known) == ({"a": 1}, Loose(2), 3)
    for each in (Open, Loose, Counted):
        assert dataclasses.is_dataclass(each)
