"""The ledger: idempotent by uid, three usages, undone to the letter."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.quota.building import cohort, n, queue, quota, quotas
from webhook.model.queues import FlavorResource
from webhook.quota.ledger import Ledger, Stage
from webhook.quota.tree import Tree

POLICY = quotas(
    cohort("top", None, cap={("default", "cpu"): 12}),
    queue("a", quota(cpu=(6, None, 2)), cohort="top", strict=True),
    queue("b", quota(cpu=8), cohort="top"),
)


def ledger() -> Ledger:
    return Ledger(Tree(POLICY))


def free(book: Ledger) -> tuple[float, float, float]:
    """What b may take: now, afterwards, promised."""
    usages = (book.now, book.afterwards, book.promised)
    now, afterwards, promised = (usage.available(1, 0) / n(1) for usage in usages)
    return now, afterwards, promised


def test_a_uid_holds_what_was_said_last_and_once() -> None:
    book = ledger()
    for _ in range(3):
        book.hold("x", 1, ((0, n(5)),))
    assert free(book) == (5, 5, 5)
    book.hold("x", 1, ((0, n(2)),))
    assert free(book) == (8, 8, 8)
    book.release("x")
    book.release("x")
    assert free(book) == (10, 10, 10)


def test_repeating_oneself_changes_nothing_that_anybody_would_wake_for() -> None:
    book = ledger()
    book.hold("x", 1, ((0, n(5)),))
    book.touched.clear()
    before = list(book.shifts)
    book.hold("x", 1, ((0, n(5)),))
    assert (book.shifts, book.touched) == (before, set())


def test_each_stage_counts_where_it_should() -> None:
    book = ledger()
    for stage, expected in [
        (Stage.RUNS, (6, 6, 6)),
        (Stage.STOPPING, (6, 10, 10)),
        (Stage.PLANNED, (10, 6, 6)),
        (Stage.HELD_BACK, (10, 10, 6)),
    ]:
        book.hold("x", 1, ((0, n(4)),), stage=stage)
        assert free(book) == expected, stage


def test_a_planned_one_begins_without_a_change_afterwards() -> None:
    book = ledger()
    book.hold("x", 1, ((0, n(4)),), stage=Stage.PLANNED)
    shifts = list(book.shifts)
    book.begin("x")
    assert (free(book), book.shifts) == ((6, 6, 6), shifts)


def test_kept_quota_is_used_before_anything_is_taken_from_the_others() -> None:
    book = ledger()
    book.hold("x", 0, ((0, n(3)),))
    assert free(book)[0] == 9, "the cap counts it, the quota of the cohort does not"
    book.hold("x", 0, ((0, n(6)),))
    assert free(book)[0] == 6


def test_lowered_quota_is_over_by_a_number() -> None:
    book = Ledger(Tree(quotas(queue("a", quota(cpu=3)))))
    book.hold("x", 0, ((0, n(5)),))
    assert book.now.available(0, 0) == n(-2)


def test_number_of_leaves_out_what_the_policy_does_not_count() -> None:
    pairs = {FlavorResource("default", "cpu"): 1, FlavorResource("spot", "cpu"): 2}
    assert ledger().number_of(pairs) == ((0, 1),)


def test_trials_nest_and_leave_no_trace() -> None:
    book = ledger()
    book.hold("x", 0, ((0, n(4)),))
    before = [usage.rows() for usage in book.recount()]
    with book.trial():
        book.release("x")
        with book.trial():
            book.hold("y", 1, ((0, n(9)),), stage=Stage.PLANNED)
            book.begin("y")
        assert free(book) == (10, 10, 10)
        book.hold("x", 1, ((0, n(1)),), stage=Stage.STOPPING)
    assert [u.rows() for u in (book.now, book.afterwards, book.promised)] == before
    assert book.stopping == [0, 0, 0]


changes = st.tuples(
    st.sampled_from("uvwxyz"),
    st.integers(0, 1),
    st.integers(0, 9),
    st.sampled_from([*Stage, None]),
)


@given(st.lists(changes, max_size=30), st.integers(0, 30))
def test_always_equal_to_a_recount(history: list, trial_from: int) -> None:
    book = ledger()
    frozen = None
    for at, change in enumerate(history[:trial_from]):
        _apply(book, change)
        frozen = at
    with book.trial():
        for change in history[trial_from:]:
            _apply(book, change)
            _check(book)
    _check(book)
    fresh = ledger()
    for change in history[: 0 if frozen is None else frozen + 1]:
        _apply(fresh, change)
    assert fresh.now.rows() == book.now.rows()
    assert fresh.promised.rows() == book.promised.rows()


def _apply(book: Ledger, change: tuple) -> None:
    uid, at, amount, stage = change
    if stage is None:
        book.release(uid)
    else:
        book.hold(uid, at, ((0, n(amount)),), stage=stage)


def _check(book: Ledger) -> None:
    counted = (book.now, book.afterwards, book.promised)
    assert [u.rows() for u in counted] == [u.rows() for u in book.recount()]
