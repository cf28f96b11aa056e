"""The record of a start: written, read back the same, and no junk ever raises."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.workloads.build import admission, assigned, job
from webhook.model.kinds import Key
from webhook.model.quantity import LARGEST
from webhook.model.workload import Admission, Assigned, Injected
from webhook.workloads.record import (
    admission_of,
    injected_into,
    parse_admission,
    render_admission,
)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
maps = st.dictionaries(texts, texts, max_size=3)
amounts = st.dictionaries(
    st.sampled_from(["cpu", "memory", "pods", "nvidia.com/gpu"]), st.integers(0, LARGEST)
)
tolerations = st.lists(st.fixed_dictionaries({"key": texts, "operator": texts}), max_size=2)
injections = st.builds(Injected, maps, tolerations.map(tuple))
counts = st.integers(0, 2**31 - 1)
pod_sets = st.builds(Assigned, texts, counts, maps, amounts, injections, counts)
admissions = st.builds(
    Admission, texts, st.lists(pod_sets, max_size=3).map(tuple), texts, texts, texts
)

GOOD = json.loads(render_admission(admission(2, nodes={"gpu": "a100"})))


@given(admissions)
def test_what_is_written_reads_back_the_same(record):
    assert parse_admission(render_admission(record)) == record


@given(admissions)
def test_the_same_record_is_always_the_same_text(record):
    again = parse_admission(render_admission(record))
    assert again is not None
    assert render_admission(again) == render_admission(record)
    assert "\n" not in render_admission(record)


def test_the_text_is_compact_and_its_amounts_are_quantities():
    record = admission(2, flavor="a100", nodes={"gpu": "a100"}, tolerations=({"key": "gpu"},))
    assert render_admission(record) == (
        '{"queue":"ml","at":"2026-11-01T10:00:01Z","revision":"r1","podSets":[{"name":"main",'
        '"count":2,"flavors":{"cpu":"a100"},"amounts":{"cpu":"2"},"nodes":{"gpu":"a100"},'
        '"tolerations":[{"key":"gpu"}]}]}'
    )


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "null", "true", "3", '"text"', "[]", "{}", "{", "\ud800", "NaN"),
        "[" * 100_000,
        '{"a":' * 100_000,
        '{"podSets":' + "[" * 100_000,
        "9" * 10_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_junk_is_no_record(text):
    assert parse_admission(text) is None


@pytest.mark.parametrize("key", ["queue", "at", "revision", "podSets"])
@pytest.mark.parametrize("value", [None, 3, [], {}, [3], ["x"], [[]], {"a": 1}])
def test_a_record_with_a_field_of_the_wrong_type_is_none(key, value):
    record = parse_admission(json.dumps(GOOD | {key: value}))
    assert record is None or (key == "podSets" and not value and record.pod_sets == ())


def test_a_record_that_lacks_a_field_is_none():
    for key in GOOD:
        assert parse_admission(json.dumps({k: v for k, v in GOOD.items() if k != key})) is None


WRONG: dict[str, list[object]] = {
    "name": [None, 3, [], {}],
    "count": [None, True, -1, 1.0, "2", 2**31, 10**300, [], {}],
    "flavors": [None, [], "x", {"cpu": 3}, {"cpu": None}],
    "amounts": [None, [], {"cpu": 3}, {"cpu": "1K"}, {"cpu": "-1"}, {"cpu": []}, {"cpu": "9" * 60}],
    "nodes": [None, [], "x", {"gpu": 3}],
    "tolerations": [None, 3, "x", [3], [["ab"]], ["ab"]],
}


@pytest.mark.parametrize(
    ("key", "value"),
    [(key, value) for key, values in WRONG.items() for value in values],
    ids=lambda value: repr(value)[:20],
)
def test_a_pod_set_with_a_field_of_the_wrong_type_makes_it_none(key, value):
    body = GOOD | {"podSets": [GOOD["podSets"][0] | {key: value}]}
    assert parse_admission(json.dumps(body)) is None


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)


@given(st.sampled_from([*GOOD["podSets"][0], *GOOD, "nodes", "tolerations"]), junk)
def test_no_json_anywhere_in_it_raises(key, value):
    parse_admission(json.dumps(GOOD | {key: value}))
    parse_admission(json.dumps(GOOD | {"podSets": [GOOD["podSets"][0] | {key: value}]}))
    parse_admission(json.dumps(value))


def test_a_record_with_fields_of_a_later_version_is_still_read():
    assert parse_admission(json.dumps(GOOD | {"later": 1})) == parse_admission(json.dumps(GOOD))


def test_an_object_bears_its_record_in_an_annotation():
    assert admission_of(job(record=admission(3))) == admission(3)
    assert admission_of(job()) is None
    assert admission_of({}) is None
    assert admission_of(job(metadata={"annotations": {Key.ADMISSION: 3}})) is None


def test_what_was_injected_is_told_by_pod_set():
    record = Admission("ml", (assigned(name="a", nodes={"x": "1"}), assigned(name="b")), "", "")
    assert injected_into(record, "a") == Injected({"x": "1"})
    assert injected_into(record, "b") == injected_into(record, "c") == Injected()
    assert injected_into(None, "a") == Injected()
