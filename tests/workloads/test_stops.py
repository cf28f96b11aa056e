"""The record of a stop, its write, and what is read of it afterwards."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.workloads.build import admission, applied, job
from webhook.model.kinds import Key
from webhook.model.workload import Cause, Evicted, Phase
from webhook.workloads.job import JobAdapter
from webhook.workloads.record import admission_of
from webhook.workloads.start import start
from webhook.workloads.stops import evicted_of, mark_ready, parse_evicted, render_evicted, stop

JOBS = JobAdapter()
LATE = Evicted(Cause.NOT_READY, 1_793_527_300.5, "", 2, 1_793_527_420.5, 1_793_527_300.5)
moments = st.integers(0, 2**41).map(lambda n: n / 256)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
records = st.builds(
    Evicted,
    st.sampled_from(Cause),
    moments,
    texts,
    st.integers(0, 2**31 - 1),
    st.none() | moments,
    st.none() | moments,
)


@given(records)
def test_what_is_written_reads_back_the_same(record):
    again = parse_evicted(render_evicted(record))
    assert again is not None
    assert render_evicted(again) == render_evicted(record)
    assert (again.cause, again.by, again.count) == (record.cause, record.by, record.count)
    assert abs(again.at - record.at) < 1e-5


def test_the_text():
    assert render_evicted(LATE) == (
        '{"reason":"not-ready","at":"2026-11-01T10:01:40.500000Z","count":2,'
        '"notBefore":"2026-11-01T10:03:40.500000Z","place":"2026-11-01T10:01:40.500000Z"}'
    )
    short = Evicted(Cause.PREEMPTED, 1_793_527_300.0, "Job team-a/urgent")
    assert render_evicted(short) == (
        '{"reason":"preempted","at":"2026-11-01T10:01:40.000000Z","by":"Job team-a/urgent"}'
    )


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "null", "7", "{}", '{"reason":"whim","at":"2026-11-01T10:01:40Z"}',
        '{"reason":"drained"}', '{"reason":"drained","at":7}',
        '{"reason":"drained","at":"2026-11-01T10:01:40Z","count":-1}',
        '{"reason":"drained","at":"2026-11-01T10:01:40Z","count":true}',
        '{"reason":"drained","at":"2026-11-01T10:01:40Z","place":"soon"}', "[" * 100_000,
    ],
)  # fmt: skip
def test_junk_is_no_record(text):
    assert parse_evicted(text) is None
    obj = job(metadata={"annotations": {Key.EVICTED: text}}, suspend=True)
    found = JOBS.read(obj, queue="ml", priority=0)
    assert (found.evicted, found.place) == (None, 1_793_527_200.0)


@pytest.mark.parametrize("notes", [None, {}, {"a/b": "1"}, {Key.EVICTED: "old", Key.HOLD: "old"}])
def test_a_stop_is_one_locked_write(notes):
    about = {"annotations": notes} if notes is not None else {}
    obj = job(metadata=about, record=None, suspend=False)
    patch = stop(obj, LATE, "not ready 2 times")
    assert patch[0].path == "/metadata/resourceVersion"
    after = applied(obj, patch)
    assert after["spec"]["suspend"] is True
    assert after["metadata"]["annotations"][Key.HOLD] == "not ready 2 times"
    assert evicted_of(after) == LATE
    assert after["metadata"]["annotations"].get("a/b") == (notes or {}).get("a/b")


def test_a_stop_without_a_hold_leaves_holds_alone():
    obj = job(metadata={"annotations": {Key.HOLD: "mine"}}, suspend=False)
    after = applied(obj, stop(obj, LATE))
    assert after["metadata"]["annotations"][Key.HOLD] == "mine"


def test_its_place_is_that_of_the_failure():
    obj = job(suspend=True, metadata={"annotations": {Key.EVICTED: render_evicted(LATE)}})
    found = JOBS.read(obj, queue="ml", priority=0)
    assert (found.place, found.evicted) == (LATE.place, LATE)


def test_who_made_room_for_somebody_keeps_its_place():
    record = Evicted(Cause.PREEMPTED, 1_793_527_300.0, "Job team-a/urgent")
    obj = job(suspend=True, metadata={"annotations": {Key.EVICTED: render_evicted(record)}})
    assert JOBS.read(obj, queue="ml", priority=0).place == 1_793_527_200.0


def test_ready_is_noted_once_and_forgives():
    obj = job(record=admission(2), suspend=False)
    obj["metadata"]["annotations"][Key.EVICTED] = render_evicted(LATE)
    patch = mark_ready(obj, 1_793_527_500.0)
    assert patch[0].path == "/metadata/resourceVersion"
    after = applied(obj, patch)
    record = admission_of(after)
    assert record is not None
    assert record.ready_at == "2026-11-01T10:05:00.000000Z"
    assert Key.EVICTED not in after["metadata"]["annotations"]
    assert JOBS.read(after, queue="ml", priority=0).ready_at == 1_793_527_500.0
    assert mark_ready(after, 1_793_527_600.0) == ()
    assert mark_ready(job(suspend=False), 0.0) == ()


def test_when_it_started_and_when_not():
    recorded = job(record=admission(1), suspend=False, status={"startTime": "2026-11-01T11:00:00Z"})
    assert JOBS.read(recorded, queue="ml", priority=0).started_at == 1_793_527_201.0
    bypassed = job(suspend=False, status={"startTime": "2026-11-01T11:00:00Z"})
    assert JOBS.read(bypassed, queue="ml", priority=0).started_at == 1_793_530_800.0
    waiting = job(record=admission(1), suspend=True, conditions=("Suspended",))
    found = JOBS.read(waiting, queue="ml", priority=0)
    assert (found.phase, found.started_at) == (Phase.WAITING, None)


def test_a_start_forgets_that_the_one_before_was_ready():
    obj = applied(job(record=admission(1), suspend=True), ())
    obj = applied(obj, mark_ready(obj, 1_793_527_500.0))
    after = applied(obj, start(JOBS, obj, admission(1), {}))
    assert JOBS.read(after, queue="ml", priority=0).ready_at is None


def test_a_start_notes_what_had_succeeded_before():
    obj = job(suspend=True, status={"succeeded": 5}, completions=9, parallelism=2)
    after = applied(obj, start(JOBS, obj, admission(2), {}))
    assert json.loads(after["metadata"]["annotations"][Key.ADMISSION])["podSets"][0]["done"] == 5
