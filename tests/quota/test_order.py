"""The line: a total order, however it is built, and arrivals behind the first cost nothing."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from tests.quota.building import job, pods, queue, quota, quotas
from webhook.model.workload import Uid, Workload
from webhook.quota.line import Group
from webhook.quota.order import Lines
from webhook.quota.tree import Tree


def lines() -> Lines:
    return Lines(Tree(quotas(queue("a", quota(cpu=9)), queue("b", quota(cpu=9)))))


def in_order(line_of: Lines, node: int = 0) -> list[str]:
    """Everybody in a line, taken from the front one by one."""
    found = []
    line = line_of.lines[node]
    while (entry := line.first()) is not None:
        found.append(str(entry.uid))
        line_of.remove(entry.uid)
    return found


def key(workload: Workload) -> tuple[int, float, str]:
    return -workload.priority, workload.place, workload.uid


def test_priority_then_place_then_uid() -> None:
    some = lines()
    for uid, priority, place in [
        ("d", 0, 1.0), ("b", 5, 9.0), ("c", 0, 1.0), ("e", 0, 0.5), ("a", 5, 9.5),
    ]:  # fmt: skip
        some.add(job(uid, "a", cpu=1, priority=priority, place=place))
    assert in_order(some) == ["b", "a", "e", "c", "d"]


def test_only_the_first_of_a_group_is_worth_a_look() -> None:
    some = lines()
    assert some.add(job("x", "a", cpu=1, place=5))
    assert not some.add(job("y", "a", cpu=1, place=6)), "behind one that asks for the same"
    assert some.add(job("z", "a", cpu=1, place=4)), "an earlier place, after an eviction"
    assert some.add(job("v", "a", cpu=2, place=7)), "it asks for something else"
    assert some.add(job("w", "a", cpu=1, place=8, priority=1))
    assert in_order(some) == ["w", "z", "x", "y", "v"]


def test_names_of_pod_sets_make_no_difference() -> None:
    some = lines()
    some.add(job("x", "a", pods("one", cpu=1), place=1))
    assert not some.add(job("y", "a", pods("two", cpu=1), place=2))


def test_the_same_again_is_nothing_new() -> None:
    some = lines()
    one = job("x", "a", cpu=1)
    some.add(one)
    assert not some.add(replace(one, resource_version="9"))
    entry = some.entry(one.uid)
    assert entry is not None
    assert entry.workload.resource_version == "9"
    assert some.counts[0] == {0: 1}


def test_hold_and_backoff_stand_beside_the_line_and_come_back_to_their_place() -> None:
    some = lines()
    some.add(job("x", "a", cpu=1, place=1, hold="asked for"))
    some.add(job("y", "a", cpu=1, place=2))
    some.add(job("z", "a", cpu=1, place=3))
    some.delay(Uid("y"), 30.0)
    assert (some.counts[0], some.ahead(0, 0), some.next_due()) == ({0: 3}, 1, 30.0)
    assert list(some.due(29.9)) == []
    assert list(some.due(30.0)) == [0]
    some.add(job("x", "a", cpu=1, place=1))
    assert in_order(some) == ["x", "y", "z"]


def test_a_later_backoff_replaces_an_earlier_one() -> None:
    some = lines()
    some.add(job("x", "a", cpu=1))
    some.delay(Uid("x"), 5.0)
    some.delay(Uid("x"), 9.0)
    assert (list(some.due(6.0)), some.next_due()) == ([], 9.0)
    some.remove(Uid("x"))
    assert (list(some.due(10.0)), some.next_due()) == ([], None)


def test_a_newcomer_stands_behind_its_own_priority() -> None:
    some = lines()
    for at, priority in enumerate([9, 5, 5, 0]):
        some.add(job(f"w{at}", "a", cpu=1, priority=priority, place=at))
    assert [some.ahead(0, priority) for priority in (10, 9, 5, 1, 0)] == [0, 1, 3, 3, 4]


def test_nothing_is_left_when_everybody_has_gone() -> None:
    some = lines()
    for at in range(500):
        some.add(job(f"w{at}", "ab"[at % 2], cpu=at % 7 + 1, priority=at % 3, place=at))
    for at in range(500):
        some.remove(Uid(f"w{at}"))
    assert [line.blocks for line in some.lines] == [[], []]
    assert (some.counts, list(some.workloads())) == ([{}, {}], [])
    assert some._shapes == [{}, {}]


def test_a_block_needs_at_least_what_its_groups_need() -> None:
    some = lines()
    random = Random(3)
    live: list[Workload] = []
    for at in range(3_000):
        if live and random.random() < 0.45:
            some.remove(live.pop(random.randrange(len(live))).uid)
        else:
            live.append(job(f"w{at}", "a", cpu=random.randint(1, 400), place=random.random()))
            some.add(live[-1])
    blocks = some.lines[0].blocks
    assert len(blocks) > 1
    for block in blocks:
        assert block.need() == (min(group.shape.least[0] for group in block.groups),)
        assert block.places == sorted(block.places)
    assert in_order(some) == [w.uid for w in sorted(live, key=key)]


events = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 30), st.integers(0, 2), st.integers(1, 3)),
    max_size=80,
)


@given(events)
def test_the_line_is_what_sorting_says(history: list[tuple[int, int, int, int]]) -> None:
    some = lines()
    live: dict[str, Workload] = {}
    for at, (kind, a, priority, cpu) in enumerate(history):
        if kind == 0 and live:
            uid = sorted(live)[a % len(live)]
            some.remove(live.pop(uid).uid)
        else:
            uid = f"w{a if kind == 1 else at}"
            live[uid] = job(uid, "a", cpu=cpu, priority=priority, place=float(a))
            some.add(live[uid])
        first = some.lines[0].first()
        expected = min(live.values(), key=key, default=None)
        assert (first and first.workload) == expected
    assert in_order(some) == [w.uid for w in sorted(live.values(), key=key)]


def test_a_group_does_not_keep_those_who_left() -> None:
    some = lines()
    for at in range(1_000):
        some.add(job(f"w{at}", "a", cpu=1, place=at))
    for at in range(990):
        some.remove(Uid(f"w{at}"))
    (group,) = some.lines[0].blocks[0].groups
    assert isinstance(group, Group)
    assert len(group._queue) < 50
