"""What people do to the loop's bookkeeping by edits: labels moved, owners copied, children orphaned or grown."""

from __future__ import annotations

from typing import Any

from tests.client.scripted import until
from tests.service.stage import ALICE, Stage, job, jobset, pod_of, stage
from webhook.sandbox.resources import JOBS, JOBSETS, NAMESPACES, PODS, Resource

POLICY = """
queue a { quota { cpu 4 } }
queue b { quota { cpu 4 } }
"""
QUEUE = "tidegate.dev/queue"
ELSEWHERE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "elsewhere"}}


def owned(obj: dict[str, Any], parent: dict[str, Any], **changes: Any) -> dict[str, Any]:
    about = parent["metadata"]
    reference = {
        "apiVersion": parent["apiVersion"],
        "kind": parent["kind"],
        "name": about["name"],
        "uid": about["uid"],
        "controller": True,
    }
    obj["metadata"]["ownerReferences"] = [reference | changes]
    return obj


async def elsewhere(s: Stage, obj: dict[str, Any], resource: Resource = JOBS) -> None:
    """In a namespace of its own."""
    await s.sandbox.api.create(NAMESPACES, "", ELSEWHERE, user=ALICE)
    obj["metadata"]["namespace"] = "elsewhere"
    await s.sandbox.api.create(resource, "elsewhere", obj, user=ALICE)


async def test_what_stops_is_charged_where_it_was_granted_though_its_label_moved_on(tmp_path):
    """Suspend, relabel, unsuspend: quota of the first queue is free when the pods are gone, not when the label is."""
    async with stage(tmp_path, POLICY) as s:
        await s.create(job("j", cpu="4"))
        await s.until_started("j")
        await s.change("j", {"status": {"active": 1}}, sub="status")
        moved = {"metadata": {"labels": {QUEUE: "b"}}, "spec": {"suspend": True}}
        await s.change("j", moved)
        await s.at_rest()
        assert (s.used("a"), s.used("b")) == (4, 0)
        await s.change("j", {"status": {"active": 0}}, sub="status")
        await until(lambda: (s.used("a"), s.used("b")) == (0, 4))
        await s.until_started("j")


async def test_a_root_that_names_somebody_elses_jobset_as_its_owner_keeps_it_from_nothing(tmp_path):
    """The uid is no secret. Were it taken for a child, the JobSet would be "stopping" as long as the other runs."""
    async with stage(tmp_path, POLICY) as s:
        victim = await s.create(jobset("js", cpu="4"))
        await s.until_started("js", resource=JOBSETS)
        await s.change("js", {"spec": {"suspend": True}}, resource=JOBSETS)
        stopped = {"type": "Suspended", "status": "True", "reason": "S", "message": ""}
        stopped["lastTransitionTime"] = "2026-01-01T00:00:00Z"
        await s.create(owned(job("js-w-0", cpu="1", queue="b", at=1), victim))
        await s.until_started("js-w-0")
        change = {"status": {"conditions": [stopped]}}
        await s.change("js", change, resource=JOBSETS, sub="status")
        await s.until_started("js", resource=JOBSETS)
        assert (s.used("a"), s.used("b")) == (4, 1)


async def test_nor_from_another_namespace_even_where_no_webhook_stamped_it(tmp_path):
    async with stage(tmp_path, POLICY) as s:
        victim = await s.create(jobset("js", cpu="2"))
        await s.until_started("js", resource=JOBSETS)
        forged = owned(job("js-w-0", cpu="1", queue="b", at=None, suspend=False), victim)
        await elsewhere(s, forged)
        await until(lambda: s.used("b") == 1)
        assert s.used("a") == 2


async def test_an_orphaned_child_is_charged_once(tmp_path):
    """Its parent is gone, its pods bear the uids of both."""
    async with stage(tmp_path, POLICY) as s:
        parent = await s.create(jobset("js", cpu="2"))
        await s.until_started("js", resource=JOBSETS)
        child = owned(job("js-w-0", cpu="2", at=None, suspend=False), parent)
        child = await s.create(child)
        pod = pod_of(child, "p0", cpu="2")
        pod["metadata"]["labels"]["jobset.sigs.k8s.io/jobset-uid"] = parent["metadata"]["uid"]
        await s.create(pod)
        await s.at_rest()
        assert s.used("a") == 2
        await s.change("js-w-0", {"metadata": {"ownerReferences": None}})
        await s.delete("js", JOBSETS)
        await until(lambda: s.used("a") == 2)
        await s.finish("js-w-0")
        await s.change("p0", {"status": {"phase": "Succeeded"}}, resource=PODS, sub="status")
        await until(lambda: s.used("a") == 0)


async def test_a_jobset_is_charged_for_what_its_children_really_ask(tmp_path):
    """A child that no webhook reviews grows, or is made anew after it was done: its pods count all the same."""
    async with stage(tmp_path, POLICY) as s:
        parent = await s.create(jobset("js", cpu="1"))
        await s.until_started("js", resource=JOBSETS)
        child = owned(job("js-w-0", at=None, suspend=False, parallelism=3), parent)
        child["metadata"]["labels"] = {"app": "unreviewed"}
        await s.create(child)
        await until(lambda: s.used("a") == 3)


async def test_pods_elsewhere_that_bear_the_uid_of_what_was_deleted_hold_nothing(tmp_path):
    async with stage(tmp_path, POLICY) as s:
        await s.create(job("j", cpu="2"))
        await s.until_started("j")
        owner = await s.get("j")
        await s.create(pod_of(owner, "p0", cpu="2"))
        await s.delete("j")
        await elsewhere(s, pod_of(owner, "p1", cpu="2"), PODS)
        await s.at_rest()
        assert s.used("a") == 2
