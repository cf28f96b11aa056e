"""What the two calls make of one object on paper: the very answers a cluster's API server would get."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.admission import building
from tests.admission.building import NOW, job, jobset, pod_spec
from webhook.admission.decision import Reason
from webhook.admission.review import BadReview
from webhook.admission.rules import Rules
from webhook.language.check import load_policy
from webhook.model.kinds import Key
from webhook.rehearsal.submission import PaperCluster, Submitted, submit
from webhook.workloads.defaults import defaulted
from webhook.workloads.objects import write_time

FENCED = """
queue ml { quota { cpu 10 } }
route labelled for Job when namespaceObject.metadata.labels["team"] == "ml" to ml
route otherwise deny "no queue for namespace {namespace} of {user}"
"""
OPEN = """
priority high 1000
queue ml { quota { cpu 10 } }
route mine for Job when "ml" in request.userInfo.groups to ml
"""


def on_paper(
    obj: dict[str, Any],
    policy: str = building.POLICY,
    cluster: PaperCluster | None = None,
    **by: Any,
) -> Submitted:
    rules = Rules.of(load_policy([("policies/ml.tide", policy)]))
    return submit(rules, cluster or PaperCluster(), obj, **{"user": "alice", "now": NOW, **by})


def reasons(done: Submitted) -> list[Reason]:
    return [refusal.reason for refusal in done.refusals]


def test_a_labelled_job_comes_out_suspended_stamped_and_in_its_queue() -> None:
    done = on_paper(job(labels={Key.QUEUE: "small"}))
    assert (done.admitted, done.queue) == (True, "small")
    assert done.object["spec"]["suspend"] is True
    marks = {Key.SUBMITTED: write_time(NOW), Key.SUBMITTED_BY: "alice"}
    assert done.object["metadata"]["annotations"] == marks
    assert done.original["spec"]["suspend"] is False
    assert any(op.path == "/spec/suspend" for op in done.patch)


@pytest.mark.parametrize(
    "obj",
    [
        job(labels={Key.QUEUE: "small"}),
        job(namespace="team-vision"),
        jobset(namespace="team-vision"),
        jobset(labels={Key.QUEUE: "speech"}),
        job(),
        job(labels={Key.QUEUE: "small"}, pod=pod_spec(cpu="11")),
        job(namespace="team-vision", parallelism=51, completions=51),
    ],
)
def test_it_is_what_the_two_calls_answer(obj: dict[str, Any]) -> None:
    stored, first, second = building.submit(defaulted(obj))
    done = on_paper(copy.deepcopy(obj))
    assert done.refusals == (first.refusals or second.refusals)
    if done.admitted:
        assert (done.object, done.patch) == (stored, first.patch)


def test_what_no_route_names_is_left_as_it_is() -> None:
    done = on_paper(job())
    assert (done.admitted, done.queue, done.patch) == (True, None, ())
    assert done.object == done.original == defaulted(job())


@pytest.mark.parametrize(
    ("obj", "queue", "reason"),
    [
        (job(labels={Key.QUEUE: "small"}, pod=pod_spec(cpu="11")), "small", Reason.NEVER_FITS),
        (job(labels={Key.QUEUE: "small"}, pod=pod_spec(**{"nvidia.com/gpu": "1"})), "small", Reason.UNCOVERED),
        (job(labels={Key.QUEUE: "smal"}), "smal", Reason.UNKNOWN_QUEUE),
        (job(labels={Key.QUEUE: "small", Key.PRIORITY: "hgh"}), "small", Reason.UNKNOWN_PRIORITY),
        (job(namespace="team-vision", parallelism=51, completions=51), "vision", Reason.DENIED),
        (job(labels={Key.QUEUE: "small"}, parallelism=-1), None, Reason.FORBIDDEN),
    ],
)  # fmt: skip
def test_a_refusal_tells_its_kind_and_nothing_is_stored_of_it(
    obj: dict[str, Any], queue: str | None, reason: Reason
) -> None:
    done = on_paper(obj)
    assert (done.admitted, done.queue, reasons(done)) == (False, queue, [reason])
    assert (done.object, done.patch) == (done.original, ())


def test_a_rule_that_refuses_is_named_with_its_place() -> None:
    (refusal,) = on_paper(job(namespace="team-vision", parallelism=51, completions=51)).refusals
    assert (refusal.rule, refusal.place) == ("deny too-many", "policies/ml.tide:18")
    assert refusal.message == "one workload may have at most 50 pods, this one has 51"


def test_the_namespace_of_the_object_counts_before_that_of_the_command() -> None:
    nowhere = job()
    del nowhere["metadata"]["namespace"]
    cluster = PaperCluster({"a": {"team": "ml"}})
    assert on_paper(nowhere, FENCED, cluster, namespace="a").queue == "ml"
    assert on_paper(job(namespace="a"), FENCED, cluster, namespace="b").queue == "ml"
    refused = on_paper(nowhere, FENCED, cluster)
    assert refused.original["metadata"]["namespace"] == "default"
    assert [r.message for r in refused.refusals] == ["no queue for namespace default of alice"]
    assert reasons(refused) == [Reason.DENIED]


def test_conditions_read_the_user_and_the_groups_as_the_server_sends_them() -> None:
    assert on_paper(job(), OPEN, groups=["ml"]).queue == "ml"
    assert on_paper(job(), OPEN).queue is None
    everybody = OPEN.replace('"ml" in', '"system:authenticated" in')
    assert on_paper(job(), everybody).queue == "ml"


def test_a_service_account_is_in_the_groups_of_its_namespace() -> None:
    policy = OPEN.replace('"ml" in', '"system:serviceaccounts:ci" in')
    assert on_paper(job(), policy, user="system:serviceaccount:ci:builder").queue == "ml"
    assert on_paper(job(), policy, user="system:serviceaccount:cd:builder").queue is None


def test_the_name_of_a_namespace_is_among_its_labels_and_cannot_be_claimed() -> None:
    policy = FENCED.replace('labels["team"]', 'labels["kubernetes.io/metadata.name"]')
    claims = PaperCluster({"other": {"kubernetes.io/metadata.name": "ml"}})
    assert on_paper(job(namespace="ml"), policy, claims).queue == "ml"
    assert not on_paper(job(namespace="other"), policy, claims).admitted


def test_a_status_that_is_sent_along_is_not_believed() -> None:
    done = {"conditions": [{"type": "Complete", "status": "True"}]}
    assert on_paper(job(labels={Key.QUEUE: "small"}) | {"status": done}).queue == "small"


def test_an_object_of_another_kind_is_none_of_our_business() -> None:
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
    done = on_paper(config)
    assert (done.admitted, done.queue, done.patch) == (True, None, ())


def test_conditions_read_what_the_api_server_fills_in() -> None:
    policy = "queue q { quota { cpu 1 } }\nroute for Job when has(object.spec.backoffLimit) to q\n"
    sent = job()
    assert "backoffLimit" not in sent["spec"]
    assert on_paper(sent, policy).queue == "q"
    assert sent == job()


def test_system_namespaces_are_left_alone() -> None:
    assert on_paper(job(namespace="kube-system", labels={Key.QUEUE: "small"})).queue is None


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(
        st.sampled_from(["name", "labels", "annotations", "spec", "template", "suspend", "parallelism"]), inner),
    max_leaves=8,
), st.sampled_from(["metadata", "spec"]))  # fmt: skip
def test_junk_is_refused_or_left_alone_and_never_a_traceback(junk: Any, part: str) -> None:
    for obj in (job(labels={Key.QUEUE: "small"}), jobset(labels={Key.QUEUE: "vision"})):
        before = copy.deepcopy(obj | {part: junk})
        sent = copy.deepcopy(before)
        try:
            done = on_paper(sent)
        except BadReview:
            assert part == "metadata"
            continue
        assert sent == before
        assert done.admitted or done.object == done.original
