"""What ``given``, ``submit`` and ``expect`` have in common: names that must exist, labels, amounts, clauses once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from webhook.language.amounts import read_amount
from webhook.language.conditions import Names as ConditionNames
from webhook.language.flavors import is_label_key, is_label_value
from webhook.language.names import Names, What
from webhook.language.problems import Problem, problem
from webhook.language.resources import Resources
from webhook.language.suggest import did_you_mean
from webhook.language.syntax import Bounded, Label, Source, Span, Text, Word
from webhook.language.texts import read_text
from webhook.model.quantity import Amount
from webhook.model.queues import DEFAULT_FLAVOR

CONSTANT = ConditionNames((), frozenset())
"""A value in a test knows no variables."""


class Parts:
    """Reads the parts of one test and notes what is wrong with them."""

    def __init__(
        self, names: Names, resources: Resources, kinds: Iterable[str], source: Source
    ) -> None:
        self.names = names
        self.source = source
        self.problems: list[Problem] = []
        self._resources = resources
        self._kinds = tuple(kinds)

    def name(self, what: What, word: Word) -> str:
        """A name that has to be declared."""
        known = [*self.names.spans(what), *((DEFAULT_FLAVOR,) if what == "flavor" else ())]
        if word.text not in known and not self.names.is_lost(what, word.text):
            advice = did_you_mean(word.text, known)
            message = f"no {what} named `{word.text}`"
            self.problems.append(problem("TG601", word.span, message, help=advice))
        return word.text

    def kind(self, word: Word) -> str:
        """A kind that is built in or declared."""
        if word.text not in self._kinds:
            advice = did_you_mean(word.text, self._kinds) or f"known are {', '.join(self._kinds)}"
            message = f"`{word.text}` is not a kind this version knows"
            self.problems.append(problem("TG601", word.span, message, help=advice))
        return word.text

    def word(self, word: Word, valid: tuple[str, ...], what: str) -> str:
        """One of a few words."""
        if word.text not in valid:
            listed = ", ".join(f"`{each}`" for each in valid)
            advice = did_you_mean(word.text, valid) or f"one of {listed}"
            message = f"there is no {what} `{word.text}`"
            self.problems.append(problem("TG004", word.span, message, help=advice))
        return word.text

    def text(self, text: Text) -> str:
        """The value of a text."""
        value, problems = read_text(text, self.source)
        self.problems += problems
        return value

    def amounts(self, entries: Iterable[Bounded]) -> Mapping[str, Amount]:
        """Amounts by resource, each once."""
        found: dict[str, Amount] = {}
        places: dict[str, Span] = {}
        for entry in entries:
            resource = self._resources.resolve(entry.resource)
            amount = read_amount(entry.amount, resource or entry.resource.text)
            if isinstance(amount, Problem):
                self.problems.append(amount)
            elif resource in places:
                message = f"`{resource}` stands twice"
                self.twice("TG302", message, entry.resource.span, places[resource])
            elif resource is not None:
                places[resource] = entry.resource.span
                found[resource] = amount
        return MappingProxyType(found)

    def labels(self, labels: Iterable[Label]) -> Mapping[str, str]:
        """Labels, each key once."""
        found: dict[str, str] = {}
        places: dict[str, Span] = {}
        for label in labels:
            key = label.key.text if isinstance(label.key, Word) else self.text(label.key)
            value = self.text(label.value)
            if not is_label_key(key):
                message = f"`{key}` is not the key of a label"
                self.problems.append(problem("TG015", label.key.span, message))
            if not is_label_value(value):
                message = f"`{value}` is not the value of a label"
                self.problems.append(problem("TG015", label.value.span, message))
            if key in places:
                self.twice("TG101", f"the label `{key}` stands twice", label.span, places[key])
            places.setdefault(key, label.span)
            found.setdefault(key, value)
        return MappingProxyType(found)

    def once(self, seen: dict[str, Span], clause: str, span: Span) -> bool:
        """True where this clause stands for the first time."""
        first = seen.setdefault(clause, span)
        if first is not span:
            self.twice("TG101", f"`{clause}` stands twice", span, first)
        return first is span

    def twice(self, code: str, message: str, span: Span, first: Span) -> None:
        """Note a second one."""
        self.problems.append(problem(code, span, message, others=((first, "first here"),)))
