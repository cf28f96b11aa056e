"""What may be written to the status of a Job.

The API server checks the controller's (or anybody's) writes: a finished Job has no active pods, a
start time is fixed while the Job runs, Complete follows SuccessCriteriaMet, Failed FailureTarget.
A rule looks only at what a write changes, so a status that was odd before does not block others.
"""

from __future__ import annotations

from collections.abc import Iterator

from webhook.sandbox.resources import Object
from webhook.sandbox.status import Cause
from webhook.sandbox.strategies.fields import holds, invalid, number, required, same, section

TERMINAL = ("Failed", "Complete", "FailureTarget")
START_FIXED = "field is immutable for unsuspended job once set"


def _bare(field: str, message: str) -> Cause:
    return Cause(field, "FieldValueInvalid", f"Invalid value: {message}")


def validate_status_update(old: Object, new: Object) -> Iterator[Cause]:
    yield from _validate_conditions(old, new)
    yield from _validate_finished(old, new)
    yield from _validate_times(old, new)
    yield from _validate_counts(old, new)


def _turned(old: Object, new: Object, name: str) -> bool:
    return holds(old, name) != holds(new, name)


def _validate_conditions(old: Object, new: Object) -> Iterator[Cause]:
    field = "status.conditions"
    for name in TERMINAL:
        if holds(old, name) and not holds(new, name):
            yield _bare(field, f"cannot disable the terminal {name}=True condition")
    if holds(new, "Complete") and holds(new, "Failed"):
        yield _bare(field, "cannot set Complete=True and Failed=true conditions")
    if _turned(old, new, "Failed") and holds(new, "Failed") and not holds(new, "FailureTarget"):
        yield _bare(
            field, "cannot set Failed=True condition without the FailureTarget=true condition"
        )
    completed = _turned(old, new, "Complete") and holds(new, "Complete")
    if completed and not holds(new, "SuccessCriteriaMet"):
        text = "cannot set Complete=True condition without the SuccessCriteriaMet=true condition"
        yield _bare(field, text)
    if holds(new, "SuccessCriteriaMet"):
        for name in ("Failed", "FailureTarget"):
            if holds(new, name):
                yield _bare(field, f"cannot set SuccessCriteriaMet=True and {name}=true conditions")


def _validate_finished(old: Object, new: Object) -> Iterator[Cause]:
    status = section(new, "status")
    if not holds(new, "Complete", "Failed"):
        return
    finished_now = not holds(old, "Complete", "Failed")
    for name in ("active", "terminating"):
        changed = status.get(name) != section(old, "status").get(name)
        if number(status.get(name)) > 0 and (finished_now or changed):
            text = f"{name}>0 is invalid for finished job"
            yield invalid(f"status.{name}", status[name], text)
    if finished_now and not status.get("startTime") and not _done_before_start(new):
        yield required("status.startTime", "startTime is required for finished job")


def _done_before_start(job: Object) -> bool:
    spec = section(job, "spec")
    return spec.get("suspend") is True and spec.get("completions") == 0


def _validate_times(old: Object, new: Object) -> Iterator[Cause]:
    was, now = section(old, "status"), section(new, "status")
    start, end = now.get("startTime"), now.get("completionTime")
    resuming = holds(old, "Suspended") and not holds(new, "Suspended")
    running = section(new, "spec").get("suspend") is not True
    if was.get("startTime") and was["startTime"] != start and running and not resuming:
        yield invalid("status.startTime", start, START_FIXED)
    if end and not holds(new, "Complete"):
        text = "cannot set completionTime when there is no Complete=True condition"
        yield invalid("status.completionTime", end, text)
    if not end and holds(new, "Complete"):
        yield required("status.completionTime", "completionTime is required for Complete jobs")
    if was.get("completionTime") and not same(was["completionTime"], end):
        yield invalid("status.completionTime", end, "field is immutable")


def _validate_counts(old: Object, new: Object) -> Iterator[Cause]:
    was, now = section(old, "status"), section(new, "status")
    for name in ("active", "ready", "succeeded", "failed", "terminating"):
        if number(now.get(name)) < 0:
            yield invalid(f"status.{name}", now[name], "must be greater than or equal to 0")
    if number(now.get("failed")) < number(was.get("failed")):
        text = "cannot decrease the failed counter"
        yield invalid("status.failed", now.get("failed", 0), text)
    if number(now.get("ready")) > number(now.get("active")):
        yield invalid("status.ready", now["ready"], "cannot set more ready pods than active")
