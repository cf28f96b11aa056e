"""How trees of cohorts share what is borrowed: by priority or by weight, said once, at the root.

A weight somewhere else changes nothing, which nobody sees by reading it; so it is an error there.
"""

from __future__ import annotations

from collections.abc import Iterable

from webhook.language.amounts import read_integer
from webhook.language.names import Names
from webhook.language.problems import Problem, problem
from webhook.language.suggest import did_you_mean
from webhook.language.syntax import Cohort, Preempt, Queue, Sharing, Weight

_WAYS = ("priority", "weight")


class SharingReader:
    """Asks the root of each tree; reads weights."""

    def __init__(self, names: Names, found: list[Problem]) -> None:
        self.names = names
        self.problems = found

    def by_weight(self, node: Cohort) -> bool:
        """``share by weight``, where it may stand; reports it elsewhere."""
        lines = [part for part in node.body if isinstance(part, Sharing)]
        if lines and self._parent(node) is not None:
            message = "`share` stands in a cohort that is in no other"
            root = self._root(node)
            advice = f"move it to cohort `{root.name.text}`" if root else "move it to the root"
            self.problems.append(problem("TG408", lines[0].span, message, help=advice))
            return False
        for second in lines[1:]:
            message = f"cohort `{node.name.text}` has two `share` lines"
            others = ((lines[0].span, "the first"),)
            self.problems.append(problem("TG101", second.span, message, others=others))
        if lines and lines[0].way.text not in _WAYS:
            word = lines[0].way
            advice = did_you_mean(word.text, _WAYS) or "`share by priority` or `share by weight`"
            message = f"`{word.text}` is no way to share"
            self.problems.append(problem("TG004", word.span, message, help=advice))
        return any(line.way.text == "weight" for line in lines[:1])

    def weight(self, node: Queue | Cohort) -> int:
        """``weight``, 1 where there is none."""
        lines = [part for part in node.body if isinstance(part, Weight)]
        what = "queue" if isinstance(node, Queue) else "cohort"
        for second in lines[1:]:
            message = f"{what} `{node.name.text}` has two `weight` lines"
            others = ((lines[0].span, "the first"),)
            self.problems.append(problem("TG101", second.span, message, others=others))
        if not lines:
            return 1
        if not self._weighs(node):
            self._without_effect(lines[0], node)
        value = read_integer(lines[0].value, lowest=1)
        if isinstance(value, Problem):
            self.problems.append(value)
            return 1
        return value

    def preempts(self, node: Queue) -> None:
        """TG406: where weights decide, priority does not."""
        for line in _borrowing(node):
            if self._weighs(node):
                message = "`preempt … to borrow` has no place in a tree that shares by weight"
                advice = "remove it: there, weights decide who may displace while borrowing"
                self.problems.append(problem("TG406", line.span, message, help=advice))

    def _without_effect(self, line: Weight, node: Queue | Cohort) -> None:
        root = self._root(node)
        if root is None and self._parent(node) is not None:
            return  # its cohort is unknown, which is reported
        name = node.name.text
        if root is None:
            message = f"`{name}` stands in no cohort, there is nobody to weigh it against"
            advice = "remove the line, or put it into a cohort that shares by weight"
        else:
            message = f"cohort `{root.name.text}` shares by priority, a weight changes nothing"
            advice = f"write `share by weight` in cohort `{root.name.text}`, or remove the line"
        self.problems.append(problem("TG407", line.span, message, help=advice))

    def _weighs(self, node: Queue | Cohort) -> bool:
        root = self._root(node)
        return root is not None and any(
            isinstance(part, Sharing) and part.way.text == "weight" for part in root.body
        )

    def _parent(self, node: Queue | Cohort) -> str | None:
        member = self.names.members.get(node.name.text)
        parent = member.parent if member is not None and member.node is node else node.parent
        return None if parent is None else parent.text

    def _root(self, node: Queue | Cohort) -> Cohort | None:
        """The root of its tree; None where it is in none, or in one that never ends."""
        here, seen = node, set[str]()
        while (parent := self._parent(here)) is not None and parent not in seen:
            seen.add(parent)
            member = self.names.members.get(parent)
            if member is None or not isinstance(member.node, Cohort):
                return None
            here = member.node
        return here if isinstance(here, Cohort) and self._parent(here) is None else None


def _borrowing(node: Queue) -> Iterable[Preempt]:
    return (part for part in node.body if isinstance(part, Preempt) and part.scope == "to")
