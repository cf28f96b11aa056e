"""What is defaulted and refused, kind by kind: the same words from the sandbox and a real server."""

from __future__ import annotations

from typing import Any

import pytest

from tests.apiservers import JSON_PATCH, MERGE_PATCH, Answer, Client
from tests.sandbox.manifests import job, jobset, pod, pod_template, replicated_job

GATE = {"name": "tidegate.dev/quota"}
NEVER = {"restartPolicy": "Never"}
BIG = "x" * 262_144


def causes(answer: Answer) -> list[str]:
    """``field: message`` of each cause of a refusal."""
    assert answer.code == 422, answer.body
    found = answer.json["details"]["causes"]
    return [f"{cause['field']}: {cause['message']}" for cause in found]


def container(**fields: Any) -> dict[str, Any]:
    return {"name": "main", "image": "train:1"} | fields


def requests(**amounts: Any) -> dict[str, Any]:
    return pod_template(containers=[container(resources={"requests": amounts})])


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (
            {"parallelism": -1},
            "spec.parallelism: Invalid value: -1: must be greater than or equal to 0",
        ),
        (
            {"completionMode": "Indexed", "parallelism": 2},
            "spec.completions: Required value: when completion mode is Indexed",
        ),
        (
            {"backoffLimitPerIndex": 1},
            "spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode",
        ),
        (
            {"template": {"spec": {"containers": [container()]}}},
            'spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"',
        ),
        (
            {"template": pod_template(containers=[])},
            "spec.template.spec.containers: Required value",
        ),
        (
            {"template": pod_template(containers=[{"name": "a"}])},
            "spec.template.spec.containers[0].image: Required value",
        ),
        (
            {"template": pod_template(containers=[container(), container()])},
            'spec.template.spec.containers[1].name: Duplicate value: "main"',
        ),
        (
            {"template": requests(cpu="-1")},
            (
                "spec.template.spec.containers[0].resources.requests[cpu]: Invalid value: "
                '"-1": must be greater than or equal to 0'
            ),
        ),
        (
            {"manualSelector": True},
            "spec.selector: Required value",
        ),
    ],
)
def test_a_broken_job_is_refused(client: Client, spec: dict[str, Any], text: str):
    assert text in causes(client.create("jobs", job("t1", **spec)))


def test_a_job_with_long_labels_names_or_annotations_is_refused(client: Client):
    body = job("t1")
    body["metadata"] |= {"labels": {"a": "b" * 64}, "annotations": {"a": BIG}}
    texts = causes(client.create("jobs", body))
    assert "metadata.annotations: Too long: may not be more than 262144 bytes" in texts
    assert any(
        t.startswith("metadata.labels: Invalid value: ") and "must be no more than 63" in t
        for t in texts
    )


def test_all_causes_are_told_at_once(client: Client):
    refused = client.create("jobs", job("t1", parallelism=-1, completions=-1))
    assert len(causes(refused)) == 2
    assert refused.message == (
        'Job.batch "t1" is invalid: [spec.parallelism: Invalid value: -1: must be greater than or '
        "equal to 0, spec.completions: Invalid value: -1: must be greater than or equal to 0]"
    )


def test_the_defaults_of_a_job(client: Client):
    made = client.created("jobs", job("t1", template=requests(cpu=1, memory="1Gi")))
    labels = made["spec"]["template"]["metadata"]["labels"]
    uid = made["metadata"]["uid"]
    assert labels == {
        "controller-uid": uid,
        "batch.kubernetes.io/controller-uid": uid,
        "job-name": "t1",
        "batch.kubernetes.io/job-name": "t1",
    }
    assert made["metadata"]["labels"] == labels
    spec = {key: value for key, value in made["spec"].items() if key != "template"}
    assert spec == {
        "parallelism": 1,
        "completions": 1,
        "backoffLimit": 6,
        "completionMode": "NonIndexed",
        "suspend": False,
        "manualSelector": False,
        "podReplacementPolicy": "TerminatingOrFailed",
        "selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}},
    }
    assert made["spec"]["template"]["spec"] == {
        "restartPolicy": "Never",
        "dnsPolicy": "ClusterFirst",
        "schedulerName": "default-scheduler",
        "securityContext": {},
        "terminationGracePeriodSeconds": 30,
        "containers": [
            {
                "name": "main",
                "image": "train:1",
                "imagePullPolicy": "IfNotPresent",
                "resources": {"requests": {"cpu": "1", "memory": "1Gi"}},
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
            }
        ],
    }


def test_counts_of_a_job(client: Client):
    client.created("jobs", job("plain", parallelism=2, completions=2, suspend=True))
    path = client.path("jobs", "plain")
    assert client.patch(path, {"spec": {"parallelism": 5}}, MERGE_PATCH).code == 200
    refused = client.patch(path, {"spec": {"completions": 5}}, MERGE_PATCH)
    assert causes(refused) == ["spec.completions: Invalid value: 5: field is immutable"]
    indexed = {"completionMode": "Indexed", "parallelism": 2, "completions": 2}
    client.created("jobs", _with_spec(job("i"), suspend=True, **indexed))
    path = client.path("jobs", "i")
    refused = client.patch(path, {"spec": {"completions": 5}}, MERGE_PATCH)
    assert causes(refused) == [
        "spec.completions: Invalid value: 5: can only be modified in tandem with spec.parallelism"
    ]
    both = {"spec": {"completions": 5, "parallelism": 5}}
    assert client.patch(path, both, MERGE_PATCH).code == 200


def _with_spec(body: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return body | {"spec": body["spec"] | fields}


@pytest.mark.parametrize("field", ["managedBy", "completionMode", "backoffLimitPerIndex"])
def test_fixed_fields_of_a_job(client: Client, field: str):
    client.created("jobs", _with_spec(job("t1", suspend=True), managedBy="example.com/nobody"))
    value: Any = {"managedBy": "example.com/other", "completionMode": "Indexed"}.get(field, 1)
    refused = client.patch(client.path("jobs", "t1"), {"spec": {field: value}}, MERGE_PATCH)
    shown = value if isinstance(value, int) else f'"{value}"'
    assert f"spec.{field}: Invalid value: {shown}: field is immutable" in causes(refused)


def test_a_replacement_without_the_selector_is_refused(client: Client):
    client.created("jobs", job("t1", suspend=True))
    refused = client.call("PUT", client.path("jobs", "t1"), job("t1", suspend=True))
    assert "spec.selector: Required value" in causes(refused)


@pytest.mark.parametrize(
    ("status", "text"),
    [
        ({"active": 1, "ready": 2}, "status.ready: Invalid value: 2: cannot set more ready pods"),
        (
            {"completionTime": "2026-12-01T12:00:00Z"},
            "cannot set completionTime when there is no Complete=True condition",
        ),
        (
            {"conditions": [{"type": "Complete", "status": "True"}]},
            "cannot set Complete=True condition without the SuccessCriteriaMet=true condition",
        ),
        (
            {"conditions": [{"type": "Failed", "status": "True"}]},
            "cannot set Failed=True condition without the FailureTarget=true condition",
        ),
    ],
)
def test_a_status_that_contradicts_itself(client: Client, status: dict[str, Any], text: str):
    client.created("jobs", _with_spec(job("t1"), managedBy="example.com/nobody"))
    path = client.path("jobs", "t1") + "/status"
    assert any(
        text in cause for cause in causes(client.patch(path, {"status": status}, MERGE_PATCH))
    )


def test_the_start_time_of_a_job(client: Client):
    client.created("jobs", _with_spec(job("t1"), managedBy="example.com/nobody"))
    path = client.path("jobs", "t1")
    start = {"status": {"startTime": "2026-12-01T12:00:00Z"}}
    assert client.patch(path + "/status", start, MERGE_PATCH).code == 200
    remove = [{"op": "remove", "path": "/status/startTime"}]
    refused = client.patch(path + "/status", remove, JSON_PATCH)
    assert causes(refused) == [
        "status.startTime: Invalid value: null: field is immutable for unsuspended job once set"
    ]
    assert client.patch(path, {"spec": {"suspend": True}}, MERGE_PATCH).code == 200
    assert client.patch(path + "/status", remove, JSON_PATCH).code == 200


def test_a_gated_pod(client: Client):
    made = client.created(
        "pods", pod("p", schedulingGates=[GATE], nodeSelector={"a": "b"}, **NEVER)
    )
    (condition,) = made["status"]["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == (
        "PodScheduled",
        "False",
        "SchedulingGated",
    )
    path = client.path("pods", "p")
    other = [{"op": "replace", "path": "/spec/nodeSelector", "value": {"a": "c"}}]
    assert causes(client.patch(path, other, JSON_PATCH)) == [
        (
            'spec.nodeSelector: Invalid value: {"a":"c"}: only additions to spec.nodeSelector are '
            "allowed (no mutations or deletions)"
        )
    ]
    start: list[dict[str, Any]] = [
        {"op": "test", "path": "/spec/schedulingGates/0/name", "value": GATE["name"]},
        {"op": "add", "path": "/spec/nodeSelector/gpu", "value": "h100"},
        {"op": "add", "path": "/spec/tolerations/-", "value": {"operator": "Exists", "key": "g"}},
        {"op": "remove", "path": "/spec/schedulingGates/0"},
    ]
    if "tolerations" not in made["spec"]:
        start[2] = start[2] | {"path": "/spec/tolerations", "value": [start[2]["value"]]}
    assert client.patch(path, start, JSON_PATCH).code == 200
    again = [{"op": "add", "path": "/spec/schedulingGates", "value": [GATE]}]
    assert causes(client.patch(path, again, JSON_PATCH))[0] == (
        "spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new "
        "scheduling gate 'tidegate.dev/quota'"
    )
    refused = client.patch(
        path, [{"op": "add", "path": "/spec/nodeSelector/b", "value": "c"}], JSON_PATCH
    )
    assert causes(refused)[0].startswith(
        "spec: Forbidden: pod updates may not change fields other than "
        "`spec.containers[*].image`,`spec.initContainers[*].image`"
    )


def test_a_gated_pod_is_not_bound(client: Client):
    client.created("pods", pod("p", schedulingGates=[GATE]))
    binding = {
        "apiVersion": "v1",
        "kind": "Binding",
        "metadata": {"name": "p"},
        "target": {"apiVersion": "v1", "kind": "Node", "name": "n"},
    }
    refused = client.call("POST", client.path("pods", "p") + "/binding", binding)
    assert refused.code == 409
    assert "pod p has non-empty .spec.schedulingGates" in refused.message


def test_requests_of_a_pod_follow_its_limits(client: Client):
    limits = {"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "1"}}
    made = client.created("pods", pod("p", containers=[container(resources=limits)]))
    resources = made["spec"]["containers"][0]["resources"]
    assert resources["requests"] == {"cpu": "1", "memory": "1Gi"}
    assert (made["status"]["phase"], made["status"]["qosClass"]) == ("Pending", "Burstable")


def test_the_defaults_of_a_jobset(client: Client):
    made = client.created("jobsets", jobset("js", replicated_job("w"), suspend=True))["spec"]
    assert made == {
        "suspend": True,
        "network": {"enableDNSHostnames": True, "publishNotReadyAddresses": True},
        "startupPolicy": {"startupPolicyOrder": "AnyOrder"},
        "successPolicy": {"operator": "All"},
        "replicatedJobs": [
            {
                "name": "w",
                "replicas": 1,
                "groupName": "default",
                "template": {
                    **({"metadata": {}} if "metadata" in _template(made) else {}),
                    "spec": {
                        "completionMode": "Indexed",
                        "template": {
                            **({"metadata": {}} if "metadata" in _pod_template(made) else {}),
                            "spec": _pod_template(made)["spec"],
                        },
                    },
                },
            }
        ],
    }
    assert _pod_template(made)["spec"]["restartPolicy"] == "Never"


def _template(spec: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = spec["replicatedJobs"][0]["template"]
    return found


def _pod_template(spec: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = _template(spec)["spec"]["template"]
    return found


def test_names_of_a_jobset_that_are_too_long(client: Client):
    refused = client.create("jobsets", jobset("js", replicated_job("w" * 62)))
    assert refused.code == 422
    assert refused.message.endswith(
        '-0": JobSet name is too long, job names generated for this JobSet will exceed 63 '
        "characters"
    )
