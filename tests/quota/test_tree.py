"""The arithmetic, with the numbers worked out by hand."""

from __future__ import annotations

import pytest

from tests.quota.building import cohort, n, queue, quota, quotas
from webhook.model.queues import FlavorResource, Quotas
from webhook.quota.ledger import Ledger
from webhook.quota.tree import Tree

CPU = FlavorResource("default", "cpu")


def free(policy: Quotas, name: str, **held: int) -> float:
    """What is available to a node, in cores, while queues hold so many."""
    ledger = Ledger(Tree(policy))
    number = ledger.tree.numbers[CPU]
    for holder, amount in held.items():
        ledger.hold(holder, ledger.tree.nodes[holder], ((number, n(amount)),))
    return ledger.now.available(ledger.tree.nodes[name], number) / n(1)


def most(policy: Quotas, name: str) -> float:
    tree = Tree(policy)
    return tree.potential(tree.nodes[name], tree.numbers[CPU]) / n(1)


def test_a_queue_alone_has_what_it_owns() -> None:
    policy = quotas(queue("a", quota(cpu=9)))
    assert (free(policy, "a"), free(policy, "a", a=4), most(policy, "a")) == (9, 5, 9)


def test_what_one_leaves_another_may_use() -> None:
    policy = quotas(
        cohort("top"),
        queue("a", quota(cpu=6), cohort="top"),
        queue("b", quota(cpu=4), cohort="top"),
    )
    assert free(policy, "a", b=1) == 9
    assert free(policy, "b", a=9) == 1
    assert most(policy, "a") == 10


def test_borrow_bounds_what_is_taken_beyond_ones_own() -> None:
    policy = quotas(
        cohort("top"),
        queue("a", quota(cpu=(6, 2)), cohort="top"),
        queue("b", quota(cpu=(4, 0)), cohort="top"),
    )
    assert (free(policy, "a"), most(policy, "a")) == (8, 8)
    assert free(policy, "a", a=7) == 1
    assert (free(policy, "b"), most(policy, "b")) == (4, 4)
    assert free(policy, "b", a=7) == 3


def test_lend_keeps_the_rest_for_its_owner() -> None:
    policy = quotas(
        cohort("top"),
        queue("a", quota(cpu=(6, None, 1)), cohort="top"),
        queue("b", quota(cpu=4), cohort="top"),
    )
    assert most(policy, "b") == 5
    assert free(policy, "a", b=5) == 5, "the five it does not lend"
    assert free(policy, "b", a=5) == 5, "what is kept is used first"
    assert free(policy, "b", a=6) == 4


def test_lend_none_and_borrow_none_are_not_absent() -> None:
    policy = quotas(
        cohort("top"),
        queue("a", quota(cpu=(6, 0, 0)), cohort="top"),
        queue("b", quota(cpu=4), cohort="top"),
    )
    assert (most(policy, "a"), most(policy, "b")) == (6, 4)


def test_a_pool_is_quota_of_the_cohort_on_top_of_its_members() -> None:
    policy = quotas(
        cohort("top", None, quota(cpu=5)),
        queue("a", quota(cpu=2), cohort="top"),
        queue("b", quota(cpu=0), cohort="top"),
    )
    assert (most(policy, "a"), most(policy, "b")) == (7, 7)
    assert free(policy, "b", a=6) == 1


def hierarchy(**cap: int) -> Quotas:
    """top (pool 3) over mid (lends 4, borrows 2) over a (5, lends 2) and b (5); c (8) under top."""
    caps = {("default", "cpu"): cap["cap"]} if cap else None
    return quotas(
        cohort("top", None, quota(cpu=3)),
        cohort("mid", "top", quota(cpu=(0, 2, 4)), cap=caps),
        queue("a", quota(cpu=(5, None, 2)), cohort="mid"),
        queue("b", quota(cpu=5), cohort="mid"),
        queue("c", quota(cpu=8), cohort="top"),
    )


def test_subtree_and_kept_quota_at_every_depth() -> None:
    tree = Tree(hierarchy())
    number = tree.numbers[CPU]
    subtree = {name: tree.subtree[tree.nodes[name]][number] // n(1) for name in tree.names}
    kept = {name: tree.kept[tree.nodes[name]][number] // n(1) for name in tree.names}
    assert subtree == {"a": 5, "b": 5, "c": 8, "mid": 7, "top": 15}
    assert kept == {"a": 3, "b": 0, "c": 0, "mid": 3, "top": 0}


def test_borrowing_and_lending_through_an_inner_cohort() -> None:
    policy = hierarchy()
    # b: mid's own 7, and 2 more that mid may borrow.
    assert (most(policy, "a"), most(policy, "b"), most(policy, "c")) == (12, 9, 15)
    assert free(policy, "c", b=3) == 15, "mid keeps 3 of its 7 and b is within them"
    assert free(policy, "c", b=5) == 13
    assert free(policy, "b", c=15) == 3, "what mid does not lend"
    assert free(policy, "a", c=15) == 6, "and what a does not lend to mid"
    assert free(policy, "b", c=10, a=3) == 8, "min(15 - 10, 4 + 2) + 3"


def test_a_cap_bounds_kept_quota_too() -> None:
    """Cap 10 over a member with `quota 20 lend none`: 10, not 20."""
    policy = quotas(
        cohort("top", None, cap={("default", "cpu"): 10}),
        queue("a", quota(cpu=(20, None, 0)), cohort="top"),
    )
    assert (most(policy, "a"), free(policy, "a", a=4), free(policy, "a", a=10)) == (10, 6, 0)


def test_a_cap_counts_all_below_it_however_deep() -> None:
    policy = hierarchy(cap=6)
    assert (most(policy, "a"), most(policy, "b"), most(policy, "c")) == (6, 6, 15)
    assert free(policy, "b", a=3) == 3, "a holds only what it keeps, and it counts"
    assert free(policy, "a", a=3, b=3) == 0


def test_a_cap_of_a_flavor_that_no_member_names_changes_nothing() -> None:
    policy = quotas(
        cohort("top", None, cap={("spot", "cpu"): 1}), queue("a", quota(cpu=3), cohort="top")
    )
    assert most(policy, "a") == 3


def test_more_held_than_granted_is_a_negative_amount() -> None:
    policy = quotas(queue("a", quota(cpu=5)))
    assert free(policy, "a", a=8) == -3


def test_height_is_that_of_the_lowest_subtree_whose_quota_holds_it() -> None:
    ledger = Ledger(Tree(hierarchy()))
    tree = ledger.tree
    number = tree.numbers[CPU]
    heights = [
        tree.height(tree.nodes["b"], number, n(amount), ledger.now.used)
        for amount in (5, 6, 7, 8, 99)
    ]
    assert heights == [0, 1, 1, 2, 2]
    ledger.hold("x", tree.nodes["a"], ((number, n(5)),))
    assert tree.height(tree.nodes["b"], number, n(6), ledger.now.used) == 2


def test_the_order_of_a_policy_does_not_matter() -> None:
    policy = hierarchy()
    backwards = Quotas(
        dict(reversed([*policy.queues.items()])),
        dict(reversed([*policy.cohorts.items()])),
        policy.flavors,
    )
    one, other = Tree(policy), Tree(backwards)
    assert (one.names, one.pairs, one.subtree, one.paths, one.heights) == (
        other.names, other.pairs, other.subtree, other.paths, other.heights,
    )  # fmt: skip


def test_cohorts_in_a_circle_are_refused() -> None:
    with pytest.raises(ValueError, match="inside itself"):
        Tree(quotas(cohort("x", "y"), cohort("y", "x")))


def test_a_name_is_a_queue_or_a_cohort() -> None:
    with pytest.raises(ValueError, match="both a queue and a cohort: x"):
        Tree(quotas(cohort("x"), queue("x")))


def test_nano_units_do_not_overflow_or_round() -> None:
    policy = quotas(queue("a", quota(memory="7Ei")))
    tree = Tree(policy)
    assert tree.potential(0, 0) == 7 * 1024**6 * 10**9
