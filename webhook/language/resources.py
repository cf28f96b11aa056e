"""Resources by their own names and by aliases.

A resource is known when Kubernetes counts it itself, when its name has a domain (``nvidia.com/gpu``: nobody can know
whether a device plugin offers it), or when the policy gives it a short name.
"""

from __future__ import annotations

import re
from typing import Final

from webhook.language.names import Names
from webhook.language.problems import Problem, problem
from webhook.language.syntax import Alias, Word

NATIVE: Final = ("cpu", "memory", "ephemeral-storage", "pods")
_HUGE: Final = re.compile(r"hugepages-[0-9]+[KMGT]i")
_DOMAIN: Final = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*"
_EXTENDED: Final = re.compile(
    rf"(?=.{{1,316}}\Z){_DOMAIN}/[A-Za-z0-9](?:[-A-Za-z0-9_.]{{0,61}}[A-Za-z0-9])?"
)
_NOT_ALIASES: Final = frozenset({*NATIVE, "storage"})


def is_resource(name: str) -> bool:
    """True for the full name of a resource."""
    return name in NATIVE or bool(_HUGE.fullmatch(name) or _EXTENDED.fullmatch(name))


class Resources:
    """Full names by the words of the policy; unknown words are told to ``names``."""

    def __init__(self, names: Names) -> None:
        self.problems: list[Problem] = []
        self.aliases: dict[str, str] = {}
        self._names = names
        owners: dict[str, Alias] = {}
        for alias in names.aliases.values():
            self._read(alias, owners)

    def resolve(self, word: Word) -> str | None:
        """The full name; None where there is none, which is reported."""
        if word.text in self.aliases:
            return self.aliases[word.text] or None
        if is_resource(word.text):
            return word.text
        self._names.unknown("resource", word, NATIVE)
        return None

    def known_aliases(self) -> dict[str, str]:
        """Alias → resource, without those that are wrong."""
        return {alias: resource for alias, resource in self.aliases.items() if resource}

    def _read(self, alias: Alias, owners: dict[str, Alias]) -> None:
        name, resource = alias.name.text, alias.resource.text
        self.aliases[name] = ""  # known, though wrong: its uses are no mistakes of their own
        if name in _NOT_ALIASES:
            message = f"`{name}` is a resource of Kubernetes, an alias would hide it"
            self.problems.append(problem("TG107", alias.name.span, message))
        elif "/" in name and is_resource(name):
            self.aliases[resource] = ""  # the wrong way round: said of the name already
        elif not is_resource(resource):
            self.problems.append(_no_resource(alias.resource))
        elif resource in owners:
            self.problems.append(_second_alias(alias, owners[resource]))
            self.aliases[name] = resource
        else:
            owners[resource] = alias
            self.aliases[name] = resource


def _no_resource(word: Word) -> Problem:
    advice = f"write it with its domain (`nvidia.com/gpu`), or one of {', '.join(f'`{n}`' for n in NATIVE)}"
    return problem("TG108", word.span, f"`{word.text}` is not a resource", help=advice)


def _second_alias(alias: Alias, first: Alias) -> Problem:
    message = f"`{alias.resource.text}` is already named `{first.name.text}`"
    return problem(
        "TG107", alias.name.span, message,
        label="a second name", others=((first.name.span, "the first"),),
        help=f"use `{first.name.text}` everywhere",
    )  # fmt: skip
