"""Cohorts and queues: from what was written to the tree the quota core counts in.

Only what is certainly wrong is reported here; what is merely unlikely to be meant is the lint's business.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import MappingProxyType

from webhook.language.amounts import read_amount, read_bound
from webhook.language.names import Member, Names
from webhook.language.parse import DEEPEST_BLOCKS
from webhook.language.problems import Problem, problem
from webhook.language.queue_lines import LineReader
from webhook.language.resources import Resources
from webhook.language.sharing import SharingReader
from webhook.language.syntax import Block, Cohort, File, Queue, Share, Span, Word
from webhook.model import queues as model
from webhook.model.quantity import Amount


class QuotaReader:
    """Reads every queue and cohort; unknown names are told to ``names``."""

    def __init__(self, names: Names, resources: Resources, files: Sequence[File]) -> None:
        self.names = names
        self.resources = resources
        self.problems: list[Problem] = []
        self._unbalanced = {file.path for file in files if file.unbalanced}
        self._unread = [span for file in files for span in file.unread]
        self._sources = {file.path: file.source for file in files}
        self._sharing = SharingReader(names, self.problems)

    def cohorts(self) -> dict[str, model.Cohort]:
        """Every cohort, with parents that exist."""
        return {
            name: self._cohort(member.node, self._parent(member))
            for name, member in self.names.members.items()
            if isinstance(member.node, Cohort)
        }

    def queues(self) -> dict[str, model.Queue]:
        """Every queue, with cohorts that exist."""
        return {
            name: self._queue(member.node, self._parent(member), alone=member.parent is None)
            for name, member in self.names.members.items()
            if isinstance(member.node, Queue)
        }

    def _parent(self, member: Member) -> str | None:
        parent = member.parent
        if parent is None:
            return None
        found = self.names.members.get(parent.text)
        if found is None or not isinstance(found.node, Cohort):
            self.names.unknown("cohort", parent)
            return None
        return parent.text

    def _cohort(self, node: Cohort, parent: str | None) -> model.Cohort:
        root = parent is None and node.parent is None
        pools = self._blocks(node.body, "pool", f"cohort `{node.name.text}`", alone=root)
        return model.Cohort(
            node.name.text, parent, pools, MappingProxyType(self._caps(node)),
            self._sharing.weight(node), self._sharing.by_weight(node), node.name.span.place,
        )  # fmt: skip

    def _queue(self, node: Queue, parent: str | None, *, alone: bool) -> model.Queue:
        quotas = self._blocks(node.body, "quota", f"queue `{node.name.text}`", alone=alone)
        if not any(quota.shares for quota in quotas) and not self._hurt(node):
            advice = "add `quota { … }`, with amounts as large as you like"
            message = f"queue `{node.name.text}` has no quota"
            self.problems.append(problem("TG301", node.name.span, message, help=advice))
        return self._read(node, parent, quotas)

    def _read(
        self, node: Queue, parent: str | None, quotas: tuple[model.FlavorQuota, ...]
    ) -> model.Queue:
        source = self._sources[node.span.path]
        lines = LineReader(node, self.names, self.resources, source, self.problems)
        self._sharing.preempts(node)
        return model.Queue(
            node.name.text,
            parent,
            quotas,
            lines.order(),
            self._sharing.weight(node),
            lines.prefer(),
            lines.refuses_uncovered(),
            lines.preempts(),
            lines.limits(),
            lines.halt(),
            lines.deadline(),
            node.name.span.place,
        )

    def _hurt(self, node: Queue) -> bool:
        """True where a part of it could not be read, or names nothing that is known."""
        if any(isinstance(part, Block) and part.shares for part in node.body):
            return True
        here = node.span
        return any(s.path == here.path and here.start <= s.start < here.end for s in self._unread)

    def _blocks(
        self, body: Sequence[object], keyword: str, where: str, *, alone: bool
    ) -> tuple[model.FlavorQuota, ...]:
        """The ``quota`` or ``pool`` blocks of a node, one a flavor."""
        quotas: dict[str, model.FlavorQuota] = {}
        places: dict[str, Span] = {}
        for block in _of(body, keyword):
            flavor, place = self._flavor(block)
            if flavor in places:
                self._twice(
                    place, places[flavor], f"{where} has two `{keyword}` blocks for `{flavor}`"
                )
                continue
            places[flavor] = place
            shares = self._shares(block, alone=alone, where=where)
            quotas[flavor] = model.FlavorQuota(flavor, MappingProxyType(shares))
        return tuple(quotas.values())

    def _caps(self, node: Cohort) -> dict[model.FlavorResource, Amount]:
        caps: dict[model.FlavorResource, Amount] = {}
        places: dict[str, Span] = {}
        for block in _of(node.body, "cap"):
            flavor, place = self._flavor(block)
            if flavor in places:
                message = f"cohort `{node.name.text}` has two `cap` blocks for `{flavor}`"
                self._twice(place, places[flavor], message)
                continue
            places[flavor] = place
            for resource, share in self._shares(block, alone=False, where="").items():
                caps[model.FlavorResource(flavor, resource)] = share.nominal
        return caps

    def _flavor(self, block: Block) -> tuple[str, Span]:
        """The name of a block's flavor, and where it stands."""
        if block.flavor is None:
            start = block.span
            word = len(block.keyword)
            place = Span(
                start.path, start.start, start.start + word,
                start.line, start.column, start.line, start.column + word,
            )  # fmt: skip
            return model.DEFAULT_FLAVOR, place
        name = block.flavor.text
        if name != model.DEFAULT_FLAVOR and name not in self.names.flavors:
            self.names.unknown("flavor", block.flavor, (model.DEFAULT_FLAVOR,))
        return name, block.flavor.span

    def _shares(self, block: Block, *, alone: bool, where: str) -> dict[str, model.Share]:
        shares: dict[str, model.Share] = {}
        places: dict[str, Span] = {}
        for share in block.shares:
            resource = self.resources.resolve(share.resource)
            if alone and share.span.path not in self._unbalanced:
                self._nobody(share, where)
            read = self._share(share, resource or share.resource.text)
            if resource is None or read is None:
                continue
            if resource in places:
                message = f"`{resource}` stands twice in this `{block.keyword}`"
                self._twice(share.resource.span, places[resource], message)
                continue
            places[resource] = share.resource.span
            shares[resource] = read
        return shares

    def _share(self, share: Share, resource: str) -> model.Share | None:
        nominal = read_amount(share.amount, resource)
        borrow, lend = read_bound(share.borrow, resource), read_bound(share.lend, resource)
        wrong = [part for part in (nominal, borrow, lend) if isinstance(part, Problem)]
        self.problems += wrong
        if isinstance(nominal, Problem) or isinstance(borrow, Problem) or isinstance(lend, Problem):
            return None
        return model.Share(nominal, borrow, lend)

    def _nobody(self, share: Share, where: str) -> None:
        for word, bound in (("borrow", share.borrow), ("lend", share.lend)):
            if bound is not None:
                whom = "from" if word == "borrow" else "to"
                message = f"{where} stands in no cohort, there is nobody to {word} {whom}"
                advice = f"remove `{word} {bound.text}`, or put it into a cohort"
                self.problems.append(problem("TG303", bound.span, message, help=advice))

    def _twice(self, span: Span, first: Span, message: str) -> None:
        self.problems.append(problem("TG302", span, message, others=((first, "first here"),)))


def _of(body: Sequence[object], keyword: str) -> Iterator[Block]:
    return (part for part in body if isinstance(part, Block) and part.keyword == keyword)


def too_deep(names: Names) -> list[Problem]:
    """TG017 for each cohort with as many above it as nobody needs; for a tree without cycles.

    What is computed over a tree goes down to its leaves and up again: a policy must not be able to exhaust that.
    """
    depths: dict[str, int] = {}
    found: list[Problem] = []
    cohorts = {n: m for n, m in names.members.items() if isinstance(m.node, Cohort)}
    for name in cohorts:
        way: list[str] = []
        here: str | None = name
        while here in cohorts and here not in depths:
            way.append(here)
            parent = cohorts[here].parent
            here = None if parent is None else parent.text
        depth = depths.get(here or "", 0)
        for above in reversed(way):
            depth += 1
            depths[above] = depth
            if depth == DEEPEST_BLOCKS + 1:
                span = names.members[above].node.name.span
                message = f"cohorts stand at most {DEEPEST_BLOCKS} deep in each other"
                found.append(problem("TG017", span, message))
    return found


def cycles(names: Names) -> tuple[list[Problem], set[str]]:
    """TG105 for each cycle of cohorts, and the names of those in one."""
    parents = {
        name: member.parent
        for name, member in names.members.items()
        if isinstance(member.node, Cohort) and member.parent is not None
    }
    found: list[Problem] = []
    done: set[str] = set()
    in_cycle: set[str] = set()
    for start in parents:
        way: list[str] = []
        here: str | None = start
        while here in parents and here not in done and here not in way:
            way.append(here)
            here = parents[here].text
        if here in way:
            ring = way[way.index(here) :]
            found.append(_cycle(ring, parents))
            in_cycle.update(ring)
        done.update(way)
    return found, in_cycle


def _cycle(ring: list[str], parents: dict[str, Word]) -> Problem:
    first, *others = ring
    if not others:
        return problem("TG105", parents[first].span, f"cohort `{first}` stands in itself")
    chain = " in ".join(f"`{name}`" for name in [*ring, first])
    return problem(
        "TG105", parents[first].span, f"cohorts form a cycle: {chain}",
        others=tuple((parents[name].span, "and here") for name in others),
    )  # fmt: skip
