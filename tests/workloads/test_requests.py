"""What one pod asks for, as the scheduler counts it."""

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.workloads.build import container
from webhook.model.quantity import NANO, format_quantity, parse_quantity, round_up
from webhook.workloads.objects import BadObject
from webhook.workloads.requests import pod_requests


def asks(spec: dict[str, Any]) -> dict[str, str]:
    """Amounts as texts; `pods` apart, which is always one."""
    found = dict(pod_requests(spec))
    assert found.pop("pods") == NANO
    return {resource: format_quantity(amount, resource) for resource, amount in found.items()}


def sidecar(cpu: str) -> dict[str, Any]:
    return container(cpu) | {"restartPolicy": "Always"}


def test_containers_are_summed():
    assert asks({"containers": [container("1"), container("500m")]}) == {"cpu": "1500m"}


def test_an_empty_pod_is_one_pod_and_nothing_else():
    assert pod_requests({}) == pod_requests({"containers": [{"name": "c"}]}) == {"pods": NANO}


def test_a_limit_stands_in_for_a_missing_request():  # R11
    spec = {
        "containers": [container(limits={"cpu": "3", "memory": "1Gi"}, requests={"memory": "1Mi"})]
    }
    assert asks(spec) == {"cpu": "3", "memory": "1Mi"}


def test_a_request_of_zero_is_zero_and_not_the_limit():  # R11
    assert asks({"containers": [container(limits={"cpu": "3"}, requests={"cpu": "0"})]}) == {}


def test_a_sidecar_runs_beside_the_init_containers_after_it():  # R12
    spec = {
        "initContainers": [sidecar("100m"), container("200m")],
        "containers": [container("100m")],
    }
    assert asks(spec) == {"cpu": "300m"}


def test_a_sidecar_does_not_run_beside_the_init_containers_before_it():  # R12
    spec = {
        "initContainers": [container("200m"), sidecar("100m")],
        "containers": [container("100m")],
    }
    assert asks(spec) == {"cpu": "200m"}


def test_the_maximum_goes_by_resource_and_not_by_container():  # R12
    spec = {
        "initContainers": [container(requests={"cpu": "2", "memory": "1Gi"})],
        "containers": [container(requests={"cpu": "1", "memory": "2Gi"})],
    }
    assert asks(spec) == {"cpu": "2", "memory": "2Gi"}


def test_plain_init_containers_run_one_after_another():
    spec = {"initContainers": [container("3"), container("5"), container("4")]}
    assert asks(spec) == {"cpu": "5"}


def test_all_sidecars_run_beside_the_containers():
    spec = {
        "initContainers": [sidecar("1"), container("1"), sidecar("2")],
        "containers": [container("4")],
    }
    assert asks(spec) == {"cpu": "7"}


def test_an_init_container_that_restarts_on_failure_is_no_sidecar():
    never = container("2") | {"restartPolicy": "OnFailure"}
    assert asks({"initContainers": [never], "containers": [container("1")]}) == {"cpu": "2"}


def test_requests_of_the_whole_pod_override_the_sum():
    spec = {
        "resources": {"requests": {"cpu": "8", "hugepages-2Mi": "4Mi"}},
        "containers": [container(requests={"cpu": "1", "memory": "1Gi"})],
    }
    assert asks(spec) == {"cpu": "8", "memory": "1Gi", "hugepages-2Mi": "4Mi"}


def test_a_limit_of_the_whole_pod_counts_only_where_no_container_asks():
    spec = {
        "resources": {"limits": {"cpu": "8", "memory": "4Gi"}},
        "containers": [container("1")],
    }
    assert asks(spec) == {"cpu": "1", "memory": "4Gi"}


def test_nobody_hides_containers_behind_a_small_request_of_the_whole_pod():
    # An API server with the feature refuses this; one without drops the field and runs the containers.
    spec = {"resources": {"requests": {"cpu": "1m"}}, "containers": [container("100")]}
    assert asks(spec) == {"cpu": "100"}


def test_devices_cannot_be_asked_for_by_the_whole_pod():
    assert asks({"resources": {"requests": {"nvidia.com/gpu": "8", "pods": "5"}}}) == {}


def test_stated_overhead_comes_on_top_of_everything():
    spec = {
        "overhead": {"cpu": "250m", "memory": "120Mi"},
        "resources": {"requests": {"cpu": "2"}},
        "initContainers": [container("3")],
        "containers": [container("1")],
    }
    assert asks(spec) == {"cpu": "3250m", "memory": "120Mi"}


def test_amounts_are_rounded_up_to_the_unit_once_and_not_by_container():
    spec = {"containers": [container("0.4m"), container("0.4m"), container("0.4m")]}
    assert asks(spec) == {"cpu": "2m"}
    assert asks({"containers": [container(requests={"memory": "100m"})]}) == {"memory": "1"}


def test_a_quantity_may_be_a_number():
    spec = {
        "containers": [{"resources": {"requests": {"cpu": 2, "memory": 1024}}}, container("0.5")]
    }
    assert asks(spec) == {"cpu": "2500m", "memory": "1Ki"}


def test_a_pod_that_asks_for_pods_is_still_one_pod():
    assert asks({"containers": [container(requests={"pods": "10"})]}) == {}


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({"containers": "c"}, "spec.containers"),
        ({"containers": [1]}, "spec.containers"),
        ({"containers": {"a": {}}}, "spec.containers"),
        ({"initContainers": [[]]}, "spec.initContainers"),
        ({"containers": [{"resources": []}]}, "spec.containers[0].resources"),
        ({"containers": [{"resources": {"limits": "x"}}]}, "spec.containers[0].resources.limits"),
        ({"containers": [{}, container("-1")]}, "spec.containers[1].resources.requests[cpu]"),
        ({"containers": [container("1K")]}, "spec.containers[0].resources.requests[cpu]"),
        ({"containers": [container(None)]}, "spec.containers[0].resources.requests[cpu]"),
        (
            {"initContainers": [container(limits={"memory": "64GB"})]},
            "spec.initContainers[0].resources.limits[memory]",
        ),
        (
            {"containers": [container(limits={"cpu": "-1"}, requests={"cpu": "1"})]},
            "spec.containers[0].resources.limits[cpu]",
        ),
        ({"resources": {"requests": {"cpu": True}}}, "spec.resources.requests[cpu]"),
        ({"overhead": {"cpu": "-1"}}, "spec.overhead[cpu]"),
        ({"containers": [container("9" * 30)]}, "spec.containers[0].resources.requests[cpu]"),
    ],
)
def test_what_cannot_be_counted_is_named_by_its_path(spec, path):
    with pytest.raises(BadObject) as caught:
        pod_requests(spec)
    assert caught.value.path == path
    assert str(caught.value).startswith(f"{path}: ")


names = st.sampled_from(["cpu", "memory", "nvidia.com/gpu"])
texts = st.integers(0, 5000).map("{}m".format)
containers = st.fixed_dictionaries(
    {
        "resources": st.fixed_dictionaries(
            {
                "requests": st.dictionaries(names, texts, max_size=3),
                "limits": st.dictionaries(names, texts, max_size=2),
            }
        )
    }
)
inits = st.builds(
    lambda one, policy: one | policy,
    containers,
    st.sampled_from([{}, {"restartPolicy": "Always"}, {"restartPolicy": "Never"}]),
)
pods = st.fixed_dictionaries(
    {
        "containers": st.lists(containers, min_size=1, max_size=3),
        "initContainers": st.lists(inits, max_size=3),
    }
)


def by_hand(spec: dict[str, Any], resource: str) -> int:
    """The most that is in use at any moment of the pod's life, played through step by step."""

    def of(one: dict[str, Any]) -> int:
        stated = one["resources"]["limits"] | one["resources"]["requests"]
        return parse_quantity(stated.get(resource, "0"))

    moments, beside = [], 0
    for one in spec["initContainers"]:
        moments.append(beside + of(one))
        beside += of(one) if one.get("restartPolicy") == "Always" else 0
    moments.append(beside + sum(of(one) for one in spec["containers"]))
    return round_up(max(moments), resource)


@given(pods, names)
def test_it_is_the_most_in_use_at_any_moment_of_the_pods_life(spec, resource):
    assert pod_requests(spec).get(resource, 0) == by_hand(spec, resource)


@given(pods)
def test_it_is_never_below_the_sum_of_the_containers(spec):
    alone = pod_requests({"containers": spec["containers"]})
    found = pod_requests(spec)
    assert all(found[resource] >= amount for resource, amount in alone.items())


@given(pods, st.data())
def test_raising_one_request_never_lowers_the_whole(spec, data):
    raised = copy.deepcopy(spec)
    one = data.draw(st.sampled_from([*raised["containers"], *raised["initContainers"]]))
    resource, more = data.draw(names), data.draw(st.integers(1, 5000))
    stated = one["resources"]["limits"] | one["resources"]["requests"]
    now = int(stated.get(resource, "0m").removesuffix("m"))
    one["resources"]["requests"][resource] = f"{now + more}m"
    before, after = pod_requests(spec), pod_requests(raised)
    assert all(after.get(name, 0) >= amount for name, amount in before.items())
