"""The workloads of `given` lines: who is older, who runs, and where what runs is charged."""

from __future__ import annotations

import pytest

from tests.rehearsal.scenes import load, scene
from webhook.model.quantity import NANO
from webhook.model.workload import Phase, Workload
from webhook.rehearsal.composing import CannotPlay
from webhook.rehearsal.presence import present

NOW = 1_000.0
POLICY = """\
flavor big { node "x" = "big" }
flavor small { node "x" = "small" }
flavor disks { }
priority urgent 1000
priority normal 100 default
queue q {
  quota big { cpu 8 }
  quota small { cpu 8, memory 8Gi }
  quota disks { ephemeral-storage 8Gi }
}
"""


def given(*lines: str, policy: str = POLICY) -> list[Workload]:
    test = scene(*lines, 'submit Job in "lab" requests { cpu 1 }', "expect ignored")
    loaded, _ = load(policy + test)
    return list(present(loaded.tests[0], loaded, NOW))


def test_each_line_is_older_than_the_next_and_all_than_the_submission() -> None:
    places = [each.place for each in given(*["given queue q waiting { cpu 1 }"] * 4)]
    assert places == sorted(places)
    assert len(set(places)) == 4
    assert max(places) < NOW


def test_what_waits_holds_nothing_and_what_runs_holds_its_pod() -> None:
    waits, runs = given("given queue q waiting { cpu 1 }", "given queue q running { cpu 1 }")
    assert (waits.phase, waits.holds, waits.admission) == (Phase.WAITING, {}, None)
    assert (runs.phase, runs.holds) == (Phase.STARTED, {"main": 1})


@pytest.mark.parametrize(
    ("line", "flavors"),
    [
        ("running { cpu 1 }", {"cpu": "big"}),
        ("running { cpu 1, memory 1Gi }", {"cpu": "small", "memory": "small"}),
        ("running { cpu 1 } on small", {"cpu": "small"}),
        ("running { cpu 99 } on small", {"cpu": "small"}),
        ("running { cpu 1, ephemeral-storage 1Gi }", {"cpu": "big", "ephemeral-storage": "disks"}),
        (
            "running { cpu 1, ephemeral-storage 1Gi } on small",
            {"cpu": "small", "ephemeral-storage": "disks"},
        ),
        ("running { example.com/other 1 }", {}),
    ],
)
def test_where_it_is_charged(line: str, flavors: dict[str, str]) -> None:
    (runs,) = given(f"given queue q {line}")
    assert runs.admission is not None
    (pods,) = runs.admission.pod_sets
    assert dict(pods.flavors) == flavors
    assert set(pods.amounts) == set(flavors)


def test_priority_and_user_are_those_of_the_line_else_the_defaults() -> None:
    plain, named = given(
        "given queue q waiting { cpu 1 }",
        'given queue q waiting { cpu 1 } by "ana" priority urgent',
    )
    assert (plain.priority, plain.submitted_by) == (100, "anyone")
    assert (named.priority, named.submitted_by) == (1000, "ana")


def test_a_flavor_the_queue_does_not_name_is_refused_with_its_line() -> None:
    with pytest.raises(
        CannotPlay, match=r"queue q has no quota on default \(policies/ml.tide:12\)"
    ):
        given("given queue q running { cpu 1 } on default")


def test_one_that_runs_is_a_pod_where_pods_are_counted() -> None:
    counted = "queue q { quota { pods 3 } }\npriority normal 100 default\n"
    one, three = given(
        "given queue q running { cpu 1 }", "given queue q running { pods 3 }", policy=counted
    )
    assert one.total == {"pods": NANO, "cpu": NANO}
    assert three.total == {"pods": 3 * NANO}
