"""Findings about routes: never matched, hidden by earlier ones, or at odds with those of another file.

Routes under `audit` hide nothing. Thousands of routes are no reason to compare each with each: earlier alternatives
are filed under a literal that whoever is hidden must share.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, TypeAlias

from webhook.language.lint.clauses import Clause, TooMany, all_of
from webhook.language.lint.facts import Facts
from webhook.language.lint.implication import cases, conflict, covers, possible
from webhook.language.lint.literals import Constant, Literal, OneOf, Opaque, Path, Shaped, described
from webhook.language.lint.rulebook import Rule
from webhook.language.lint.witness import build, shown
from webhook.language.problems import Problem, problem
from webhook.language.syntax import Route

_PAIRS: Final = 20_000
"""So many pairs of routes of different files are looked at; then the lint is silent."""
_LOOKS: Final = 500_000
"""So many earlier alternatives are compared with later ones, for those that share no literal are not filed apart."""
Entry: TypeAlias = tuple[Clause, Rule]


def route_findings(rules: Sequence[Rule]) -> Iterator[Problem]:
    """TG202, TG203 and TG204."""
    routes = [rule for rule in rules if isinstance(rule.node, Route)]
    earlier = _Index()
    reachable: list[Rule] = []
    for route in routes:
        found = _finding(route, earlier)
        if found is not None:
            yield found
        elif not route.audit:
            reachable.append(route)
        if not route.audit and route.true is not None:
            for clause, _ in possible(route.true):
                earlier.add(clause, route)
    yield from _overlaps(reachable)


def _target(rule: Rule) -> str:
    assert isinstance(rule.node, Route)  # noqa: S101 - only routes are asked
    return rule.node.queue.text


def _finding(route: Rule, earlier: _Index) -> Problem | None:
    if route.true is None:
        return None
    alternatives = possible(cases(route.true))
    if not alternatives:
        return _never(route)
    hiding = [earlier.hiding(clause, facts) for clause, facts in alternatives]
    first = [rule for rule in hiding if rule is not None]
    if len(first) < len(hiding):
        return None
    return _hidden(route, list(dict.fromkeys(first)), [facts for _, facts in alternatives])


def _never(route: Rule) -> Problem:
    """TG202: its own literals contradict."""
    message = "this route can never match"
    return problem(
        "TG202",
        route.span,
        message,
        notes=contradiction(route),
        help="remove it, or mend the condition",
    )


def contradiction(rule: Rule) -> tuple[str, ...]:
    """The literals of the first alternative that exclude each other."""
    if not rule.true:
        return ()
    parts = [f"`{described(literal)}`" for literal in conflict(rule.true[0])]
    if len(parts) == 1:
        return (f"{parts[0]} is never true",)
    return (f"{' and '.join(parts)} exclude each other",)


def _hidden(route: Rule, by: list[Rule], alternatives: list[Facts]) -> Problem:
    """TG203: whatever it matches, an earlier one took."""
    message = "this route is hidden: what it matches, an earlier one takes first"
    if len(by) > 1:
        message = "this route is hidden: what it matches, earlier ones take first"
    witness = next(
        (
            found
            for facts in alternatives
            if (found := build(facts)) is not None
            and route.fires(found.scope)
            and any(rule.fires(found.scope) for rule in by)
        ),
        None,
    )
    return problem(
        "TG203", route.span, message, notes=shown(witness), help="move it up, or remove it",
        others=tuple((rule.span, "takes it first") for rule in by),
    )  # fmt: skip


class _Index:
    """The alternatives of earlier routes, each filed under one of its literals."""

    def __init__(self) -> None:
        self._filed: dict[object, list[Entry]] = defaultdict(list)
        self._looks = _LOOKS

    def add(self, clause: Clause, rule: Rule) -> None:
        """File an alternative under its most telling literal."""
        literal = min(clause, key=lambda one: (_rank(one), repr(one)), default=None)
        for key in _keys(literal):
            self._filed[key].append((clause, rule))

    def hiding(self, clause: Clause, facts: Facts) -> Rule | None:
        """The first earlier route that certainly matches whatever this alternative does."""
        for key in _asked(clause, facts):
            filed = self._filed.get(key, ())
            for other, rule in islice(filed, max(0, self._looks)):
                self._looks -= 1
                if covers(facts, other):
                    return rule
        return None


def _rank(literal: Literal) -> int:
    match literal:
        case OneOf(path):
            return 2 if path == ("kind",) else 0
        case Shaped(_, "startsWith", _, True) | Opaque():
            return 1
        case _:
            return 3


def _keys(literal: Literal | None) -> Iterator[object]:
    """Under what an alternative is filed; everybody asks for what is filed under None."""
    match literal:
        case OneOf(path, values):
            yield from ((path, value) for value in values)
        case Shaped(path, "startsWith", text, True):
            yield (path, "startsWith", text)
        case Opaque(text):
            yield text
        case _:
            yield None


def _asked(clause: Clause, facts: Facts) -> Iterator[object]:
    yield None
    yield from facts.opaque
    for path, known in facts.known.items():
        values = known.possible() or ()
        for value in values:
            yield (path, value)
        texts = [text for how, text in known.shapes if how == "startsWith"]
        texts += [str(value) for kind, value in values if kind == "str"]
        yield from _beginnings(path, texts)


def _beginnings(path: Path, texts: Sequence[str]) -> Iterator[object]:
    for text in dict.fromkeys(texts):
        for end in range(len(text) + 1):
            yield (path, "startsWith", text[:end])


def _overlaps(routes: Sequence[Rule]) -> Iterator[Problem]:
    """TG204: which comes first depends on the names of files, and the queue on which comes first.

    Pairs of one file or to one queue are not even walked over, for there may be millions.
    """
    looked = 0
    before: dict[str, dict[str, list[tuple[Rule, list[Sketch]]]]] = {}
    for later in routes:
        mine, path, target = _sketch(later), later.node.span.path, _target(later)
        for earlier, theirs in _elsewhere(before, path, target):
            looked += 1
            if looked > _PAIRS:
                return
            if all(_apart(a, b) for a in mine for b in theirs):
                continue
            found = _overlap(earlier, later)
            if found is not None:
                yield found
                break
        before.setdefault(path, {}).setdefault(target, []).append((later, mine))


def _elsewhere(
    routes: Mapping[str, Mapping[str, list[tuple[Rule, list[Sketch]]]]], path: str, target: str
) -> Iterator[tuple[Rule, list[Sketch]]]:
    """The routes of other files to other queues."""
    for of, targets in routes.items():
        if of != path:
            for to, found in targets.items():
                if to != target:
                    yield from found


Sketch: TypeAlias = dict[Path, tuple[frozenset[Constant] | None, str]]


def _sketch(rule: Rule) -> list[Sketch]:
    """Of each alternative the few values and the beginnings it demands, for a first look."""
    return [
        {
            path: (
                known.possible(),
                max((t for h, t in known.shapes if h == "startsWith"), default=""),
            )
            for path, known in facts.known.items()
        }
        for _, facts in possible(rule.true or ())
    ]


def _apart(mine: Sketch, theirs: Sketch) -> bool:
    """True where a first look shows that nothing is both."""
    for path, (values, beginning) in mine.items():
        others, other = theirs.get(path, (None, ""))
        if values is not None and others is not None and values.isdisjoint(others):
            return True
        if not (beginning.startswith(other) or other.startswith(beginning)):
            return True
    return False


def _overlap(earlier: Rule, later: Rule) -> Problem | None:
    if earlier.true is None or later.true is None:
        return None
    try:
        both = possible(all_of([earlier.true, later.true]))
    except TooMany:
        return None
    for _, facts in both:
        witness = build(facts)
        if witness is None or not (earlier.fires(witness.scope) and later.fires(witness.scope)):
            continue
        message = (
            f"this route and one to `{_target(earlier)}` in another file match the same workloads"
        )
        return problem(
            "TG204", later.span, message, notes=shown(witness),
            others=((earlier.span, "this file comes first, by its path"),),
            help="put both into one file, where their order can be seen",
        )  # fmt: skip
    return None
