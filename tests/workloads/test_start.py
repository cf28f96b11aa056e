"""The one write of a start, its undoing, and what a re-apply may not take away."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.workloads.build import (
    admission,
    applied,
    assigned,
    condition,
    job,
    jobset,
    replicated,
    template,
)
from webhook.model.kinds import JOB, JOBSET, Key, Object
from webhook.model.queues import Flavor, Toleration
from webhook.model.workload import Admission, Injected
from webhook.workloads.adapter import Adapter
from webhook.workloads.record import admission_of
from webhook.workloads.registry import ADAPTERS
from webhook.workloads.start import label_templates, reopen, restore, start, suspend
from webhook.workloads.templates import template_at

JOBS, JOBSETS = ADAPTERS[JOB.name], ADAPTERS[JOBSET.name]
GPU = {"key": "gpu", "operator": "Equal", "value": "a100", "effect": "NoSchedule"}
SPOT = {"key": "spot", "operator": "Exists"}
FLAVORS = {
    "a100": Flavor("a100", {"gpu": "a100"}, (Toleration("gpu", "a100", "NoSchedule"),)),
    "h100": Flavor("h100", {"gpu": "h100", "net": "ib"}, (Toleration("spot"),)),
    "zoned": Flavor("zoned", {"zone": "a"}),
}


def waiting(**pods: Any) -> Object:
    return job(suspend=True, pods=template(**pods), metadata={"annotations": {"a/b": "1"}})


def started(obj: Object, wanted: Admission | str, adapter: Adapter = JOBS) -> Object:
    if isinstance(wanted, str):
        wanted = admission(flavor=wanted)
    return applied(obj, start(adapter, obj, wanted, FLAVORS))


def spec_of(obj: Object) -> dict[str, Any]:
    found: dict[str, Any] = obj["spec"]["template"]["spec"]
    return found


def stopped(obj: Object) -> Object:
    return applied(obj, suspend(obj))


def reapplied(adapter: Adapter, old: Object, new: Object) -> Object:
    return applied(new, restore(adapter, old, new))


# A start


def test_a_start_resumes_records_and_injects_in_one_patch():
    obj = waiting(nodeSelector={"zone": "b"}, tolerations=[SPOT])
    done = started(obj, "a100")
    assert done["spec"]["suspend"] is False
    assert spec_of(done)["nodeSelector"] == {"zone": "b", "gpu": "a100"}
    assert spec_of(done)["tolerations"] == [SPOT, GPU]
    assert done["metadata"]["annotations"]["a/b"] == "1"
    assert admission_of(done) == admission(flavor="a100", nodes={"gpu": "a100"}, tolerations=(GPU,))


def test_the_lock_comes_first_and_is_a_replace_since_that_answers_409():
    first, *others = start(JOBS, waiting(), admission(), FLAVORS)
    assert first.as_json() == {"op": "replace", "path": "/metadata/resourceVersion", "value": "7"}
    assert all(op.op != "test" for op in others)


def test_a_start_never_touches_the_status():  # R40: activeDeadlineSeconds must not begin early
    for op in start(JOBS, waiting(), admission(flavor="a100"), FLAVORS):
        assert not op.path.startswith("/status")


def test_a_template_without_selector_annotations_or_tolerations_gets_them_whole():
    obj = job(suspend=True)
    del obj["metadata"]["annotations"]
    done = started(obj, "h100")
    assert spec_of(done)["nodeSelector"] == {"gpu": "h100", "net": "ib"}
    assert spec_of(done)["tolerations"] == [SPOT]
    assert admission_of(done) is not None


def test_the_flavor_default_injects_nothing():
    obj = waiting(nodeSelector={"zone": "b"})
    done = started(obj, "default")
    assert spec_of(done) == spec_of(obj)
    assert admission_of(done) == admission()


def test_a_flavor_the_policy_does_not_know_starts_nothing():
    with pytest.raises(LookupError):
        start(JOBS, waiting(), admission(flavor="gone"), FLAVORS)
    with pytest.raises(LookupError):
        start(JOBS, waiting(), admission(name="other"), FLAVORS)


def test_keys_and_tolerations_of_the_owner_are_neither_changed_nor_doubled_nor_recorded():
    obj = waiting(nodeSelector={"gpu": "mine", "net": "ib"}, tolerations=[GPU, SPOT])
    for flavor in ("a100", "h100"):
        done = started(obj, flavor)
        assert spec_of(done) == spec_of(obj)
        record = admission_of(done)
        assert record is not None
        assert record.pod_sets[0].injected == Injected()


def test_two_flavors_of_one_pod_set_are_both_injected_once():
    pods = assigned(1)
    pods = type(pods)("main", 1, {"cpu": "zoned", "gpu": "a100", "memory": "zoned"}, pods.amounts)
    done = started(waiting(), Admission("ml", (pods,), "now", "r"))
    assert spec_of(done)["nodeSelector"] == {"zone": "a", "gpu": "a100"}
    assert spec_of(done)["tolerations"] == [GPU]


def test_started_again_on_another_flavor_nothing_of_the_first_is_left():
    obj = waiting(nodeSelector={"zone": "b"}, tolerations=[SPOT])
    direct = started(obj, "h100")
    detour = started(stopped(started(obj, "a100")), "h100")
    assert detour == direct


def test_started_on_default_after_another_flavor_the_template_is_the_owners_again():
    obj = waiting()
    assert spec_of(started(stopped(started(obj, "a100")), "default")) == spec_of(obj)


def test_started_again_on_the_same_flavor_the_template_is_not_written():
    again = stopped(started(waiting(), "a100"))
    patch = start(JOBS, again, admission(flavor="a100"), FLAVORS)
    assert [op.path for op in patch] == ["/metadata/resourceVersion", "/spec/suspend"]


def test_a_selector_that_is_empty_is_left_as_it_is():
    obj = waiting(nodeSelector={}, tolerations=[])
    assert spec_of(started(obj, "default")) == spec_of(obj)


def test_what_the_owner_changed_while_it_waited_is_kept():
    again = stopped(started(waiting(), "h100"))
    spec_of(again)["nodeSelector"] = {"gpu": "mine", "net": "ib"}
    done = started(again, "zoned")
    assert spec_of(done)["nodeSelector"] == {"gpu": "mine", "zone": "a"}


def test_a_start_does_not_change_the_object_it_reads():
    obj = waiting(tolerations=[SPOT])
    before = copy.deepcopy(obj)
    start(JOBS, obj, admission(flavor="a100"), FLAVORS)
    assert obj == before


# Suspending


def test_suspending_touches_the_suspend_field_alone():  # R22
    for obj in (started(waiting(), "a100"), jobset(suspend=False)):
        assert [op.as_json() for op in suspend(obj)] == [
            {"op": "replace", "path": "/spec/suspend", "value": True}
        ]
    assert suspend(waiting()) == ()
    assert applied(job(), suspend(job()))["spec"]["suspend"] is True


# JobSets


def two_sets(**pods: Any) -> Object:
    items = replicated("driver"), replicated("workers", 4, pods=template(**pods))
    return jobset(*items, suspend=True)


def on(driver: str, workers: str) -> Admission:
    sets = assigned(1, "driver", driver), assigned(4, "workers", workers)
    return Admission("ml", sets, "2026-11-01T10:00:01Z", "r1")


def specs(obj: Object) -> list[Any]:
    found = (template_at(obj, path) for path in JOBSETS.templates(obj).values())
    return [one["spec"] for one in found if one is not None]


def test_each_replicated_job_goes_to_its_own_flavor():
    done = started(two_sets(), on("default", "a100"), JOBSETS)
    driver, workers = specs(done)
    assert "nodeSelector" not in driver
    assert workers["nodeSelector"] == {"gpu": "a100"}
    again = started(stopped(done), on("h100", "default"), JOBSETS)
    assert again == started(two_sets(), on("h100", "default"), JOBSETS)


def test_a_pod_set_that_starts_no_more_keeps_nothing_of_an_earlier_flavor():
    once = stopped(started(two_sets(), on("a100", "a100"), JOBSETS))
    rest = Admission("ml", (assigned(4, "workers", "h100"),), "now", "r1")
    driver, workers = specs(started(once, rest, JOBSETS))
    assert driver == specs(two_sets())[0]
    assert workers["nodeSelector"] == {"gpu": "h100", "net": "ib"}


# Re-applies


def test_what_a_start_injected_survives_a_reapplied_manifest():
    old = started(waiting(nodeSelector={"zone": "b"}, tolerations=[SPOT]), "a100")
    new = copy.deepcopy(old)
    spec_of(new).update(nodeSelector={"zone": "b"}, tolerations=[SPOT])
    assert reapplied(JOBS, old, new) == old
    assert restore(JOBS, old, old) == ()


def test_a_manifest_that_replaces_the_list_of_replicated_jobs_gets_all_back_by_name():
    old = started(two_sets(), on("h100", "a100"), JOBSETS)
    new = copy.deepcopy(old)
    new["spec"]["replicatedJobs"] = copy.deepcopy(two_sets()["spec"]["replicatedJobs"])[::-1]
    result = reapplied(JOBSETS, old, new)
    assert result["spec"]["replicatedJobs"][::-1] == old["spec"]["replicatedJobs"]


def test_what_the_old_object_does_not_bear_is_not_put_back():
    old = started(waiting(), "h100")
    del spec_of(old)["nodeSelector"]["net"], spec_of(old)["tolerations"]
    new = copy.deepcopy(old)
    del spec_of(new)["nodeSelector"]
    assert spec_of(reapplied(JOBS, old, new)) == spec_of(old)


def test_an_edit_to_an_injected_key_is_left_for_the_api_server_to_refuse():
    old = started(waiting(), "a100")
    new = copy.deepcopy(old)
    spec_of(new)["nodeSelector"] = {"gpu": "other"}
    assert restore(JOBS, old, new) == ()


def test_a_pod_set_or_a_record_that_is_gone_restores_nothing():
    old = started(two_sets(), on("a100", "a100"), JOBSETS)
    new = jobset(replicated("driver"), suspend=False)
    assert [op.path.split("/")[3] for op in restore(JOBSETS, old, new)] == ["0", "0"]
    assert restore(JOBS, waiting(), waiting()) == ()


keys = st.sampled_from(["zone", "gpu", "net", "a/b", "~"])
selectors = st.none() | st.dictionaries(keys, st.sampled_from(["a", "a100", "h100"]), max_size=3)
tolerated = st.none() | st.lists(
    st.sampled_from([GPU, SPOT, {"key": "x", "operator": "Exists"}, {"operator": "Exists"}]),
    max_size=3,
)
FLAVOR_NAMES = st.sampled_from([*FLAVORS, "default"])


@st.composite
def templates(draw: st.DrawFn) -> dict[str, Any]:
    wanted = {"nodeSelector": draw(selectors), "tolerations": draw(tolerated)}
    return template(**{key: value for key, value in wanted.items() if value})


@given(templates(), FLAVOR_NAMES)
def test_restoring_a_job_less_what_was_injected_gives_the_started_job_exactly(pods, flavor):
    obj = job(suspend=True, pods=pods)
    old = started(obj, flavor)
    new = copy.deepcopy(old)
    new["spec"]["template"] = copy.deepcopy(obj["spec"]["template"])
    assert reapplied(JOBS, old, new) == old


@given(st.lists(st.tuples(templates(), FLAVOR_NAMES), min_size=1, max_size=4))
def test_restoring_a_jobset_less_what_was_injected_gives_the_started_jobset_exactly(sets):
    items = [replicated(f"r{i}", pods=copy.deepcopy(pods)) for i, (pods, _) in enumerate(sets)]
    obj = jobset(*items, suspend=True)
    wanted = tuple(assigned(1, f"r{i}", flavor) for i, (_, flavor) in enumerate(sets))
    old = started(obj, Admission("ml", wanted, "now", "r"), JOBSETS)
    new = copy.deepcopy(old)
    new["spec"]["replicatedJobs"] = copy.deepcopy(obj["spec"]["replicatedJobs"])
    assert reapplied(JOBSETS, old, new) == old


@given(templates(), st.lists(FLAVOR_NAMES, min_size=1, max_size=4))
def test_however_often_it_was_stopped_a_start_is_as_if_it_were_the_first(pods, flavors):
    obj = current = job(suspend=True, pods=pods)
    for flavor in flavors:
        current = stopped(started(current, flavor))
    assert started(current, "default")["spec"] == started(obj, "default")["spec"]
    assert started(current, flavors[0]) == started(obj, flavors[0])


# What has to come before a start, up to Kubernetes 1.35


def ran(flavor: str, **status: Any) -> Object:
    """Started on a flavor, stopped, with a start time that its controller left."""
    left = {"startTime": "2026-11-01T10:00:00Z", "conditions": [condition("Suspended")]} | status
    return stopped(started(waiting(), flavor)) | {"status": left}


def before(obj: Object, flavor: str, adapter: Adapter = JOBS) -> list[dict[str, Any]]:
    coming = start(adapter, obj, admission(flavor=flavor), FLAVORS)
    return [op.as_json() for op in reopen(adapter, obj, coming)]


@pytest.mark.parametrize("flavors", [("a100", "h100"), ("a100", "default"), ("default", "a100")])
def test_a_template_that_a_restart_has_to_change_is_opened_by_one_locked_write(flavors):
    was, comes = flavors
    assert before(ran(was), comes) == [
        {"op": "replace", "path": "/metadata/resourceVersion", "value": "7"},
        {"op": "remove", "path": "/status/startTime"},
    ]


@pytest.mark.parametrize("flavor", ["a100", "default"])
def test_a_restart_that_changes_no_template_needs_nothing_before_it(flavor):
    assert before(ran(flavor), flavor) == []


def test_a_first_start_needs_nothing_before_it():
    assert before(waiting(), "a100") == []
    assert before(waiting() | {"status": {"conditions": [condition("Suspended")]}}, "a100") == []


@pytest.mark.parametrize(
    "status",
    [
        {"startTime": None},
        {"active": 1},
        {"terminating": 1},
        {"conditions": []},
        {"conditions": [condition("Suspended=False")]},
    ],
    ids=["taken away", "active", "terminating", "not yet seen", "resumed"],
)
def test_nothing_is_written_where_it_would_be_refused_or_is_not_needed(status):
    left = {key: value for key, value in ran("a100", **status)["status"].items() if value}
    assert before(ran("a100") | {"status": left}, "h100") == []


def test_what_runs_keeps_its_start_time():
    running = ran("a100")
    running["spec"]["suspend"] = False
    assert before(running, "h100") == []


def test_a_jobset_never_needs_it():
    obj = jobset(suspend=True) | {"status": ran("a100")["status"]}
    wanted = Admission("ml", (assigned(1, "workers", "a100"),), "now", "r")
    assert reopen(JOBSETS, obj, start(JOBSETS, obj, wanted, FLAVORS)) == ()


# Labels of the templates


def test_the_queue_is_copied_to_every_template():
    obj = two_sets()
    obj["spec"]["replicatedJobs"][1]["template"]["spec"]["template"]["metadata"] = {
        "labels": {"app": "x", Key.QUEUE: "old"}
    }
    done = applied(obj, label_templates(JOBSETS, obj, "ml"))
    driver, workers = (
        item["template"]["spec"]["template"]["metadata"]["labels"]
        for item in done["spec"]["replicatedJobs"]
    )
    assert driver == {Key.QUEUE: "ml"}
    assert workers == {"app": "x", Key.QUEUE: "ml"}
    assert label_templates(JOBSETS, done, "ml") == ()


def test_where_there_is_no_template_there_is_nothing_to_label():
    assert label_templates(JOBS, {"spec": {}}, "ml") == ()
    assert label_templates(JOBSETS, {"spec": {"replicatedJobs": [{"name": "a"}]}}, "ml") == ()
    assert label_templates(JOBSETS, {}, "ml") == ()
