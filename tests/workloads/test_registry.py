"""Which adapter reads what, and who is whose child."""

from typing import Any

import pytest

from tests.workloads.build import child, container, job, jobset, replicated, template
from webhook.model.kinds import JOB, JOBSET, POD, Object
from webhook.workloads.objects import BadObject
from webhook.workloads.registry import ADAPTERS, Owner, adapter_for, controller_of, is_child

PARENT = jobset(replicated("a", 2))


def with_owner(**change: Any) -> Object:
    one = child("js-a-0")
    one["metadata"]["ownerReferences"][0] |= change
    return one


def judged(one: Object, parent: Object | None = PARENT) -> bool:
    owner = controller_of(one)
    return owner is not None and is_child(one, JOB, parent, owner)


def test_every_adapter_stands_under_the_name_of_its_kind():
    assert {name: adapter.kind for name, adapter in ADAPTERS.items()} == {
        "Job": JOB,
        "JobSet": JOBSET,
    }


def test_a_kind_is_found_by_group_and_name_and_the_version_does_not_matter():
    assert adapter_for("batch", "Job") is ADAPTERS["Job"]
    assert adapter_for("jobset.x-k8s.io", "JobSet") is ADAPTERS["JobSet"]
    assert adapter_for("batch.volcano.sh", "Job") is None
    assert adapter_for("", "Pod") is adapter_for("batch", "CronJob") is None
    assert controller_of(with_owner(apiVersion="jobset.x-k8s.io/v1")) == Owner(
        JOBSET, "js", "uid-js"
    )


def test_what_the_live_parent_would_have_made_is_its_child():  # R05
    assert judged(child("js-a-0"))
    assert judged(child("js-a-1"))


@pytest.mark.parametrize(
    "change",
    [
        {"uid": "uid-other"},
        {"uid": ""},
        {"uid": None},
        {"name": "other"},
        {"controller": False},
        {"controller": None},
        {"controller": "true"},
        {"kind": "CronJob", "apiVersion": "batch/v1"},
        {"kind": "JobSet", "apiVersion": "foo.bar/v1"},
        {"kind": "JobSet", "apiVersion": "v1"},
        {"kind": "Job", "apiVersion": "batch/v1"},
        {"apiVersion": None},
        {"kind": None},
    ],
    ids=str,
)
def test_any_other_owner_reference_makes_nobody_a_child(change):  # R05
    assert not judged(with_owner(**change))


def test_the_uid_of_somebodys_live_jobset_is_not_enough():
    assert not judged(child("loot"))
    assert not judged(child("js-a-7"))
    assert not judged(child("js-a-0", pods=template(container("100"))))
    assert not judged(child("js-a-0", parallelism=100))


def test_without_a_live_parent_nobody_is_a_child():
    assert not judged(child("js-a-0"), None)
    assert not judged(child("js-a-0"), {})
    assert not judged(child("js-a-0"), jobset(replicated("a", 2), metadata={"uid": "new"}))


def test_what_has_no_owner_is_a_root():
    assert controller_of(job()) is None
    assert controller_of(job(metadata={"ownerReferences": []})) is None
    assert controller_of({}) is None


def test_the_controller_is_found_among_other_owners():
    one = child("js-a-0")
    one["metadata"]["ownerReferences"].insert(0, {"kind": "X", "apiVersion": "v1", "uid": "1"})
    assert controller_of(one) == Owner(JOBSET, "js", "uid-js")
    assert judged(one)


def test_a_job_under_a_job_is_a_root():
    owner = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "name": "x",
        "uid": "uid-x",
        "controller": True,
    }
    one = job("x-0", metadata={"ownerReferences": [owner]})
    assert controller_of(one) == Owner(JOB, "x", "uid-x")
    assert not judged(one, job("x"))


def test_a_pod_is_no_child_of_a_jobset_itself():
    one = child("js-a-0")
    owner = controller_of(one)
    assert owner is not None
    assert not is_child(one, POD, PARENT, owner)


@pytest.mark.parametrize("references", [{}, "x", [1], [[]]])
def test_junk_for_owner_references_is_a_bad_object(references):
    with pytest.raises(BadObject, match=r"metadata\.ownerReferences"):
        controller_of(job(metadata={"ownerReferences": references}))
