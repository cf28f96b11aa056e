"""The laws of a run, asked of its history: never over, in order, one write a start, nothing idle that fits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Set
from dataclasses import dataclass, field
from typing import Any

from tests.system.arithmetic import Node, Usage, available, overdrawn
from tests.system.history import Entry, World, in_order, is_child, need, place, suspended

PATIENCE_SECONDS = 3.0
"""How long a workload must have been waiting in sight before another may be said to have passed it."""
SAME_PASS_SECONDS = 1.0
"""Starts of one plan are written side by side, so their versions may change places; nobody is passed over by that.

A plan is as old as its starts take to be written: who fits only since then was not passed over either.
"""


@dataclass
class Policy:
    """What the verdict needs of the policy under test."""

    roots: list[Node]
    priorities: dict[str, int]
    default: int

    def node(self, name: str) -> Node:
        return next(n for root in self.roots for n in root.walk() if n.name == name)

    def place(self, obj: dict[str, Any]) -> tuple[int, str, str]:
        return place(obj, self.priorities, self.default)


@dataclass
class Verdict:
    """Everything that went wrong, in words; all empty is what the tests want."""

    over: list[str] = field(default_factory=list)
    out_of_order: list[str] = field(default_factory=list)
    writes: list[str] = field(default_factory=list)
    starts: int = 0
    versions: int = 0


def judge(entries: list[Entry], policy: Policy) -> Verdict:
    """Walks through the whole history."""
    verdict, world = Verdict(), World()
    usages: list[tuple[float, Usage]] = []
    changes: dict[str, list[Entry]] = defaultdict(list)
    previous: dict[str, dict[str, Any]] = {}
    ordered = in_order(entries)
    started_at = _start_times(ordered)
    for entry in ordered:
        verdict.versions += 1
        before = previous.get(entry.uid)
        if _starts(entry, before):
            verdict.starts += 1
            verdict.out_of_order += _passed_over(
                entry, world, policy, started_at, _recent(usages, entry.at)
            )
        world.take(entry)
        usages.append((entry.at, dict(world.usage)))
        verdict.over += [
            f"{entry.version}: {name} is over by {amount}m"
            for name, amount in overdrawn(policy.roots, world.usage)
        ]
        if before is not None and _written(before) != _written(entry.object):
            changes[entry.uid].append(entry)
        previous[entry.uid] = entry.object
    verdict.writes += _writes(changes, previous)
    return verdict


def idle(entries: list[Entry], policy: Policy) -> list[str]:
    """Workloads that wait although they fit; to be asked when the loop has caught up."""
    world = World()
    for entry in in_order(entries):
        world.take(entry)
    return [_name(obj) for obj in world.waiting() if _fits(obj, world, policy, world.usage)]


def _starts(entry: Entry, before: dict[str, Any] | None) -> bool:
    if entry.kind == "Pod" or is_child(entry.object) or before is None:
        return False
    return suspended(before) and not suspended(entry.object)


def _start_times(entries: list[Entry]) -> dict[str, float]:
    """Root → when its first start came to the recorder."""
    previous: dict[str, dict[str, Any]] = {}
    times: dict[str, float] = {}
    for entry in entries:
        if _starts(entry, previous.get(entry.uid)):
            times.setdefault(entry.uid, entry.at)
        previous[entry.uid] = entry.object
    return times


def _passed_over(
    entry: Entry,
    world: World,
    policy: Policy,
    started_at: dict[str, float],
    recent: list[Usage],
) -> list[str]:
    """Those that stood before it in its queue, had been in sight for long enough, and fitted all the while."""
    queue, found = _queue(entry.object), []
    same_pass = entry.at + SAME_PASS_SECONDS
    granted = {uid for uid, at in started_at.items() if at < same_pass}
    for obj in world.waiting():
        uid = obj["metadata"]["uid"]
        if _queue(obj) != queue or uid in granted:
            continue
        seen = world.waiting_since[uid] < entry.at - PATIENCE_SECONDS
        earlier = policy.place(obj) < policy.place(entry.object)
        if not (seen and earlier):
            continue
        if policy.node(queue).strict or all(
            _fits(obj, world, policy, usage, granted) for usage in recent
        ):
            found.append(f"{entry.version}: {_name(entry.object)} started before {_name(obj)}")
    return found


def _recent(usages: list[tuple[float, Usage]], now: float) -> list[Usage]:
    """What was held at any moment since a plan that is written now may have been made."""
    found: list[Usage] = []
    for at, usage in reversed(usages):
        found.append(usage)
        if at < now - SAME_PASS_SECONDS:
            break
    return found


def _fits(
    obj: dict[str, Any],
    world: World,
    policy: Policy,
    held: Usage,
    granted: Set[str] = frozenset(),
) -> bool:
    """Beside what is held, what the same pass has granted, and what strict queues keep for their heads.

    What stands behind it in its own queue counts for nothing, granted or not: that is who passed it over.
    """
    queue, usage = _queue(obj), dict(held)
    for other in world.waiting():
        behind = _queue(other) == queue and policy.place(other) > policy.place(obj)
        if other["metadata"]["uid"] in granted and not behind:
            usage[_queue(other)] = usage.get(_queue(other), 0) + need(other)
    node = policy.node(queue)
    if node.strict and _head(queue, world, policy) is not obj:
        return False
    for strict in (n for root in policy.roots for n in root.walk() if n.strict):
        head = None if strict.name == queue else _head(strict.name, world, policy)
        if head is not None and need(head) > available(strict, held):
            spare = max(0, strict.owns - usage.get(strict.name, 0))
            usage[strict.name] = usage.get(strict.name, 0) + min(spare, need(head))
    return need(obj) <= available(node, usage)


def _head(queue: str, world: World, policy: Policy) -> dict[str, Any] | None:
    waiting = [obj for obj in world.waiting() if _queue(obj) == queue]
    return min(waiting, key=policy.place, default=None)


def _writes(changes: dict[str, list[Entry]], latest: dict[str, dict[str, Any]]) -> list[str]:
    """Roots that were written more often than once: the start, and nothing else."""
    found = []
    for uid, entries in changes.items():
        obj = latest[uid]
        if obj["kind"] == "Pod" or is_child(obj) or len(entries) == 1:
            continue
        found.append(f"{_name(obj)} was written at {[entry.version for entry in entries]}")
    return found


def _written(obj: dict[str, Any]) -> tuple[Any, Any, Any]:
    metadata = obj["metadata"]
    return metadata.get("annotations"), metadata.get("labels"), obj.get("spec")


def _queue(obj: dict[str, Any]) -> str:
    return str(obj["metadata"]["labels"]["tidegate.dev/queue"])


def _name(obj: dict[str, Any]) -> str:
    metadata = obj["metadata"]
    return f"{obj['kind']} {metadata['namespace']}/{metadata['name']}"
