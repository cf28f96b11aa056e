"""What every format is rendered from, and the table of formats by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Final

from webhook.language.problems import Problem, Severity
from webhook.language.syntax import Source


@dataclass(frozen=True, slots=True)
class Report:
    """The findings of one run. ``paths`` are all files that were read, also those without a finding."""

    problems: Sequence[Problem]
    sources: Mapping[str, Source]
    paths: Sequence[str]
    strict: bool = False
    color: bool = False

    def fails(self, found: Problem) -> bool:
        """True for a finding that makes the run end with 1."""
        wanted = (Severity.ERROR, Severity.WARNING) if self.strict else (Severity.ERROR,)
        return found.severity in wanted

    @property
    def failed(self) -> bool:
        """True where any does."""
        return any(self.fails(found) for found in self.problems)


FORMATS: Final = ("text", "concise", "json", "sarif", "junit", "github")
"""Their modules are named alike; ``text`` is the one of the language itself."""


def renderer(name: str) -> Callable[[Report], str]:
    """The function of a format. Its module is imported here, so that a run pays for one format only."""
    render: Callable[[Report], str] = import_module(f"webhook.cli.reports.{name}").render
    return render
