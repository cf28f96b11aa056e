"""Who is declared where, over all files, and what to say about a name that nobody declared.

Queues and cohorts share one set of names, rules another; flavors, priorities and aliases have their own. A name that
is unknown is reported once, where it is first used; one that a statement with a mistake would have declared is not
reported at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final, Literal, TypeAlias, TypeVar

from webhook.language.problems import Fix, Problem, problem
from webhook.language.records import dataclass
from webhook.language.suggest import suggest
from webhook.language.syntax import (
    Alias,
    Cohort,
    Deny,
    File,
    Flavor,
    KindOf,
    Otherwise,
    Priority,
    Queue,
    Route,
    Rule,
    Set,
    Settings,
    Span,
    Statement,
    Test,
    Warn,
    Word,
)
from webhook.language.words import RESERVED, STATEMENTS

What: TypeAlias = Literal["queue", "cohort", "flavor", "priority", "resource", "rule"]
_NAME: Final = re.compile(r"[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?")
_ALIAS: Final = re.compile(r"[a-z][a-z0-9_]{0,62}")
_DECLARES: Final = re.compile(
    r"\b(queue|cohort|flavor|priority|resource|route|deny|warn|set)[ \t]+([A-Za-z0-9_./-]*)"
)
_HEAD: Final = re.compile(r"([A-Za-z0-9_./-]+)[ \t]+([A-Za-z0-9_./-]+)")
_RULES: Final = frozenset({"route", "deny", "warn", "set"})
_CODES: Final[Mapping[What, str]] = {
    "queue": "TG104",
    "cohort": "TG102",
    "flavor": "TG103",
    "priority": "TG103",
    "rule": "TG103",
    "resource": "TG108",
}
_SHOWN: Final = 3


@dataclass(frozen=True, slots=True)
class Member:
    """A queue or cohort with the cohort whose block it stands in."""

    node: Queue | Cohort
    within: Cohort | None

    @property
    def parent(self) -> Word | None:
        """The name of its cohort, by block or by ``in``; a block wins."""
        return self.within.name if self.within is not None else self.node.parent


@dataclass(slots=True)
class Names:
    """The first declaration of each name, and what was wrong with the others."""

    members: dict[str, Member] = field(default_factory=dict)
    flavors: dict[str, Flavor] = field(default_factory=dict)
    priorities: dict[str, Priority] = field(default_factory=dict)
    aliases: dict[str, Alias] = field(default_factory=dict)
    rules: dict[str, Rule] = field(default_factory=dict)
    kinds: dict[str, KindOf] = field(default_factory=dict)
    settings: list[Settings] = field(default_factory=list)
    tests: list[Test] = field(default_factory=list)
    otherwise: list[Otherwise] = field(default_factory=list)
    lost: set[tuple[What, str]] = field(default_factory=set)
    """Names of statements that could not be read."""
    incomplete: bool = False
    """True where some text could not be read."""
    problems: list[Problem] = field(default_factory=list)
    _unknown: dict[tuple[What, str], list[tuple[Word, Sequence[str]]]] = field(default_factory=dict)

    def spans(self, what: What) -> dict[str, Span]:
        """Every name of a sort that is declared, and where."""
        match what:
            case "queue":
                return {n: m.node.name.span for n, m in self.members.items() if _is_queue(m)}
            case "cohort":
                return {n: m.node.name.span for n, m in self.members.items() if not _is_queue(m)}
            case "flavor":
                return {n: flavor.name.span for n, flavor in self.flavors.items()}
            case "priority":
                return {n: priority.name.span for n, priority in self.priorities.items()}
            case "resource":
                return {n: alias.name.span for n, alias in self.aliases.items()}
            case "rule":
                return {n: r.name.span for n, r in self.rules.items() if r.name is not None}

    def is_lost(self, what: What, name: str) -> bool:
        """True where a statement that could not be read may have declared it."""
        return (what, name) in self.lost or (what, "") in self.lost

    def unknown(self, what: What, word: Word, also: Sequence[str] = ()) -> None:
        """Somebody used a name that is not declared; ``also`` are valid names that no file declares."""
        if not self.is_lost(what, word.text):
            self._unknown.setdefault((what, word.text), []).append((word, also))

    def unknown_problems(self) -> Iterator[Problem]:
        """One problem for each unknown name, at its first use."""
        for (what, _), uses in self._unknown.items():
            yield self._unknown_problem(what, uses[0][0], uses[0][1], [w.span for w, _ in uses[1:]])

    def _unknown_problem(
        self, what: What, word: Word, also: Sequence[str], more: list[Span]
    ) -> Problem:
        spans = self.spans(what)
        others = [(span, "and used here") for span in more[:_SHOWN]]
        meant = suggest(word.text, [*spans, *also])
        wrong_sort = self.members.get(word.text) if what in ("queue", "cohort") else None
        label, advice = "not declared in any file", f"did you mean `{meant}`?" if meant else ""
        if wrong_sort is not None:
            sort = "queue" if _is_queue(wrong_sort) else "cohort"
            label, advice = f"this is a {sort}", ""
            others.append((wrong_sort.node.name.span, "declared here"))
        elif what == "resource" and meant is None:
            advice = "write its full name, or declare a short one: `resource gpu = nvidia.com/gpu`"
        elif meant in spans:
            others.append((spans[meant], "declared here"))
        message = f"no {what} named `{word.text}`"
        fix = Fix(word.span, meant) if meant and advice else None
        return problem(
            _CODES[what], word.span, message,
            label=label, others=tuple(others), help=advice, fix=fix,
        )  # fmt: skip


def _is_queue(member: Member) -> bool:
    return isinstance(member.node, Queue)


def collect(files: Sequence[File]) -> Names:
    """Every declaration of all files."""
    names = Names()
    for file in files:
        names.lost.update(_lost(file))
        names.incomplete |= bool(file.unread)
        for statement in file.statements:
            _declare(names, statement, None)
    return names


def _lost(file: File) -> Iterator[tuple[What, str]]:
    """What the text that could not be read would have declared, "" for any name; generous on purpose."""
    for span in file.unread:
        head = _HEAD.match(file.text, span.start, span.end)
        if head is not None and head[1] not in STATEMENTS:  # a keyword with a typing mistake
            yield from ((what, head[2]) for what in _CODES)
        for keyword, name in _DECLARES.findall(file.text, span.start, span.end):
            if keyword in _RULES:
                yield "rule", name
            elif keyword in ("queue", "cohort"):
                yield "queue", name
                yield "cohort", name
            else:
                yield keyword, name


def _declare(names: Names, statement: Statement, within: Cohort | None) -> None:
    match statement:
        case Queue() | Cohort():
            _declare_member(names, statement, within)
        case Flavor(name=name):
            if name.text == "default":
                message = "the flavor `default` always exists and cannot be declared"
                names.problems.append(problem("TG015", name.span, message))
            else:
                _enter(names, names.flavors, "flavor", name, statement)
        case Priority(name=name):
            _enter(names, names.priorities, "priority", name, statement)
        case Alias(name=name):
            _enter(names, names.aliases, "alias", name, statement)
        case Route() | Deny() | Warn() | Set():
            if statement.name is not None:
                _enter(names, names.rules, "rule", statement.name, statement)
        case Otherwise():
            names.otherwise.append(statement)
        case KindOf(name=name):
            _enter(names, names.kinds, "kind", name, statement)
        case Settings():
            names.settings.append(statement)
        case Test():
            names.tests.append(statement)


def _declare_member(names: Names, node: Queue | Cohort, within: Cohort | None) -> None:
    what = "queue" if isinstance(node, Queue) else "cohort"
    _enter(names, names.members, what, node.name, Member(node, within))
    if within is not None and node.parent is not None:
        names.problems.append(_two_parents(node, node.parent, within))
    if isinstance(node, Cohort):
        for part in node.body:
            if isinstance(part, Queue | Cohort):
                _declare(names, part, node)


def _two_parents(node: Queue | Cohort, parent: Word, within: Cohort) -> Problem:
    message = f"`{node.name.text}` already stands in the block of cohort `{within.name.text}`"
    return problem(
        "TG106", parent.span, message,
        label="a second parent", others=((within.name.span, "the first"),),
        help="remove `in`, or move it out of the block",
    )  # fmt: skip


Entry: TypeAlias = Member | Flavor | Priority | Alias | Rule | KindOf
_Entry = TypeVar("_Entry", bound=Entry)


def _enter(names: Names, table: dict[str, _Entry], what: str, name: Word, entry: _Entry) -> None:
    if what != "kind":
        names.problems.extend(_form(name, what))
    first = table.setdefault(name.text, entry)
    if first is entry:
        return
    others = ((_name_of(first).span, "first here"),)
    message = f"{_a(what)} named `{name.text}` is declared twice"
    if isinstance(first, Member) and isinstance(entry, Member):
        message = _two_members(first, entry)
    code = "TG109" if what == "kind" else "TG101"
    names.problems.append(problem(code, name.span, message, label="again here", others=others))


def _two_members(first: Member, second: Member) -> str:
    name = second.node.name.text
    if type(first.node) is type(second.node):
        return f"a {'queue' if _is_queue(second) else 'cohort'} named `{name}` is declared twice"
    return f"`{name}` is declared as a queue and as a cohort"


def _name_of(entry: Entry) -> Word:
    name = entry.node.name if isinstance(entry, Member) else entry.name
    assert name is not None  # noqa: S101 - only what has a name is entered
    return name


def _a(what: str) -> str:
    return f"an {what}" if what == "alias" else f"a {what}"


def _form(name: Word, what: str) -> Iterable[Problem]:
    """TG015, where a name is none."""
    text = name.text
    if text in RESERVED:
        yield problem("TG015", name.span, f"`{text}` is a word of the language, not a name")
    elif what == "alias":
        if not _ALIAS.fullmatch(text):
            advice = "lower case letters, digits and `_`, a letter first"
            if "/" in text:
                advice = f"the short name comes first: `resource NAME = {text}`"
            yield problem("TG015", name.span, f"`{text}` is not an alias", help=advice)
    elif len(text) > 63:
        yield problem("TG015", name.span, "this name has more than 63 characters")
    elif not _NAME.fullmatch(text):
        advice = "lower case letters, digits and `-`, a letter first and no `-` at the end"
        yield problem("TG015", name.span, f"`{text}` is not a name", help=advice)
