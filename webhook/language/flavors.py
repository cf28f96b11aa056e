"""Flavors and priorities: from what was written to the values the core and the webhook use."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, TypeVar

from webhook.language.amounts import read_integer
from webhook.language.names import Names
from webhook.language.problems import Problem, problem
from webhook.language.suggest import did_you_mean
from webhook.language.syntax import Flavor, Node, Source, Span, Text, Tolerate, Word
from webhook.language.texts import read_text
from webhook.language.words import EFFECTS
from webhook.model import queues as model

_Key = TypeVar("_Key")
_KEY: Final = re.compile(
    r"(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
)
_VALUE: Final = re.compile(r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")


def is_label_key(text: str) -> bool:
    """True for the key of a label."""
    return _KEY.fullmatch(text) is not None


def is_label_value(text: str) -> bool:
    """True for the value of a label."""
    return _VALUE.fullmatch(text) is not None


def read_flavors(
    names: Names, sources: Mapping[str, Source]
) -> tuple[dict[str, model.Flavor], tuple[Problem, ...]]:
    """Every declared flavor, and ``default``."""
    found: list[Problem] = []
    flavors = {model.DEFAULT_FLAVOR: model.Flavor(model.DEFAULT_FLAVOR)}
    for name, flavor in names.flavors.items():
        reader = _Reader(sources[flavor.span.path])
        flavors[name] = reader.flavor(flavor)
        found += reader.problems
    return flavors, tuple(found)


class _Reader:
    """Reads one flavor and notes what is wrong with it."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.problems: list[Problem] = []
        self._nodes: dict[str, Span] = {}
        self._tolerated: dict[tuple[str, str], Span] = {}

    def flavor(self, flavor: Flavor) -> model.Flavor:
        nodes: dict[str, str] = {}
        tolerations: list[model.Toleration] = []
        for landing in flavor.landings:
            if isinstance(landing, Node):
                key = self._node(landing)
                nodes.setdefault(key, self._value(landing.value))
            else:
                tolerations.append(self._toleration(landing))
        return model.Flavor(flavor.name.text, MappingProxyType(nodes), tuple(tolerations))

    def _node(self, node: Node) -> str:
        key = self._key(node.key)
        self._once(self._nodes, key, node.key.span, f"the `node` key `{key}` stands twice")
        return key

    def _toleration(self, tolerate: Tolerate) -> model.Toleration:
        key = self._key(tolerate.key)
        value = None if tolerate.value is None else self._value(tolerate.value)
        effect = "" if tolerate.effect is None else self._effect(tolerate.effect)
        message = f"the `tolerate` key `{key}` stands twice"
        self._once(self._tolerated, (key, effect), tolerate.key.span, message)
        return model.Toleration(key, value, effect)

    def _once(self, seen: dict[_Key, Span], key: _Key, span: Span, message: str) -> None:
        first = seen.setdefault(key, span)
        if first is not span:
            others = ((first, "first here"),)
            self.problems.append(problem("TG314", span, message, others=others))

    def _effect(self, word: Word) -> str:
        if word.text not in EFFECTS:
            advice = did_you_mean(word.text, EFFECTS) or f"one of {', '.join(EFFECTS)}"
            message = f"`{word.text}` is not an effect of a taint"
            self.problems.append(problem("TG004", word.span, message, help=advice))
        return word.text

    def _key(self, text: Text) -> str:
        key = self._read(text)
        if not is_label_key(key):
            self.problems.append(problem("TG015", text.span, f"`{key}` is not the key of a label"))
        return key

    def _value(self, text: Text) -> str:
        value = self._read(text)
        if not is_label_value(value):
            message = f"`{value}` is not the value of a label"
            self.problems.append(problem("TG015", text.span, message))
        return value

    def _read(self, text: Text) -> str:
        value, problems = read_text(text, self.source)
        self.problems += problems
        return value


def read_priorities(names: Names) -> tuple[dict[str, int], str | None, tuple[Problem, ...]]:
    """Value by name, and the default's name."""
    found: list[Problem] = []
    values: dict[str, int] = {}
    default: Word | None = None
    for name, priority in names.priorities.items():
        value = read_integer(priority.value)
        if isinstance(value, Problem):
            found.append(value)
        else:
            values[name] = value
        if priority.default and default is not None:
            others = ((default.span, "the first"),)
            message = "two priorities are the default"
            found.append(problem("TG110", priority.name.span, message, others=others))
        elif priority.default:
            default = priority.name
    return values, default.text if default else None, tuple(found)
