"""Findings about quota that holds together and still is probably not what was meant.

Each rests on arithmetic over the whole tree; where a name is unknown the entry is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from webhook.language.amounts import read_amount
from webhook.language.lint.capacity import Capacity
from webhook.language.lint.entries import Entry, read_entries
from webhook.language.lint.lending import lending_findings
from webhook.language.names import Names
from webhook.language.problems import Fix, Problem, problem
from webhook.language.syntax import Cohort, Number, Queue
from webhook.model.quantity import NANO, format_quantity, in_bytes
from webhook.model.queues import Quotas

SMALLEST_SENSIBLE: Final = 2**20 * NANO
_MILLION: Final = 2**20
"""So many times more than a sibling is a unit that was forgotten, and no other size."""


class _Sized(NamedTuple):
    """An amount of bytes, and where it is written."""

    number: Number
    amount: int


def quota_findings(names: Names, quotas: Quotas, aliases: Mapping[str, str]) -> tuple[Problem, ...]:
    """Every finding of this module."""
    entries = tuple(read_entries(names, aliases))
    capacity = Capacity(quotas)
    return (
        *_tiny(entries),
        *_without_unit(names, entries),
        *_lends_more(entries, capacity),
        *lending_findings(entries, capacity, quotas),
        *_borrows_nothing(entries, capacity),
        *_never_given(entries, capacity),
        *_useless_pools(entries, capacity, quotas),
        *_caps(entries, capacity, quotas),
        *_unused_flavors(names, entries),
    )


def _tiny(entries: Iterable[Entry]) -> Iterator[Problem]:
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


def _without_unit(names: Names, entries: Sequence[Entry]) -> Iterator[Problem]:
    """TG311: every sibling has a unit and a million times more."""
    families: dict[tuple[str, str], list[_Sized]] = {}
    for entry in entries:
        parent = names.members[entry.node.name.text].parent
        around = "" if parent is None else parent.text
        own = (entry.node.name.text,) if isinstance(entry.node, Cohort) else ()
        for family in (around, *own):
            sized = families.setdefault((family, entry.what.resource), [])
            sized += _sized(entry)
    for (_, resource), family in families.items():
        with_unit = [each for each in family if each.number.text.endswith("i")]
        for each in family if with_unit else ():
            nearest = min(with_unit, key=lambda sibling: sibling.amount)
            if each.number.text.isdigit() and nearest.amount >= each.amount * _MILLION:
                yield _bare(each, nearest, resource)


def _sized(entry: Entry) -> Iterator[_Sized]:
    """The amounts of an entry that is about bytes, without those that TG014 is about."""
    for number in (entry.share.amount, entry.share.borrow, entry.share.lend):
        if isinstance(number, Number) and in_bytes(entry.what.resource):
            amount = read_amount(number, entry.what.resource)
            if isinstance(amount, int) and amount >= SMALLEST_SENSIBLE:
                yield _Sized(number, amount)


def _bare(each: _Sized, sibling: _Sized, resource: str) -> Problem:
    text, other = each.number.text, sibling.number.text
    message = f"`{text}` bytes of {resource} beside `{other}`: its siblings have units"
    sizes = {f"{text}{unit}i": each.amount * 1024**n for n, unit in enumerate("KMGT", 1)}
    meant = min(sizes, key=lambda written: _apart(sizes[written], sibling.amount))
    return problem(
        "TG311", each.number.span, message, others=((sibling.number.span, "this one has a unit"),),
        help=f"did you mean `{meant}`?", fix=Fix(each.number.span, meant),
    )  # fmt: skip


def _apart(one: int, other: int) -> float:
    """How many times the larger is the smaller."""
    return max(one, other) / min(one, other)


def _lends_more(entries: Iterable[Entry], capacity: Capacity) -> Iterator[Problem]:
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


def _borrows_nothing(entries: Iterable[Entry], capacity: Capacity) -> Iterator[Problem]:
    """TG305: the words say that it may borrow, and there is nobody who could lend."""
    for entry in entries:
        borrow = entry.share.borrow
        if borrow is None or entry.block.keyword == "cap":
            continue
        share = capacity.share(entry.node.name.text, entry.what)
        if share.borrow != 0 and not capacity.others_leave(entry.node.name.text, entry.what):
            resource, flavor = entry.share.resource.text, entry.what.flavor
            message = f"nobody in its tree can lend {resource} of flavor `{flavor}`"
            advice = "write `borrow none`, or give others a quota that they lend"
            yield problem("TG305", borrow.span, message, help=advice)


def _never_given(entries: Iterable[Entry], capacity: Capacity) -> Iterator[Problem]:
    """TG312: the queue names a resource, and has none of it on any flavor, not even borrowed."""
    named: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        if isinstance(entry.node, Queue):
            key = (entry.node.name.text, entry.what.resource)
            named.setdefault(key, []).append(entry)
    for (queue, _), several in named.items():
        if not any(capacity.most(queue, entry.what) for entry in several):
            word = several[0].share.resource
            message = f"queue `{queue}` names {word.text} and can never have any"
            advice = "give it an amount, or somebody in its cohort who lends"
            yield problem("TG312", word.span, message, help=advice)


def _useless_pools(
    entries: Sequence[Entry], capacity: Capacity, quotas: Quotas
) -> Iterator[Problem]:
    """TG313: a queue uses only flavors that its own quotas name."""
    used = {(e.node.name.text, e.what) for e in entries if isinstance(e.node, Queue)}
    for entry in entries:
        if entry.block.keyword != "pool" or entry.node.name.text not in quotas.cohorts:
            continue
        if not any((queue, entry.what) in used for queue in capacity.tree(entry.node.name.text)):
            resource, flavor = entry.share.resource.text, entry.what.flavor
            message = f"no queue of this tree has a quota of {resource} on flavor `{flavor}`"
            advice = f"add `quota {flavor} {{ {resource} 0 }}` to those who may use the pool"
            yield problem("TG313", entry.share.resource.span, message, help=advice)


def _caps(entries: Iterable[Entry], capacity: Capacity, quotas: Quotas) -> Iterator[Problem]:
    for entry in entries:
        name, cap = entry.node.name.text, read_amount(entry.share.amount, entry.what.resource)
        if entry.block.keyword != "cap" or not isinstance(cap, int) or name not in quotas.cohorts:
            continue
        most = capacity.most(name, entry.what)
        if cap >= most:
            yield _never_binds(entry, most)
        else:
            yield from _starves(entry, cap, capacity, quotas)


def _never_binds(entry: Entry, most: int) -> Problem:
    """TG306: all that is below can never hold that much."""
    shown = format_quantity(most, entry.what.resource)
    message = f"this cap never binds: all below `{entry.node.name.text}` can hold at most {shown}"
    return problem("TG306", entry.share.amount.span, message, help="lower it, or remove the line")


def _starves(entry: Entry, cap: int, capacity: Capacity, quotas: Quotas) -> Iterator[Problem]:
    """TG307: one member alone was promised more."""
    for queue in capacity.queues_below(entry.node.name.text):
        own = capacity.share(queue, entry.what).nominal
        if own > cap:
            shown = format_quantity(own, entry.what.resource)
            message = f"queue `{queue}` owns {shown}, more than this cap lets all together hold"
            note = f"queue `{queue}` stands at {quotas.queues[queue].place}"
            yield problem("TG307", entry.share.amount.span, message, notes=(note,))


def _unused_flavors(names: Names, entries: Iterable[Entry]) -> Iterator[Problem]:
    """TG308: a flavor no quota names is never used."""
    used = {entry.what.flavor for entry in entries if entry.block.keyword != "cap"}
    for name, flavor in names.flavors.items():
        if name not in used:
            message = f"no quota and no pool names flavor `{name}`"
            yield problem("TG308", flavor.name.span, message, help="remove it, or give it a quota")
