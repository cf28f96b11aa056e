"""One test played: what is given goes into a core, the submission through both admission calls, then one pass.

The core, the calls and the reading of objects are those of webhook and loop. Time stands still.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from webhook.admission.decision import Reason as Refused
from webhook.admission.review import BadReview
from webhook.admission.rules import Rules
from webhook.admission.subject import read_subject
from webhook.language.scenes import Scene
from webhook.model.kinds import Object
from webhook.model.workload import Uid, Workload
from webhook.quota.news import Eviction, Start
from webhook.quota.plan import Core
from webhook.quota.reasons import Reason
from webhook.rehearsal.composing import NAME, CannotPlay, composed
from webhook.rehearsal.presence import present
from webhook.rehearsal.recording import Recorder
from webhook.rehearsal.submission import PaperCluster, Submitted, submit
from webhook.workloads.objects import BadObject
from webhook.workloads.registry import adapter_for

NOW = 1_767_225_600.0
"""When every test takes place: 2026-01-01T00:00:00Z, in seconds since the epoch."""
UID = Uid("submitted")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a submission. ``reason`` is None where it is in no queue, ``start`` where it does not start.

    ``evictions`` are those in its favour, ``true`` the places of the rules that were true.
    """

    submitted: Submitted
    start: Start | None = None
    reason: Reason | None = None
    evictions: tuple[Eviction, ...] = ()
    true: frozenset[str] = frozenset()


def play(scene: Scene, rules: Rules, recorder: Recorder, file: Object | None = None) -> Outcome:
    """Raises CannotPlay. ``file`` is what stands in the file that the scene submits."""
    cluster = PaperCluster(scene.namespaces)
    submission = scene.submission
    obj = file if file is not None else composed(submission)
    earlier, recorder.true = recorder.true, set()
    try:
        submitted = submit(
            rules, cluster, obj, user=submission.user, groups=submission.groups, now=NOW
        )
        workload = _workload(submitted, rules, cluster)
    except (BadReview, BadObject) as error:
        raise CannotPlay(f"what is submitted is no object: {error}") from error
    finally:
        true = frozenset(recorder.true)
        recorder.true |= earlier
    outcome = Outcome(submitted, true=true)
    if workload is not None:
        outcome = _planned(scene, rules, outcome, workload)
    recorder.reached.update(_limits(outcome))
    return outcome


def _workload(submitted: Submitted, rules: Rules, cluster: PaperCluster) -> Workload | None:
    """The stored object as the loop sees it; None where it is in no queue."""
    request = submitted.request
    adapter = adapter_for(request.group, request.kind)
    if submitted.queue is None or submitted.refusals or adapter is None:
        return None
    about: Mapping[str, object] = submitted.object["metadata"]
    about = {"name": NAME, **about, "uid": UID, "resourceVersion": "1"}
    stored = {**submitted.object, "metadata": about}
    subject = read_subject(adapter, stored, rules.policy, cluster)
    return adapter.read(stored, queue=submitted.queue, priority=subject.priority_value)


def _planned(scene: Scene, rules: Rules, before: Outcome, workload: Workload) -> Outcome:
    """One pass over all of them."""
    core = Core(rules.policy.quotas)
    for each in (*present(scene, rules.policy, NOW), workload):
        core.see(each)
    plan = core.plan(NOW)
    return replace(
        before,
        start=next((start for start in plan.starts if start.workload.uid == UID), None),
        reason=core.reason(UID, NOW),
        evictions=tuple(each for each in plan.evictions if each.by == UID),
    )


def _limits(outcome: Outcome) -> set[str]:
    """Places of the limits that refuse it or let it wait."""
    over = outcome.reason.over if outcome.reason is not None else None
    refused = {r.place for r in outcome.submitted.refusals if r.reason is Refused.LIMIT}
    return refused | ({over.limit.place} if over is not None else set())
