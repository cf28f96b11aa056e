"""Fields that anybody may have written."""

from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.workloads.build import condition, job
from webhook.model.kinds import Key
from webhook.workloads.objects import (
    BadObject,
    count,
    is_true,
    labels,
    mapping,
    notes,
    ordinal,
    place_in_line,
    read_time,
    sequence,
    write_time,
)


def test_what_is_absent_or_null_is_empty():
    for there in ({}, {"x": None}):
        assert mapping(there, "x") == {}
        assert sequence(there, "x") == []
        assert count(there, "x", 7) == 7
    assert labels({}) == notes({}) == notes({"metadata": None}) == {}


WRONG: dict[Any, list[object]] = {
    mapping: [[], "x", 1, True],
    sequence: [{}, "x", 1, [1], [None], [[]], ({},)],
    partial(count, default=0): [-1, "1", 1.0, True, [], {}],
}


@pytest.mark.parametrize(
    ("ask", "value"), [(ask, value) for ask, values in WRONG.items() for value in values]
)
def test_a_wrong_type_is_an_error_with_the_path(ask, value):
    with pytest.raises(BadObject) as caught:
        ask({"x": value}, "x", path="spec")
    assert caught.value.path == "spec.x"
    assert str(caught.value).startswith("spec.x: want ")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("12", 12),
        ("007", 7),
        *((text, None) for text in ("", "-1", "+1", " 1", "1_0", "٣", "²", "1.0", "9" * 5000)),
    ],
)
def test_an_ordinal_is_plain_digits(text, number):
    assert ordinal(text) == number


def test_a_condition_counts_only_at_true():
    obj = {
        "status": {"conditions": [condition("A"), condition("B=False"), condition("C=true"), {}]}
    }
    assert is_true(obj, "B", "A")
    assert not is_true(obj, "B", "C", "D")
    assert not is_true({}, "A")


@given(st.floats(0, 4e9))
def test_a_stamp_reads_back_to_the_microsecond(moment):
    again = read_time(write_time(moment))
    assert again is not None
    assert abs(again - moment) < 1e-6
    assert write_time(again) == write_time(moment)


def test_a_stamp_is_rfc_3339_with_microseconds():
    assert write_time(0.25) == "1970-01-01T00:00:00.250000Z"
    assert read_time("1970-01-01T01:00:00+01:00") == 0.0
    assert read_time("1970-01-01T00:00:01") == 1.0


@given(st.text(max_size=30) | st.integers() | st.none() | st.lists(st.text()))
def test_what_is_no_time_is_none(value):
    found = read_time(value)
    assert found is None or isinstance(found, float)


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59.999999-23:59"])
def test_the_ends_of_time_do_not_overflow(text):
    assert isinstance(read_time(text), float)


def test_the_place_is_the_stamp_else_the_creation_else_the_very_first():
    stamp = {"annotations": {Key.SUBMITTED: "1970-01-01T00:00:01Z"}}
    assert place_in_line(job(metadata=stamp)) == 1.0
    junk = {"annotations": {Key.SUBMITTED: "soon"}, "creationTimestamp": "1970-01-01T00:00:02Z"}
    assert place_in_line(job(metadata=junk)) == 2.0
    assert place_in_line({"metadata": {"creationTimestamp": 5}}) == 0.0
