"""Jobs: what they ask for, what an edit may change, and what junk does."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.workloads.build import admission, applied, assigned, container, job, template
from webhook.model.kinds import JOB, POD, Object
from webhook.model.quantity import NANO
from webhook.model.workload import Workload
from webhook.workloads.job import JobAdapter, indexes, to_run
from webhook.workloads.objects import BadObject

RAN = {"startTime": "2026-11-01T11:00:00Z"}
ADAPTER = JobAdapter()


def read(obj: Object) -> Workload:
    return ADAPTER.read(obj, queue="ml", priority=5)


# What it asks for


@pytest.mark.parametrize(
    ("spec", "pods"),
    [
        ({}, 1),
        ({"parallelism": None}, 1),
        ({"parallelism": 0}, 0),
        ({"parallelism": 4}, 4),
        ({"parallelism": 4, "completions": 2}, 2),
        ({"parallelism": 2, "completions": 10}, 2),
        ({"parallelism": 2, "completions": 0}, 0),
        ({"parallelism": 4, "completions": None}, 4),
    ],
)
def test_it_asks_for_as_many_pods_as_run_at_once(spec, pods):
    (found,) = ADAPTER.pod_sets(job(**spec))
    assert (found.name, found.count) == ("main", pods)
    assert found.requests == {"cpu": NANO, "pods": NANO}


@pytest.mark.parametrize(
    ("spec", "status", "remain"),
    [
        ({"completions": 10}, {"succeeded": 3}, 4),
        ({"completions": 10}, {"succeeded": 8}, 2),
        ({"completions": 10}, {"succeeded": 10}, 0),
        ({"completions": 10}, {"succeeded": 11}, 0),
        ({"completions": None}, {}, 4),
        ({"completions": None}, {"succeeded": 1}, 0),
        ({"completions": None}, {"failed": 3}, 4),
        ({"completions": 10}, {"succeeded": 8, "failed": 5}, 2),
    ],
)
def test_pods_that_succeeded_are_not_run_again(spec, status, remain):
    assert to_run(job(parallelism=4, status=status, **spec)) == remain


@pytest.mark.parametrize(
    ("status", "remain"),
    [
        ({}, 4),
        ({"completedIndexes": "0-4"}, 4),
        ({"completedIndexes": "0,2,4-8"}, 3),
        ({"completedIndexes": "0-7", "failedIndexes": "9"}, 1),
        ({"completedIndexes": "0-4", "failedIndexes": "5-9"}, 0),
        ({"succeeded": 9}, 4),
        ({"completedIndexes": "0-7,10-40"}, 2),
        ({"completedIndexes": "", "failedIndexes": None}, 4),
    ],
)
def test_of_an_indexed_job_the_indexes_that_are_done_are_not_run_again(status, remain):
    assert (
        to_run(job(parallelism=4, completions=10, completionMode="Indexed", status=status))
        == remain
    )


def test_a_job_that_was_shrunk_still_runs_the_indexes_it_has_left():
    spec: dict[str, Any] = {"parallelism": 5, "completions": 5, "completionMode": "Indexed"}
    assert to_run(job(status={"completedIndexes": "5-9"}, **spec)) == 5


@given(st.sets(st.integers(0, 60)), st.integers(0, 60))
def test_ranges_count_as_many_indexes_as_they_name(chosen, below):
    runs: list[list[int]] = []
    for index in sorted(chosen):
        if runs and runs[-1][-1] == index - 1:
            runs[-1].append(index)
        else:
            runs.append([index])
    text = ",".join(f"{r[0]}-{r[-1]}" if len(r) > 1 else f"{r[0]}" for r in runs)
    assert indexes(text, below) == len([index for index in chosen if index < below])


@pytest.mark.parametrize(
    "text", [None, 3, [], "x", "-", "1-", "-1", "a-b", "5-3", "²", "9" * 5000, ",,", "1-2-3"]
)
def test_what_is_no_range_names_next_to_nothing(text):
    assert indexes(text, 100) <= 1


def test_what_an_earlier_start_injected_is_not_its_owners_wish():
    pods = template(nodeSelector={"zone": "a", "gpu": "a100"})
    old = admission(nodes={"gpu": "a100"})
    assert read(job(suspend=True, pods=pods, record=old)).asks[0].node_selector == {"zone": "a"}
    assert ADAPTER.pod_sets(job(pods=pods))[0].node_selector == {"zone": "a", "gpu": "a100"}


# Edits


def test_more_parallelism_is_growth_and_is_put_back():  # R17
    old, new = job(parallelism=4), job(parallelism=8)
    growth = ADAPTER.grown(old, new)
    assert growth is not None
    assert (growth.was, growth.wants) == (4, 8)
    assert applied(new, growth.patch) == old


def test_an_indexed_job_gets_both_counts_back_together():
    old = job(parallelism=2, completions=2, completionMode="Indexed")
    new = job(parallelism=5, completions=5, completionMode="Indexed")
    growth = ADAPTER.grown(old, new)
    assert growth is not None
    assert [op.path for op in growth.patch] == ["/spec/parallelism", "/spec/completions"]
    assert applied(new, growth.patch) == old


def test_counts_that_were_absent_are_absent_again():
    old, new = job(), job(parallelism=4)
    del old["spec"]["parallelism"]
    growth = ADAPTER.grown(old, new)
    assert growth is not None
    assert applied(new, growth.patch) == old


def test_growth_in_two_steps_is_growth_in_the_second():
    spec: dict[str, Any] = {"completionMode": "Indexed"}
    first, wide = (
        job(parallelism=4, completions=4, **spec),
        job(parallelism=8, completions=4, **spec),
    )
    assert ADAPTER.grown(first, wide) is None, "four indexes never run eight pods"
    growth = ADAPTER.grown(wide, job(parallelism=8, completions=8, **spec))
    assert growth is not None
    assert (growth.was, growth.wants) == (4, 8)


@pytest.mark.parametrize(
    ("old", "new"),
    [((4, None), (4, None)), ((4, None), (2, None)), ((4, 10), (4, 20)), ((8, 4), (9, 4))],
)
def test_what_runs_no_more_pods_at_once_is_no_growth(old, new):
    before, after = (job(parallelism=p, completions=c) for p, c in (old, new))
    assert ADAPTER.grown(before, after) is None


def test_a_status_sent_with_an_edit_hides_no_growth():
    # The API server drops it, but only after the webhook was asked.
    lie = {"succeeded": 1, "completedIndexes": "0-99"}
    old = job(parallelism=2, completions=None)
    growth = ADAPTER.grown(old, job(parallelism=100, completions=None, status=lie))
    assert growth is not None
    assert (growth.was, growth.wants) == (2, 100)


def test_growth_counts_what_remains():
    status = {**RAN, "succeeded": 8}
    old = job(parallelism=2, completions=10, status=status)
    assert ADAPTER.grown(old, job(parallelism=9, completions=10, status=status)) is None


def test_labels_of_the_template_may_change_before_the_first_start_only():
    assert ADAPTER.template_open(job(suspend=True))
    assert not ADAPTER.template_open(job())
    assert not ADAPTER.template_open(job(suspend=True, status=RAN))
    assert not ADAPTER.template_open(job(suspend=True, status={"terminating": 1}))


# Whose it is


@pytest.mark.parametrize(
    ("manager", "ours"),
    [
        (None, True),
        ("kubernetes.io/job-controller", True),
        ("kueue.x-k8s.io/multikueue", False),
        ("jobset.sigs.k8s.io/jobset-controller", False),
        ("", False),
    ],
)
def test_a_job_that_another_controller_runs_is_not_ours(manager, ours):
    assert ADAPTER.ours(job(managedBy=manager)) is ours


def test_only_the_boolean_true_suspends():
    assert ADAPTER.suspended(job(suspend=True))
    assert not any(ADAPTER.suspended(job(suspend=value)) for value in (False, None, "true", 1))


def test_a_job_makes_nothing_that_queues():
    assert not ADAPTER.makes(job("a"), job("a-0"), JOB)
    assert not ADAPTER.makes(job("a"), job("a-0"), POD)


# Junk


@pytest.mark.parametrize(
    ("obj", "path"),
    [
        ({"spec": "x"}, "spec"),
        ({"spec": {"template": []}}, "spec.template"),
        (job(parallelism="2"), "spec.parallelism"),
        (job(parallelism=-1), "spec.parallelism"),
        (job(parallelism=True), "spec.parallelism"),
        (job(parallelism=1.5), "spec.parallelism"),
        (job(completions=[]), "spec.completions"),
        (job(pods={"spec": 3}), "spec.template.spec"),
        (job(pods=template(nodeSelector=[])), "spec.template.spec.nodeSelector"),
        (
            job(pods=template(container("x"))),
            "spec.template.spec.containers[0].resources.requests[cpu]",
        ),
    ],
)
def test_a_field_of_the_wrong_type_is_named_by_its_path(obj, path):
    for ask in (ADAPTER.pod_sets, read):
        with pytest.raises(BadObject) as caught:
            ask(obj)
        assert caught.value.path == path


@pytest.mark.parametrize(
    ("obj", "path"),
    [
        (job() | {"status": []}, "status"),
        (job(status={"active": "2"}), "status.active"),
        (job(status={"terminating": -2}), "status.terminating"),
        (job(status={"conditions": {}}), "status.conditions"),
        (job(metadata={"annotations": []}), "metadata.annotations"),
        (job(metadata={"labels": "x"}), "metadata.labels"),
    ],
)
def test_a_junk_status_or_metadata_is_named_too(obj, path):
    with pytest.raises(BadObject) as caught:
        read(obj)
    assert caught.value.path == path


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=5,
)
PLACES = [
    ("metadata", "annotations"),
    ("metadata", "creationTimestamp"),
    ("metadata", "deletionTimestamp"),
    ("spec", "parallelism"),
    ("spec", "completions"),
    ("spec", "suspend"),
    ("spec", "managedBy"),
    ("spec", "template"),
    ("status", "conditions"),
    ("status", "completedIndexes"),
    ("status", "startTime"),
    ("status", "active"),
]


@given(st.sampled_from(PLACES), anything)
def test_whatever_stands_in_a_field_it_is_read_or_a_bad_object(place, value):
    obj: dict[str, Any] = job(completionMode="Indexed", completions=3, record=admission())
    obj[place[0]][place[1]] = value
    try:
        found = read(obj)
    except BadObject:
        return
    assert all(count >= 0 for count in found.holds.values())


@pytest.mark.parametrize(
    ("spec", "status", "record", "ready"),
    [
        ({"parallelism": 3}, {"active": 3, "ready": 2}, admission(3), False),
        ({"parallelism": 3}, {"active": 3, "ready": 3}, admission(3), True),
        ({"parallelism": 3, "completions": 3}, {"ready": 2, "succeeded": 1}, admission(3), True),
        ({"parallelism": 3, "completions": 3}, {"ready": 1, "succeeded": 1}, admission(3), False),
        # short pods of a long list: some are always just beginning
        ({"parallelism": 3, "completions": 99}, {"ready": 1, "succeeded": 2}, admission(3), True),
        ({"parallelism": 3, "completions": 99}, {"ready": 1, "succeeded": 2}, None, False),
        ({"parallelism": 0}, {}, admission(0), True),
    ],
)
def test_ready_is_when_all_its_pods_are_or_have_been(spec, status, record, ready):
    obj = job(suspend=False, status=status, record=record, **spec)
    assert read(obj).ready is ready


def test_what_succeeded_before_this_start_says_nothing_of_it():
    record = replace(admission(3), pod_sets=(replace(assigned(3), done=40),))
    for succeeded, ready in ((40, False), (42, True)):
        status = {"ready": 1, "succeeded": succeeded}
        obj = job(suspend=False, status=status, record=record, parallelism=3, completions=99)
        assert read(obj).ready is ready


def test_what_does_not_run_is_not_ready():
    obj = job(suspend=True, status={"ready": 1}, conditions=("Suspended",))
    assert read(obj).ready is False


def test_its_owner_is_whoever_controls_it():
    def owned(*references):
        about = {"ownerReferences": list(references)}
        return read(job(metadata=about)).owner

    cron = {"kind": "CronJob", "name": "nightly", "uid": "1", "controller": True}
    other = {"kind": "ConfigMap", "name": "notes", "uid": "2"}
    assert owned(other, cron) == "CronJob team-a/nightly"
    assert (owned(other), owned()) == ("", "")
