"""Tests inside policies, as values: the scene, one submission, what is expected of it.

Nothing is run here. A scene is what a runner needs; whatever would make it say nothing (a name that does not exist,
no submission, expectations that contradict each other) is an error before anything runs. Files of submissions are
named, not read: the language knows no disk.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from types import MappingProxyType
from typing import Literal, TypeAlias

from webhook.language.conditions import Condition
from webhook.language.paths import Key
from webhook.language.records import dataclass
from webhook.model.quantity import Amount

NOTHING: Mapping[str, Amount] = MappingProxyType({})
ANYONE = "anyone"
"""Who submits where a test does not say."""
What: TypeAlias = Literal[
    "queue", "denied", "warned", "refused", "starts", "waiting", "preempts", "set", "ignored"
]


@dataclass(frozen=True, slots=True)
class Present:
    """A workload that is there before: it runs, or waits. ``flavor`` None: the first that names all it asks for."""

    queue: str
    running: bool
    requests: Mapping[str, Amount] = field(default_factory=lambda: NOTHING)
    flavor: str | None = None
    user: str | None = None
    priority: str | None = None
    place: str = ""


@dataclass(frozen=True, slots=True)
class Submission:
    """What is submitted: a workload of so many pods, each asking for so much, or the object in a file."""

    kind: str = ""
    namespace: str = ""
    user: str = ANYONE
    groups: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    priority: str | None = None
    pods: int = 1
    each: Mapping[str, Amount] = field(default_factory=lambda: NOTHING)
    file: str | None = None
    place: str = ""


@dataclass(frozen=True, slots=True)
class Expected:
    """One ``expect`` line; ``name`` is a queue, rule or flavor, ``reason`` a word behind `because`."""

    what: What
    name: str | None = None
    reason: str | None = None
    text: str | None = None
    count: int | None = None
    path: tuple[Key, ...] = ()
    value: Condition | None = None
    place: str = ""


@dataclass(frozen=True, slots=True)
class Scene:
    """One test."""

    name: str
    namespaces: Mapping[str, Mapping[str, str]]
    present: tuple[Present, ...]
    submission: Submission
    expected: tuple[Expected, ...]
    place: str = ""
