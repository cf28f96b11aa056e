"""What a name comes to: the numbers behind a line of quota, the value of a priority, where a flavor lands.

Three numbers stand behind ``gpu 64 borrow 16``: what the queue owns, the most it could ever use with what others leave
(the tree's own arithmetic, caps and bounds included), and what its whole tree holds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from webhook.cli.editor.completion import head
from webhook.cli.editor.names import Use, name_at, places
from webhook.cli.editor.workspace import Workspace
from webhook.language.policy import Policy
from webhook.language.syntax import Block, Cohort, File, Queue, Share, Span
from webhook.model.quantity import format_quantity
from webhook.model.queues import DEFAULT_FLAVOR, FlavorResource, Quotas
from webhook.quota.tree import Tree


@dataclass(frozen=True, slots=True)
class Hover:
    """Markdown, and the stretch it is about."""

    text: str
    span: Span


def hover(
    workspace: Workspace, path: str, offset: int, *, last: Policy | None = None
) -> Hover | None:
    """What to show at a place; ``last`` is a policy that was whole, for numbers while the text is broken."""
    file = workspace.file(path)
    policy = workspace.policy or last
    if file is None:
        return None
    entry = _entry(file, offset)
    use = name_at(file, offset)
    if entry is not None and policy is not None:
        text = _amounts(policy, entry)
        if text:
            return Hover(text, entry.share.span)
    return Hover(_named(workspace, policy, use), use.span) if use is not None else None


@dataclass(frozen=True, slots=True)
class _Entry:
    """One entry of a quota or pool, with the blocks around it."""

    member: Queue | Cohort
    block: Block
    share: Share


def _entry(file: File, offset: int) -> _Entry | None:
    around = _around(file.statements, offset)
    members = [node for node in around if isinstance(node, Queue | Cohort)]
    blocks = [node for node in around if isinstance(node, Block)]
    shares = [node for node in around if isinstance(node, Share)]
    if members and blocks and shares:
        return _Entry(members[-1], blocks[-1], shares[-1])
    return None


def _around(node: Any, offset: int) -> list[Any]:
    """The nodes around an offset, from the outside in."""
    if isinstance(node, tuple):
        return next((found for each in node if (found := _around(each, offset))), [])
    span = getattr(node, "span", None)
    if not is_dataclass(node) or not isinstance(span, Span) or not span.start <= offset <= span.end:
        return []
    inner = (_around(getattr(node, item.name), offset) for item in fields(node))
    return [node, *next((found for found in inner if found), [])]


def _amounts(policy: Policy, entry: _Entry) -> str:
    name = entry.member.name.text
    word = entry.share.resource.text
    resource = policy.aliases.get(word, word)
    pair = FlavorResource(
        entry.block.flavor.text if entry.block.flavor else DEFAULT_FLAVOR, resource
    )
    tree = Tree(policy.quotas)
    node, number = tree.nodes.get(name), tree.numbers.get(pair)
    if node is None or number is None:
        return ""
    on = "" if pair.flavor == DEFAULT_FLAVOR else f" on `{pair.flavor}`"
    what = "cohort" if isinstance(entry.member, Cohort) else "queue"
    lines = [f"**{resource}**{on} of {what} `{name}`", ""]
    lines += _numbers(tree, node, number, resource)
    return "\n".join(lines)


def _numbers(tree: Tree, node: int, number: int, resource: str) -> Iterator[str]:
    own, most = tree.nominal[node][number], tree.potential(node, number)
    yield f"- own: {_amount(own, resource)}"
    yield f"- most it could ever use: {_amount(most, resource)}{_how(tree, node, number, own, most)}"
    if (root := tree.roots[node]) != node:
        total = _amount(tree.subtree[root][number], resource)
        yield f"- all of cohort `{tree.names[root]}`: {total}"
    for above, cap in tree.capped[node].get(number, ()):
        yield f"- cap of cohort `{tree.names[above]}`: {_amount(cap, resource)}"


def _how(tree: Tree, node: int, number: int, own: int, most: int) -> str:
    if most < own:
        return ", less than it owns: a cap stands before it"
    if tree.roots[node] == node:
        return ", it has nobody to borrow from"
    if most == own:
        return ", nothing can be borrowed"
    return ", by borrowing what others leave"


def _amount(nano: int, resource: str) -> str:
    return format_quantity(nano, resource)


def _named(workspace: Workspace, policy: Policy | None, use: Use) -> str:
    declared = [each for each in places(workspace.files, use) if each.declares]
    word = head(workspace, declared[0]) if declared else use.sort
    title = f"{'resource' if use.sort == 'resource' else word} `{use.name}`"
    at = f"\n\ndeclared at {declared[0].span.place}" if declared else ""
    about = "\n".join(_about(policy, use)) if policy is not None else ""
    return f"**{title}**{chr(10) * 2 + about if about else ''}{at}"


def _about(policy: Policy, use: Use) -> Iterator[str]:
    quotas = policy.quotas
    if use.sort == "priority" and use.name in policy.priorities:
        default = ", the default" if use.name == policy.default_priority else ""
        yield f"value {policy.priorities[use.name]}{default}"
    elif use.sort == "resource" and use.name in policy.aliases:
        yield f"stands for `{policy.aliases[use.name]}`"
    elif use.sort == "flavor":
        yield from _flavor(quotas, use.name)
    elif use.sort == "member":
        yield from _member(quotas, use.name)


def _flavor(quotas: Quotas, name: str) -> Iterator[str]:
    flavor = quotas.flavors.get(name)
    if flavor is None or not (flavor.nodes or flavor.tolerations):
        yield "injects nothing into the pods"
        return
    for key, value in flavor.nodes.items():
        yield f"- nodes with `{key}={value}`"
    for each in flavor.tolerations:
        value = "" if each.value is None else f"={each.value}"
        yield f"- tolerates `{each.key}{value}`{': ' + each.effect if each.effect else ''}"


def _member(quotas: Quotas, name: str) -> Iterator[str]:
    """A table of what it owns and could reach, one row a flavor and resource."""
    tree = Tree(quotas)
    node = tree.nodes.get(name)
    if node is None:
        return
    pairs = [n for n in range(len(tree.pairs)) if tree.potential(node, n) or tree.subtree[node][n]]
    if not pairs:
        return
    owns = "all below own" if name in quotas.cohorts else "own"
    yield f"| flavor | resource | {owns} | most |"
    yield "|---|---|---|---|"
    for number in pairs:
        flavor, resource = tree.pairs[number]
        own = _amount(tree.subtree[node][number], resource)
        yield f"| {flavor} | {resource} | {own} | {_amount(tree.potential(node, number), resource)} |"
