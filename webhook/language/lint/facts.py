"""What a set of literals that are all true says of each term: contradictions, and what follows.

Sound and not complete: "contradictory" and "follows" are certain, their absence means nothing. Numbers are reals, as
JSON has fractions; short forms are known to be there and of their type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from webhook.language.lint.literals import (
    NUMBERS,
    TEXTS,
    Absent,
    Between,
    Constant,
    Literal,
    Missing,
    NoneOf,
    Number,
    OneOf,
    Opaque,
    Path,
    Shaped,
    There,
    always,
)


@dataclass(slots=True)
class Known:
    """What is known of the value at one path; that there is one is known, too."""

    values: frozenset[Constant] | None = None
    excluded: set[Constant] = field(default_factory=set)
    low: Number | None = None
    low_open: bool = False
    high: Number | None = None
    high_open: bool = False
    number: bool = False
    text: bool = False
    shapes: set[tuple[str, str]] = field(default_factory=set)
    not_shapes: set[tuple[str, str]] = field(default_factory=set)

    def add(self, literal: Literal) -> None:
        """One literal more about this value."""
        match literal:
            case OneOf(_, values):
                self.values = values if self.values is None else self.values & values
            case NoneOf(_, values):
                self.excluded |= values
            case Between():
                self._narrow(literal)
            case Shaped(_, how, text, holds):
                self.text = True
                (self.shapes if holds else self.not_shapes).add((how, text))
            case _:
                pass

    def _narrow(self, literal: Between) -> None:
        self.number = True
        low, high = literal.low, literal.high
        if low is not None and (self.low is None or low >= self.low):
            self.low_open = literal.low_open or (self.low_open and low == self.low)
            self.low = low
        if high is not None and (self.high is None or high <= self.high):
            self.high_open = literal.high_open or (self.high_open and high == self.high)
            self.high = high

    def possible(self) -> frozenset[Constant] | None:
        """The values it may have, where they are finitely many."""
        values = self.values
        if values is None and self.low is not None and self.low == self.high:
            values = frozenset({("num", self.low)})
        if values is None:
            return None
        return frozenset(value for value in values if self.allows(value))

    def allows(self, value: Constant) -> bool:
        """May it be this one, as far as is known."""
        kind, plain = value
        if value in self.excluded or (self.values is not None and value not in self.values):
            return False
        if self.number:
            return kind == "num" and self._inside(plain)
        if self.text:
            return (
                kind == "str"
                and all(shaped(str(plain), *s) for s in self.shapes)
                and not any(shaped(str(plain), *s) for s in self.not_shapes)
            )
        return True

    def _inside(self, value: object) -> bool:
        assert isinstance(value, int | float)  # noqa: S101 - its kind says so
        above = self.low is None or value > self.low or (value == self.low and not self.low_open)
        below = (
            self.high is None or value < self.high or (value == self.high and not self.high_open)
        )
        return above and below

    def contradictory(self) -> bool:
        """True where there is certainly no such value."""
        possible = self.possible()
        if possible is not None:
            return not possible
        if self.number and self.text:
            return True
        return self._empty() or self._shapes_contradict()

    def _empty(self) -> bool:
        if self.low is None or self.high is None:
            return False
        return self.low > self.high or (self.low == self.high and (self.low_open or self.high_open))

    def _shapes_contradict(self) -> bool:
        for how in ("startsWith", "endsWith"):
            longest = max((t for h, t in self.shapes if h == how), key=len, default="")
            if any(h == how and not shaped(longest, how, t) for h, t in self.shapes):
                return True
        return any(self.must(*shape) for shape in self.not_shapes)

    def must(self, how: str, text: str) -> bool:
        """True where the text certainly begins so (ends so, contains this)."""
        return any(
            (how == mine and shaped(own, how, text)) or (how == "contains" and text in own)
            for mine, own in self.shapes
        )

    def cannot(self, how: str, text: str) -> bool:
        """True where the text certainly does not."""
        if any(how == mine and shaped(text, how, own) for mine, own in self.not_shapes):
            return True
        if any(mine == "contains" and own in text for mine, own in self.not_shapes):
            return True
        return how != "contains" and any(
            how == mine and not shaped(own, how, text) and not shaped(text, how, own)
            for mine, own in self.shapes
        )


def shaped(text: str, how: str, part: str) -> bool:
    """What the three functions of conditions ask."""
    if how == "startsWith":
        return text.startswith(part)
    return text.endswith(part) if how == "endsWith" else part in text


class Facts:
    """All literals of one alternative together."""

    def __init__(self, literals: Iterable[Literal]) -> None:
        self.known: dict[Path, Known] = {}
        self.absent: set[Path] = set()
        self.missing: set[Path] = set()
        self.opaque: dict[str, set[bool]] = {}
        self.opaques: list[Opaque] = []
        for literal in literals:
            self._add(literal)

    def _add(self, literal: Literal) -> None:
        match literal:
            case Opaque(text, holds):
                self.opaque.setdefault(text, set()).add(holds)
                self.opaques.append(literal)
            case Absent(path):
                self.absent.add(path)
            case Missing(path):
                self.missing.add(path)
            case OneOf(path) | NoneOf(path) | Between(path) | Shaped(path) | There(path):
                self.about(path).add(literal)
            case _:
                pass

    def about(self, path: Path) -> Known:
        """What is known of a path, with what is known of every short form from the start."""
        if path not in self.known:
            self.known[path] = born(path)
        return self.known[path]

    def contradictory(self) -> bool:
        """True where no object makes all of this true."""
        if any(len(holds) > 1 for holds in self.opaque.values()):
            return True
        if any(known.contradictory() for known in self.known.values()):
            return True
        if any(self._there(path) for path in self.absent):
            return True
        return any(always(path) or self._read(path) for path in self.missing)

    def _there(self, path: Path) -> bool:
        """True where ``has(path)`` is certain."""
        return any(_below(read, path) for read in self._all_read()) or (
            always(path) and path[0] != "requests"
        )

    def _read(self, path: Path) -> bool:
        """True where reading the path certainly succeeds."""
        return self._there(path)

    def _all_read(self) -> Iterator[Path]:
        yield from self.known
        for path in self.absent:
            yield path[:-1]

    def implies(self, literal: Literal) -> bool:
        """True where the literal certainly holds, too. The facts must not be contradictory."""
        match literal:
            case Opaque(text, holds):
                return self.opaque.get(text) == {holds}
            case Absent(path):
                return path in self.absent
            case There(path):
                return self._there(path)
            case OneOf(path) | NoneOf(path) | Between(path) | Shaped(path):
                known = self.known.get(path)
                if known is None and always(path):
                    known = born(path)
                return known is not None and follows(known, literal)
            case _:
                return False


def born(path: Path) -> Known:
    """What is known of a term before anybody asks."""
    known = Known()
    if path[0] == "requests" or (path[0] in NUMBERS and len(path) == 1):
        known.number, known.low = True, 0
    elif path[0] in TEXTS and len(path) == 1:
        known.text = True
    return known


def follows(known: Known, literal: OneOf | NoneOf | Between | Shaped) -> bool:
    """True where what is known of a value implies the literal about it."""
    possible = known.possible()
    match literal:
        case OneOf(_, values):
            return possible is not None and possible <= values
        case NoneOf(_, values):
            return all(_excludes(known, value) for value in values)
        case Between():
            return _inside(known, possible, literal)
        case Shaped(_, how, text, holds):
            if possible is not None:
                return all(k == "str" and shaped(str(v), how, text) is holds for k, v in possible)
            return known.text and (known.must(how, text) if holds else known.cannot(how, text))


def _excludes(known: Known, value: Constant) -> bool:
    if not known.allows(value):
        return True
    return value[0] == "str" and any(
        not shaped(str(value[1]), how, text) for how, text in known.shapes
    )


def _inside(known: Known, possible: frozenset[Constant] | None, wanted: Between) -> bool:
    if possible is not None:
        return all(
            kind == "num" and Known(low=wanted.low, low_open=wanted.low_open, high=wanted.high,
                                    high_open=wanted.high_open, number=True).allows((kind, value))
            for kind, value in possible
        )  # fmt: skip
    if not known.number:
        return False
    low_fits = wanted.low is None or (
        known.low is not None
        and (
            known.low > wanted.low
            or (known.low == wanted.low and (known.low_open or not wanted.low_open))
        )
    )
    high_fits = wanted.high is None or (
        known.high is not None
        and (
            known.high < wanted.high
            or (known.high == wanted.high and (known.high_open or not wanted.high_open))
        )
    )
    return low_fits and high_fits


def _below(path: Path, root: Path) -> bool:
    return path[: len(root)] == root
