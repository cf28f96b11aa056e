"""What every format is rendered from, and the table of formats by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from webhook.rehearsal.trials import Sources, Trial, Trials

FORMATS: Final = ("text", "json", "junit")
"""Their modules are named alike."""


@dataclass(frozen=True, slots=True)
class Results:
    """The tests of one run. ``paths`` are all files that were read; ``covering``: the coverage is asked for."""

    trials: Trials
    sources: Sources
    paths: Sequence[str]
    covering: bool = False
    color: bool = False
    marks: bool = True
    """whether ✓ and ✗ can be shown"""

    def of(self, path: str) -> tuple[Trial, ...]:
        """The tests of one file."""
        return tuple(trial for trial in self.trials.trials if place_of(trial)[0] == path)

    @property
    def failed(self) -> int:
        """How many ran and did not end as they expect."""
        return sum(bool(trial.problems) for trial in self.trials.trials)

    @property
    def not_run(self) -> int:
        """How many could not be run."""
        return sum(bool(trial.not_run) for trial in self.trials.trials)


def place_of(trial: Trial) -> tuple[str, int]:
    """File and line of a test."""
    path, _, line = trial.scene.place.rpartition(":")
    return path, int(line)


def renderer(name: str) -> Callable[[Results], str]:
    """The function of a format. Its module is imported here, so that a run pays for one format only."""
    render: Callable[[Results], str] = import_module(f"webhook.cli.trials.{name}").render
    return render
