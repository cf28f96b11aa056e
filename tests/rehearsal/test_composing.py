"""The object of a `submit` line: it asks for what the line says, and is such as an API server would hand on."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.language.scenes import Submission
from webhook.model.kinds import Key
from webhook.model.quantity import NANO, add, round_up, times
from webhook.rehearsal.composing import CannotPlay, composed
from webhook.workloads.registry import ADAPTERS

RESOURCES = ("cpu", "memory", "ephemeral-storage", "nvidia.com/gpu", "hugepages-2Mi")
amounts = st.dictionaries(
    st.sampled_from(RESOURCES), st.integers(min_value=1, max_value=10**6), max_size=5
).map(
    lambda found: {
        resource: amount * (NANO // 1000 if resource == "cpu" else NANO)
        for resource, amount in found.items()
    }
)


@given(kind=st.sampled_from(sorted(ADAPTERS)), pods=st.integers(1, 10_000), each=amounts)
def test_it_asks_for_what_the_line_says(kind: str, pods: int, each: dict[str, int]) -> None:
    obj = composed(Submission(kind, "lab", pods=pods, each=each))
    adapter = ADAPTERS[kind]
    read = adapter.pod_sets(obj)
    assert add(*(one.total for one in read)) == times({"pods": NANO, **each}, pods)
    assert sum(one.count for one in read) == pods
    assert adapter.ours(obj)
    assert json.loads(json.dumps(obj)) == obj


@given(amount=st.integers(1, 10**12))
def test_a_fraction_is_rounded_up_as_the_api_server_does(amount: int) -> None:
    obj = composed(Submission("Job", "lab", each={"cpu": amount}))
    (pods,) = ADAPTERS["Job"].pod_sets(obj)
    assert pods.requests["cpu"] == round_up(amount, "cpu")


def test_labels_and_the_priority_stand_on_the_object() -> None:
    obj = composed(Submission("Job", "lab", labels={"team": "a"}, priority="urgent"))
    assert obj["metadata"]["labels"] == {"team": "a", Key.PRIORITY: "urgent"}
    assert "labels" not in composed(Submission("Job", "lab"))["metadata"]


@pytest.mark.parametrize("resource", ["nvidia.com/gpu", "hugepages-2Mi"])
def test_what_cannot_be_overcommitted_has_a_limit_as_well(resource: str) -> None:
    obj = composed(Submission("Job", "lab", each={resource: NANO, "cpu": NANO}))
    (container,) = obj["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["limits"] == {resource: "1"}


def test_a_kind_that_nothing_reads_is_refused_by_name() -> None:
    with pytest.raises(CannotPlay, match="no adapter for the kind SparkApplication"):
        composed(Submission("SparkApplication", "lab"))
