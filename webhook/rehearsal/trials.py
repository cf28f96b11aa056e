"""All tests of a policy, one after the other, with what is wrong about each as problems at their places."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from webhook.admission.rules import Rules
from webhook.language.policy import Policy
from webhook.language.problems import Problem, problem
from webhook.language.scenes import Scene
from webhook.language.suppress import suppressed
from webhook.language.syntax import File, Source, Span
from webhook.model.kinds import Object
from webhook.rehearsal.composing import CannotPlay
from webhook.rehearsal.coverage import Coverage, Item, coverage_of
from webhook.rehearsal.expecting import Unmet, unmet
from webhook.rehearsal.obedience import ignored_statement
from webhook.rehearsal.playing import Outcome, play
from webhook.rehearsal.recording import Recorder, recorded

_COMMENT: Final = re.compile(r'\s+#[^"]*$')
ReadFile: TypeAlias = Callable[[Scene], Object]
"""The object in the file that a scene submits. Raises BadFile."""
Sources: TypeAlias = Mapping[str, Source]


class BadFile(Exception):
    """A file of a submission that is missing, or is not one object; the message says which."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One test that was run. ``not_run`` says why it could not be, "" where it was."""

    scene: Scene
    outcome: Outcome | None = None
    unmet: tuple[Unmet, ...] = ()
    problems: tuple[Problem, ...] = ()
    not_run: str = ""

    @property
    def passed(self) -> bool:
        """Whether it ran and all it expects holds."""
        return not self.problems and not self.not_run


@dataclass(frozen=True, slots=True)
class Trials:
    """All of them, in the order of the files."""

    trials: tuple[Trial, ...]
    coverage: Coverage
    untested: tuple[Problem, ...] = ()
    """TG605 for each rule that is not covered; none where the policy has no test at all"""

    @property
    def passed(self) -> bool:
        """Whether every test did."""
        return all(trial.passed for trial in self.trials)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What was found, in the order of the tests."""
        return tuple(found for trial in self.trials for found in trial.problems)


def try_all(
    policy: Policy, files: Sequence[File], read: ReadFile, *, name_contains: str = ""
) -> Trials:
    """Run every test whose name contains that text. A rule whose TG605 is suppressed does not count as one."""
    recorder = Recorder()
    rules = Rules.of(recorded(policy, recorder))
    sources = {file.path: file.source for file in files}
    chosen = [scene for scene in policy.tests if name_contains in scene.name]
    trials = tuple(_try(scene, policy, rules, recorder, sources, read) for scene in chosen)
    coverage = coverage_of(policy, recorder)
    untested = {item: _untested(item, sources) for item in coverage.uncovered}
    _, hidden = suppressed(tuple(untested.values()), files)
    counted = tuple(item for item in coverage.items if untested.get(item) not in hidden)
    told = tuple(found for found in untested.values() if found not in hidden)
    return Trials(trials, Coverage(counted), told if policy.tests else ())


def _try(
    scene: Scene, policy: Policy, rules: Rules, recorder: Recorder, sources: Sources, read: ReadFile
) -> Trial:
    try:
        file = read(scene) if scene.submission.file is not None else None
        outcome = play(scene, rules, recorder, file)
    except BadFile as error:
        span = span_at(scene.submission.place, sources)
        return Trial(scene, problems=(problem("TG606", span, str(error)),))
    except CannotPlay as error:
        return Trial(scene, not_run=str(error))
    ignored = ignored_statement(scene, policy, outcome)
    if ignored is not None:
        return Trial(scene, outcome, not_run=ignored)
    wrong = tuple(unmet(scene.expected, outcome, policy))
    return Trial(scene, outcome, wrong, tuple(_problem(each, sources) for each in wrong))


def _problem(wrong: Unmet, sources: Sources) -> Problem:
    others = tuple((span_at(place, sources), label) for place, label in wrong.deciders)
    span = span_at(wrong.expected.place, sources)
    return problem("TG604", span, wrong.message, notes=wrong.notes, others=others)


def _untested(item: Item, sources: Sources) -> Problem:
    return problem("TG605", span_at(item.place, sources), f"`{item.title}`: {item.missing}")


def span_at(place: str, sources: Sources) -> Span:
    """The line of a place, ``file:line``, without what surrounds the statement."""
    path, _, number = place.rpartition(":")
    source = sources[path]
    line = int(number)
    text = source.line(line)
    start = sum(len(each) + 1 for each in source.text.split("\n")[: line - 1])
    begins = len(text) - len(text.lstrip())
    ends = len(_COMMENT.sub("", text).rstrip().removesuffix("{").rstrip())
    return source.span(start + begins, start + max(begins, ends))
