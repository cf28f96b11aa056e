"""Findings about the lines of queues: limits, preemption, preferences and deadlines that cannot do what they say.

Each rests on the numbers of the policy: what a queue can hold at most, which priorities there are, who can borrow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from webhook.language.lint.capacity import Capacity
from webhook.language.names import Names
from webhook.language.problems import Problem, problem
from webhook.language.records import dataclass
from webhook.language.syntax import Block, Deadline, Limit, Preempt, Prefer, Queue, State
from webhook.model import queues as model
from webhook.model.quantity import format_quantity

_QUIETLY: Final = frozenset({"cpu", "memory", "ephemeral-storage"})
"""What a flavor that does not name it lets through without a word."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """What the findings are computed from. ``priorities`` None: also others than the declared ones are possible."""

    quotas: model.Quotas
    capacity: Capacity
    priorities: tuple[int, ...] | None
    aliases: Mapping[str, str]


def line_findings(
    names: Names,
    quotas: model.Quotas,
    priorities: Mapping[str, int],
    default: str | None,
    aliases: Mapping[str, str],
) -> Iterator[Problem]:
    """Every finding of this module. Whoever has no label has the default priority, where there is one."""
    values = None if default is None else tuple(sorted(set(priorities.values())))
    numbers = Numbers(quotas, Capacity(quotas), values, aliases)
    for name, member in names.members.items():
        if isinstance(member.node, Queue) and name in quotas.queues:
            queue = quotas.queues[name]
            yield from _limits(member.node, queue, numbers)
            yield from _preempts(member.node, queue, numbers)
            yield from _prefers(member.node, queue)
            yield from _contradicting(member.node, queue, quotas.flavors)
            yield from _uneven(member.node, queue)


def _limits(node: Queue, queue: model.Queue, numbers: Numbers) -> Iterator[Problem]:
    """TG401: the queue as a whole can never hold as much as one of its users may."""
    lines = [part for part in node.body if isinstance(part, Limit)]
    for line, limit in zip(lines, queue.limits, strict=False):
        for entry in line.entries:
            resource = numbers.aliases.get(entry.resource.text, entry.resource.text)
            bound, most = limit.resources.get(resource), _most(queue, resource, numbers.capacity)
            if bound is not None and most is not None and bound >= most:
                shown = format_quantity(most, resource)
                message = f"this limit never binds: the queue can hold at most {shown}"
                advice = "lower it, or remove the entry"
                yield problem("TG401", entry.amount.span, message, help=advice)


def _most(queue: model.Queue, resource: str, capacity: Capacity) -> int | None:
    """The most a queue can hold of a resource; None where one of its flavors does not count it."""
    if not all(resource in quota.shares for quota in queue.quotas):
        return None
    flavors = (model.FlavorResource(quota.flavor, resource) for quota in queue.quotas)
    return sum(capacity.most(queue.name, what) for what in flavors)


def _preempts(node: Queue, queue: model.Queue, numbers: Numbers) -> Iterator[Problem]:
    """TG404: nobody can ever be displaced by this line."""
    for line in (part for part in node.body if isinstance(part, Preempt)):
        why = _nobody(line, queue, numbers)
        if why:
            message = f"this line can find nobody: {why}"
            yield problem("TG404", line.span, message, help="remove it")


def _nobody(line: Preempt, queue: model.Queue, numbers: Numbers) -> str:
    values, lower = numbers.priorities, line.whom.text == "lower-priority"
    if lower and values is not None and len(values) == 1:
        return "all workloads have the same priority"
    if line.scope == "within":
        return ""
    if queue.cohort is None:
        return f"queue `{queue.name}` stands in no cohort"
    below = queue.preempts.below
    if line.scope == "to" and values is not None and below is not None and below <= values[0]:
        return f"no priority is below `{line.below.text if line.below else below}`"
    others = [other for other in numbers.capacity.tree(queue.name) if other != queue.name]
    shared = [
        model.FlavorResource(quota.flavor, resource)
        for quota in queue.quotas
        for resource in quota.shares
    ]
    if not any(_borrows(numbers, other, what) for other in others for what in shared):
        return "no other queue of its tree can borrow what this one has"
    return ""


def _borrows(numbers: Numbers, queue: str, what: model.FlavorResource) -> bool:
    """True where a queue names this flavor and resource and could borrow some of it."""
    named = any(
        quota.flavor == what.flavor and what.resource in quota.shares
        for quota in numbers.quotas.queues[queue].quotas
    )
    return named and numbers.capacity.borrowable(queue, what) > 0


def _prefers(node: Queue, queue: model.Queue) -> Iterator[Problem]:
    """TG409: with one flavor only the order of borrowing and preempting counts, and that is the default."""
    for line in (part for part in node.body if isinstance(part, Prefer)):
        order = [way for way in queue.prefer if way is not model.Way.NEXT_FLAVOR]
        if len(queue.quotas) == 1 and order == [model.Way.BORROWING, model.Way.PREEMPTING]:
            message = f"queue `{queue.name}` has one flavor, this line changes nothing"
            yield problem("TG409", line.span, message, help="remove it")


def _contradicting(
    node: Queue, queue: model.Queue, flavors: Mapping[str, model.Flavor]
) -> Iterator[Problem]:
    """TG310: flavors that share no resource are used together, and no node has two values of one label."""
    seen: dict[str, dict[str, str]] = {}
    for group in _groups(queue):
        for flavor in group:
            other = _contradiction(flavors.get(flavor), seen)
            if other is not None:
                yield _no_node(node, seen[other[0]][other[1]], flavor, other[0])
        for flavor in group:
            nodes = flavors[flavor].nodes if flavor in flavors else {}
            for key, value in nodes.items():
                seen.setdefault(key, {}).setdefault(value, flavor)


def _no_node(node: Queue, one: str, other: str, key: str) -> Problem:
    message = f"flavors `{one}` and `{other}` are used together, and want other values of `{key}`"
    note = "they share no resource, so a pod takes one of each"
    advice = "let both quotas name a common resource, or drop one `node` line"
    return problem("TG310", node.name.span, message, notes=(note,), help=advice)


def _contradiction(
    flavor: model.Flavor | None, seen: Mapping[str, Mapping[str, str]]
) -> tuple[str, str] | None:
    """A label of nodes and the first other value of it; ``seen`` has the flavors of groups before, by both."""
    if flavor is None:
        return None
    return next(
        (
            (key, other)
            for key, value in flavor.nodes.items()
            for other in seen.get(key, ())
            if other != value
        ),
        None,
    )


def _groups(queue: model.Queue) -> list[list[str]]:
    """Flavors that share a resource, transitively: alternatives to each other."""
    groups: list[tuple[list[str], set[str]]] = []
    for quota in queue.quotas:
        flavors, resources = [quota.flavor], set(quota.shares)
        apart = []
        for group in groups:
            if group[1] & resources:
                flavors, resources = [*group[0], *flavors], group[1] | resources
            else:
                apart.append(group)
        groups = [*apart, (flavors, resources)]
    return [flavors for flavors, _ in groups]


def _uneven(node: Queue, queue: model.Queue) -> Iterator[Problem]:
    """TG309: what one flavor counts and its alternative does not is without bound there, and nothing says so.

    Any other resource passes the flavor over, and a queue that has an `uncovered` line has said what it means.
    """
    if queue.refuse_uncovered is not None:
        return
    counted = {quota.flavor: _QUIETLY & quota.shares.keys() for quota in queue.quotas}
    blocks = [part for part in node.body if isinstance(part, Block)]
    told = {quota.flavor: block for block, quota in zip(blocks, queue.quotas, strict=False)}
    for group in _groups(queue):
        first: dict[str, str] = {}
        for flavor in group:
            for resource in counted[flavor]:
                first.setdefault(resource, flavor)
        for flavor in group:
            missing = sorted(first.keys() - counted[flavor])
            if missing:
                yield _not_counted(told[flavor], flavor, first[missing[0]], missing)


def _not_counted(block: Block, flavor: str, other: str, missing: list[str]) -> Problem:
    names = " and ".join(missing)
    message = f"flavor `{flavor}` does not count {names}, and its alternative `{other}` does"
    note = f"what lands on `{flavor}` may use any amount of {names}"
    advice = (
        "name it here, too; or say `uncovered ignore` if that is meant, `uncovered refuse` if not"
    )
    span = block.span if block.flavor is None else block.flavor.span
    return problem("TG309", span, message, notes=(note,), help=advice)


def deadline_findings(names: Names, routes: Mapping[str, frozenset[str]]) -> Iterator[Problem]:
    """TG411: nobody can tell when such a workload is ready. ``routes``: kinds that are sent to each queue."""
    mute = {
        name: kind
        for name, kind in names.kinds.items()
        if not any(isinstance(part, State) and part.keyword == "ready" for part in kind.body)
    }
    for name, member in names.members.items():
        for line in (part for part in member.node.body if isinstance(part, Deadline)):
            for kind in sorted(mute.keys() & routes.get(name, frozenset())):
                message = f"kind `{kind}` is sent to this queue and has no `ready when`"
                others = ((mute[kind].name.span, "declared here"),)
                advice = f"add `ready when …` to kind `{kind}`"
                yield problem("TG411", line.span, message, others=others, help=advice)
