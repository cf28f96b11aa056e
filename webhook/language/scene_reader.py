"""From the trees of tests to scenes, with everything that is wrong about them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from webhook.language.amounts import read_integer
from webhook.language.conditions import compile_condition
from webhook.language.names import Names
from webhook.language.paths import keys, read_path
from webhook.language.problems import Problem, problem
from webhook.language.resources import Resources
from webhook.language.scene_parts import CONSTANT, Parts
from webhook.language.scenes import Expected, Present, Scene, Submission
from webhook.language.syntax import (
    By,
    Clause,
    Expect,
    ExpectPreempts,
    ExpectQueue,
    ExpectRefused,
    ExpectRule,
    ExpectSet,
    ExpectStarts,
    ExpectWaiting,
    GivenNamespace,
    GivenQueue,
    Groups,
    InNamespace,
    Labels,
    Number,
    OfPriority,
    On,
    Pods,
    Source,
    Span,
    Submit,
    SubmitFile,
    Test,
    Word,
)

REFUSED: Final = ("never-fits", "uncovered", "limit", "accept", "unknown-queue", "unknown-priority")
WAITING: Final = (
    *("quota", "limit", "order", "hold", "victims", "backoff", "never-fits", "queue-gone"),
)
_OUT: Final = frozenset({"denied", "refused"})
_IN: Final = frozenset({"starts", "waiting", "preempts", "set", "warned"})


class SceneReader:
    """Reads every test."""

    def __init__(
        self,
        names: Names,
        resources: Resources,
        kinds: Iterable[str],
        sources: Mapping[str, Source],
        unread: Sequence[Span],
    ) -> None:
        self.names = names
        self.resources = resources
        self.kinds = tuple(kinds)
        self.problems: list[Problem] = []
        self._sources = sources
        self._unread = unread

    def scenes(self) -> tuple[Scene, ...]:
        """All of them, in the order of the files."""
        seen: dict[str, Span] = {}
        found: list[Scene] = []
        for test in self.names.tests:
            scene = self._scene(test)
            first = seen.setdefault(scene.name, test.name.span)
            if first is not test.name.span:
                message = f"a test named `{scene.name}` stands twice"
                others = ((first, "first here"),)
                self.problems.append(problem("TG101", test.name.span, message, others=others))
            found.append(scene)
        return tuple(found)

    def _scene(self, test: Test) -> Scene:
        source = self._sources[test.span.path]
        parts = Parts(self.names, self.resources, self.kinds, source)
        reader = _Reader(parts)
        expects = [part for part in test.body if isinstance(part, Expect)]
        scene = Scene(
            parts.text(test.name),
            MappingProxyType(reader.namespaces(test)),
            tuple(reader.present(p) for p in test.body if isinstance(p, GivenQueue)),
            self._submission(test, reader),
            tuple(reader.expected(part) for part in expects),
            test.name.span.place,
        )
        self.problems += parts.problems
        self.problems += contradictions(scene.expected, expects)
        if not expects and not self._hurt(test):
            advice = "add `expect queue …`, `expect denied …` or another"
            message = "this test expects nothing"
            self.problems.append(problem("TG005", test.name.span, message, help=advice))
        return scene

    def _submission(self, test: Test, reader: _Reader) -> Submission:
        submits = [part for part in test.body if isinstance(part, Submit | SubmitFile)]
        if not submits and not self._hurt(test):
            message, advice = "this test submits nothing", "add one `submit` line"
            self.problems.append(problem("TG602", test.name.span, message, help=advice))
        for second in submits[1:]:
            message, advice = "this test submits twice", "write a second test"
            others = ((submits[0].span, "the first"),)
            self.problems.append(problem("TG602", second.span, message, help=advice, others=others))
        read = [reader.submission(part) for part in submits]
        return read[0] if read else Submission()

    def _hurt(self, test: Test) -> bool:
        """True where a part of it could not be read."""
        here = test.span
        return any(s.path == here.path and here.start <= s.start < here.end for s in self._unread)


class _Reader:
    """Reads the lines of one test."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts

    def namespaces(self, test: Test) -> dict[str, Mapping[str, str]]:
        found: dict[str, Mapping[str, str]] = {}
        seen: dict[str, Span] = {}
        for part in test.body:
            if isinstance(part, GivenNamespace):
                name = self.parts.text(part.name)
                self.parts.once(seen, f"given namespace {name}", part.span)
                found.setdefault(name, self.parts.labels(part.labels))
        return found

    def present(self, node: GivenQueue) -> Present:
        found = Present(
            self.parts.name("queue", node.queue),
            node.running,
            self.parts.amounts(node.amounts),
            place=node.span.place,
        )
        seen: dict[str, Span] = {}
        for clause in node.clauses:
            match clause:
                case On(flavor=word):
                    self.parts.once(seen, "on", clause.span)
                    found = replace(found, flavor=self.parts.name("flavor", word))
                case By(user=text):
                    self.parts.once(seen, "by", clause.span)
                    found = replace(found, user=self.parts.text(text))
                case OfPriority(name=word):
                    self.parts.once(seen, "priority", clause.span)
                    found = replace(found, priority=self.parts.name("priority", word))
        return found

    def submission(self, node: Submit | SubmitFile) -> Submission:
        if isinstance(node, SubmitFile):
            return Submission(file=self.parts.text(node.path), place=node.span.place)
        found = Submission(self.parts.kind(node.kind), place=node.span.place)
        seen: dict[str, Span] = {}
        for clause in node.clauses:
            word = _word(clause)
            fresh = self.parts.once(seen, word, clause.span)
            read = self._clause(found, clause)
            found = read if fresh else found
        for word, advice in _MISSING.items():
            if word not in seen:
                message = f"`{word}` is missing in this submission"
                span = node.kind.span
                self.parts.problems.append(problem("TG005", span, message, help=advice))
        return found

    def _clause(self, found: Submission, clause: Clause) -> Submission:
        match clause:
            case InNamespace(name=text):
                return replace(found, namespace=self.parts.text(text))
            case By(user=text):
                return replace(found, user=self.parts.text(text))
            case Groups(names=texts):
                return replace(found, groups=tuple(self.parts.text(text) for text in texts))
            case Labels(labels=labels):
                return replace(found, labels=self.parts.labels(labels))
            case OfPriority(name=word):
                return replace(found, priority=self.parts.name("priority", word))
            case Pods(count=count, amounts=entries):
                number = 1 if count is None else self._count(count)
                return replace(found, pods=number, each=self.parts.amounts(entries))

    def _count(self, number: Number) -> int:
        read = read_integer(number, lowest=1)
        if isinstance(read, Problem):
            self.parts.problems.append(read)
            return 1
        return read

    def expected(self, node: Expect) -> Expected:
        place = node.span.place
        match node:
            case ExpectQueue(queue=word):
                return Expected("queue", self.parts.name("queue", word), place=place)
            case ExpectRule(warned=warned, rule=rule, text=text):
                name = None if rule is None else self._rule(rule, warned=warned)
                shown = None if text is None else self.parts.text(text)
                return Expected("warned" if warned else "denied", name, text=shown, place=place)
            case ExpectRefused(reason=word, text=text):
                shown = None if text is None else self.parts.text(text)
                reason = self._reason(word, REFUSED)
                return Expected("refused", reason=reason, text=shown, place=place)
            case ExpectStarts(flavor=word):
                flavor = None if word is None else self.parts.name("flavor", word)
                return Expected("starts", flavor, place=place)
            case ExpectWaiting(reason=word):
                return Expected("waiting", reason=self._reason(word, WAITING), place=place)
            case ExpectPreempts(count=number):
                return Expected("preempts", count=self._count(number), place=place)
            case ExpectSet():
                return self._set(node)
            case _:
                return Expected("ignored", place=place)

    def _reason(self, word: Word | None, valid: tuple[str, ...]) -> str | None:
        return None if word is None else self.parts.word(word, valid, "reason")

    def _rule(self, word: Word, *, warned: bool) -> str:
        name = self.parts.name("rule", word)
        declared = self.parts.names.rules.get(name)
        wanted = "warn" if warned else "deny"
        sort = type(declared).__name__.lower()
        if declared is not None and sort != wanted:
            message = f"`{name}` is a {sort}, not a {wanted}"
            others = ((declared.span, "declared here"),)
            self.parts.problems.append(problem("TG601", word.span, message, others=others))
        return name

    def _set(self, node: ExpectSet) -> Expected:
        value, problems = compile_condition(node.value, names=CONSTANT, want="any")
        self.parts.problems += problems
        steps = read_path(node.path, self.parts.source)
        if isinstance(steps, Problem):
            self.parts.problems.append(steps)
            steps = ()
        return Expected("set", path=keys(steps), value=value, place=node.span.place)


_MISSING: Final = {
    "in": 'add `in "NAMESPACE"`',
    "requests": "add `requests { cpu 1 }`, or `pods 4 each { cpu 1 }`",
}


def _word(clause: Clause) -> str:
    match clause:
        case InNamespace():
            return "in"
        case By():
            return "by"
        case Groups():
            return "groups"
        case Labels():
            return "labels"
        case OfPriority():
            return "priority"
        case Pods():
            return "requests"


def contradictions(expected: Sequence[Expected], nodes: Sequence[Expect]) -> Iterator[Problem]:
    """TG603: of two lines that cannot both hold the second is reported."""
    for at, second in enumerate(expected):
        for first, node in zip(expected[:at], nodes, strict=False):
            if _contradict(first, second):
                message = f"`expect {second.what}` cannot hold beside `expect {first.what}`"
                if first.what == second.what:
                    message = f"two lines expect something else of `{first.what}`"
                others = ((node.span, "the first"),)
                yield problem("TG603", nodes[at].span, message, others=others)
                break


def _contradict(first: Expected, second: Expected) -> bool:
    both = {first.what, second.what}
    if len(both) == 1:
        return _differ(first, second)
    if "ignored" in both:
        return True
    if both & _OUT and both & _IN - {"warned", "set"}:
        return True
    return both in ({"starts", "waiting"}, {"starts", "preempts"})


def _differ(first: Expected, second: Expected) -> bool:
    """Two lines about the same that name something else; denies, warns and reasons to refuse may be many."""
    if first.what in ("queue", "starts"):
        return None not in (first.name, second.name) and first.name != second.name
    if first.what == "waiting":
        return None not in (first.reason, second.reason) and first.reason != second.reason
    if first.what == "preempts":
        return first.count != second.count
    return first.what == "set" and first.path == second.path and first.value != second.value
