"""The store: revisions, the ring, compare-and-swap."""

from __future__ import annotations

import pytest

from webhook.sandbox.store import StaleError, Store, TooOldError

KIND = ("", "configmaps")


def named(name: str, namespace: str = "default", **fields) -> dict:
    return {"metadata": {"name": name, "namespace": namespace}, **fields}


def test_every_write_has_a_revision_of_its_own():
    store = Store()
    first = store.put(KIND, named("a"), old=None)
    second = store.put(("batch", "jobs"), named("b"), old=None)
    versions = [int(obj["metadata"]["resourceVersion"]) for obj in (first, second)]
    assert versions == sorted(set(versions))
    assert store.revision == versions[-1]


def test_a_write_over_another_than_was_read_is_stale():
    store = Store()
    first = store.put(KIND, named("a"), old=None)
    store.put(KIND, named("a", data=1), old=first)
    with pytest.raises(StaleError):
        store.put(KIND, named("a", data=2), old=first)
    with pytest.raises(StaleError):
        store.remove(KIND, first)


def test_what_is_stored_is_not_what_was_given():
    store = Store()
    given = named("a")
    store.put(KIND, given, old=None)
    assert "resourceVersion" not in given["metadata"]


def test_items_are_ordered_by_namespace_and_name():
    store = Store()
    for namespace, name in (("b", "a"), ("a", "z"), ("a", "b")):
        store.put(KIND, named(name, namespace), old=None)
    keys = [(o["metadata"]["namespace"], o["metadata"]["name"]) for o in store.items(KIND)]
    assert keys == [("a", "b"), ("a", "z"), ("b", "a")]
    assert len(store.items(KIND, "a")) == 2


def test_the_ring_forgets_the_oldest_first():
    store = Store(ring=2)
    start = store.revision
    obj = store.put(KIND, named("a"), old=None)
    after_one = store.revision
    obj = store.put(KIND, named("a", n=1), old=obj)
    assert len(store.since(KIND, start)) == 2
    store.put(KIND, named("a", n=2), old=obj)
    assert len(store.since(KIND, after_one)) == 2
    with pytest.raises(TooOldError):
        store.since(KIND, start)


def test_compaction_forgets_everything():
    store = Store()
    start = store.revision
    store.put(KIND, named("a"), old=None)
    store.compact()
    with pytest.raises(TooOldError):
        store.since(KIND, start)
    assert store.since(KIND, store.revision) == []


@pytest.fixture
async def store() -> Store:
    """In the loop of the test, to which subscriptions belong."""
    return Store()


async def test_a_subscription_wakes_for_a_change_and_in_any_case_in_time(store: Store):
    with store.subscription(KIND) as subscription:
        await subscription.wait(0.0)
        assert subscription.take() == []
        store.put(KIND, named("a"), old=None)
        await subscription.wait(None)
        (change,) = subscription.take()
    assert change.old is None
    assert change.key == ("default", "a")
