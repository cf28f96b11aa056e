"""Requests become the right bytes, and every failure the right exception."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.client.scripted import Script, answer, job, listed, served, status, stream
from webhook.cluster import errors
from webhook.cluster.access import Access
from webhook.cluster.client import Client
from webhook.cluster.decode import SLICE, read_list
from webhook.model.kinds import JOB, NAMESPACE
from webhook.model.patch import Op


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (400, errors.ApiError),
        (401, errors.Forbidden),
        (403, errors.Forbidden),
        (404, errors.NotFound),
        (409, errors.Conflict),
        (410, errors.Gone),
        (422, errors.Invalid),
        (429, errors.TooManyRequests),
        (500, errors.Unavailable),
        (504, errors.Unavailable),
    ],
)
async def test_each_status_has_its_exception(code, expected):
    script = Script(others=[answer(status(code, message="no"), status=code)])
    async with served(script) as client:
        with pytest.raises(errors.ApiError) as caught:
            await client.get(JOB, "n", "a")
    assert type(caught.value) is expected
    assert caught.value.code == code


async def test_a_message_that_dumps_a_template_is_cut_and_its_causes_are_kept():
    dump = "x" * 5000
    body = status(
        422, message=dump, details={"causes": [{"field": "spec.template", "message": dump}]}
    )
    async with served(Script(others=[answer(body, status=422)])) as client:
        with pytest.raises(errors.Invalid) as caught:
            await client.patch(JOB, "n", "a", (Op("remove", "/spec/x"),))
    assert len(str(caught.value)) == errors.LONGEST_TEXT
    assert caught.value.causes[0].field == "spec.template"
    assert len(caught.value.causes[0].message) == errors.LONGEST_TEXT
    assert caught.value.describe().endswith("(fields: spec.template)")


@pytest.mark.parametrize("body", ["<html>bad gateway</html>", "", "[1]", '{"kind":"Job"}'])
async def test_an_error_that_is_no_status_is_survived(body):
    async with served(Script(others=[answer(body, status=502)])) as client:
        with pytest.raises(errors.Unavailable):
            await client.get(JOB, "n", "a")


async def test_too_many_requests_says_when_to_come_back():
    script = Script(others=[answer(status(429), status=429, headers={"Retry-After": "7"})])
    async with served(script) as client:
        with pytest.raises(errors.TooManyRequests) as caught:
            await client.get(JOB, "n", "a")
    assert caught.value.retry_after_seconds == 7


async def test_a_patch_is_locked_by_the_version_and_names_its_manager():
    script = Script(others=[answer(job("a", 2))])
    async with served(script) as client:
        await client.patch(
            JOB, "n", "a", (Op("replace", "/spec/suspend", False),), resource_version="1"
        )
    request = script.seen[0]
    assert request.path == "/apis/batch/v1/namespaces/n/jobs/a"
    assert request.query["fieldManager"] == "tidegate"
    assert request.content_type == "application/json-patch+json"
    assert json.loads(script.bodies[0]) == [
        {"op": "replace", "path": "/metadata/resourceVersion", "value": "1"},
        {"op": "replace", "path": "/spec/suspend", "value": False},
    ]


async def test_delete_can_be_tied_to_one_uid():
    script = Script(others=[answer(status(200))])
    async with served(script) as client:
        await client.delete(JOB, "n", "a", uid="u")
    assert json.loads(script.bodies[0])["preconditions"] == {"uid": "u"}


async def test_kinds_without_a_namespace_have_their_own_paths():
    script = Script(others=[answer(job("n", 1))])
    async with served(script) as client:
        await client.get(NAMESPACE, "", "n")
        await client.merge(NAMESPACE, "", "n", {"metadata": {"labels": {"a": "b"}}})
    assert [r.path for r in script.seen] == ["/api/v1/namespaces/n"] * 2


async def test_nobody_listening_is_unavailable():
    async with Client(Access(server="http://127.0.0.1:1")) as client:
        with pytest.raises(errors.Unavailable):
            await client.get(JOB, "n", "a")


async def test_a_connection_that_breaks_is_unavailable():
    async with served(Script(others=[stream(b'{"a"', cut=True)])) as client:
        with pytest.raises(errors.Unavailable):
            await client.get(JOB, "n", "a")


async def test_no_answer_in_time_is_unavailable():
    async with served(Script(others=[stream(hang=True)])) as client:
        with pytest.raises(errors.Unavailable):
            await client.get(JOB, "n", "a", seconds=0.1)


async def test_a_list_is_read_in_pages():
    script = Script(
        lists=[listed(job("a", 1), version=5, rest="more"), listed(job("b", 2), version=5)]
    )
    async with served(script) as client:
        pages = [page async for page in client.pages(JOB, label_selector="x")]
    assert [[i["metadata"]["name"] for i in page.items] for page in pages] == [["a"], ["b"]]
    assert [r.query.get("continue") for r in script.seen] == [None, "more"]
    assert {r.query["limit"] for r in script.seen} == {"500"}
    assert {r.query["labelSelector"] for r in script.seen} == {"x"}


async def test_an_expired_page_is_gone():
    script = Script(lists=[listed(version=5, rest="m"), answer(status(410), status=410)])
    async with served(script) as client:
        with pytest.raises(errors.Gone):
            _ = [page async for page in client.pages(JOB)]


@pytest.mark.parametrize("order", [("metadata", "items"), ("items", "metadata")])
@pytest.mark.parametrize("indent", [None, 1])
async def test_a_long_list_is_decoded_in_slices_that_let_others_run(order, indent):
    items = [{"metadata": {"name": f'n{i}"items":[', "pad": "ü" * 3000}} for i in range(800)]
    whole = {"metadata": {"resourceVersion": "7"}, "items": items}
    body = json.dumps({key: whole[key] for key in order}, indent=indent, ensure_ascii=False)
    assert len(body) > 4 * SLICE
    turns = 0

    async def others():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(others())
    read, meta = await read_list(body.encode())
    task.cancel()
    assert (read, meta) == (items, {"resourceVersion": "7"})
    assert turns >= 4


@pytest.mark.parametrize("tail", ["", "1", "]}", '{"a":', "]"])
async def test_a_long_list_that_is_cut_off_is_unavailable(tail):
    body = '{"metadata":{},"items":[' + '{"pad":"' + "x" * SLICE + '"},' + tail
    body = body if tail != "]}" else '{"items":[' + '{"pad":"' + "x" * SLICE + '"}]}'
    with pytest.raises(errors.Unavailable):
        await read_list(body.encode())
