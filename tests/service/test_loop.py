"""The loop starts in order, never twice, and never loses what is held."""

from __future__ import annotations

import asyncio

from tests.client.scripted import until
from tests.service.stage import job, stage

POLICY = """
priority high 10
priority low   1 default

queue a {
  quota { cpu 2 }
}
queue b {
  quota { cpu 1 }
}
"""


def prioritised(name, priority, **about):
    made = job(name, **about)
    made["metadata"]["labels"]["tidegate.dev/priority"] = priority
    return made


async def test_what_waits_starts_by_priority_then_by_time_as_quota_frees(tmp_path):
    async with stage(tmp_path, POLICY, begin=False) as s:
        for made in (
            job("late", at=3),
            job("first", at=1),
            job("second", at=2),
            prioritised("high", "high", at=9),
        ):
            await s.create(made)
        await s.open()
        await s.until_started("high", "first")
        await s.finish("high")
        await s.until_started("high", "first", "second")
        await s.finish("first")
        await s.until_started("high", "first", "second", "late")
        assert s.used() == 2
        await s.finish("second")
        await s.finish("late")
        await until(lambda: s.used() == 0)


async def test_one_ends_and_exactly_one_starts(tmp_path):
    async with stage(tmp_path, POLICY) as s:
        for n in range(4):
            await s.create(job(f"j{n}", at=n))
        await s.until_started("j0", "j1")
        await s.finish("j0")
        await s.until_started("j0", "j1", "j2")
        assert s.count("started") == 3


async def test_a_start_is_one_write_with_its_record_and_our_name(tmp_path):
    async with stage(tmp_path, POLICY) as s:
        before = await s.create(job("j"))
        await s.until_started("j")
        after = await s.get("j")
        assert after["metadata"]["generation"] == before["metadata"]["generation"] + 1
        assert "tidegate.dev/admission" in after["metadata"]["annotations"]
        managers = {entry["manager"] for entry in after["metadata"].get("managedFields", ())}
        assert not managers or "tidegate" in managers
        assert s.sandbox.faults.requests[("patch", "jobs")] == 1


async def test_a_conflict_delays_that_one_only_and_it_is_started_after_all(tmp_path):
    async with stage(tmp_path, POLICY) as s:
        s.sandbox.faults.fail("patch", "jobs", 409)
        await s.create(job("j0", at=0))
        await s.create(job("j1", at=1))
        await s.until_started("j0", "j1")
        assert s.count("conflict") == 1
        assert s.count("started") == 2


async def test_an_object_that_changed_since_it_was_planned_is_planned_anew(tmp_path):
    async with stage(tmp_path, POLICY) as s:
        s.sandbox.faults.latency_seconds = 0.1
        await s.create(job("j"))
        await until(lambda: s.inner._starter._tasks)
        container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "2"}}}
        await s.change("j", {"spec": {"template": {"spec": {"containers": [container]}}}})
        s.sandbox.faults.latency_seconds = 0.0
        await s.until_started("j")
        assert s.used() == 2


async def test_a_refused_start_is_told_with_its_numbers_and_blocks_nobody(tmp_path, caplog):
    async with stage(tmp_path, POLICY) as s:
        s.sandbox.faults.fail("patch", "jobs", 422, times=3, message="spec.x: Invalid value")
        await s.create(job("bad", cpu="2", at=0))
        await until(lambda: s.count("refused") >= 1)
        assert "bad refused" in caplog.text
        assert "2 cpu" in caplog.text
        await s.create(job("other", queue="b"))
        await s.until_started("bad", "other")


async def test_an_answer_that_is_lost_never_starts_twice_and_keeps_its_charge(tmp_path):
    async with stage(tmp_path, POLICY) as s:
        s.sandbox.faults.fail("patch", "jobs", 500)
        s.sandbox.faults.fail("get", "jobs", 503, times=4)
        await s.create(job("big", cpu="2", at=0))
        await until(lambda: s.count("unknown") == 1)
        await s.create(job("small", at=1))
        await s.until_started("big")
        assert s.used() == 2


async def test_a_write_that_happened_without_an_answer_is_found_out(tmp_path):
    async with stage(tmp_path, POLICY) as s:
        real = s.client.patch
        lost = True

        async def patch(*args, **more):
            nonlocal lost
            answer = await real(*args, **more)
            if lost:
                lost = False
                from webhook.cluster.errors import Unavailable

                raise Unavailable("the connection broke after the write")
            return answer

        s.client.patch = patch  # type: ignore[method-assign]
        await s.create(job("j", cpu="2"))
        await s.until_started("j")
        assert s.count("unknown") == 1
        assert s.count("started") == 1
        assert s.used() == 2
        assert s.sandbox.faults.requests[("patch", "jobs")] == 1


async def test_an_object_that_is_deleted_before_its_start_is_forgotten(tmp_path):
    async with stage(tmp_path, POLICY) as s:
        s.sandbox.faults.fail("patch", "jobs", 404)
        await s.create(job("j", cpu="2"))
        await s.delete("j")
        await s.create(job("next", cpu="2"))
        await s.until_started("next")


async def test_a_second_object_of_the_same_name_is_another_one(tmp_path):
    async with stage(tmp_path, POLICY) as s:
        await s.create(job("x", cpu="2"))
        await s.until_started("x")
        first = await s.get("x")
        await s.delete("x")
        await s.create(job("x", cpu="2"))
        await until(lambda: s.count("started") == 2)
        await s.at_rest()
        second = await s.get("x")
        assert second["metadata"]["uid"] != first["metadata"]["uid"]
        assert s.used() == 2


async def test_lost_watches_and_lists_lose_nothing(tmp_path):
    async with stage(tmp_path, POLICY) as s:
        await s.create(job("j0", cpu="2"))
        await s.until_started("j0")
        for n in range(1, 5):
            s.sandbox.faults.drop_watches()
            s.sandbox.faults.fail("list", "jobs", 500)
            s.sandbox.faults.fail("watch", "jobs", 410)
            await s.create(job(f"j{n}", cpu="2", at=n))
            await s.finish(f"j{n - 1}")
            await s.until_started(*(f"j{i}" for i in range(n + 1)))
        await until(lambda: s.used() == 2)


async def test_a_loop_that_is_killed_at_any_moment_is_replaced_by_one_that_knows_all(tmp_path):
    async with stage(tmp_path, POLICY) as s:
        for n in range(8):
            await s.create(job(f"j{n}", at=n))
        done: set[str] = set()
        for turn in range(8):
            await asyncio.sleep(0.004 * turn)
            await s.kill()
            assert len(await s.started() - done) <= 2
            await s.open()
            for name in sorted(await s.started() - done):
                await s.finish(name)
                done.add(name)
        async with asyncio.timeout(20):
            while len(done) < 8:
                for name in sorted(await s.started() - done):
                    await s.finish(name)
                    done.add(name)
                await asyncio.sleep(0.01)
                assert len(await s.started() - done) <= 2


async def test_a_404_for_an_object_that_lives_does_not_lose_it(tmp_path):
    async with stage(tmp_path, POLICY) as s:
        s.sandbox.faults.fail("patch", "jobs", 404)
        await s.create(job("j", cpu="2"))
        await s.until_started("j")


async def test_two_loops_at_once_never_start_too_much(tmp_path):
    async with stage(tmp_path, POLICY) as s:
        from tests.service.stage import Stage

        twin = Stage(s.sandbox, s.client, s.policies, s.folder)
        await twin.open()
        for n in range(10):
            await s.create(job(f"j{n}", at=n))
        done: set[str] = set()
        async with asyncio.timeout(30):
            while len(done) < 10:
                running = await s.started() - done
                assert len(running) <= 2
                for name in sorted(running):
                    await s.finish(name)
                    done.add(name)
                await asyncio.sleep(0.02)
        await twin.close()


async def test_a_policy_that_holds_a_larger_quota_starts_more(tmp_path):
    async with stage(tmp_path, POLICY) as s:
        for n in range(4):
            await s.create(job(f"j{n}", at=n))
        await s.until_started("j0", "j1")
        await s.policy(POLICY.replace("cpu 2", "cpu 3"))
        await s.until_started("j0", "j1", "j2")


async def test_a_start_that_was_planned_under_another_policy_is_abandoned(tmp_path):
    async with stage(tmp_path, POLICY) as s:
        # every slot is taken, so that the start has to wait for one
        slots = s.inner._starter.slots
        for _ in range(16):
            await slots.acquire()
        await s.create(job("j", cpu="2"))
        await until(lambda: s.inner._starter._tasks)
        await s.policy(POLICY.replace("cpu 2", "cpu 1"))
        await until(lambda: s.inner._policy is s.policies.current)
        for _ in range(16):
            slots.release()
        await s.at_rest()
        assert await s.started() == set()
        assert s.count("abandoned") == 1


async def test_an_older_object_is_adopted_and_takes_its_place_by_its_age(tmp_path):
    async with stage(tmp_path, POLICY, begin=False) as s:
        await s.create(job("old", at=None))
        await s.create(job("newer", cpu="2", at=9e9 / 10))
        await s.open()
        await s.until_started("old")
        marks = (await s.get("old"))["metadata"]["annotations"]
        assert marks["tidegate.dev/submitted-by"] == "tidegate:adopted"
        assert marks["tidegate.dev/submitted"].endswith("Z")


async def test_what_runs_without_a_start_of_ours_is_charged_stamped_and_reported(tmp_path, caplog):
    async with stage(tmp_path, POLICY) as s:
        await s.create(job("rogue", cpu="2", at=None, suspend=False))
        await s.create(job("honest", at=0))
        await until(lambda: "bypassed: Job default/rogue" in caplog.text)
        await s.at_rest()
        assert await s.started() == {"rogue"}
        assert s.used() == 2
        assert "tidegate.dev/submitted" in (await s.get("rogue"))["metadata"]["annotations"]
        value = s.metrics.registry.get_sample_value("tidegate_queue_bypassed", {"queue": "a"})
        assert value == 1


async def test_a_label_that_is_dropped_while_it_runs_frees_nothing(tmp_path):
    async with stage(tmp_path, POLICY) as s:
        await s.create(job("j", cpu="2"))
        await s.until_started("j")
        await s.change("j", {"metadata": {"labels": {"tidegate.dev/queue": None}}})
        await s.create(job("next", at=1))
        await s.at_rest()
        assert s.used() == 2
        assert await s.started() == {"j"}


async def test_the_end_lets_writes_under_way_end(tmp_path):
    async with stage(tmp_path, POLICY) as s:
        s.sandbox.faults.latency_seconds = 0.2
        await s.create(job("j"))
        await until(lambda: s.inner._starter._tasks)
        await s.close()
        assert await s.started() == {"j"}
