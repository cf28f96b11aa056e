"""The judge of the main test must be able to say no: histories with one fault each, and the same without it."""

from __future__ import annotations

import copy
import itertools
from typing import Any

import pytest

from tests.system.arithmetic import Node, available, overdrawn
from tests.system.crowd import pod_spec, policy
from tests.system.history import QUEUE, Entry
from tests.system.verdict import Policy, Verdict, idle, judge

SUBMITTED, ADMISSION = "tidegate.dev/submitted", "tidegate.dev/admission"
LONG = 60.0
"""Seconds after which everybody is in sight and nothing is of the same pass."""


class Tale:
    """A history as it is told, one version after another; time goes on only when told so."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.objects: dict[str, dict[str, Any]] = {}
        self.now = 0.0
        self._versions = itertools.count(1)

    def later(self, seconds: float = LONG) -> Tale:
        self.now += seconds
        return self

    def job(self, name: str, queue: str, pods: int = 1, *, priority: str = "", **spec: Any) -> Tale:
        labels = {QUEUE: queue} | ({"tidegate.dev/priority": priority} if priority else {})
        stamp = f"2027-01-01T00:00:{len(self.objects):02}.000000Z"
        metadata = {"uid": f"uid-{name}", "name": name, "namespace": "x", "labels": labels}
        template = {"template": {"spec": pod_spec("1")}}
        made = {"suspend": True, "parallelism": pods, "completions": pods} | template | spec
        self.objects[name] = {"kind": "Job", "metadata": metadata, "spec": made}
        self.objects[name]["metadata"]["annotations"] = {SUBMITTED: stamp}
        return self._tell(name, "ADDED")

    def starts(self, name: str) -> Tale:
        obj = self.objects[name]
        obj["spec"]["suspend"] = False
        obj["metadata"]["annotations"][ADMISSION] = "{}"
        return self._tell(name)

    def written(self, name: str, key: str = "some.one/else") -> Tale:
        self.objects[name]["metadata"]["annotations"][key] = "x"
        return self._tell(name)

    def ends(self, name: str) -> Tale:
        self.objects[name]["status"] = {"conditions": [{"type": "Complete", "status": "True"}]}
        return self._tell(name)

    def deleted(self, name: str) -> Tale:
        return self._tell(name, "DELETED")

    def pod(self, owner: str, name: str, change: str = "ADDED", phase: str = "Running") -> Tale:
        labels = {"batch.kubernetes.io/controller-uid": f"uid-{owner}"}
        about = {"uid": f"uid-{name}", "name": name, "namespace": "x", "labels": labels}
        pod = {"kind": "Pod", "metadata": about, "spec": pod_spec("1"), "status": {"phase": phase}}
        self.entries.append(Entry(next(self._versions), self.now, "Pod", change, pod))
        return self

    def _tell(self, name: str, change: str = "MODIFIED") -> Tale:
        obj = copy.deepcopy(self.objects[name])
        self.entries.append(Entry(next(self._versions), self.now, "Job", change, obj))
        return self

    def judged(self) -> Verdict:
        return judge(self.entries, POLICY)

    def idle(self) -> list[str]:
        return idle(self.entries, POLICY)


POLICY = Policy(
    [
        Node("a", owns=2000),
        Node(
            "both",
            children=[Node("lends", owns=4000, lend=2000, strict=True), Node("takes", owns=2000)],
        ),
        Node("capped", cap=3000, children=[Node("c", owns=2000), Node("d", owns=2000)]),
    ],
    {"urgent": 1000, "normal": 100},
    default=100,
)


def clean() -> Tale:
    """Three in a queue for two, one after another, each by one write."""
    tale = Tale().job("one", "a", 2).job("two", "a").job("three", "a").later()
    tale.starts("one").pod("one", "p0").pod("one", "p1").later()
    tale.pod("one", "p0", "MODIFIED", "Succeeded").pod("one", "p1", "MODIFIED", "Succeeded")
    return tale.ends("one").later().starts("two").starts("three").later()


def test_nothing_is_said_of_a_clean_history() -> None:
    verdict = clean().judged()
    assert (verdict.over, verdict.out_of_order, verdict.writes) == ([], [], [])
    assert (verdict.starts, verdict.versions) == (3, 11)
    assert clean().idle() == []


def test_the_order_in_which_it_was_told_does_not_matter_nor_what_was_told_twice() -> None:
    tale = clean()
    tale.entries = [*reversed(tale.entries), tale.entries[3]]
    assert tale.judged() == clean().judged()


# Over


def test_a_start_too_many_is_over_by_the_whole_of_it() -> None:
    tale = Tale().job("one", "a", 2).job("two", "a").later().starts("one").starts("two")
    assert tale.judged().over == ["4: a is over by 1000m"]


def test_over_for_one_version_is_over() -> None:
    """The one that goes is charged until its end is written, not a version less."""
    tale = Tale().job("one", "a", 2).job("two", "a").later().starts("one")
    assert tale.starts("two").ends("one").later().judged().over == ["4: a is over by 1000m"]


def test_pods_count_that_nobody_started() -> None:
    tale = Tale().job("one", "a", 1).later().starts("one")
    for number in range(3):
        tale.pod("one", f"p{number}")
    assert tale.judged().over == ["5: a is over by 1000m"]


def test_pods_that_outlive_their_job_count() -> None:
    tale = Tale().job("one", "a", 2).job("two", "a").later().starts("one")
    tale.pod("one", "p0").pod("one", "p1").deleted("one").later().starts("two")
    assert tale.judged().over == ["7: a is over by 1000m"]
    gone = Tale().job("one", "a", 2).job("two", "a").later().starts("one").pod("one", "p0")
    gone.pod("one", "p0", "DELETED").deleted("one").later().starts("two")
    assert gone.judged().over == []


def test_a_cohort_is_over_though_none_of_its_queues_is() -> None:
    tale = Tale().job("one", "c", 2).job("two", "d", 2).later().starts("one").starts("two")
    assert "4: capped is over by 1000m" in tale.judged().over


def test_lent_quota_may_be_taken_and_kept_quota_may_not() -> None:
    lent = Tale().job("one", "takes", 4).later().starts("one")
    assert lent.judged().over == []
    kept = Tale().job("one", "takes", 5).later().starts("one")
    assert kept.judged().over


# Out of order


def test_who_was_passed_over_is_named() -> None:
    tale = Tale().job("one", "a").job("two", "a").later().starts("two")
    assert tale.judged().out_of_order == ["3: Job x/two started before Job x/one"]


def test_a_higher_priority_goes_first_and_that_is_in_order() -> None:
    tale = Tale().job("one", "a", 2).job("two", "a", 2, priority="urgent").later().starts("two")
    assert tale.judged().out_of_order == []
    tale = Tale().job("one", "a", 2).job("two", "a", 2, priority="urgent").later().starts("one")
    assert tale.judged().out_of_order == ["3: Job x/one started before Job x/two"]


def test_who_does_not_fit_is_not_passed_over_except_in_a_strict_queue() -> None:
    tale = Tale().job("large", "a", 3).job("small", "a").later().starts("small")
    assert tale.judged().out_of_order == []
    strict = Tale().job("large", "lends", 9).job("small", "lends").later().starts("small")
    assert strict.judged().out_of_order == ["3: Job x/small started before Job x/large"]


def test_who_has_only_just_come_is_not_passed_over() -> None:
    tale = Tale().job("first", "a", priority="normal").later()
    tale.job("second", "a", priority="urgent").later(1.0).starts("first")
    assert tale.judged().out_of_order == []


def test_who_fits_only_since_the_plan_was_made_is_not_passed_over() -> None:
    """It did not fit when the loop decided; the room was given back while the start was being written."""
    tale = (
        Tale().job("old", "a").job("large", "a", 2).job("small", "a").later().starts("old").later()
    )
    assert tale.ends("old").later(0.5).starts("small").judged().out_of_order == []
    tale = (
        Tale().job("old", "a").job("large", "a", 2).job("small", "a").later().starts("old").later()
    )
    told = tale.ends("old").later(1.5).starts("small").judged().out_of_order
    assert told == ["6: Job x/small started before Job x/large"]


def test_what_one_pass_starts_may_change_places() -> None:
    tale = Tale().job("one", "a").job("two", "a").later().starts("two").later(0.5).starts("one")
    assert tale.judged().out_of_order == []
    tale = Tale().job("one", "a").job("two", "a").later().starts("two").later(1.5).starts("one")
    assert tale.judged().out_of_order == ["3: Job x/two started before Job x/one"]


# Written too often


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_second_write_is_found(when: str) -> None:
    tale = Tale().job("one", "a").later()
    tale = (
        tale.written("one").starts("one") if when == "before" else tale.starts("one").written("one")
    )
    assert tale.judged().writes == ["Job x/one was written at [2, 3]"]


def test_a_status_is_no_write() -> None:
    tale = Tale().job("one", "a").later().starts("one").ends("one").later()
    assert tale.judged().writes == []


# Idle


def test_who_waits_and_fits_is_idle() -> None:
    assert Tale().job("one", "a", 2).later().idle() == ["Job x/one"]


def test_who_does_not_fit_is_not() -> None:
    tale = Tale().job("one", "a", 2).job("two", "a").later().starts("one").later()
    assert tale.idle() == []


def test_nor_is_who_stands_behind_the_head_of_a_strict_queue_or_what_is_kept_for_that_head() -> (
    None
):
    tale = Tale().job("busy", "takes", 4).job("large", "lends", 4).job("small", "lends").later()
    tale.starts("busy").later()
    assert tale.idle() == []
    tale.job("more", "takes").later()
    assert tale.idle() == []
    tale.ends("busy").later()
    assert tale.idle() == ["Job x/large", "Job x/more"]


# The arithmetic below it


def test_the_crowds_policy_by_hand() -> None:
    research, platform = policy().roots
    vision, speech = research.children
    etl, web = platform.children
    assert available(vision, {}) == 11_000  # 8 and 3 to borrow; 2 of the pool and 4 lent are there
    assert available(speech, {}) == 16_000  # 6, 2 of the pool, and all of vision's
    assert (available(etl, {}), available(web, {})) == (10_000, 6_000)
    assert available(vision, {"speech": 6_000}) == 10_000
    assert overdrawn([research], {"vision": 11_000, "speech": 5_000}) == []
    assert overdrawn([research], {"vision": 11_500, "speech": 4_000}) == [("vision", 500)]
    assert overdrawn([platform], {"etl": 6_000, "web": 5_000}) != []
