"""What a client may rely on, said once and held by the sandbox and by the real API server."""

from __future__ import annotations

import json

import pytest

from tests.apiservers import (
    APPLY_PATCH,
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_PATCH,
    Client,
    config_map,
    job,
)

BROKEN = "the server rejected our request due to an error in our request"
MODIFIED = (
    "the object has been modified; please apply your changes to the latest version and try again"
)


def test_a_new_object_has_what_the_server_gives_it(client: Client):
    made = client.created("jobs", job("t1"))
    metadata = made["metadata"]
    assert metadata["namespace"] == client.namespace
    assert len(metadata["uid"]) == 36
    assert metadata["creationTimestamp"].endswith("Z")
    assert metadata["generation"] == 1
    assert metadata["resourceVersion"].isdecimal()
    assert made["status"] == {}
    assert made["spec"]["parallelism"] == made["spec"]["completions"] == 1


def test_the_name_can_be_left_to_the_server(client: Client):
    names = {
        client.created("configmaps", config_map(generateName="some-"))["metadata"]["name"]
        for _ in range(3)
    }
    assert len(names) == 3
    assert all(name.startswith("some-") and len(name) == 10 for name in names)


def test_a_name_is_taken_once(client: Client):
    client.created("jobs", job("t1"))
    again = client.create("jobs", job("t1"))
    assert (again.code, again.json["reason"]) == (409, "AlreadyExists")
    assert again.message == 'jobs.batch "t1" already exists'


def test_what_is_not_there_is_not_found(client: Client):
    missing = client.get(client.path("jobs", "none"))
    assert (missing.code, missing.json["reason"]) == (404, "NotFound")
    assert missing.message == 'jobs.batch "none" not found'
    assert missing.json["details"] == {"name": "none", "group": "batch", "kind": "jobs"}


def test_nothing_can_be_created_in_a_namespace_that_is_missing(client: Client):
    nowhere = client.call("POST", "/api/v1/namespaces/nowhere/configmaps", config_map("a"))
    assert (nowhere.code, nowhere.message) == (404, 'namespaces "nowhere" not found')


@pytest.mark.parametrize("name", ["T1", "a_b", "-a", "a" * 254])
def test_a_bad_name_is_invalid(client: Client, name: str):
    refused = client.create("configmaps", config_map(name))
    assert (refused.code, refused.json["reason"]) == (422, "Invalid")
    assert refused.json["details"]["causes"][0]["field"] == "metadata.name"


def test_a_label_value_is_short_and_plain(client: Client):
    long = client.create("configmaps", config_map("a", labels={"q": "x" * 64}))
    assert long.code == 422
    assert "must be no more than 63" in long.message
    slash = client.create("configmaps", config_map("a", labels={"q": "a/b"}))
    assert slash.code == 422
    assert "a valid label must be" in slash.message


def test_annotations_have_a_limit_in_total(client: Client):
    big = client.create("jobs", job("t1", annotations={"a": "x" * 262_144}))
    assert big.code == 422
    assert big.message == (
        'Job.batch "t1" is invalid: metadata.annotations: Too long: '
        "may not be more than 262144 bytes"
    )


def test_a_dry_run_changes_nothing(client: Client):
    made = client.create("jobs", job("t1"), "?dryRun=All")
    assert made.code == 201
    assert "uid" in made.json["metadata"]
    assert "resourceVersion" not in made.json["metadata"]
    assert client.get(client.path("jobs", "t1")).code == 404


def test_put_with_an_old_version_is_a_conflict(client: Client):
    made = client.created("configmaps", config_map("a"))
    path = client.path("configmaps", "a")
    assert client.call("PUT", path, {**made, "data": {"a": "2"}}).code == 200
    stale = client.call("PUT", path, {**made, "data": {"a": "3"}})
    assert (stale.code, stale.json["reason"]) == (409, "Conflict")
    assert stale.message == f'Operation cannot be fulfilled on configmaps "a": {MODIFIED}'


def test_put_without_a_version_overwrites_a_built_in_kind(client: Client):
    client.created("configmaps", config_map("a"))
    done = client.call("PUT", client.path("configmaps", "a"), config_map("a", {"b": "2"}))
    assert (done.code, done.json["data"]) == (200, {"b": "2"})


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (JSON_PATCH, [{"op": "replace", "path": "/metadata/resourceVersion", "value": "1"}]),
        (MERGE_PATCH, {"metadata": {"resourceVersion": "1"}, "spec": {"suspend": False}}),
        (STRATEGIC_PATCH, {"metadata": {"resourceVersion": "1"}, "spec": {"suspend": False}}),
    ],
)
def test_a_patch_that_states_an_old_version_is_a_conflict(client: Client, kind: str, body):
    client.created("jobs", job("t1"))
    stale = client.patch(client.path("jobs", "t1"), body, kind)
    assert (stale.code, stale.json["reason"]) == (409, "Conflict")
    assert stale.message == f'Operation cannot be fulfilled on jobs.batch "t1": {MODIFIED}'


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": "/spec/suspend", "value": False},
        {"op": "add", "path": "/spec/template/spec/nodeSelector/gpu", "value": "h100"},
        {"op": "remove", "path": "/metadata/annotations/none"},
        {"op": "replace", "path": "/spec/template/spec/nodeSelector/gpu", "value": "h100"},
        {"op": "add", "path": "/spec/template/spec/containers/7", "value": {}},
        {"op": "test", "path": "/metadata/annotations/none", "value": None},
    ],
)
def test_a_json_patch_that_does_not_apply_is_invalid(client: Client, operation):
    client.created("jobs", job("t1"))
    broken = client.patch(client.path("jobs", "t1"), [operation], JSON_PATCH)
    assert (broken.code, broken.json["reason"]) == (422, "Invalid")
    assert broken.message == BROKEN


def test_replace_sets_what_is_missing_and_indexes_count_from_the_end(client: Client):
    client.created("configmaps", config_map("a", finalizers=["a/a", "b/b"]))
    patch = [
        {"op": "replace", "path": "/data/new", "value": "2"},
        {"op": "remove", "path": "/metadata/finalizers/-1"},
    ]
    done = client.patch(client.path("configmaps", "a"), patch, JSON_PATCH)
    assert done.code == 200, done.message
    assert done.json["data"] == {"a": "1", "new": "2"}
    assert done.json["metadata"]["finalizers"] == ["a/a"]
    client.patch(client.path("configmaps", "a"), {"metadata": {"finalizers": None}}, MERGE_PATCH)


def test_a_uid_is_for_ever(client: Client):
    client.created("configmaps", config_map("a"))
    other = client.patch(client.path("configmaps", "a"), {"metadata": {"uid": "x"}}, MERGE_PATCH)
    assert (other.code, other.json["reason"]) == (422, "Invalid")
    assert other.message == (
        'ConfigMap "a" is invalid: metadata.uid: Invalid value: "x": field is immutable'
    )
    other = client.call("PUT", client.path("configmaps", "a"), config_map("a", uid="x"))
    assert (other.code, other.json["reason"]) == (409, "Conflict")
    assert "Precondition failed: UID in precondition: x, UID in object meta: " in other.message


def test_a_missing_member_equals_null_where_its_parent_exists(client: Client):
    client.created("jobs", job("t1", annotations={"a": "b"}))
    test = {"op": "test", "path": "/metadata/annotations/none", "value": None}
    assert client.patch(client.path("jobs", "t1"), [test], JSON_PATCH).code == 200


def test_one_json_patch_starts_a_job_in_one_write(client: Client):
    client.created("jobs", job("t1"))
    tolerations = [{"key": "gpu", "operator": "Exists"}]
    patch = [
        {"op": "replace", "path": "/spec/suspend", "value": False},
        {"op": "add", "path": "/spec/template/spec/nodeSelector", "value": {"gpu": "h100"}},
        {"op": "add", "path": "/spec/template/spec/tolerations", "value": tolerations},
        {"op": "add", "path": "/metadata/annotations", "value": {"a/b": "c"}},
    ]
    done = client.patch(client.path("jobs", "t1"), patch, JSON_PATCH)
    assert done.code == 200, done.message
    assert done.json["metadata"]["generation"] == 2
    assert done.json["spec"]["template"]["spec"]["nodeSelector"] == {"gpu": "h100"}


def test_a_write_that_changes_nothing_is_no_write(client: Client):
    client.created("jobs", job("t1", annotations={"a": "b"}))
    path = client.path("jobs", "t1") + "?fieldManager=x"
    patch = {"metadata": {"annotations": {"a": "c"}}}
    first = client.patch(path, patch, MERGE_PATCH).json
    second = client.patch(path, patch, MERGE_PATCH).json
    assert second == first
    replaced = client.call("PUT", path, first)
    assert replaced.json["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]


def test_only_the_spec_moves_the_generation(client: Client):
    client.created("jobs", job("t1"))
    path = client.path("jobs", "t1")
    labelled = client.patch(path, {"metadata": {"labels": {"a": "b"}}}, MERGE_PATCH).json
    assert labelled["metadata"]["generation"] == 1
    changed = client.patch(path, {"spec": {"backoffLimit": 3}}, MERGE_PATCH).json
    assert changed["metadata"]["generation"] == 2


def test_a_merge_patch_removes_with_null_and_replaces_lists(client: Client):
    client.created("configmaps", config_map("a", {"x": "1", "y": "2"}, finalizers=["a/b"]))
    path = client.path("configmaps", "a")
    patch = {"metadata": {"finalizers": ["c/d"]}, "data": {"x": None}}
    done = client.patch(path, patch, MERGE_PATCH).json
    assert (done["metadata"]["finalizers"], done["data"]) == (["c/d"], {"y": "2"})
    cleared = client.patch(path, {"metadata": {"finalizers": None}}, MERGE_PATCH)
    assert "finalizers" not in cleared.json["metadata"]


def test_a_strategic_patch_merges_containers_by_name(client: Client):
    client.created("jobs", job("t1"))
    containers: list = [{"name": "main", "env": [{"name": "B", "value": "2"}]}]
    patch: dict = {"spec": {"template": {"spec": {"containers": containers}}}}
    query = "?dryRun=All"
    refused = client.patch(client.path("jobs", "t1") + query, patch, STRATEGIC_PATCH)
    assert refused.code == 422  # the template of a Job is immutable, the merge is in the message
    assert "field is immutable" in refused.message
    patch = {"spec": {"template": {"spec": {"nodeSelector": {"gpu": "h100"}}}}}
    merged = client.patch(client.path("jobs", "t1"), patch, STRATEGIC_PATCH)
    assert merged.json["spec"]["template"]["spec"]["nodeSelector"] == {"gpu": "h100"}
    assert merged.json["spec"]["template"]["spec"]["containers"][0]["image"] == "example/train"


def test_status_and_spec_are_written_apart(client: Client):
    client.created("jobs", job("t1"))
    path = client.path("jobs", "t1")
    patch: dict = {"spec": {"backoffLimit": 3}, "status": {"ready": 0, "terminating": 5}}
    main = client.patch(path, patch, MERGE_PATCH).json
    assert main["spec"]["backoffLimit"] == 3
    assert main["status"].get("terminating") != 5
    patch = {"spec": {"backoffLimit": 4}, "status": {"terminating": 7}}
    status = client.patch(path + "/status", patch, MERGE_PATCH).json
    assert status["spec"]["backoffLimit"] == 3
    assert status["status"]["terminating"] == 7
    assert status["metadata"]["generation"] == main["metadata"]["generation"]


def test_delete_says_what_is_gone(client: Client):
    made = client.created("configmaps", config_map("a"))
    gone = client.call("DELETE", client.path("configmaps", "a"))
    assert gone.code == 200
    assert gone.json["status"] == "Success"
    assert gone.json["details"] == {
        "name": "a",
        "kind": "configmaps",
        "uid": made["metadata"]["uid"],
    }


def test_a_finalizer_keeps_an_object_that_is_deleted(client: Client):
    client.created("configmaps", config_map("a", finalizers=["tidegate.dev/test"]))
    path = client.path("configmaps", "a")
    going = client.call("DELETE", path)
    assert going.code == 200
    assert "deletionTimestamp" in going.json["metadata"]
    added = client.patch(path, {"metadata": {"finalizers": ["a/b", "c/d"]}}, MERGE_PATCH)
    assert added.code == 422
    assert "no new finalizers can be added if the object is being deleted" in added.message
    assert client.patch(path, {"metadata": {"finalizers": None}}, MERGE_PATCH).code == 200
    assert client.get(path).code == 404


def test_a_delete_may_name_the_one_it_means(client: Client):
    client.created("configmaps", config_map("a"))
    options = {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": {"uid": "other"}}
    refused = client.call("DELETE", client.path("configmaps", "a"), options)
    assert (refused.code, refused.json["reason"]) == (409, "Conflict")
    uid = client.get(client.path("configmaps", "a")).json["metadata"]["uid"]
    assert refused.message == (
        'Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (other) does '
        f"not match the UID in record ({uid}). The object might have been deleted and then "
        "recreated"
    )


def test_a_job_deleted_without_a_policy_warns_about_its_pods(client: Client):
    client.created("jobs", job("t1"))
    gone = client.call("DELETE", client.path("jobs", "t1") + "?dryRun=All")
    assert "child pods are preserved by default" in gone.headers["Warning"]


def test_an_unknown_token_is_unauthorized(client: Client):
    refused = client.call("GET", client.path("jobs"), Authorization="Bearer nobody")
    assert (refused.code, refused.json["reason"]) == (401, "Unauthorized")


def test_nobody_gets_nothing(client: Client, is_sandbox: bool):
    refused = client.call("GET", client.path("jobs"), Authorization="")
    assert refused.code == (401 if is_sandbox else 403)  # there, anonymous is a user


def test_masters_may_impersonate(client: Client):
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    who = client.call("POST", path, {}, Impersonate_User="system:serviceaccount:a:b").json
    info = who["status"]["userInfo"]
    assert info["username"] == "system:serviceaccount:a:b"
    assert {"system:serviceaccounts:a", "system:authenticated"} <= set(info["groups"])


def test_others_may_not(client: Client):
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    alice = Client(client.server, client.namespace, "alice")
    assert alice.call("POST", path, {}, Impersonate_User="bob").code == 403


def test_a_custom_resource_takes_no_strategic_patch(client: Client):
    patch = client.patch(client.path("jobsets", "none"), {}, STRATEGIC_PATCH)
    assert patch.code in (404, 415)


def test_server_side_apply_works_or_is_refused_clearly(client: Client, is_sandbox: bool):
    path = client.path("configmaps", "a") + "?fieldManager=me"
    applied = client.patch(path, config_map("a"), APPLY_PATCH)
    if not is_sandbox:
        assert applied.code == 201
        return
    assert (applied.code, applied.json["reason"]) == (415, "UnsupportedMediaType")
    assert "use kubectl apply without --server-side" in applied.message


def test_an_event_is_seen_through_both_apis(client: Client):
    event = {
        "metadata": {"name": "e1", "namespace": client.namespace},
        "eventTime": "2026-12-01T10:00:00.000000Z",
        "reportingController": "tidegate.dev/loop",
        "reportingInstance": "one",
        "action": "Start",
        "reason": "Started",
        "type": "Normal",
        "note": "hello",
        "regarding": {"kind": "Job", "name": "t1", "namespace": client.namespace},
    }
    path = f"/apis/events.k8s.io/v1/namespaces/{client.namespace}/events"
    assert client.call("POST", path, event).code == 201
    core = client.get(client.path("events", "e1")).json
    assert core["message"] == "hello"
    assert core["involvedObject"]["name"] == "t1"
    incomplete = client.call("POST", path, {**event, "metadata": {"name": "e2"}, "eventTime": None})
    assert incomplete.code == 422
    assert "eventTime: Required value" in incomplete.message
    changed = client.patch(f"{path}/e1", {"note": "other"}, MERGE_PATCH)
    assert changed.code == 422
    series = {"series": {"count": 2, "lastObservedTime": "2026-12-01T10:01:00.000000Z"}}
    assert client.patch(f"{path}/e1", series, MERGE_PATCH).json["series"]["count"] == 2


def test_the_body_must_be_json(client: Client):
    refused = client.call("POST", client.path("jobs"), "x", "application/x-www-form-urlencoded")
    assert refused.code == 415
    assert json.loads(refused.body)["reason"] == "UnsupportedMediaType"


def pod(name: str, **spec) -> dict:
    return {
        "metadata": {"name": name},
        "spec": {"containers": [{"name": "a", "image": "b"}], **spec},
    }


def bind(client: Client, name: str):
    node = {"kind": "Node", "name": "n1"}
    body = {"metadata": {"name": name}, "target": node}
    return client.call("POST", client.path("pods", name) + "/binding", body)


def test_a_gated_pod_cannot_be_bound(client: Client):
    client.created("pods", pod("p1", schedulingGates=[{"name": "tidegate.dev/quota"}]))
    refused = bind(client, "p1")
    assert refused.code == 409
    assert refused.message == (
        'Operation cannot be fulfilled on pods/binding "p1": '
        "pod p1 has non-empty .spec.schedulingGates"
    )


def test_a_bound_pod_takes_its_grace_period_to_go(client: Client):
    client.created("pods", pod("p1"))
    assert bind(client, "p1").code == 201
    assert bind(client, "p1").code == 409
    path = client.path("pods", "p1")
    going = client.call("DELETE", path).json
    assert going["metadata"]["deletionGracePeriodSeconds"] == 30
    assert client.get(path).json["spec"]["nodeName"] == "n1"
    gone = client.call("DELETE", path + "?gracePeriodSeconds=0").json
    assert gone["metadata"]["deletionGracePeriodSeconds"] == 0
    assert client.get(path).code == 404


def test_a_pod_without_a_node_goes_at_once(client: Client):
    client.created("pods", pod("p1"))
    gone = client.call("DELETE", client.path("pods", "p1"))
    assert (gone.json["kind"], gone.json["metadata"]["deletionGracePeriodSeconds"]) == ("Pod", 0)
    assert client.get(client.path("pods", "p1")).code == 404


def test_the_text_of_a_secret_is_kept_encoded(client: Client):
    secret = {"metadata": {"name": "s"}, "stringData": {"a": "b"}}
    made = client.created("secrets", secret)
    assert (made["type"], made["data"]) == ("Opaque", {"a": "Yg=="})
    assert "stringData" not in made


@pytest.mark.parametrize(
    ("method", "query", "message"),
    [
        (
            "POST",
            "?dryRun=x",
            'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["x"]: supported',
        ),
        (
            "GET",
            "?watch=1&sendInitialEvents=true",
            'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitial',
        ),
    ],
)
def test_parameters_are_checked(client: Client, method: str, query: str, message: str):
    body = config_map("a") if method == "POST" else None
    refused = client.call(method, client.path("configmaps") + query, body)
    assert refused.code == 422
    assert refused.message.startswith(message)


def test_what_cannot_be_done_at_a_path_is_not_allowed(client: Client):
    client.created("configmaps", config_map("a"))
    for method, path in (
        ("POST", client.path("configmaps", "a")),
        ("PUT", client.path("configmaps")),
        ("POST", "/api/v1/configmaps"),
    ):
        refused = client.call(method, path, config_map("a"))
        assert (refused.code, refused.json["reason"]) == (405, "MethodNotAllowed")
