"""What is deleted or stopped is charged until its pods are gone, whoever knows of them."""

from __future__ import annotations

import pytest

from tests.client.scripted import until
from tests.service.stage import job, jobset, pod_of, stage
from webhook.sandbox.resources import JOBS, JOBSETS, PODS

POLICY = """
flavor blue {
  node "pool" = "blue"
}
flavor red {
  node "pool" = "red"
}
queue a {
  quota { cpu 4 }
}
queue c {
  quota blue { cpu 2 }
  quota red { cpu 2 }
}
"""


@pytest.mark.parametrize("label", ["a", None], ids=["labelled", "label never copied"])
async def test_a_deleted_job_is_charged_until_its_last_pod_is_gone(tmp_path, label):
    async with stage(tmp_path, POLICY) as s:
        await s.create(job("j", cpu="2", parallelism=2, completions=2))
        await s.until_started("j")
        owner = await s.get("j")
        for name in ("p0", "p1"):
            await s.create(pod_of(owner, name, cpu="2", queue=label))
        await s.delete("j")
        await s.create(job("next", cpu="4", at=1))
        await s.at_rest()
        assert s.used() == 4
        assert await s.started() == set()
        await s.delete("p0", PODS)
        await until(lambda: s.used() == 2)
        await s.delete("p1", PODS)
        await s.until_started("next")


async def test_a_deleted_job_without_pods_frees_its_quota(tmp_path):
    async with stage(tmp_path, POLICY) as s:
        await s.create(job("j", cpu="4"))
        await s.until_started("j")
        s.sandbox.faults.fail("list", "pods", 500, times=2)
        await s.delete("j")
        await s.create(job("next", cpu="4", at=1))
        await s.until_started("next")


async def test_pods_that_have_ended_hold_nothing(tmp_path):
    async with stage(tmp_path, POLICY) as s:
        await s.create(job("j", cpu="4"))
        await s.until_started("j")
        await s.create(pod_of(await s.get("j"), "p0", cpu="4"))
        await s.change("p0", {"status": {"phase": "Succeeded"}}, resource=PODS, sub="status")
        await s.delete("j")
        await until(lambda: s.used() == 0)


async def test_pods_whose_job_was_deleted_while_no_loop_ran_are_charged(tmp_path):
    async with stage(tmp_path, POLICY) as s:
        await s.create(job("j", cpu="3"))
        await s.until_started("j")
        await s.create(pod_of(await s.get("j"), "p0", cpu="3"))
        await s.close()
        await s.delete("j")
        await s.create(job("next", cpu="2", at=1))
        await s.open()
        await s.at_rest()
        assert s.used() == 3
        assert await s.started() == set()
        await s.delete("p0", PODS)
        await s.until_started("next")


async def test_a_watch_that_missed_the_deletion_finds_it_in_the_next_list(tmp_path):
    async with stage(tmp_path, POLICY) as s:
        await s.create(job("j", cpu="4"))
        await s.until_started("j")
        await s.create(pod_of(await s.get("j"), "p0", cpu="4"))
        await s.at_rest()
        s.sandbox.faults.fail("watch", "jobs", 410, times=2)
        s.sandbox.faults.drop_watches()
        await s.delete("j")
        await s.at_rest()
        assert s.used() == 4
        await s.delete("p0", PODS)
        await until(lambda: s.used() == 0)


async def child_of(s, parent, *, active=0, terminating=0, suspend=True, node=None):
    """A child Job as the JobSet controller would make it."""
    about = parent["metadata"]
    made = job(f"{about['name']}-w-0", at=None, parallelism=2, completions=2, suspend=suspend)
    made["spec"]["completionMode"] = "Indexed"
    if node:
        made["spec"]["template"]["spec"]["nodeSelector"] = node
    made["metadata"]["annotations"] = {}
    made["metadata"]["labels"] = {
        "jobset.sigs.k8s.io/replicatedjob-name": "w",
        "jobset.sigs.k8s.io/jobset-uid": about["uid"],
    }
    made["metadata"]["ownerReferences"] = [
        {
            "apiVersion": "jobset.x-k8s.io/v1alpha2",
            "kind": "JobSet",
            "name": about["name"],
            "uid": about["uid"],
            "controller": True,
        }
    ]
    child = await s.create(made)
    if active or terminating:
        await busy(s, child["metadata"]["name"], active, terminating)
    return child


async def busy(s, name, active, terminating=0):
    """Its status as the Job controller writes it, running or suspended."""
    stopped = (await s.get(name))["spec"].get("suspend")
    status = {
        "startTime": None if stopped else "2026-01-01T00:00:00Z",
        "active": active,
        "terminating": terminating,
        "conditions": [condition("Suspended")] if stopped else [],
    }
    await s.change(name, {"status": status}, sub="status")


def condition(kind):
    about = {"type": kind, "status": "True", "reason": "x", "message": "x"}
    return about | {"lastTransitionTime": "2026-01-01T00:00:00Z"}


async def mark(s, name, kind):
    """A condition of a JobSet, as its controller writes it."""
    status = {"conditions": [condition(kind)]}
    await s.change(name, {"status": status}, resource=JOBSETS, sub="status")


async def suspend(s, name, *, hold=False):
    """By a user, and seen by the JobSet controller."""
    marks = {"tidegate.dev/hold": "for the test"} if hold else {}
    change = {"metadata": {"annotations": marks}, "spec": {"suspend": True}}
    await s.change(name, change, resource=JOBSETS)
    await mark(s, name, "Suspended")


async def test_a_jobset_that_stops_is_charged_what_its_children_still_run(tmp_path):
    async with stage(tmp_path, POLICY) as s:
        await s.create(jobset("js", pods=2))
        await s.until_started("js", resource=JOBSETS)
        assert s.used() == 2
        parent = await s.get("js", JOBSETS)
        child = await child_of(s, parent, active=2, suspend=False)
        await suspend(s, "js", hold=True)
        await s.at_rest()
        assert s.used() == 2
        name = child["metadata"]["name"]
        await s.change(name, {"spec": {"suspend": True}})
        await busy(s, name, active=0, terminating=1)
        await until(lambda: s.used() == 1)
        await busy(s, name, active=0, terminating=0)
        await until(lambda: s.used() == 0)


async def test_a_finished_jobset_is_charged_for_the_pods_that_live_on(tmp_path):
    async with stage(tmp_path, POLICY) as s:
        await s.create(jobset("js", pods=2))
        await s.until_started("js", resource=JOBSETS)
        child = await child_of(s, await s.get("js", JOBSETS), active=1, suspend=False)
        name = child["metadata"]["name"]
        half = {"succeeded": 1, "completedIndexes": "0"}
        await s.change(name, {"status": half}, sub="status")
        await mark(s, "js", "Completed")
        await until(lambda: s.used() == 1)
        await s.change(name, {"spec": {"suspend": True}})
        await busy(s, name, active=0)
        await until(lambda: s.used() == 0)


async def test_a_deleted_jobset_is_charged_while_its_children_and_pods_are_there(tmp_path):
    async with stage(tmp_path, POLICY) as s:
        await s.create(jobset("js", pods=2))
        await s.until_started("js", resource=JOBSETS)
        parent = await s.get("js", JOBSETS)
        child = await child_of(s, parent, active=2, suspend=False)
        await s.delete("js", JOBSETS)
        await s.at_rest()
        assert s.used() == 2
        pod = pod_of(parent, "p0")
        pod["metadata"]["labels"]["jobset.sigs.k8s.io/replicatedjob-name"] = "w"
        await s.create(pod)
        await s.delete(child["metadata"]["name"])
        await until(lambda: s.used() == 1)
        await s.delete("p0", PODS)
        await until(lambda: s.used() == 0)


async def test_a_child_is_never_adopted_nor_charged_by_itself(tmp_path):
    async with stage(tmp_path, POLICY) as s:
        await s.create(jobset("js", pods=2))
        await s.until_started("js", resource=JOBSETS)
        parent = await s.get("js", JOBSETS)
        child = await child_of(s, parent, suspend=False)
        name = child["metadata"]["name"]
        await s.change(name, {"metadata": {"labels": {"tidegate.dev/queue": "a"}}})
        await s.at_rest()
        assert s.used() == 2
        assert "tidegate.dev/submitted" not in (await s.get(name))["metadata"].get(
            "annotations", {}
        )


async def test_what_claims_a_parent_that_would_not_make_it_is_charged_by_itself(tmp_path):
    async with stage(tmp_path, POLICY) as s:
        await s.create(jobset("js", pods=2))
        await s.until_started("js", resource=JOBSETS)
        forged = job("forged", cpu="2", at=None, suspend=False)
        about = (await s.get("js", JOBSETS))["metadata"]
        forged["metadata"]["ownerReferences"] = [
            {
                "apiVersion": "jobset.x-k8s.io/v1alpha2",
                "kind": "JobSet",
                "name": "js",
                "uid": about["uid"],
                "controller": True,
            }
        ]
        await s.create(forged)
        await until(lambda: s.used() == 4)


async def test_a_jobset_that_restarts_on_another_flavor_loses_its_old_children_first(tmp_path):
    async with stage(tmp_path, POLICY) as s:
        await s.create(jobset("js", queue="c", pods=2))
        await s.until_started("js", resource=JOBSETS)
        parent = await s.get("js", JOBSETS)
        child = await child_of(s, parent, node={"pool": "blue"})
        await suspend(s, "js", hold=True)
        await s.create(job("blue", queue="c", cpu="2", at=1))
        await s.until_started("blue")
        free = {"metadata": {"annotations": {"tidegate.dev/hold": None}}}
        await s.change("js", free, resource=JOBSETS)
        await s.until_started("js", resource=JOBSETS)
        spec = (await s.get("js", JOBSETS))["spec"]["replicatedJobs"][0]["template"]["spec"]
        assert spec["template"]["spec"]["nodeSelector"] == {"pool": "red"}
        assert child["metadata"]["name"] not in await names(s)
        assert s.used("c") == 4


async def test_a_jobset_that_restarts_on_the_same_flavor_keeps_its_children(tmp_path):
    async with stage(tmp_path, POLICY) as s:
        await s.create(jobset("js", queue="c", pods=2))
        await s.until_started("js", resource=JOBSETS)
        child = await child_of(s, await s.get("js", JOBSETS), node={"pool": "blue"})
        await suspend(s, "js")
        await until(lambda: s.count("started") == 2)
        await s.until_started("js", resource=JOBSETS)
        assert child["metadata"]["name"] in await names(s)


async def names(s):
    return {one["metadata"]["name"] for one in (await s.sandbox.api.list(JOBS))["items"]}
