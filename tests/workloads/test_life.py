"""Jobs: where in their life they are, and how many pods are charged."""

from typing import Any

import pytest

from tests.workloads.build import admission, job
from webhook.model.kinds import JOB, Key, Object
from webhook.model.workload import Phase, Workload
from webhook.workloads.job import JobAdapter

ADAPTER = JobAdapter()
RAN = {"startTime": "2026-11-01T11:00:00Z"}


def read(obj: Object) -> Workload:
    return ADAPTER.read(obj, queue="ml", priority=5)


def charged(obj: Object) -> tuple[Phase, int]:
    found = read(obj)
    assert set(found.holds) <= {"main"}
    return found.phase, found.holds.get("main", 0)


def running(**status: Any) -> dict[str, Any]:
    return RAN | status


def test_suspended_and_without_pods_it_waits():
    assert charged(job(suspend=True, parallelism=3)) == (Phase.WAITING, 0)


def test_what_is_not_suspended_is_started_and_charged_before_any_pod_exists():
    assert charged(job(suspend=False, parallelism=3)) == (Phase.STARTED, 3)
    assert charged(job(parallelism=3)) == (Phase.STARTED, 3)


def test_suspended_with_pods_left_it_is_stopping_until_the_last_has_ended():
    stop = ("Suspended",)
    for status, pods in (({"active": 2, "terminating": 1}, 3), ({"terminating": 1}, 1), ({}, 0)):
        found = charged(job(suspend=True, parallelism=3, status=status, conditions=stop))
        assert found == (Phase.STOPPING if pods else Phase.WAITING, pods)


def test_suspended_before_the_controller_noticed_it_stays_charged():
    obj = job(suspend=True, parallelism=3, record=admission(3), status=running(active=1))
    assert charged(obj) == (Phase.STOPPING, 3)


def test_before_the_controller_noticed_no_more_is_charged_than_can_still_run():
    spec: dict[str, Any] = {"suspend": True, "parallelism": 8, "completions": 8}
    obj = job(record=admission(8), status=running(active=2, succeeded=6), **spec)
    assert charged(obj) == (Phase.STOPPING, 2)
    late = job(status=running(active=1), suspend=True, parallelism=3)
    assert charged(late) == (Phase.STOPPING, 3), "not started by us, but its controller may be busy"


def test_started_and_suspended_again_before_the_controller_saw_either_nothing_is_charged():
    """The status still says Suspended from the first wait.

    Nobody can tell from the object whether the controller read it in between. Charged on suspicion it would stay
    charged for ever, since a controller that saw no change writes none; so it waits. Should pods exist all the same,
    the very next status shows them active, and it is stopping until they end: for that moment, and no longer, more
    may run than is charged.
    """
    spec: dict[str, Any] = {"suspend": True, "parallelism": 3, "record": admission(3)}
    assert charged(job(conditions=("Suspended",), **spec)) == (Phase.WAITING, 0)
    assert charged(job(**spec)) == (Phase.WAITING, 0), "created, started and stopped in a blink"
    after = job(status=running(active=3), conditions=("Suspended=False",), **spec)
    assert charged(after) == (Phase.STOPPING, 3)


@pytest.mark.parametrize("end", ["Complete", "Failed"])
@pytest.mark.parametrize("suspend", [True, False])
def test_finished_beats_suspended_and_is_charged_nothing(end, suspend):  # R08
    obj = job(suspend=suspend, parallelism=3, record=admission(3), conditions=(end,), status=RAN)
    assert charged(obj) == (Phase.FINISHED, 0)
    assert ADAPTER.finished(obj)


def test_a_finished_job_with_pods_left_is_charged_for_those():
    obj = job(parallelism=3, status=running(terminating=2), conditions=("Complete",))
    assert charged(obj) == (Phase.STOPPING, 2)


def test_zero_completions_make_a_suspended_job_complete():
    obj = job(suspend=True, completions=0, conditions=("Suspended", "Complete"))
    assert charged(obj) == (Phase.FINISHED, 0)
    assert read(job(suspend=True, completions=0)).total == {"cpu": 0, "pods": 0}


@pytest.mark.parametrize("end", ["SuccessCriteriaMet", "FailureTarget"])
@pytest.mark.parametrize("suspend", [True, False])
def test_about_to_end_it_is_charged_for_the_pods_that_are_left(end, suspend):  # R08
    status = running(active=1, terminating=2)
    spec: dict[str, Any] = {"suspend": suspend, "parallelism": 8, "record": admission(8)}
    assert charged(job(status=status, conditions=(end,), **spec)) == (Phase.STOPPING, 3)
    assert charged(job(status=RAN, conditions=(end,), **spec)) == (Phase.STOPPING, 0)


def test_a_condition_that_is_not_true_means_nothing():
    obj = job(parallelism=2, conditions=("Complete=False", "Failed=Unknown", "FailureTarget=False"))
    assert charged(obj) == (Phase.STARTED, 2)


def test_charge_falls_while_pods_succeed():
    spec: dict[str, Any] = {"parallelism": 4, "completions": 6, "record": admission(4)}
    for succeeded, active, pods in ((0, 4, 4), (2, 4, 4), (3, 3, 3), (5, 1, 1), (6, 0, 0)):
        obj = job(status=running(active=active, succeeded=succeeded), **spec)
        assert charged(obj) == (Phase.STARTED, pods)


def test_a_work_queue_that_has_a_result_is_charged_for_the_pods_still_at_work():
    spec: dict[str, Any] = {"parallelism": 4, "completions": None, "record": admission(4)}
    assert charged(job(status=running(active=3, succeeded=1), **spec)) == (Phase.STARTED, 3)
    assert charged(job(status=running(active=0, succeeded=4), **spec)) == (Phase.STARTED, 0)


def test_shrunk_it_stays_charged_until_the_pods_have_ended():  # R17
    for active, terminating, pods in ((8, 0, 8), (2, 6, 8), (2, 3, 5), (2, 0, 2)):
        status = running(active=active, terminating=terminating)
        obj = job(parallelism=2, record=admission(8), status=status)
        assert charged(obj) == (Phase.STARTED, pods)


def test_a_pod_that_terminates_beside_its_replacement_is_no_growth():
    obj = job(parallelism=4, record=admission(4), status=running(active=4, terminating=2))
    assert charged(obj) == (Phase.STARTED, 4)


def test_grown_past_us_it_is_charged_what_it_runs():
    obj = job(parallelism=8, record=admission(4), status=running(active=8))
    assert charged(obj) == (Phase.STARTED, 8)


def test_parallelism_zero_is_charged_nothing_once_the_pods_are_gone():  # R17
    assert charged(job(parallelism=0, record=admission(4))) == (Phase.STARTED, 0)
    busy = job(parallelism=0, record=admission(4), status=running(active=4))
    assert charged(busy) == (Phase.STARTED, 4)


def test_a_deleted_job_is_charged_until_it_is_gone():
    going = {"deletionTimestamp": "2026-11-01T12:00:00Z"}
    started = job(parallelism=3, metadata=going, status=running(active=3))
    assert charged(started) == (Phase.STOPPING, 3)
    assert charged(job(suspend=True, metadata=going)) == (Phase.FINISHED, 0)
    stopping = job(suspend=True, metadata=going, status={"terminating": 1})
    assert charged(stopping) == (Phase.STOPPING, 1)
    done = job(metadata=going, conditions=("Complete",))
    assert charged(done) == (Phase.FINISHED, 0)
    assert all(read(obj).deleting for obj in (started, stopping, done))


def test_two_jobs_of_one_name_are_two_workloads():  # R35
    one, two = (read(job(metadata={"uid": uid, "name": "x"})) for uid in ("1", "2"))
    assert (one.uid, two.uid) == ("1", "2")
    assert one.title == two.title


def test_a_hold_is_told_and_changes_neither_phase_nor_charge():  # R38
    marks = {"annotations": {Key.HOLD: "true"}}
    waits, runs = read(job(suspend=True, metadata=marks)), read(job(metadata=marks))
    assert (waits.hold, waits.phase, dict(waits.holds)) == ("true", Phase.WAITING, {})
    assert (runs.hold, runs.phase, dict(runs.holds)) == ("true", Phase.STARTED, {"main": 1})
    assert read(job()).hold is None


def test_its_place_is_its_stamp_and_without_one_its_creation():
    stamp = {
        Key.SUBMITTED: "2026-10-01T10:00:00.250000Z",
        Key.SUBMITTED_BY: "alice",
    }
    stamped, bare = read(job(metadata={"annotations": stamp})), read(job())
    assert (stamped.place, stamped.stamped, stamped.submitted_by) == (1790848800.25, True, "alice")
    assert (bare.place, bare.stamped, bare.submitted_by) == (1793527200.0, False, "")


def test_a_workload_carries_what_a_start_needs_to_know():
    found = read(job(record=admission(2), metadata={"labels": {"team": "x"}}))
    assert (found.kind, found.namespace, found.name) == (JOB, "team-a", "train")
    assert (found.queue, found.priority, found.resource_version) == ("ml", 5, "7")
    assert found.labels == {"team": "x"}
