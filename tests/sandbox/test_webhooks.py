"""What the admission chain does, held by the sandbox and by the real API server."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

import pytest
import trustme

from tests.apiservers import JSON_PATCH, MERGE_PATCH, Answer, Client, job
from tests.sandbox.hookserver import HookServer, Registrar, patching, running_hooks

ANNOTATE = {"op": "add", "path": "/metadata/annotations", "value": {"seen": "yes"}}
SUSPEND = {"op": "replace", "path": "/spec/suspend", "value": True}
LABEL = {"matchExpressions": [{"key": "queue", "operator": "Exists"}]}


@pytest.fixture
def hooks() -> Iterator[HookServer]:
    with running_hooks() as server:
        yield server


@pytest.fixture
def registrar(client: Client, hooks: HookServer) -> Iterator[Registrar]:
    made = Registrar(client, hooks)
    yield made
    made.remove()


def warnings_of(answer: Answer) -> list[str]:
    """The texts of the Warning headers."""
    headers = answer.headers.get_all("Warning") or []
    return [json.loads(header.partition(" - ")[2]) for header in headers]


def quiet_job(name: str) -> dict[str, Any]:
    """A Job to which no controller writes in between."""
    body = job(name)
    body["spec"]["managedBy"] = "example.com/nobody"
    return body


def merge(client: Client, name: str, body: dict[str, Any], query: str = "") -> Answer:
    return client.patch(client.path("jobs", name) + query, body, MERGE_PATCH)


def test_a_patch_changes_the_object_before_it_is_stored(
    client: Client, registrar: Registrar, hooks: HookServer
):
    hooks.answers["/hook"] = patching(ANNOTATE, SUSPEND)
    registrar.mutating(registrar.entry())
    made = client.created("jobs", job("t1", suspend=False))
    assert made["spec"]["suspend"] is True
    assert made["metadata"]["annotations"] == {"seen": "yes"}


def test_a_review_says_who_does_what_to_what(
    client: Client, registrar: Registrar, hooks: HookServer
):
    registrar.mutating(registrar.entry("/mutate"))
    registrar.validating(registrar.entry("/validate"))
    client.created("jobs", job("t1"))
    (mutate,), (validate,) = hooks.reviews["/mutate"], hooks.reviews["/validate"]
    kind = {"group": "batch", "version": "v1", "kind": "Job"}
    plural = {"group": "batch", "version": "v1", "resource": "jobs"}
    for review in (mutate, validate):
        assert review["kind"] == review["requestKind"] == kind
        assert review["resource"] == review["requestResource"] == plural
        assert (review["name"], review["namespace"]) == ("t1", client.namespace)
        assert (review["operation"], review["dryRun"]) == ("CREATE", False)
        assert "subResource" not in review
        assert review["oldObject"] is None
        assert review["userInfo"]["username"]
        assert "system:authenticated" in review["userInfo"]["groups"]
        assert review["options"]["kind"] == "CreateOptions"
    assert "uid" not in mutate["object"]["metadata"]
    assert validate["object"]["metadata"]["uid"]
    assert mutate["object"]["spec"]["completionMode"] == "NonIndexed"


def test_a_deletion_shows_the_old_object_only(
    client: Client, registrar: Registrar, hooks: HookServer
):
    registrar.validating(registrar.entry())
    client.created("jobs", quiet_job("t1"))
    query = "?propagationPolicy=Background"
    assert client.call("DELETE", client.path("jobs", "t1") + query + "&dryRun=All").code == 200
    assert client.call("DELETE", client.path("jobs", "t1") + query).code == 200
    dry, review = hooks.reviews["/hook"][1:]
    assert (dry["dryRun"], review["dryRun"]) == (True, False)
    assert review["object"] is None
    assert review["oldObject"]["metadata"]["name"] == "t1"


@pytest.mark.parametrize(
    ("response", "code", "text"),
    [
        ({"status": {"message": "no quota", "code": 403}}, 403, "denied the request: no quota"),
        ({"status": {"message": "two\nlines"}}, 400, "denied the request: two\nlines"),
        ({"status": {"reason": "Invalid", "code": 422}}, 422, "denied the request: Invalid"),
        ({}, 400, "denied the request without explanation"),
    ],
)
@pytest.mark.parametrize("kind", ["mutating", "validating"])
def test_a_denial_is_told_with_the_name_of_the_webhook(
    client: Client,
    registrar: Registrar,
    hooks: HookServer,
    response: dict[str, Any],
    code: int,
    text: str,
    kind: str,
):
    hooks.answers["/hook"] = lambda _: {"allowed": False} | response
    getattr(registrar, kind)(registrar.entry())
    refused = client.create("jobs", job("t1"))
    assert refused.code == code
    assert refused.message == f'admission webhook "hook.tidegate.test" {text}'


def test_warnings_are_shown_once_and_never_with_a_line_end(
    client: Client, registrar: Registrar, hooks: HookServer
):
    first, second = ["one", "two\nlines", "one"], ["one", "x" * 400]
    hooks.answers["/mutate"] = patching(ANNOTATE, warnings=first)
    hooks.answers["/validate"] = lambda _: {"allowed": True, "warnings": second}
    registrar.mutating(registrar.entry("/mutate"))
    registrar.validating(registrar.entry("/validate"))
    answer = client.create("jobs", job("t1"))
    assert warnings_of(answer) == ["one", "x" * 400]


def test_a_warning_of_a_webhook_that_denies_is_shown(
    client: Client, registrar: Registrar, hooks: HookServer
):
    hooks.answers["/hook"] = lambda _: {"allowed": False, "warnings": ["hear me"]}
    registrar.validating(registrar.entry())
    assert warnings_of(client.create("jobs", job("t1"))) == ["hear me"]


def test_many_long_warnings_are_cut(client: Client, registrar: Registrar, hooks: HookServer):
    texts = [f"{number}" * 1000 for number in range(6)]
    hooks.answers["/hook"] = lambda _: {"allowed": True, "warnings": texts}
    registrar.validating(registrar.entry())
    assert warnings_of(client.create("jobs", job("t1"))) == [text[:256] for text in texts]


def test_an_object_selector_matches_the_old_or_the_new_object(
    client: Client, registrar: Registrar, hooks: HookServer
):
    client.created("jobs", quiet_job("t1"))
    registrar.validating(registrar.entry(objectSelector=LABEL))
    merge(client, "t1", {"metadata": {"annotations": {"a": "b"}}})
    assert hooks.reviews["/hook"] == []
    merge(client, "t1", {"metadata": {"labels": {"queue": "vision"}}})
    merge(client, "t1", {"metadata": {"labels": {"queue": None}}})
    merge(client, "t1", {"metadata": {"annotations": {"a": "c"}}})
    assert [r["operation"] for r in hooks.reviews["/hook"]] == ["UPDATE", "UPDATE"]


def test_a_namespace_selector_leaves_other_namespaces_alone(
    client: Client, registrar: Registrar, hooks: HookServer
):
    elsewhere = {"matchLabels": {"kubernetes.io/metadata.name": "elsewhere"}}
    registrar.validating(registrar.entry(namespaceSelector=elsewhere))
    client.created("jobs", job("t1"))
    assert hooks.reviews["/hook"] == []


def test_a_rule_names_subresources(client: Client, registrar: Registrar, hooks: HookServer):
    status = registrar.entry("/status")
    status["rules"] = [dict(status["rules"][0], resources=["jobs/status"])]
    every = registrar.entry("/every")
    every["rules"] = [dict(every["rules"][0], resources=["*/*"], apiGroups=["*"])]
    registrar.validating(registrar.entry("/main"), status, every)
    argocd = Client(client.server, client.namespace, "argocd")
    argocd.created("jobs", quiet_job("t1"))
    path = client.path("jobs", "t1") + "/status"
    assert argocd.patch(path, {"status": {"active": 1}}, MERGE_PATCH).code == 200
    assert [r["operation"] for r in hooks.reviews["/main"]] == ["CREATE"]
    assert _of_argocd(hooks.reviews["/status"]) == ["status"]
    assert _of_argocd(hooks.reviews["/every"]) == [None, "status"]


def _of_argocd(reviews: list[dict[str, Any]]) -> list[str | None]:
    """The subresources of the reviews of Jobs, without those a controller caused."""
    return [
        review.get("subResource")
        for review in reviews
        if review["resource"]["resource"] == "jobs" and review["userInfo"]["username"] == "argocd"
    ]


def test_match_conditions_leave_out_a_user(client: Client, registrar: Registrar, hooks: HookServer):
    loop = "system:serviceaccount:tidegate-system:tidegate"
    condition = {"name": "not-ours", "expression": f'request.userInfo.username != "{loop}"'}
    registrar.validating(registrar.entry(matchConditions=[condition]))
    client.created("jobs", quiet_job("t1"))
    other = Client(client.server, client.namespace, "loop")
    patch = [{"op": "replace", "path": "/spec/parallelism", "value": 2}]
    assert other.patch(client.path("jobs", "t1"), patch, JSON_PATCH).code == 200
    assert [r["operation"] for r in hooks.reviews["/hook"]] == ["CREATE"]


def test_match_conditions_see_the_old_object(
    client: Client, registrar: Registrar, hooks: HookServer
):
    text = "has(oldObject.metadata.annotations) && oldObject.metadata.annotations['a'] == 'b'"
    entry = registrar.entry(matchConditions=[{"name": "marked", "expression": text}])
    entry["rules"][0]["operations"] = ["UPDATE"]
    registrar.validating(entry)
    client.created("jobs", quiet_job("t1"))
    merge(client, "t1", {"metadata": {"annotations": {"a": "b"}}})
    merge(client, "t1", {"metadata": {"annotations": {"a": "c"}}})
    assert len(hooks.reviews["/hook"]) == 1


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


@pytest.mark.parametrize("kind", ["mutating", "validating"])
def test_a_webhook_that_is_down_fails_the_request_or_is_passed_over(
    client: Client, registrar: Registrar, hooks: HookServer, kind: str
):
    url = f"https://127.0.0.1:{closed_port()}/hook"
    gone = {"url": url, "caBundle": hooks.bundle}
    getattr(registrar, kind)(registrar.entry("/a", clientConfig=gone, failurePolicy="Ignore"))
    answer = client.create("jobs", job("t1"))
    assert (answer.code, warnings_of(answer)) == (201, [])
    getattr(registrar, kind)(registrar.entry("/b", clientConfig=gone), name="second")
    refused = client.create("jobs", job("t2"))
    assert (refused.code, refused.json["reason"]) == (500, "InternalError")
    assert refused.message == (
        'Internal error occurred: failed calling webhook "b.tidegate.test": failed to call '
        f'webhook: Post "{url}?timeout=10s": dial tcp {url[8:-5]}: connect: connection refused'
    )


@pytest.mark.parametrize(("policy", "code"), [("Ignore", 201), ("Fail", 500)])
def test_a_webhook_that_does_not_answer_in_time(
    client: Client, registrar: Registrar, hooks: HookServer, policy: str, code: int
):
    hooks.answers["/hook"] = hooks.hang
    registrar.validating(registrar.entry(timeoutSeconds=1, failurePolicy=policy))
    answer = client.create("jobs", job("t1"))
    assert answer.code == code
    if policy == "Fail":
        assert "?timeout=1s" in answer.message
        assert answer.message.endswith("context deadline exceeded")


def test_a_certificate_of_another_authority_is_refused(
    client: Client, registrar: Registrar, hooks: HookServer
):
    hooks.bundle, right = _other_bundle(), hooks.bundle
    entry = registrar.entry()
    hooks.bundle = right
    registrar.validating(entry)
    refused = client.create("jobs", job("t1"))
    assert refused.code == 500
    assert "tls: failed to verify certificate: x509: certificate signed by unknown" in (
        refused.message
    )


def _other_bundle() -> str:
    import base64

    return base64.b64encode(trustme.CA().cert_pem.bytes()).decode()


@pytest.mark.parametrize(
    ("kind", "response", "text"),
    [
        ("validating", {"uid": "other"}, 'expected response.uid="'),
        (
            "validating",
            {"patchType": "JSONPatch", "patch": "W10="},
            "validating webhook may not return response.patch",
        ),
        (
            "mutating",
            {"patch": "W10="},
            "webhook returned response.patch but not response.patchType",
        ),
        (
            "mutating",
            {"patchType": "JSONPatch"},
            "webhook returned response.patchType but not response.patch",
        ),
    ],
)
def test_an_answer_that_makes_no_sense_is_an_error(
    client: Client,
    registrar: Registrar,
    hooks: HookServer,
    kind: str,
    response: dict[str, Any],
    text: str,
):
    hooks.answers["/hook"] = lambda _: {"allowed": True} | response
    getattr(registrar, kind)(registrar.entry())
    refused = client.create("jobs", job("t1"))
    assert refused.code == 500
    assert "received invalid webhook response: " in refused.message
    assert text in refused.message


def test_a_patch_that_does_not_apply_fails_the_request_whatever_the_policy(
    client: Client, registrar: Registrar, hooks: HookServer
):
    hooks.answers["/hook"] = patching({"op": "remove", "path": "/spec/nothing"})
    registrar.mutating(registrar.entry(failurePolicy="Ignore"))
    refused = client.create("jobs", job("t1"))
    assert (refused.code, refused.json["reason"]) == (500, "InternalError")


def test_what_a_webhook_makes_of_an_object_is_validated(
    client: Client, registrar: Registrar, hooks: HookServer
):
    hooks.answers["/hook"] = patching({"op": "add", "path": "/spec/parallelism", "value": -1})
    registrar.mutating(registrar.entry())
    assert client.create("jobs", job("t1")).code == 422


def test_an_earlier_webhook_is_asked_again_when_a_later_one_changed_something(
    client: Client, registrar: Registrar, hooks: HookServer
):
    hooks.answers["/second"] = patching(ANNOTATE)
    registrar.mutating(registrar.entry("/once"), name="a")
    registrar.mutating(registrar.entry("/again", reinvocationPolicy="IfNeeded"), name="b")
    registrar.mutating(registrar.entry("/second", reinvocationPolicy="IfNeeded"), name="c")
    client.created("jobs", job("t1"))
    calls = {path: len(hooks.reviews[path]) for path in ("/once", "/again", "/second")}
    assert calls == {"/once": 1, "/again": 2, "/second": 1}
    first, second = hooks.reviews["/again"]
    assert "annotations" not in first["object"]["metadata"]
    assert second["object"]["metadata"]["annotations"] == {"seen": "yes"}


@pytest.mark.parametrize(("patch", "calls"), [([], 1), ([SUSPEND], 2)])
def test_a_patch_counts_as_a_change_even_if_it_changes_nothing(
    client: Client, registrar: Registrar, hooks: HookServer, patch: list[Any], calls: int
):
    registrar.mutating(registrar.entry("/again", reinvocationPolicy="IfNeeded"), name="a")
    hooks.answers["/second"] = patching(*patch)
    registrar.mutating(registrar.entry("/second"), name="b")
    client.created("jobs", job("t1", suspend=True))
    assert [r["operation"] for r in hooks.reviews["/again"]] == ["CREATE"] * calls


def test_a_dry_run_is_reviewed_and_not_stored(
    client: Client, registrar: Registrar, hooks: HookServer
):
    hooks.answers["/hook"] = patching(ANNOTATE)
    registrar.mutating(registrar.entry(sideEffects="NoneOnDryRun"))
    answer = client.create("jobs", job("t1"), "?dryRun=All")
    assert answer.json["metadata"]["annotations"] == {"seen": "yes"}
    (review,) = hooks.reviews["/hook"]
    assert (review["dryRun"], review["options"]["dryRun"]) == (True, ["All"])
    assert client.get(client.path("jobs", "t1")).code == 404


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"sideEffects": "Some"}, 'supported values: "None", "NoneOnDryRun"'),
        ({"timeoutSeconds": 31}, "the timeout value must be between 1 and 30 seconds"),
        ({"name": "short"}, "should be a domain with at least three segments separated by dots"),
        ({"clientConfig": {}}, "exactly one of url or service is required"),
        (
            {"clientConfig": {"url": "http://127.0.0.1/x"}},
            "'https' is the only allowed URL scheme; desired format: https://host[/path]",
        ),
    ],
)
def test_a_broken_configuration_is_refused(registrar: Registrar, fields: dict[str, Any], text: str):
    with pytest.raises(AssertionError) as refused:
        registrar.validating(registrar.entry(**fields))
    assert text in str(refused.value).replace("\\", "")


def test_a_service_nobody_knows_is_named(client: Client, registrar: Registrar):
    service = {"name": "tidegate", "namespace": client.namespace, "path": "/mutate"}
    registrar.mutating(registrar.entry(clientConfig={"service": service}))
    refused = client.create("jobs", job("t1"))
    where = f"https://tidegate.{client.namespace}.svc:443/mutate?timeout=10s"
    assert f'Post "{where}": service "tidegate" not found' in refused.message
