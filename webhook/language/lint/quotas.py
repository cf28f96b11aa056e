"""Findings about quota that holds together and still is probably not what was meant.

Each rests on arithmetic over the whole tree; where a name is unknown the entry is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from webhook.language.amounts import read_amount
from webhook.language.lint.capacity import Capacity
from webhook.language.names import Names
from webhook.language.problems import Fix, Problem, problem
from webhook.language.syntax import Block, Cohort, Number, Queue, Share
from webhook.model.quantity import NANO, format_quantity, in_bytes
from webhook.model.queues import DEFAULT_FLAVOR, FlavorResource, Quotas

SMALLEST_SENSIBLE: Final = 2**20 * NANO


class _Entry(NamedTuple):
    """One entry of a block, where it stands and what it is about."""

    node: Queue | Cohort
    block: Block
    share: Share
    what: FlavorResource


def quota_findings(names: Names, quotas: Quotas, aliases: Mapping[str, str]) -> tuple[Problem, ...]:
    """Every finding of this module."""
    entries = list(_entries(names, aliases))
    capacity = Capacity(quotas)
    return (
        *_tiny(entries),
        *_lends_more(entries, capacity),
        *_caps(entries, capacity, quotas),
        *_unused_flavors(names, entries),
    )


def _entries(names: Names, aliases: Mapping[str, str]) -> Iterator[_Entry]:
    for member in names.members.values():
        for part in member.node.body:
            if isinstance(part, Block):
                flavor = part.flavor.text if part.flavor else DEFAULT_FLAVOR
                for share in part.shares:
                    name = share.resource.text
                    what = FlavorResource(flavor, aliases.get(name, name))
                    yield _Entry(member.node, part, share, what)


def _tiny(entries: Iterable[_Entry]) -> Iterator[Problem]:
    """TG014: nobody means a hundred bytes."""
    for entry in entries:
        numbers = (entry.share.amount, entry.share.borrow, entry.share.lend)
        for number in numbers:
            if not isinstance(number, Number) or not in_bytes(entry.what.resource):
                continue
            amount = read_amount(number, entry.what.resource)
            if isinstance(amount, int) and 0 < amount < SMALLEST_SENSIBLE:
                message = f"{_bytes(amount)} of {entry.what.resource}"
                advice = f"did you mean `{number.text}Gi`?" if number.text.isdigit() else ""
                fix = Fix(number.span, f"{number.text}Gi") if advice else None
                yield problem("TG014", number.span, message, help=advice, fix=fix)


def _bytes(amount: int) -> str:
    return "one byte" if amount == NANO else f"{amount // NANO} bytes"


def _lends_more(entries: Iterable[_Entry], capacity: Capacity) -> Iterator[Problem]:
    """TG304: what is not there cannot be lent."""
    for entry in entries:
        lend = entry.share.lend
        if entry.block.keyword == "cap" or not isinstance(lend, Number):
            continue
        there = capacity.lendable(entry.node.name.text, entry.what)
        written = read_amount(lend, entry.what.resource)
        if isinstance(written, int) and written > there:
            shown = format_quantity(there, entry.what.resource)
            message = f"`lend {lend.text}`, but there is only {shown} to lend"
            yield problem("TG304", lend.span, message, help="write `lend any` for all of it")


def _caps(entries: Iterable[_Entry], capacity: Capacity, quotas: Quotas) -> Iterator[Problem]:
    for entry in entries:
        name, cap = entry.node.name.text, read_amount(entry.share.amount, entry.what.resource)
        if entry.block.keyword != "cap" or not isinstance(cap, int) or name not in quotas.cohorts:
            continue
        most = capacity.most(name, entry.what)
        if cap >= most:
            yield _never_binds(entry, most)
        else:
            yield from _starves(entry, cap, capacity, quotas)


def _never_binds(entry: _Entry, most: int) -> Problem:
    """TG306: all that is below can never hold that much."""
    shown = format_quantity(most, entry.what.resource)
    message = f"this cap never binds: all below `{entry.node.name.text}` can hold at most {shown}"
    return problem("TG306", entry.share.amount.span, message, help="lower it, or remove the line")


def _starves(entry: _Entry, cap: int, capacity: Capacity, quotas: Quotas) -> Iterator[Problem]:
    """TG307: one member alone was promised more."""
    for queue in capacity.queues_below(entry.node.name.text):
        own = capacity.share(queue, entry.what).nominal
        if own > cap:
            shown = format_quantity(own, entry.what.resource)
            message = f"queue `{queue}` owns {shown}, more than this cap lets all together hold"
            note = f"queue `{queue}` stands at {quotas.queues[queue].place}"
            yield problem("TG307", entry.share.amount.span, message, notes=(note,))


def _unused_flavors(names: Names, entries: Iterable[_Entry]) -> Iterator[Problem]:
    """TG308: a flavor no quota names is never used."""
    used = {entry.what.flavor for entry in entries if entry.block.keyword != "cap"}
    for name, flavor in names.flavors.items():
        if name not in used:
            message = f"no quota and no pool names flavor `{name}`"
            yield problem("TG308", flavor.name.span, message, help="remove it, or give it a quota")
