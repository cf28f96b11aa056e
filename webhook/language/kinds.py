"""Kinds a policy declares: where their fields stand, what their pods are, how their end is seen."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Final

from webhook.language.amounts import read_integer
from webhook.language.conditions import IN_KINDS, Condition, compile_condition
from webhook.language.conditions import Names as ConditionNames
from webhook.language.names import Names
from webhook.language.paths import Key, keys, read_path
from webhook.language.problems import Problem, problem
from webhook.language.records import dataclass
from webhook.language.resources import Resources
from webhook.language.syntax import (
    Api,
    Children,
    FieldPath,
    KindOf,
    Path,
    PodsFrom,
    PodsFromChild,
    Source,
    Span,
    State,
    Text,
    Word,
)
from webhook.language.texts import read_text
from webhook.model.kinds import Kind

BUILT_IN_NAMES: Final = ("Job", "JobSet", "LeaderWorkerSet", "Pod", "Deployment", "StatefulSet")
_KIND: Final = re.compile(r"[A-Z][A-Za-z0-9]{0,62}")
_FIELD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*")
_API: Final = re.compile(r"(?:([a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?)/)?(v[a-z0-9]+)")
_PLURAL: Final = re.compile(r"[a-z][-a-z0-9]{0,62}")
_NEEDED: Final = ("api", "suspend", "pods", "finished", "active")


@dataclass(frozen=True, slots=True)
class PodsOf:
    """One pod set: its template, how often, and where its size stands if not in the template."""

    name: str
    template: tuple[Key, ...] | None
    factor: int = 1
    fields: tuple[str, ...] = ()
    requests: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class DeclaredKind:
    """A kind of the policy's own; ``name`` is what the policy calls it."""

    name: str
    kind: Kind
    suspend: tuple[Key, ...]
    pods: tuple[PodsOf, ...] = ()
    pods_from_child: str | None = None
    finished: Condition | None = None
    active: Condition | None = None
    ready: Condition | None = None
    inject: tuple[Key, ...] | None = None
    priority_class: tuple[Key, ...] | None = None
    children: tuple[str, ...] = ()
    place: str = ""


class KindReader:
    """Reads every ``kind``; unknown resources are told to ``names``."""

    def __init__(self, names: Names, resources: Resources, sources: Mapping[str, Source]) -> None:
        self.names = names
        self.resources = resources
        self.problems: list[Problem] = []
        self._sources = sources

    def kinds(self) -> tuple[DeclaredKind, ...]:
        """All of them, as far as they can be read."""
        return tuple(self._kind(node) for node in self.names.kinds.values())

    def _kind(self, node: KindOf) -> DeclaredKind:
        self._form(node.name)
        lines = self._once(node)
        hurt = self.names.incomplete
        missing = [word for word in _NEEDED if word not in lines]
        if missing and not hurt:
            listed = ", ".join(f"`{word}`" for word in missing)
            message = f"kind `{node.name.text}` lacks {listed}"
            self.problems.append(problem("TG005", node.name.span, message))
        paths = {
            w: self._path(line.path) for w, line in lines.items() if isinstance(line, FieldPath)
        }
        states = {w: self._state(line) for w, line in lines.items() if isinstance(line, State)}
        children = lines.get("children")
        child = next((p.kind for p in node.body if isinstance(p, PodsFromChild)), None)
        return DeclaredKind(
            node.name.text,
            self._api(lines.get("api"), node.name),
            paths.get("suspend", ()),
            tuple(self._pods(node)),
            None if child is None else child.text,
            states.get("finished"),
            states.get("active"),
            states.get("ready"),
            paths.get("inject"),
            paths.get("priority-class"),
            tuple(w.text for w in children.kinds) if isinstance(children, Children) else (),
            node.name.span.place,
        )

    def _form(self, name: Word) -> None:
        if name.text in BUILT_IN_NAMES:
            message = f"the kind `{name.text}` is built in"
            advice = "choose another name here, and write `kind` behind `api` for the cluster's"
            self.problems.append(problem("TG109", name.span, message, help=advice))
        elif not _KIND.fullmatch(name.text):
            advice = "a capital letter first, then letters and digits"
            message = f"`{name.text}` is not a kind"
            self.problems.append(problem("TG015", name.span, message, help=advice))

    def _once(self, node: KindOf) -> dict[str, object]:
        """The first line of each sort; ``pods`` may be many."""
        lines: dict[str, object] = {}
        places: dict[str, Span] = {}
        for part in node.body:
            word = _keyword(part)
            lines.setdefault(word, part)
            first = places.setdefault(word, part.span)
            if first is not part.span and word != "pods":
                message = f"kind `{node.name.text}` has two `{word}` lines"
                others = ((first, "the first"),)
                self.problems.append(problem("TG101", part.span, message, others=others))
        return lines

    def _api(self, line: object, name: Word) -> Kind:
        if not isinstance(line, Api):
            return Kind(name.text, "", "", "")
        version, plural = self._text(line.version), self._text(line.plural)
        match = _API.fullmatch(version)
        if match is None:
            message = f"`{version}` is not an apiVersion"
            advice = "a group and a version: `ray.io/v1`"
            self.problems.append(problem("TG015", line.version.span, message, help=advice))
        if not _PLURAL.fullmatch(plural):
            message = f"`{plural}` is not the plural name of a resource"
            advice = "lower case, as `kubectl api-resources` shows it: `rayjobs`"
            self.problems.append(problem("TG015", line.plural.span, message, help=advice))
        group, number = (match[1] or "", match[2]) if match else ("", "")
        kind = name.text if line.kind is None else self._text(line.kind)
        return Kind(kind, group, number, plural)

    def _pods(self, node: KindOf) -> Iterator[PodsOf]:
        seen: dict[str, Span] = {}
        for part in node.body:
            if not isinstance(part, PodsFrom):
                continue
            first = seen.setdefault(part.name.text, part.name.span)
            if first is not part.name.span:
                message = f"pods named `{part.name.text}` are declared twice"
                others = ((first, "first here"),)
                self.problems.append(problem("TG101", part.name.span, message, others=others))
            if part.template is None and part.requests is None:
                message = f"nothing says what pods `{part.name.text}` ask for"
                advice = "add `from PATH` of a pod template, or `requests { cpu FIELD }`"
                self.problems.append(problem("TG005", part.span, message, help=advice))
            yield self._pod_set(part)

    def _pod_set(self, part: PodsFrom) -> PodsOf:
        factor, fields = 1, list[str]()
        for each in part.times:
            if isinstance(each, Word):
                fields.append(self._field(each))
                continue
            number = read_integer(each, lowest=1)
            if isinstance(number, Problem):
                self.problems.append(number)
            else:
                factor *= number
        requests = {
            name: self._field(measure.source)
            for measure in part.requests or ()
            if (name := self.resources.resolve(measure.resource)) is not None
        }
        template = None if part.template is None else self._path(part.template)
        return PodsOf(part.name.text, template, factor, tuple(fields), MappingProxyType(requests))

    def _field(self, word: Word) -> str:
        if not _FIELD.fullmatch(word.text):
            message = f"`{word.text}` is not the name of a field"
            self.problems.append(problem("TG015", word.span, message))
        return word.text

    def _path(self, path: Path) -> tuple[Key, ...]:
        steps = read_path(path, self._sources[path.span.path])
        if isinstance(steps, Problem):
            self.problems.append(steps)
            return ()
        return keys(steps)

    def _state(self, line: State) -> Condition | None:
        unknown = (Kind("declared", "", "", ""),)
        names = ConditionNames(unknown, IN_KINDS)
        condition, problems = compile_condition(line.condition, names=names, want="bool")
        self.problems += problems
        return condition

    def _text(self, text: Text) -> str:
        value, problems = read_text(text, self._sources[text.span.path])
        self.problems += problems
        return value


def _keyword(part: object) -> str:
    match part:
        case FieldPath(keyword=word) | State(keyword=word):
            return word
        case Api():
            return "api"
        case Children():
            return "children"
        case _:
            return "pods"
