"""JSON and merge patches: against jsonpatch as the oracle, and the laws of both."""

from __future__ import annotations

import copy
from typing import Any

import jsonpatch
import pytest
from hypothesis import given
from hypothesis import strategies as st

from webhook.model.json_patch import same
from webhook.sandbox.patching import json_patch, merge_patch
from webhook.sandbox.status import StatusError

KEYS = st.sampled_from(["a", "b/c", "d~e", "", "0"])
LEAVES = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "x", "y"])
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)


@given(OBJECTS, OBJECTS)
def test_a_patch_made_by_jsonpatch_leads_from_one_to_the_other(old, new):
    before = copy.deepcopy(old)
    assert same(json_patch(old, jsonpatch.make_patch(old, new).patch), new)
    assert same(old, before)


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: without_nulls(v) for k, v in value.items() if v is not None}
    return value


@given(OBJECTS, OBJECTS)
def test_a_merge_patch_is_idempotent_and_leaves_the_old_alone(old, patch):
    before = copy.deepcopy(old)
    once = merge_patch(old, patch)
    assert same(merge_patch(once, patch), once)
    assert same(old, before)


@given(OBJECTS)
def test_an_object_merged_into_nothing_is_itself_without_nulls(new):
    assert same(merge_patch({}, new), without_nulls(new))


def apply(document: Any, **operation: Any) -> Any:
    if "source" in operation:
        operation["from"] = operation.pop("source")
    return json_patch(document, [operation])


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ({"op": "add", "path": "/l/-", "value": 3}, {"l": [1, 2, 3]}),
        ({"op": "add", "path": "/l/0", "value": 0}, {"l": [0, 1, 2]}),
        ({"op": "add", "path": "/l/2", "value": 3}, {"l": [1, 2, 3]}),
        ({"op": "replace", "path": "/l/-1", "value": 9}, {"l": [1, 9]}),
        ({"op": "remove", "path": "/l/0"}, {"l": [2]}),
        ({"op": "move", "source": "/l/0", "path": "/l/1"}, {"l": [2, 1]}),
        ({"op": "copy", "source": "/l", "path": "/m"}, {"l": [1, 2], "m": [1, 2]}),
        ({"op": "test", "path": "/none", "value": None}, {"l": [1, 2]}),
        ({"op": "replace", "path": "", "value": {"x": 1}}, {"x": 1}),
    ],
)
def test_operations(operation, expected):
    assert apply({"l": [1, 2]}, **operation) == expected


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "add", "path": "/none/x", "value": 1},
        {"op": "add", "path": "/l/3", "value": 1},
        {"op": "add", "path": "/l/x", "value": 1},
        {"op": "add", "path": "l", "value": 1},
        {"op": "add", "path": "/x"},
        {"op": "remove", "path": "/none"},
        {"op": "remove", "path": ""},
        {"op": "remove", "path": "/l/2"},
        {"op": "test", "path": "/l/0", "value": True},
        {"op": "test", "path": "/none/x", "value": None},
        {"op": "move", "source": "/l", "path": "/l/0"},
        {"op": "frob", "path": "/l"},
    ],
)
def test_what_does_not_apply_has_one_message(operation):
    with pytest.raises(StatusError, match="the server rejected our request due to an error"):
        apply({"l": [1, 2]}, **operation)
