"""What stands above each ``test`` in an editor: how it ended, or that it can be run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from webhook.admission.decision import one_line
from webhook.cli.editor.workspace import Workspace
from webhook.cli.trials.submitted import read_submitted
from webhook.language.scenes import Scene
from webhook.language.syntax import Span
from webhook.rehearsal.trials import Trial, Trials, span_at, try_all

RUN: Final = "run test"
FIX_FIRST: Final = "no test was run: the policy has errors"
LONGEST_TITLE: Final = 140
"""The whole message stands in the diagnostic below."""


@dataclass(frozen=True, slots=True)
class Lens:
    """A line above a test."""

    span: Span
    title: str


def run_tests(workspace: Workspace) -> Trials | None:
    """All tests of a policy; None where it has errors, and so cannot be tried."""
    policy = workspace.policy
    return try_all(policy, workspace.files, read_submitted) if policy is not None else None


def lenses(workspace: Workspace, path: str, trials: Trials | None) -> Iterator[Lens]:
    """One for each test of a file; ``trials`` are those of these very texts, None where they were not run yet."""
    if workspace.policy is None:
        return
    ended: Mapping[str, Trial] = {}
    if trials is not None:
        ended = {trial.scene.place: trial for trial in trials.trials}
    for scene in workspace.policy.tests:
        if scene.place.rpartition(":")[0] == path:
            yield Lens(span_at(scene.place, workspace.sources), _title(scene, ended))


def summary(trials: Trials | None) -> str:
    """How all tests ended, in a line."""
    if trials is None:
        return FIX_FIRST
    count = len(trials.trials)
    failed = sum(not trial.passed for trial in trials.trials)
    tests = "1 test" if count == 1 else f"{count} tests"
    return f"{tests}, {failed} did not pass" if failed else f"{tests} passed"


def _title(scene: Scene, ended: Mapping[str, Trial]) -> str:
    trial = ended.get(scene.place)
    if trial is None:
        return RUN
    if trial.passed:
        return "✓ passed"
    if trial.not_run:
        return one_line(f"! not run: {trial.not_run}", "", LONGEST_TITLE)
    rest = len(trial.problems) - 1
    more = f" (and {rest} more)" if rest else ""
    return one_line(f"✗ {trial.problems[0].message}", more, LONGEST_TITLE)
