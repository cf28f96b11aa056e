"""Manifests as kubectl reads them, each with its place; what is none is told with file, document and line."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from webhook.rehearsal.manifests import MOST_CHARACTERS, BadManifests, Manifest, read_manifests

ONE = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n"
TWO = ONE.replace("one", "two")

leaves = (
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=6)
    | st.sampled_from(["yes", "0777", "1:30", "2020-01-01", "~", "null", "1e3", "0x1f", "-", "=", "<<"])
)  # fmt: skip
values = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=10,
)


def objects(text: str) -> list[dict[str, Any]]:
    return [each.object for each in read_manifests("f.yaml", text)]


def flaws(text: str) -> list[str]:
    with pytest.raises(BadManifests) as caught:
        read_manifests("f.yaml", text)
    return [flaw.text for flaw in caught.value.flaws]


def names(found: tuple[Manifest, ...]) -> list[tuple[str, str, int]]:
    return [(each.object["metadata"]["name"], each.place, each.document) for each in found]


def test_documents_that_hold_nothing_are_passed_over_as_helm_leaves_them() -> None:
    text = f"---\n# Source: chart/a.yaml\n---\n{ONE}---\n---\n# nothing\n---\n{TWO}...\n"
    assert names(read_manifests("f.yaml", text)) == [
        ("one", "f.yaml:4", 2),
        ("two", "f.yaml:11", 5),
    ]
    assert read_manifests("f.yaml", "") == read_manifests("f.yaml", "# only\n---\n") == ()


def test_a_list_is_its_items_each_at_its_line() -> None:
    items = "".join("- " + each.replace("\n", "\n  ").rstrip() + "\n" for each in (ONE, TWO))
    found = read_manifests("f.yaml", f"apiVersion: v1\nkind: List\nitems:\n{items}")
    assert names(found) == [("one", "f.yaml:4", 1), ("two", "f.yaml:7", 1)]


def test_json_one_after_the_other_and_lists_of_it() -> None:
    one, two = (yaml.safe_load(each) for each in (ONE, TWO))
    text = (
        json.dumps(one, indent=1)
        + "\n"
        + json.dumps({"apiVersion": "v1", "kind": "List", "items": [two]})
    )
    found = read_manifests("f.json", text)
    assert [each.object for each in found] == [one, two]
    assert [(each.line, each.document) for each in found] == [(1, 1), (8, 2)]


def test_what_looks_like_json_may_be_yaml() -> None:
    assert objects("{apiVersion: v1, kind: ConfigMap, metadata: {name: one}}") == objects(ONE)


def test_anchors_and_merges_are_written_out() -> None:
    text = f"{ONE}a: &a {{x: 1, y: 2}}\nb: *a\nc: {{<<: *a, y: 3}}\nd: {{<<: [{{x: 0}}, *a]}}\n"
    (found,) = objects(text)
    assert (found["b"], found["c"], found["d"]) == (
        {"x": 1, "y": 2},
        {"x": 1, "y": 3},
        {"x": 0, "y": 2},
    )


def test_values_are_those_the_api_server_would_see() -> None:
    (found,) = objects(
        ONE + "d: 2020-01-01\nn: 0777\ns: 1:30\nf: 1.5\nb: on\nh: 0x10\n1: x\ntrue: y\n"
    )
    del found["apiVersion"], found["kind"], found["metadata"]
    assert found == {
        "d": "2020-01-01", "n": 511, "s": "1:30", "f": 1.5, "b": True, "h": 16, "1": "x", "true": "y",
    }  # fmt: skip


@given(values)
def test_what_was_written_is_read_back(value: Any) -> None:
    one = yaml.safe_load(ONE) | {"data": value}
    assert objects(json.dumps(one)) == [one]
    assert objects(yaml.safe_dump(one)) == [one]


@pytest.mark.parametrize(
    ("text", "flaw"),
    [
        (ONE + "kind: Job\n", "f.yaml:4: document 1: `kind` stands twice in one map"),
        ('{"a": 1,\n "b": {"a": 1, "a": 2}}', "f.yaml:1: `a` stands twice in one map"),
        (f"{ONE}---\nhello\n", "f.yaml:5: document 2: not an object but a text"),
        (f"{ONE}---\n- a\n", "f.yaml:5: document 2: not an object but a list"),
        ("apiVersion: v1\nmetadata: {name: x}\n", "f.yaml:1: document 1: no kind"),
        ("kind: Job\nmetadata: {name: x}\n", "f.yaml:1: document 1: no apiVersion"),
        ("kind: Job\napiVersion: batch/v1\n", "f.yaml:1: document 1: metadata is missing, or not a map"),
        (ONE.replace("name: one", "nme: x"), "f.yaml:1: document 1: no metadata.name"),
        (ONE.replace("one", "one, namespace: 1"), "f.yaml:1: document 1: metadata.namespace is not a text"),
        (ONE + "a: [1\nb: 2\n", "f.yaml:5: document 1: not YAML: did not find expected ',' or ']'"),
        (ONE + "---\n\ta: b\n", "f.yaml:5: document 2: not YAML: found character that cannot start any token"),
        (ONE + "a: .nan\n", "f.yaml:4: document 1: `.nan` is no number"),
        (ONE + "a: !!python/name:os.system x\n", "f.yaml:4: document 1: the tag !!python/name:os.system is nothing"),
        (ONE + "? [a]\n: b\n", "f.yaml:4: document 1: a key that is neither a text nor a number"),
        (ONE + "a: {<<: 1}\n", "f.yaml:4: document 1: `<<` takes a map, or a list of maps"),
        ("{{- if .Values.x }}\n", "f.yaml:1: document 1: not YAML: did not find expected ',' or '}'"),
    ],
)  # fmt: skip
def test_a_document_that_is_no_object_is_told_with_its_place(text: str, flaw: str) -> None:
    assert flaws(text)[0].startswith(flaw.partition(": did not")[0])


def test_all_that_is_wrong_is_told_at_once() -> None:
    assert flaws(f"a: 1\n---\n{ONE}---\n- b\n") == [
        "f.yaml:1: document 1: no apiVersion",
        "f.yaml:7: document 3: not an object but a list",
    ]


def test_a_bomb_of_aliases_is_refused_before_it_goes_off() -> None:
    levels = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 15))
    (flaw,) = flaws(f"{ONE}a0: &a0 [x, x]\n{levels}")
    assert flaw.endswith("larger than 32 MiB with its aliases written out")
    keys = "".join(f"a{n}: &a{n} {{x: *a{n - 1}, y: *a{n - 1}}}\n" for n in range(1, 40))
    assert "32 MiB" in flaws(f"{ONE}a0: &a0 {{x: 1}}\n{keys}")[0]
    assert "holds itself" in flaws(f"{ONE}a: &a [*a]\n")[0]


@pytest.mark.parametrize(
    "text", ["a: " + "[" * 100_000, '{"a":' * 100_000, '{"a":' * 300 + "1" + "}" * 300]
)
def test_what_is_nested_without_end_is_refused(text: str) -> None:
    assert "nest" in flaws(text)[0]


def test_what_is_too_long_is_refused_unread() -> None:
    assert flaws("#" * (MOST_CHARACTERS + 1)) == ["f.yaml:1: longer than 32 MiB"]


@given(st.text(alphabet=st.sampled_from("a:-[]{}&*<!|>'\"\n \t#1.0%@`?,"), max_size=40))
def test_any_text_is_objects_or_flaws(text: str) -> None:
    try:
        found = read_manifests("f.yaml", text)
    except BadManifests as error:
        assert all(1 <= flaw.line <= text.count("\n") + 1 for flaw in error.flaws)
    else:
        assert all(isinstance(each.object["kind"], str) for each in found)
