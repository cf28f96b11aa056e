"""Operations against the independent ``jsonpatch``: the document then holds what was put, and nothing else moved."""

import copy
import json
from collections.abc import Mapping
from typing import Any

import jsonpatch
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from webhook.model.patch import NO_PATCH, Op, drop, pointer, put

QUEUE = ("metadata", "annotations", "tidegate.dev/queue")

keys = st.sampled_from(["a", "b", "x.io/queue", "~", "/", "~1", "a~0/b", "", "0", "ключ"])
scalars = st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=4)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3)
)
documents = st.dictionaries(keys, values, max_size=4)
paths = st.lists(keys, min_size=1, max_size=4).map(tuple)


def applied(document: Any, patch: tuple[Op, ...]) -> Any:
    """By another's hand, from the text that goes over the wire."""
    return jsonpatch.JsonPatch.from_string(json.dumps([op.as_json() for op in patch])).apply(
        document
    )


def expected(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """The same by plain assignment."""
    result = here = copy.deepcopy(document)
    for part in path[:-1]:
        if not isinstance(here.get(part), dict):
            here[part] = {}
        here = here[part]
    here[path[-1]] = value
    return result


def leads_through_a_list(document: Any, path: tuple[Any, ...]) -> bool:
    for part in path:
        if isinstance(document, list):
            return True
        document = document.get(part) if isinstance(document, Mapping) else None
    return False


@given(documents, paths, values)
def test_after_a_put_the_document_holds_the_value_and_nothing_else_has_changed(
    document, path, value
):
    assume(not leads_through_a_list(document, path))
    result = applied(document, put(document, path, value))
    assert json.dumps(result, sort_keys=True) == json.dumps(
        expected(document, path, value), sort_keys=True
    )


@given(documents, paths, values)
def test_what_is_put_again_needs_no_operation(document, path, value):
    assume(not leads_through_a_list(document, path))
    assert put(expected(document, path, value), path, value) == NO_PATCH


@given(documents, paths)
def test_after_a_drop_the_key_is_gone_and_its_siblings_stay(document, path):
    patch = drop(document, path)
    result, here, want = applied(document, patch), document, copy.deepcopy(document)
    for part in path[:-1]:
        here = here.get(part) if isinstance(here, dict) else None
    if not isinstance(here, dict) or path[-1] not in here:
        assert patch == NO_PATCH
    else:
        there = want
        for part in path[:-1]:
            there = there[part]
        del there[path[-1]]
    assert result == want


@given(documents, paths, values)
def test_neither_put_nor_drop_touches_the_document_it_reads(document, path, value):
    before = copy.deepcopy(document)
    if not leads_through_a_list(document, path):
        put(document, path, value)
    drop(document, path)
    assert document == before


def test_absent_maps_are_added_whole():  # R58
    (op,) = put({"metadata": {"name": "x"}}, QUEUE, "ml")
    assert op.as_json() == {
        "op": "add",
        "path": "/metadata/annotations",
        "value": {"tidegate.dev/queue": "ml"},
    }


@pytest.mark.parametrize("there", [{}, {"metadata": {}}, {"metadata": {"annotations": None}}])
def test_whatever_of_the_way_is_missing_the_annotation_arrives(there):
    result = applied(there, put(there, QUEUE, "ml"))
    assert result["metadata"]["annotations"] == {"tidegate.dev/queue": "ml"}


def test_existing_annotations_survive():  # R58
    there = {"metadata": {"annotations": {"a/b": "1", "c~d": "2", "~1": "3"}}}
    result = applied(there, put(there, QUEUE, "ml"))
    assert result["metadata"]["annotations"] == {
        **there["metadata"]["annotations"],
        "tidegate.dev/queue": "ml",
    }


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        (("metadata", "a/b"), "/metadata/a~1b"),
        (("~1", "~0"), "/~01/~00"),
        (("spec", "replicatedJobs", 0, "template"), "/spec/replicatedJobs/0/template"),
        (("",), "/"),
        ((), ""),
    ],
)
def test_pointers_escape_the_tilde_first(parts, text):
    assert pointer(*parts) == text


def test_items_of_a_list_are_reached_by_their_index():
    there = {"jobs": [{"name": "a"}, {"name": "b", "labels": {"x": "1"}}]}
    patch = put(there, ("jobs", 0, "labels", "q"), "ml") + put(
        there, ("jobs", 1, "labels", "q"), "ml"
    )
    assert applied(there, patch) == {
        "jobs": [
            {"name": "a", "labels": {"q": "ml"}},
            {"name": "b", "labels": {"x": "1", "q": "ml"}},
        ]
    }
    assert drop(there, ("jobs", 2)) == NO_PATCH
    assert applied(there, drop(there, ("jobs", 0))) == {"jobs": there["jobs"][1:]}


def test_a_null_in_a_list_is_replaced_and_not_pushed_aside():
    there: dict[str, Any] = {"jobs": [None, {"name": "b"}]}
    result = applied(there, put(there, ("jobs", 0, "name"), "a"))
    assert result == {"jobs": [{"name": "a"}, {"name": "b"}]}


def test_true_is_not_one_at_any_depth():
    for value in (True, [True], {"x": True}):
        as_number = json.loads(json.dumps(value).replace("true", "1"))
        assert put({"a": as_number}, ("a",), value) != NO_PATCH
        assert put({"a": value}, ("a",), value) == NO_PATCH


def test_an_empty_path_is_a_mistake_of_the_caller():
    with pytest.raises(ValueError, match="empty path"):
        put({}, (), 1)


def test_a_removal_has_no_value_and_a_null_has_one():
    assert Op("remove", "/a").as_json() == {"op": "remove", "path": "/a"}
    assert Op("add", "/a", None).as_json() == {"op": "add", "path": "/a", "value": None}
