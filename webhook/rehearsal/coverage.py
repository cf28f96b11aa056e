"""Which rules of a policy its tests have exercised, and what is missing for the others.

A route, a warn and a set have to be true once; a deny and an accept once true and once false, for a rule that is
always true guards nothing; a limit has to stop somebody. Rules under `audit` change nothing and do not count.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from webhook.language.policy import Policy
from webhook.rehearsal.recording import Recorder


@dataclass(frozen=True, slots=True)
class Item:
    """One rule; ``missing`` says what no test makes it do, "" where it is covered. ``place`` is ``file:line``."""

    title: str
    place: str
    missing: str = ""

    @property
    def covered(self) -> bool:
        """Whether the tests exercise it."""
        return not self.missing


@dataclass(frozen=True, slots=True)
class Coverage:
    """Every rule, in the order of files and lines."""

    items: tuple[Item, ...] = ()

    @property
    def covered(self) -> int:
        """How many are."""
        return sum(item.covered for item in self.items)

    @property
    def percent(self) -> int:
        """Rounded down, so that 100 means all; 100 where there is no rule."""
        return 100 * self.covered // len(self.items) if self.items else 100

    @property
    def uncovered(self) -> tuple[Item, ...]:
        """Those that are not."""
        return tuple(item for item in self.items if not item.covered)


def coverage_of(policy: Policy, recorder: Recorder) -> Coverage:
    """What was recorded, rule by rule."""
    return Coverage(
        (*_routes(policy, recorder), *_rules(policy, recorder), *_queues(policy, recorder))
    )


def _routes(policy: Policy, recorder: Recorder) -> Iterator[Item]:
    for route in policy.routes:
        if not route.audit:
            title = f"route {route.name}" if route.name else f"route to {route.queue}"
            yield _once(title, route.place, recorder, "no test takes it")
    if policy.otherwise is not None:
        yield _once("route otherwise", policy.otherwise.place, recorder, "no test comes to it")


def _rules(policy: Policy, recorder: Recorder) -> Iterator[Item]:
    for deny in policy.denies:
        if not deny.audit:
            yield _twice(f"deny {deny.name}", deny.place, recorder, "denied by it", "let through")
    for warn in policy.warns:
        if not warn.audit:
            yield _once(f"warn {warn.name}", warn.place, recorder, "no test is warned by it")
    for each in policy.sets:
        if not each.audit:
            yield _once(f"set {each.name}", each.place, recorder, "no test makes it write")


def _queues(policy: Policy, recorder: Recorder) -> Iterator[Item]:
    for name, accepts in policy.accepts.items():
        for accept in accepts:
            title = f"accept of {name}"
            yield _twice(title, accept.place, recorder, "let in by it", "not let in by it")
    for name, queue in policy.quotas.queues.items():
        for limit in queue.limits:
            missing = "" if limit.place in recorder.reached else "no test reaches it"
            yield Item(f"limit of {name}", limit.place, missing)


def _once(title: str, place: str, recorder: Recorder, missing: str) -> Item:
    return Item(title, place, "" if place in recorder.true else missing)


def _twice(title: str, place: str, recorder: Recorder, true: str, false: str) -> Item:
    lacks = [
        how for seen, how in ((recorder.true, true), (recorder.false, false)) if place not in seen
    ]
    return Item(title, place, f"no test is {' or '.join(lacks)}" if lacks else "")
