"""Pod templates: where they stand and what is written into one."""

import pytest

from tests.workloads.build import applied, job, template
from webhook.model.kinds import Key
from webhook.model.queues import Flavor, Toleration
from webhook.model.workload import Injected
from webhook.workloads.objects import BadObject
from webhook.workloads.templates import inject, labelled, own_selector, restored, template_at

PATH = ("spec", "template")


@pytest.mark.parametrize(
    ("toleration", "json"),
    [
        (Toleration("gpu"), {"key": "gpu", "operator": "Exists"}),
        (Toleration("gpu", ""), {"key": "gpu", "operator": "Equal", "value": ""}),
        (
            Toleration("gpu", "a100", "NoExecute"),
            {"key": "gpu", "operator": "Equal", "value": "a100", "effect": "NoExecute"},
        ),
        (
            Toleration("gpu", effect="NoSchedule"),
            {"key": "gpu", "operator": "Exists", "effect": "NoSchedule"},
        ),
    ],
)
def test_a_toleration_is_written_as_the_api_has_it(toleration, json):
    obj = job()
    patch, injected = inject(obj, PATH, Injected(), [Flavor("f", {}, (toleration,))])
    assert injected == Injected({}, (json,))
    assert applied(obj, patch)["spec"]["template"]["spec"]["tolerations"] == [json]


@pytest.mark.parametrize("path", [("spec", "x"), ("spec", "jobs", 3), ("metadata", "name", 0)])
def test_there_is_no_template_where_there_is_none(path):
    assert template_at(job() | {"spec": {"jobs": [1]}}, path) is None


def test_injecting_nothing_into_a_template_without_a_spec_writes_nothing():
    assert inject({"spec": {"template": {}}}, PATH, Injected(), []) == ((), Injected())


def test_keys_that_two_flavors_share_go_to_the_later_one():
    flavors = [Flavor("a", {"x": "1", "y": "1"}), Flavor("b", {"x": "2"})]
    assert inject(job(), PATH, Injected(), flavors)[1] == Injected({"x": "2", "y": "1"})


def test_the_owners_selector_is_what_is_left_without_the_injected_pairs():
    spec = template(nodeSelector={"a": "1", "b": "2", "c": "3"})["spec"]
    assert own_selector(spec, Injected({"a": "1", "b": "other", "d": "4"})) == {"b": "2", "c": "3"}


@pytest.mark.parametrize("junk", [{"nodeSelector": "x"}, {"tolerations": {}}, {"tolerations": [1]}])
def test_a_junk_selector_or_toleration_is_a_bad_object(junk):
    obj = job(pods=template(**junk))
    with pytest.raises(BadObject):
        inject(obj, PATH, Injected(), [])
    with pytest.raises(BadObject):
        restored(job(), obj, PATH, PATH, Injected({"a": "1"}))


def test_an_owner_who_adds_a_toleration_keeps_it_beside_the_injected_ones():
    mine, ours = {"key": "mine", "operator": "Exists"}, {"key": "ours", "operator": "Exists"}
    old, new = job(pods=template(tolerations=[ours])), job(pods=template(tolerations=[mine]))
    patch = restored(old, new, PATH, PATH, Injected({}, (ours,)))
    assert applied(new, patch)["spec"]["template"]["spec"]["tolerations"] == [mine, ours]


def test_the_label_goes_beside_those_that_are_there():
    obj = job()
    obj["spec"]["template"]["metadata"] = {"labels": {"app": "x"}}
    done = applied(obj, labelled(obj, PATH, {Key.QUEUE: "ml"}))
    assert done["spec"]["template"]["metadata"]["labels"] == {"app": "x", Key.QUEUE: "ml"}
