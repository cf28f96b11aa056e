"""Which statements that webhook and loop do not obey yet would change the end of a test.

A test that passed because a line was read and ignored would lie. So it is not run, and says for which line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from webhook.language.policy import Policy
from webhook.language.scenes import Scene
from webhook.model.queues import Quotas
from webhook.rehearsal.playing import Outcome

_ELSEWHERE: Final = frozenset({"kind", "mode"})
"""Words that are in no queue: a kind needs an adapter, and tests are run as if `mode enforce` stood there."""


def ignored_statement(scene: Scene, policy: Policy, outcome: Outcome) -> str | None:
    """What stands in the way, with its place; None where everything this test touches is obeyed."""
    touched = {line.queue for line in scene.present}
    if outcome.submitted.queue in policy.quotas.queues:
        touched.add(outcome.submitted.queue or "")
    trees = {_root(policy.quotas, each) for each in touched}
    for word, place in policy.not_obeyed:
        if word not in _ELSEWHERE and _tree_of(place, policy.quotas) in (None, *trees):
            return f"this version does not obey `{word}` ({place}) yet"
    return None


def _tree_of(place: str, quotas: Quotas) -> str | None:
    """The root of the tree a line belongs to; None where that cannot be told."""
    owner = _owner(place, quotas)
    return None if owner is None else _root(quotas, owner)


def _owner(place: str, quotas: Quotas) -> str | None:
    """A queue or cohort of the tree that a line belongs to: the last that begins above it."""
    path, line = _split(place)
    begun = [(at, name) for name, at, file in _members(quotas) if file == path and at <= line]
    return max(begun)[1] if begun else None


def _members(quotas: Quotas) -> Iterator[tuple[str, int, str]]:
    for members in (quotas.queues, quotas.cohorts):
        for name, member in members.items():
            path, line = _split(member.place)
            yield name, line, path


def _split(place: str) -> tuple[str, int]:
    path, _, line = place.rpartition(":")
    return path, int(line)


def _root(quotas: Quotas, name: str) -> str:
    """The top of its tree; itself where it is in no cohort."""
    queue = quotas.queues.get(name)
    above = queue.cohort if queue is not None else name
    while above is not None:
        name = above
        above = quotas.cohorts[above].parent
    return name
