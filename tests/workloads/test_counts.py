"""Jobs that start with fewer pods than asked, and what is kept of the number that was."""

from typing import Any

import pytest

from tests.workloads.build import admission, applied, job
from webhook.model.kinds import Key, Object
from webhook.model.workload import Workload
from webhook.workloads.counts import render_wanted, wanted_of
from webhook.workloads.job import JobAdapter
from webhook.workloads.objects import BadObject
from webhook.workloads.start import grow, start

ADAPTER = JobAdapter()


def elastic(fewest: str | None = "2", wanted: str | None = None, **spec: Any) -> Object:
    notes = {} if fewest is None else {Key.MIN_PARALLELISM: fewest}
    if wanted is not None:
        notes[Key.WANTED] = wanted
    return job(metadata={"annotations": notes}, **{"suspend": True, **spec})


def read(obj: Object) -> Workload:
    return ADAPTER.read(obj, queue="ml", priority=0)


def started(obj: Object, pods: int) -> Object:
    return applied(obj, start(ADAPTER, obj, admission(pods), {}))


def shape(obj: Object) -> tuple[object, object, object]:
    spec = obj["spec"]
    return spec.get("parallelism"), spec.get("completions"), dict(wanted_of(obj))


def test_how_few_will_do_is_read_while_it_waits():
    (pods,) = read(elastic(parallelism=8)).asks
    assert (pods.count, pods.min_count, pods.fewest) == (8, 2, 2)
    (pods,) = read(elastic(parallelism=8, completions=9, status={"succeeded": 8})).asks
    assert (pods.count, pods.fewest) == (1, 1)
    (pods,) = read(elastic(parallelism=8, suspend=False)).asks
    assert pods.min_count is None


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "two", "", "1e3", "٣", "99999999999"])
def test_junk_is_refused_at_submission_and_says_nothing_later(text):
    obj = elastic(text, parallelism=8)
    with pytest.raises(BadObject, match=r"min-parallelism\]: want a number from 1 up"):
        ADAPTER.pod_sets(obj)
    assert read(obj).asks[0].min_count is None


def test_the_start_in_part_lowers_parallelism_alone():
    obj = elastic(parallelism=8, completions=8, completionMode="Indexed")
    after = started(obj, 5)
    assert shape(after) == (5, 8, {"parallelism": 8})
    assert after["spec"]["suspend"] is False


def test_a_whole_start_changes_no_count():
    obj = elastic(parallelism=8, completions=20)
    assert shape(started(obj, 8)) == (8, 20, {})
    few_left = elastic(parallelism=8, completions=20, status={"succeeded": 17})
    assert shape(started(few_left, 3)) == (8, 20, {})
    assert "parallelism" not in started(elastic(parallelism=None), 1)["spec"].keys() - {
        "parallelism"
    }


def test_stopped_again_it_asks_for_all_it_wanted():
    obj = started(elastic(parallelism=8, completions=20), 5)
    obj["spec"]["suspend"] = True
    (pods,) = read(obj).asks
    assert (pods.count, pods.fewest) == (8, 2)
    assert ADAPTER.pod_sets(obj)[0].count == 8
    assert shape(started(obj, 8)) == (8, 20, {})
    assert shape(started(obj, 3)) == (3, 20, {"parallelism": 8})


def test_what_it_wants_beyond_what_it_has():
    obj = started(elastic(parallelism=8), 5)
    found = read(obj)
    assert [(pods.count, pods.min_count) for pods in found.growth] == [(3, 1)]
    assert [pods.count for pods in found.asks] == [5]
    whole = elastic(None, '{"parallelism":20}', parallelism=4, suspend=False)
    assert [(pods.count, pods.min_count) for pods in read(whole).growth] == [(16, None)]
    few_left: dict[str, Any] = {"parallelism": 4, "completions": 9, "status": {"succeeded": 4}}
    assert read(elastic("1", '{"parallelism":9}', suspend=False, **few_left)).growth[0].count == 1
    done: dict[str, Any] = {"parallelism": 4, "completions": 9, "status": {"succeeded": 6}}
    assert read(elastic("1", '{"parallelism":9}', suspend=False, **done)).growth == ()


def test_growth_is_one_locked_write():
    obj = started(elastic(parallelism=8), 5)
    patch = grow(ADAPTER, obj, admission(7))
    assert patch[0].path == "/metadata/resourceVersion"
    after = applied(obj, patch)
    assert shape(after) == (7, None, {"parallelism": 8})
    assert read(after).admission == admission(7)
    assert shape(applied(after, grow(ADAPTER, after, admission(8)))) == (8, None, {})


def test_an_elastic_indexed_job_grows_in_both_counts():
    spec: dict[str, Any] = {"parallelism": 4, "completions": 4, "completionMode": "Indexed"}
    spec["suspend"] = False
    obj = elastic("1", '{"parallelism":8,"completions":8}', **spec)
    assert read(obj).growth[0].count == 4
    half = applied(obj, grow(ADAPTER, obj, admission(6)))
    assert shape(half) == (6, 6, {"parallelism": 8, "completions": 8})
    assert shape(applied(half, grow(ADAPTER, half, admission(8)))) == (8, 8, {})


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "7", "null", '{"parallelism":"8"}', '{"parallelism":-1}', '{"parallelism":true}',
     '{"parallelism":99999999999}', "[" * 100_000],
)  # fmt: skip
def test_junk_is_no_wish(text):
    obj = elastic("1", text, parallelism=4)
    assert wanted_of(obj) == {}
    assert read(obj).asks[0].count == 4


def test_the_note_is_compact():
    assert (
        render_wanted({"completions": 8, "parallelism": 8}) == '{"parallelism":8,"completions":8}'
    )
