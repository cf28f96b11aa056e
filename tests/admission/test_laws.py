"""What no edit of a user can do, whatever it consists of; and that nothing an object may hold leaves us speechless."""

from __future__ import annotations

import copy
import itertools
from typing import Any

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.admission.building import (
    NOW,
    POLICY,
    Cluster,
    job,
    jobset,
    judge,
    owned,
    patched,
    request,
    review,
    submit,
)
from tests.admission.edits import JUNK, OTHER, Edit, Object, defaulted, edited, edits, settled
from tests.admission.test_changes import started, waiting
from webhook.admission.change import MARKS
from webhook.admission.decide import Judge, mutate, validate, wanted
from webhook.admission.respond import respond
from webhook.admission.review import BadReview, read_review
from webhook.model.kinds import Key
from webhook.model.quantity import add
from webhook.workloads.objects import labels, notes
from webhook.workloads.registry import adapter_for

RULES = f"""
settings {{
  queue-label "{OTHER}"
}}
warn many when pods > 2 {{ message "{{pods}} pods" }}
warn odd when labels["app"] == "x" audit {{ message "odd" }}
set label when !("app" in labels) {{
  metadata.labels["app"] = name
}}
set double for Job {{
  spec.completions = object.spec.completions * 2
}}
"""
judges = st.sampled_from((judge(), judge(POLICY + RULES)))
STATES = ("waiting", "started", "runs", "stopping", "again", "done", "going")


def root(kind: str, state: str) -> Object:
    """A queued workload at one moment of its life."""
    if kind == "Job":
        made = job(labels={Key.QUEUE: "vision"}, parallelism=2, completions=3)
    else:
        made = jobset(labels={Key.QUEUE: "vision"})
    obj = waiting(made) if state == "waiting" else started(made)
    if state in ("stopping", "again"):
        obj["spec"]["suspend"] = True
    if state in ("runs", "stopping", "going") and kind == "Job":
        obj["status"] = {"active": 2, "startTime": "2027-01-01T00:00:00Z"}
    if state == "done":
        obj["status"] = {"conditions": [{"type": DONE[kind], "status": "True"}]}
    if state == "going":
        obj["metadata"] |= {"deletionTimestamp": "2027-01-01T00:00:00Z", "finalizers": ["x.io/a"]}
    return obj


DONE = {"Job": "Complete", "JobSet": "Completed"}


def child(state: str) -> tuple[Object, Judge]:
    """A child of a JobSet that waits or runs, and who judges it."""
    parent = jobset(labels={Key.QUEUE: "vision"}, suspend=state == "waiting")
    here = judge(cluster=Cluster(parents=[parent]))
    made = owned(job("js-workers-0", parallelism=2, completions=2), parent)
    stored, _, _ = submit(made, here)
    stored["metadata"] |= {"uid": "u-child"}
    return stored, here


roots = st.sampled_from(list(itertools.product(("Job", "JobSet"), STATES)))
chosen = roots.flatmap(lambda of: st.tuples(st.just(of), edits(of[0])))


@given(chosen, judges)
@example((("Job", "going"), (("add", "/spec/suspend", False),)), judge())
@example((("Job", "waiting"), (("add", "/status", {}), ("add", "/spec/suspend", False))), judge())
def test_no_edit_of_a_root_breaks_a_law(drawn: tuple[tuple[str, str], Edit], by: Judge) -> None:
    (kind, state), edit = drawn
    lawful(root(kind, state), edit, by)


@given(st.sampled_from(("waiting", "started")), edits("Job"))
def test_no_edit_of_a_child_breaks_a_law(state: str, edit: Edit) -> None:
    obj, here = child(state)
    after = lawful(obj, edit, here, parent_runs=state == "started")
    assert Key.SUBMITTED not in notes(after)
    assert after["metadata"]["ownerReferences"] == obj["metadata"]["ownerReferences"]


@given(st.sampled_from(("Job", "JobSet")), st.data())
def test_no_sequence_of_edits_starts_anything_or_takes_it_out_of_its_queue(
    kind: str, data: st.DataObject
) -> None:
    obj, by = root(kind, data.draw(st.sampled_from(("waiting", "stopping", "again")))), judge()
    for _ in range(data.draw(st.integers(2, 4))):
        by = data.draw(judges)  # a policy may change at any time
        obj = lawful(obj, data.draw(edits(kind)), by)
    assert obj["spec"]["suspend"] is True
    assert labels(obj)[Key.QUEUE] in ("vision", "small")


def lawful(old: Object, edit: Edit, by: Judge, *, parent_runs: bool = False) -> Object:
    """The object as it is stored after the edit, which breaks no law; the old one where the edit is refused."""
    new = edited(old, edit)
    first = mutate(request(new, old), by, NOW)
    if not first.allowed:
        assert not old["metadata"].get("deletionTimestamp"), "finalizers must go"
        return old
    made = patched(new, first)
    assert mutate(request(made, old), by, NOW).patch == ()
    after = settled(made, old)
    assert validate(request(after, old), by, NOW).allowed
    stays_in_its_place(old, after)
    asks_no_more(old, after, may_start=parent_runs)
    return after


def stays_in_its_place(old: Object, after: Object) -> None:
    before, now = notes(old), notes(after)
    assert {key: now.get(key) for key in MARKS} == {key: before.get(key) for key in MARKS}
    adapter = adapter_of(old)
    runs = not adapter.suspended(old) and not adapter.finished(old)
    queues = (
        {labels(old)[Key.QUEUE]} if runs else {"vision", "speech", "small", labels(old)[Key.QUEUE]}
    )
    assert labels(after).get(Key.QUEUE) in queues


def asks_no_more(old: Object, after: Object, *, may_start: bool) -> None:
    adapter = adapter_of(old)
    if adapter.finished(old):
        return
    if adapter.suspended(old) and not may_start:
        assert adapter.suspended(after)
    if not adapter.suspended(after) and not after["metadata"].get("deletionTimestamp"):
        before, now = asked(old), asked(after)
        assert all(amount <= before.get(resource, 0) for resource, amount in now.items())


def asked(obj: Object) -> Any:
    return add(*(pods.total for pods in adapter_of(obj).read(obj, queue="", priority=0).asks))


def adapter_of(obj: Object) -> Any:
    return adapter_for(obj["apiVersion"].rpartition("/")[0], obj["kind"])


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("kind", ["Job", "JobSet"])
@pytest.mark.parametrize("suspend", [False, None])
def test_a_manifest_that_is_applied_again_is_never_refused(
    kind: str, state: str, suspend: bool | None
) -> None:
    """As every way of applying leaves it: with the marks (a merge), or without anything of ours (a replacement)."""
    old = root(kind, state)
    merged, replaced = copy.deepcopy(old), root(kind, "waiting")
    replaced["metadata"] = {k: v for k, v in old["metadata"].items() if k != "annotations"}
    replaced["metadata"].pop("labels")
    for new in (merged, replaced):
        for spec in templates(new):
            for key in ("nodeSelector", "tolerations"):
                spec.pop(key, None)
        new["spec"].pop("suspend")
        if suspend is not None:
            new["spec"]["suspend"] = suspend
        first = mutate(request(defaulted(new), old), judge(), NOW)
        assert first.allowed, [refusal.line for refusal in first.refusals]
        after = settled(patched(defaulted(new), first), old)
        assert validate(request(after, old), judge(), NOW).allowed
        stays_in_its_place(old, after)


def templates(obj: Object) -> list[Object]:
    if obj["kind"] == "Job":
        return [obj["spec"]["template"]["spec"]]
    return [item["template"]["spec"]["template"]["spec"] for item in obj["spec"]["replicatedJobs"]]


# Whatever is sent, there is an answer


PLACES = (
    ("metadata",),
    ("metadata", "labels"),
    ("metadata", "labels", Key.QUEUE),
    ("metadata", "labels", Key.PRIORITY),
    ("metadata", "annotations"),
    ("metadata", "annotations", Key.SUBMITTED),
    ("metadata", "annotations", Key.ADMISSION),
    ("metadata", "annotations", Key.HOLD),
    ("metadata", "ownerReferences"),
    ("metadata", "deletionTimestamp"),
    ("metadata", "name"),
    ("spec",),
    ("spec", "suspend"),
    ("spec", "managedBy"),
    ("spec", "parallelism"),
    ("spec", "completions"),
    ("spec", "completionMode"),
    ("spec", "replicatedJobs"),
    ("spec", "template"),
    ("spec", "template", "spec"),
    ("spec", "template", "metadata"),
    ("spec", "template", "spec", "containers"),
    ("spec", "template", "spec", "nodeSelector"),
    ("spec", "template", "spec", "tolerations"),
    ("spec", "template", "spec", "priorityClassName"),
    ("status",),
    ("status", "conditions"),
    ("status", "active"),
    ("status", "completedIndexes"),
)
junk = st.dictionaries(st.sampled_from(PLACES), JUNK, min_size=1, max_size=3)


def spoiled(obj: Object, places: dict[tuple[str, ...], Any]) -> Object:
    obj = copy.deepcopy(obj)
    for path, value in places.items():
        here: Any = obj
        for part in path[:-1]:
            here = here.get(part) if isinstance(here, dict) else None
        if isinstance(here, dict):
            here[path[-1]] = value
    return obj


@given(chosen, junk, junk, st.booleans())
def test_junk_is_answered(
    drawn: tuple[tuple[str, str], Edit], new: Any, old: Any, updates: bool
) -> None:
    (kind, state), edit = drawn
    obj = root(kind, state)
    before = spoiled(obj, old) if updates else None
    about = review(obj)["request"] | {"object": spoiled(edited(obj, edit), new)}
    about |= {"oldObject": before, "operation": "UPDATE" if updates else "CREATE"}
    answered(about)


@given(st.dictionaries(st.sampled_from(sorted(review(job())["request"])), JUNK))
def test_so_is_a_request_of_junk(changes: dict[str, Any]) -> None:
    answered(review(job(labels={Key.QUEUE: "vision"}))["request"] | changes)


def answered(about: dict[str, Any]) -> None:
    raw = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": about}
    try:
        asks = read_review(raw)
    except BadReview as error:
        assert error.uid == (about["uid"] if isinstance(about["uid"], str) else "")
        return
    wanted(asks, judge())
    for answer in (mutate, validate):
        said = respond(asks, answer(asks, judge(), NOW))["response"]
        assert said["uid"] == about["uid"]
        assert orjson.dumps(said)
