"""What the sandbox does not do it refuses, and docs/sandbox.md says so: line by line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.apiservers import (
    APPLY_PATCH,
    STRATEGIC_PATCH,
    Answer,
    Client,
    config_map,
    running_sandbox,
)

PAGE = Path(__file__).parents[2] / "docs" / "sandbox.md"
MARKER = "test_refusals.py holds this list"
PROTOBUF = "application/vnd.kubernetes.protobuf"


@pytest.fixture(scope="module")
def alone() -> Iterator[Client]:
    with running_sandbox(players=False) as sandbox:
        yield Client(sandbox, "default")


def raw(client: Client, body: bytes, kind: str) -> Answer:
    return client.send("POST", client.path("configmaps"), body, kind)


def _unread_field() -> bytes:
    """A ConfigMap with metadata and a field 9 that does not exist."""
    type_meta = b"\x0a\x02v1\x12\x09ConfigMap"
    return b"k8s\x00\x0a" + bytes([len(type_meta)]) + type_meta + b"\x12\x02\x48\x01"


REFUSALS: dict[str, tuple[int, str, Callable[[Client], Answer]]] = {
    "server-side apply": (
        415,
        "server-side apply (application/apply-patch+yaml) is not served by the sandbox",
        lambda c: c.patch(c.path("configmaps", "a"), config_map("a"), APPLY_PATCH),
    ),
    "a strategic merge patch of a JobSet": (
        415,
        "accepted media types include: application/json-patch+json",
        lambda c: c.patch(c.path("jobsets", "a"), {}, STRATEGIC_PATCH),
    ),
    "a list with `resourceVersionMatch=Exact`": (
        400,
        "resourceVersionMatch=Exact is not served by the sandbox",
        lambda c: c.get(c.path("jobs") + "?resourceVersion=1&resourceVersionMatch=Exact"),
    ),
    "a field of a protobuf body": (
        415,
        "field 9 of ConfigMap is not read from protobuf by the sandbox; send JSON",
        lambda c: raw(c, _unread_field(), PROTOBUF),
    ),
    "CBOR": (
        415,
        "unknown format (application/cbor)",
        lambda c: raw(c, b"\xa0", "application/cbor"),
    ),
    "answers in protobuf only": (
        406,
        "only the following media types are accepted: application/json",
        lambda c: c.get(c.path("jobs"), Accept=PROTOBUF),
    ),
    "any kind that is not listed above": (
        404,
        "the server could not find the requested resource",
        lambda c: c.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions"),
    ),
    "`exec`, `log`": (
        404,
        "the server could not find the requested resource",
        lambda c: c.get(c.path("pods", "a") + "/log"),
    ),
}


def documented() -> list[str]:
    lines = PAGE.read_text(encoding="utf-8").partition(MARKER)[2].partition("\n## ")[0]
    return [line.removeprefix("- ") for line in lines.splitlines() if line.startswith("- ")]


@pytest.mark.parametrize("what", REFUSALS)
def test_it_is_refused_with_words_that_help(alone: Client, what: str):
    code, words, request = REFUSALS[what]
    answer = request(alone)
    assert answer.code == code
    assert answer.json["kind"] == "Status"
    assert words in answer.message


def test_the_page_lists_what_is_refused_and_nothing_else():
    lines = documented()
    assert len(lines) == len(REFUSALS)
    for line, (what, (code, _, _)) in zip(lines, REFUSALS.items(), strict=True):
        assert line.startswith(what)
        assert f": {code}" in line
