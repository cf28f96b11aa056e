"""Lists and watches, held by the sandbox and by the real API server."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from tests.apiservers import MERGE_PATCH, Client, config_map, job


def names(items) -> list[str]:
    return [item["metadata"]["name"] for item in items]


@pytest.fixture
def three(client: Client) -> list[dict]:
    """Config maps a, b, c; a and b have a color."""
    colors = {"a": {"color": "red"}, "b": {"color": "blue", "big": ""}, "c": {}}
    return [
        client.created("configmaps", config_map(name, labels=labels))
        for name, labels in colors.items()
    ]


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("color=red", ["a"]),
        ("color==blue", ["b"]),
        ("color!=red", ["b", "c"]),
        ("color", ["a", "b"]),
        ("!color", ["c"]),
        ("color in (red,blue),big", ["b"]),
        ("color notin (red)", ["b", "c"]),
    ],
)
def test_labels_select(client: Client, three, selector: str, expected: list[str]):
    query = f"labelSelector={quote(selector)}"
    found = names(client.get(f"{client.path('configmaps')}?{query}").json["items"])
    assert [name for name in found if name != "kube-root-ca.crt"] == expected


def test_a_bad_selector_is_a_bad_request(client: Client):
    bad = client.get(f"{client.path('configmaps')}?labelSelector=a%3D%3D%3Db")
    assert (bad.code, bad.json["reason"]) == (400, "BadRequest")


def test_fields_select_where_they_are_indexed(client: Client, three):
    found = client.get(f"{client.path('configmaps')}?fieldSelector=metadata.name%3Db")
    assert names(found.json["items"]) == ["b"]


@pytest.mark.parametrize(
    ("plural", "message"),
    [
        ("jobs", 'field label "spec.x" not supported for Job'),
        ("pods", "field label not supported: spec.x"),
        (
            "configmaps",
            '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
        ),
        ("jobsets", "field label not supported: spec.x"),
    ],
)
def test_other_fields_do_not(client: Client, plural: str, message: str):
    unindexed = client.get(f"{client.path(plural)}?fieldSelector=spec.x%3Dtrue")
    assert unindexed.code == 400
    assert message in unindexed.message


def test_a_token_of_nobody_is_a_bad_request(client: Client):
    assert client.get(client.path("configmaps") + "?limit=1&continue=x").code == 400


def test_pages_show_one_moment(client: Client, three):
    path = f"{client.path('configmaps')}?labelSelector=color&limit=1"
    page = client.get(path).json
    client.created("configmaps", config_map("aa", labels={"color": "late"}))
    version, seen = page["metadata"]["resourceVersion"], names(page["items"])
    while token := page["metadata"].get("continue"):
        page = client.get(f"{path}&continue={token}").json
        assert page["metadata"]["resourceVersion"] == version
        seen += names(page["items"])
    assert seen == ["a", "b"]


def test_a_page_says_how_many_are_left(client: Client):
    for name in "abcd":
        client.created("jobs", job(name))
    page = client.get(f"{client.path('jobs')}?limit=3").json
    assert page["kind"] == "JobList"
    assert page["metadata"]["remainingItemCount"] == 1


def watched(client: Client, plural: str, query: str) -> list[tuple[str, str]]:
    """What a watch of one second tells."""
    path = f"{client.path(plural)}?watch=true&timeoutSeconds=1&{query}"
    lines = client.get(path).lines
    return [(one["type"], one["object"]["metadata"].get("name", "")) for one in lines]


def test_a_watch_begins_where_a_list_ended(client: Client):
    client.created("jobs", job("before"))
    version = client.get(client.path("jobs")).json["metadata"]["resourceVersion"]
    client.created("jobs", job("t1"))
    patch = {"metadata": {"labels": {"a": "b"}}}
    client.patch(client.path("jobs", "t1"), patch, MERGE_PATCH)
    seen = watched(client, "jobs", f"resourceVersion={version}")
    # a controller may be writing the status of the one that was there before
    assert [change for change, name in seen if name == "t1"][:2] == ["ADDED", "MODIFIED"]
    assert ("ADDED", "before") not in seen


@pytest.mark.parametrize("query", ["", "resourceVersion=0"])
def test_a_watch_from_nowhere_begins_with_what_there_is(client: Client, query: str):
    client.created("jobs", job("t1"))
    assert watched(client, "jobs", query)[0] == ("ADDED", "t1")


def test_a_watcher_sees_objects_enter_and_leave_its_selection(client: Client):
    version = client.created("configmaps", config_map("a"))["metadata"]["resourceVersion"]
    path = client.path("configmaps", "a")
    client.patch(path, {"metadata": {"labels": {"q": "x"}}}, MERGE_PATCH)
    client.patch(path, {"data": {"b": "1"}}, MERGE_PATCH)
    client.patch(path, {"metadata": {"labels": {"q": "y"}}}, MERGE_PATCH)
    client.patch(path, {"data": {"b": "2"}}, MERGE_PATCH)
    seen = watched(client, "configmaps", f"resourceVersion={version}&labelSelector=q%3Dx")
    assert seen == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]


def test_what_is_deleted_is_told_with_a_later_version(client: Client):
    made = client.created("configmaps", config_map("a"))
    client.call("DELETE", client.path("configmaps", "a"))
    version = made["metadata"]["resourceVersion"]
    path = f"{client.path('configmaps')}?watch=1&timeoutSeconds=1&resourceVersion={version}"
    (event,) = client.get(path).lines
    assert event["type"] == "DELETED"
    assert int(event["object"]["metadata"]["resourceVersion"]) > int(version)


def test_bookmarks_tell_how_far_a_watch_is(client: Client):
    version = client.created("configmaps", config_map("a"))["metadata"]["resourceVersion"]
    query = "watch=1&timeoutSeconds=3&allowWatchBookmarks=true"
    path = f"{client.path('configmaps')}?{query}&resourceVersion={version}"
    lines = client.get(path).lines
    assert [line["type"] for line in lines][-1:] == ["BOOKMARK"]
    assert int(lines[-1]["object"]["metadata"]["resourceVersion"]) >= int(version)
    assert lines[-1]["object"]["kind"] == "ConfigMap"


def test_the_state_can_be_streamed(client: Client):
    client.created("jobs", job("t1"))
    query = (
        "watch=1&timeoutSeconds=2&allowWatchBookmarks=true&sendInitialEvents=true"
        "&resourceVersionMatch=NotOlderThan"
    )
    lines = client.get(f"{client.path('jobs')}?{query}").lines
    kinds = [line["type"] for line in lines]
    assert kinds[: kinds.index("BOOKMARK")].count("ADDED") >= 1
    mark = lines[kinds.index("BOOKMARK")]["object"]["metadata"]
    assert mark["annotations"] == {"k8s.io/initial-events-end": "true"}


def test_a_single_object_can_be_watched(client: Client, three):
    path = f"{client.path('configmaps')}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Db"
    assert names(line["object"] for line in client.get(path).lines) == ["b"]


def test_only_the_metadata_can_be_asked_for(client: Client, three):
    accept = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
    one = client.get(client.path("configmaps", "a"), Accept=accept).json
    assert one["kind"] == "PartialObjectMetadata"
    assert "data" not in one
    accept = accept.replace("Metadata;", "MetadataList;")
    listed = client.get(client.path("configmaps"), Accept=accept).json
    assert listed["kind"] == "PartialObjectMetadataList"


def test_a_table_of_jobs_has_the_columns_of_kubectl(client: Client):
    client.created("jobs", job("t1"))
    accept = "application/json;as=Table;v=v1;g=meta.k8s.io"
    made = client.get(client.path("jobs"), Accept=accept).json
    columns = [column["name"] for column in made["columnDefinitions"]]
    assert columns[:5] == ["Name", "Status", "Completions", "Duration", "Age"]
    assert made["rows"][0]["cells"][0] == "t1"
    assert made["rows"][0]["object"]["kind"] == "PartialObjectMetadata"


@pytest.mark.parametrize("plural", ["pods", "namespaces", "configmaps", "jobsets", "secrets"])
def test_the_columns_of_other_kinds(client: Client, plural: str):
    accept = "application/json;as=Table;v=v1;g=meta.k8s.io"
    path = "/api/v1/namespaces" if plural == "namespaces" else client.path(plural)
    made = client.get(path, Accept=accept).json
    columns = [one["name"] for one in made["columnDefinitions"] if one["priority"] == 0]
    assert (
        columns
        == {
            "pods": ["Name", "Ready", "Status", "Restarts", "Age"],
            "namespaces": ["Name", "Status", "Age"],
            "configmaps": ["Name", "Data", "Age"],
            "jobsets": ["Name", "TerminalState", "Restarts", "Completed", "Suspended", "Age"],
            "secrets": ["Name", "Type", "Data", "Age"],
        }[plural]
    )


def test_what_is_not_json_is_not_acceptable(client: Client):
    assert client.get(client.path("jobs"), Accept="text/html").code == 406


def test_discovery_names_the_kinds_in_both_forms(client: Client):
    legacy = client.get("/apis/batch/v1").json
    assert {"jobs", "jobs/status"} <= {one["name"] for one in legacy["resources"]}
    accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    found = client.get("/apis", Accept=accept).json
    groups = {item["metadata"]["name"]: item for item in found["items"]}
    jobs = next(r for r in groups["batch"]["versions"][0]["resources"] if r["resource"] == "jobs")
    assert jobs["responseKind"] == {"group": "", "version": "", "kind": "Job"}
    assert jobs["scope"] == "Namespaced"


@pytest.mark.parametrize("path", ["/apis/none/v1/things", "/api/v1/namespaces/x/none", "/nothing"])
def test_an_unknown_path_is_not_found(client: Client, path: str):
    assert client.get(path).code == 404


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/livez"])
def test_it_says_that_it_is_well(client: Client, path: str):
    assert client.get(path).body == b"ok"
