"""JobSets: pod sets, what is charged while children come and go, and which children are theirs."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.workloads.build import (
    admission,
    assigned,
    child,
    container,
    job,
    jobset,
    replicated,
    template,
)
from webhook.model.kinds import JOB, JOBSET, POD, Object
from webhook.model.quantity import NANO
from webhook.model.workload import Admission, Phase, Workload
from webhook.workloads.adapter import Growth
from webhook.workloads.jobset import JobSetAdapter, left_to_children
from webhook.workloads.objects import BadObject

ADAPTER = JobSetAdapter()
STOPPED = ("Suspended",)


def read(obj: Object, *children: Object) -> Workload:
    return ADAPTER.read(obj, queue="ml", priority=0, children=children)


def charged(obj: Object, *children: Object) -> tuple[Phase, dict[str, int]]:
    found = read(obj, *children)
    return found.phase, dict(found.holds)


def makes(parent: Object, one: Object) -> bool:
    return ADAPTER.makes(parent, one, JOB)


# What it asks for


def test_each_replicated_job_is_a_pod_set():
    obj = jobset(
        replicated("driver"),
        replicated("workers", 4, parallelism=3, completions=2, pods=template(container("2"))),
    )
    driver, workers = ADAPTER.pod_sets(obj)
    assert (driver.name, driver.count, driver.requests["cpu"]) == ("driver", 1, NANO)
    assert (workers.name, workers.count, workers.requests["cpu"]) == ("workers", 8, 2 * NANO)


def test_a_jobset_of_six_pods_is_charged_for_six_and_not_again_for_its_children():  # R05
    obj = jobset(replicated("a", parallelism=3), replicated("b", parallelism=3))
    found = read(obj, child("js-a-0", parallelism=3), child("js-b-0", parallelism=3))
    assert found.total["cpu"] == 6 * NANO
    assert found.holds == {"a": 3, "b": 3}


def test_absent_counts_are_one_and_zero_is_zero():
    bare = replicated("a")
    del bare["replicas"], bare["template"]["spec"]["parallelism"]
    assert ADAPTER.pod_sets(jobset(bare))[0].count == 1
    assert ADAPTER.pod_sets(jobset(replicated("a", 0, parallelism=5)))[0].count == 0
    assert ADAPTER.pod_sets(jobset(replicated("a", 5, parallelism=0)))[0].count == 0


def test_what_an_earlier_start_injected_is_taken_off_each_template_apart():
    old = Admission("ml", (assigned(name="a", nodes={"gpu": "h100"}), assigned(name="b")), "", "")
    both = template(nodeSelector={"gpu": "h100", "zone": "z"})
    a, b = read(
        jobset(replicated("a", pods=both), replicated("b", pods=both), suspend=True, record=old)
    ).asks
    assert (a.node_selector, b.node_selector) == ({"zone": "z"}, {"gpu": "h100", "zone": "z"})


# What is charged


def test_replicas_that_succeeded_are_not_charged_until_a_restart_runs_them_again():  # R06
    spec: dict[str, Any] = {"record": admission(3, "workers")}
    two_done = jobset(replicated(replicas=3), succeeded={"workers": 2}, **spec)
    assert charged(two_done) == (Phase.STARTED, {"workers": 1})
    restarted = jobset(replicated(replicas=3), succeeded={"workers": 0}, **spec)
    restarted["status"]["restarts"] = 1
    assert charged(restarted) == (Phase.STARTED, {"workers": 3})


def test_more_successes_than_replicas_are_all_of_them():
    assert charged(jobset(replicated(), succeeded={"workers": 5, "x": 1}))[1] == {"workers": 0}


@pytest.mark.parametrize("end", ["Completed", "Failed"])
@pytest.mark.parametrize("suspend", [True, False])
def test_finished_and_kept_it_is_charged_nothing(end, suspend):  # R08
    done = jobset(conditions=(end,), suspend=suspend, record=admission(1, "workers"))
    over = child("js-workers-0", conditions=("Complete",))
    assert charged(done, over) == (Phase.FINISHED, {})


def test_finished_with_a_live_child_it_is_charged_for_the_pods_of_that_child():  # R21
    obj = jobset(replicated("a", 2, parallelism=8), conditions=("Completed",))
    live = child("js-a-0", parallelism=8, status={"active": 4})
    over = child("js-a-1", parallelism=8, conditions=("Complete",))
    assert charged(obj, live, over) == (Phase.STOPPING, {"a": 4})


def test_it_waits_when_every_child_is_suspended_and_idle():
    obj = jobset(replicated(replicas=2), suspend=True, conditions=STOPPED)
    idle = [child(f"js-workers-{i}", suspend=True, conditions=STOPPED) for i in range(2)]
    assert charged(obj, *idle) == charged(obj) == (Phase.WAITING, {})


def test_a_child_that_is_not_suspended_yet_is_charged_for_what_it_may_still_make():
    obj = jobset(replicated(replicas=2, parallelism=3), suspend=True, conditions=STOPPED)
    late = child("js-workers-0", parallelism=3, status={"active": 1})
    going = child("js-workers-1", parallelism=3, suspend=True, status={"terminating": 2})
    over = child("js-workers-1", parallelism=3, conditions=("Failed",))
    assert charged(obj, late, going) == (Phase.STOPPING, {"workers": 5})
    assert charged(obj, over) == (Phase.WAITING, {})


def test_a_suspended_child_whose_controller_has_not_noticed_may_still_make_pods():
    obj = jobset(replicated(parallelism=3), suspend=True, conditions=STOPPED)
    late = child("js-workers-0", parallelism=3, suspend=True, status={"startTime": "x"})
    assert charged(obj, late) == (Phase.STOPPING, {"workers": 3})


def test_before_its_own_controller_noticed_it_stays_charged():
    spec: dict[str, Any] = {"suspend": True, "record": admission(2, "workers")}
    busy = jobset(replicated(replicas=2), conditions=("Suspended=False",), **spec)
    assert charged(busy) == (Phase.STOPPING, {"workers": 2})
    assert charged(jobset(replicated(replicas=2), **spec)) == (Phase.STOPPING, {"workers": 2})
    noticed = jobset(replicated(replicas=2), conditions=STOPPED, **spec)
    assert charged(noticed) == (Phase.WAITING, {})


def test_one_that_never_started_waits_though_its_controller_has_not_seen_it():
    assert charged(jobset(suspend=True)) == (Phase.WAITING, {})


def test_a_job_that_bears_no_name_of_its_making_is_none_of_its_children():
    obj = jobset(replicated("a"), suspend=True, conditions=STOPPED)
    others = [
        child(name, status={"active": 9}) for name in ("js-b-0", "js-a-x", "js-a", "a-0", "z")
    ]
    assert charged(obj, *others) == (Phase.WAITING, {})


def test_the_pods_of_a_child_are_told_by_its_name_whatever_its_labels_say():
    obj = jobset(replicated("a"), replicated("a-0"), suspend=True, conditions=STOPPED)
    mine = child("js-a-0-0", suspend=True, status={"active": 2})
    mine["metadata"]["labels"] = {"jobset.sigs.k8s.io/replicatedjob-name": "a"}
    assert charged(obj, mine) == (Phase.STOPPING, {"a-0": 2})


def test_children_of_a_jobset_that_is_gone_are_asked_what_is_left():
    obj = jobset(replicated("a", 2, parallelism=3), record=admission(6, "a"))
    assert left_to_children(obj, [child("js-a-1", parallelism=3)]) == {"a": 3}
    assert left_to_children(obj, []) == {"a": 0}


def test_a_deleted_jobset_stays_charged_until_it_is_gone():
    going = {"deletionTimestamp": "2026-11-01T12:00:00Z"}
    assert charged(jobset(metadata=going)) == (Phase.STOPPING, {"workers": 1})
    assert charged(jobset(metadata=going, suspend=True)) == (Phase.FINISHED, {})


# Whose children


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("js-workers-0", True),
        ("js-workers-3", True),
        ("js-workers-4", False),
        ("js-workers-00", False),
        ("js-workers-03", False),
        ("js-workers--1", False),
        ("js-workers-+1", False),
        ("js-workers-1 ", False),
        ("js-workers-٣", False),
        ("js-workers-", False),
        ("js-workers", False),
        ("js-workers-0-0", False),
        ("js-worker-0", False),
        ("js-0", False),
        ("js--0", False),
        ("workers-0", False),
        ("xjs-workers-0", False),
        ("js2-workers-0", False),
        ("JS-workers-0", False),
        ("", False),
        ("js-workers-" + "9" * 5000, False),
    ],
)
def test_a_child_bears_the_name_and_an_index_this_jobset_would_give(name, made):
    parent = jobset(replicated("workers", 4), replicated("driver"))
    assert makes(parent, child(name)) is made


def test_replicated_jobs_that_are_prefixes_of_each_other_are_told_apart():
    small, large = template(container("1")), template(container("4"))
    parent = jobset(replicated("a", 2, small), replicated("a-0", 1, large), replicated("a-0-0", 1))
    assert makes(parent, child("js-a-0", pods=small))
    assert not makes(parent, child("js-a-0", pods=large))
    assert makes(parent, child("js-a-0-0", pods=large))
    assert not makes(parent, child("js-a-0-1", pods=small))
    assert makes(parent, child("js-a-0-0-0"))


def test_jobsets_whose_names_are_prefixes_of_each_other_do_not_share_children():
    assert makes(jobset(replicated("b-c"), name="a"), child("a-b-c-0"))
    assert makes(jobset(replicated("c"), name="a-b"), child("a-b-c-0"))
    assert not makes(jobset(replicated("c"), name="a"), child("a-b-c-0"))


def test_where_two_replicated_jobs_bear_one_name_any_match_counts():
    parent = jobset(replicated("a", 1), replicated("a", 3, template(container("2"))))
    assert makes(parent, child("js-a-2", pods=template(container("2"))))


@pytest.mark.parametrize(
    ("change", "made"),
    [
        ({}, True),
        ({"pods": template(container("1"))}, True),
        ({"pods": template(container("2"))}, True),
        ({"pods": template(container("2.000000001"))}, False),
        ({"parallelism": 2}, True),
        ({"parallelism": 3}, True),
        ({"parallelism": 4}, False),
        ({"parallelism": 9, "completions": 3}, True),
        ({"parallelism": None}, True),
        ({"pods": template(container("1"), container("1"))}, True),
        ({"pods": template(container("2"), container("1n"))}, False),
        (
            {
                "pods": template(
                    container(), initContainers=[container("2") | {"restartPolicy": "Always"}]
                )
            },
            False,
        ),
        ({"pods": template(container(), initContainers=[container("2")])}, True),
        ({"pods": template(container(), initContainers=[container("2001m")])}, False),
        ({"pods": template(container(requests={"cpu": "1", "memory": "1"}))}, False),
        ({"pods": template(container(requests={"cpu": "1", "memory": "0"}))}, True),
        ({"pods": template(container(limits={"nvidia.com/gpu": "1"}))}, False),
        ({"pods": template(container(), resources={"requests": {"cpu": "3"}})}, False),
        ({"pods": template(container("2"), overhead={"cpu": "1m"})}, False),
        ({"pods": template(container("2"), nodeSelector={"gpu": "a100"})}, True),
    ],
)
def test_a_child_asks_for_no_more_than_its_template(change, made):
    parent = jobset(replicated("a", 1, template(container("2")), parallelism=3))
    assert makes(parent, child("js-a-0", **({"parallelism": 3} | change))) is made


def test_a_jobset_makes_jobs_and_nothing_else():
    assert not ADAPTER.makes(jobset(), child("js-workers-0"), POD)
    assert not ADAPTER.makes(jobset(), child("js-workers-0"), JOBSET)


def test_a_nameless_parent_makes_nothing():
    assert not makes(jobset(name=""), child("-workers-0"))
    assert not makes(jobset() | {"metadata": {}}, child("-workers-0"))


@given(
    st.lists(
        st.from_regex(r"[a-z0]([a-z0-]{0,4}[a-z0])?", fullmatch=True), min_size=1, unique=True
    ),
    st.integers(1, 3),
)
def test_every_child_it_would_make_is_its_own_and_one_more_is_not(names, replicas):
    parent = jobset(*[replicated(name, replicas) for name in names])
    for name in names:
        assert all(makes(parent, child(f"js-{name}-{i}")) for i in range(replicas))
        assert not makes(parent, child(f"js-{name}-{replicas}"))


# Other questions


def test_growth_is_seen_but_cannot_be_put_back():
    """Its controller takes counts for immutable; should it ever not, growth is refused."""
    small, large = jobset(replicated(replicas=1)), jobset(replicated(replicas=5))
    assert ADAPTER.grown(small, large) == Growth(1, 5, ())
    assert ADAPTER.grown(large, small) is None
    assert ADAPTER.grown(small, small) is None


def test_it_takes_labels_while_suspended():
    assert ADAPTER.template_open(jobset(suspend=True))
    assert not ADAPTER.template_open(jobset())


@pytest.mark.parametrize(
    ("manager", "ours"),
    [(None, True), ("jobset.sigs.k8s.io/jobset-controller", True), ("kueue.x-k8s.io/x", False)],
)
def test_a_jobset_that_another_controller_runs_is_not_ours(manager, ours):
    assert ADAPTER.ours(jobset(managedBy=manager)) is ours


def test_templates_are_found_by_the_name_of_their_pod_set():
    paths = ADAPTER.templates(jobset(replicated("b"), replicated("a")))
    assert paths == {
        "b": ("spec", "replicatedJobs", 0, "template", "spec", "template"),
        "a": ("spec", "replicatedJobs", 1, "template", "spec", "template"),
    }


# Junk


def broken(**item: Any) -> Object:
    return jobset(replicated("a") | item)


@pytest.mark.parametrize(
    ("obj", "path"),
    [
        (jobset(replicatedJobs={}), "spec.replicatedJobs"),
        (jobset(replicatedJobs=["a"]), "spec.replicatedJobs"),
        (broken(replicas="2"), "spec.replicatedJobs[a].replicas"),
        (broken(replicas=-1), "spec.replicatedJobs[a].replicas"),
        (broken(template=[]), "spec.replicatedJobs[a].template"),
        (broken(template={"spec": 1}), "spec.replicatedJobs[a].template.spec"),
        (
            broken(template={"spec": {"parallelism": "3"}}),
            "spec.replicatedJobs[a].template.spec.parallelism",
        ),
        (
            jobset(replicated("a", pods=template(container("64GB")))),
            "spec.replicatedJobs[a].template.spec.template.spec.containers[0].resources.requests[cpu]",
        ),
    ],
)
def test_a_field_of_the_wrong_type_is_named_by_its_whole_path(obj, path):
    for ask in (ADAPTER.pod_sets, read):
        with pytest.raises(BadObject) as caught:
            ask(obj)
        assert caught.value.path == path
        assert str(caught.value).count(path) == 1


def test_a_junk_status_or_child_is_a_bad_object():
    status = jobset()
    status["status"]["replicatedJobsStatus"] = {}
    with pytest.raises(BadObject):
        read(status)
    with pytest.raises(BadObject):
        read(jobset(suspend=True), child("js-workers-0", status={"active": "x"}))
    with pytest.raises(BadObject):
        makes(jobset(), child("js-workers-0", pods=template(container("x"))))


def test_a_plain_job_of_the_same_name_is_judged_by_name_and_size_only_here():
    # The owner reference is the registry's question.
    assert makes(jobset(), job("js-workers-0"))


@pytest.mark.parametrize(
    ("statuses", "ready"),
    [
        ([], False),
        ([{"name": "lead", "ready": 1}, {"name": "work", "ready": 1}], False),
        ([{"name": "lead", "ready": 1}, {"name": "work", "ready": 2}], True),
        ([{"name": "lead", "succeeded": 1}, {"name": "work", "ready": 1, "succeeded": 1}], True),
    ],
)
def test_ready_is_when_every_child_is_or_is_done(statuses, ready):
    obj = jobset(replicated("lead"), replicated("work", 2), suspend=False)
    obj["status"]["replicatedJobsStatus"] = statuses
    assert read(obj).ready is ready
