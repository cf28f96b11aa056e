"""Workloads and queues as values."""

import dataclasses

import pytest

from webhook.model.kinds import JOB
from webhook.model.quantity import NANO
from webhook.model.queues import Flavor, FlavorResource, Queue, Share
from webhook.model.workload import Phase, PodSet, Uid, Workload


def workload(*asks: PodSet) -> Workload:
    return Workload(Uid("u"), JOB, "team-a", "train", "ml", 0, 1.0, Phase.WAITING, asks)


def test_a_workload_asks_for_the_sum_over_its_pod_sets():
    driver = PodSet("driver", 1, {"cpu": NANO, "memory": 2 * NANO})
    workers = PodSet("workers", 3, {"cpu": 2 * NANO, "nvidia.com/gpu": NANO})
    assert workload(driver, workers).total == {
        "cpu": 7 * NANO,
        "memory": 2 * NANO,
        "nvidia.com/gpu": 3 * NANO,
    }


def test_a_workload_without_pods_asks_for_nothing():
    assert workload().total == {}
    assert set(workload(PodSet("main", 0, {"cpu": NANO})).total.values()) == {0}


def test_messages_name_a_workload_by_kind_namespace_and_name():
    assert workload().title == "Job team-a/train"


@pytest.mark.parametrize("value", [workload(), Flavor("a100"), Queue("ml"), Share(NANO)])
def test_values_do_not_change(value):
    name = dataclasses.fields(value)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(value, name, None)


def test_what_nobody_stated_cannot_be_written_to_by_anybody():
    with pytest.raises(TypeError):
        Flavor("a100").nodes["zone"] = "a"  # type: ignore[index]
    with pytest.raises(TypeError):
        workload().holds["main"] = 1  # type: ignore[index]


def test_absent_is_not_zero():
    assert Share(NANO).borrow is None
    assert Share(NANO) != Share(NANO, borrow=0)
    assert FlavorResource("a100", "cpu") == ("a100", "cpu")
