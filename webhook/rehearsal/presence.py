"""The workloads that `given` lines put into the queues before anything is submitted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from webhook.language.policy import Policy
from webhook.language.scenes import ANYONE, Present, Scene
from webhook.model.kinds import JOB
from webhook.model.quantity import NANO, Amounts
from webhook.model.queues import Queue
from webhook.model.workload import Admission, Assigned, Phase, PodSet, Uid, Workload
from webhook.quota.charging import where
from webhook.rehearsal.composing import CannotPlay
from webhook.workloads.objects import write_time

POD_SET = "main"
NAMESPACE = "given"


def present(scene: Scene, policy: Policy, now: float) -> Iterator[Workload]:
    """One a line, each a second older than the next, all before ``now``. Raises CannotPlay."""
    for at, line in enumerate(scene.present):
        yield _workload(at, line, policy, now - len(scene.present) + at)


def _workload(at: int, line: Present, policy: Policy, place: float) -> Workload:
    name = f"given-{at + 1}"
    asks = _asks(line)
    return Workload(
        uid=Uid(name),
        kind=JOB,
        namespace=NAMESPACE,
        name=name,
        queue=line.queue,
        priority=_priority(line, policy),
        place=place,
        phase=Phase.STARTED if line.running else Phase.WAITING,
        asks=(PodSet(POD_SET, 1, asks),),
        holds={POD_SET: 1} if line.running else {},
        admission=_admission(line, policy, place) if line.running else None,
        submitted_by=ANYONE if line.user is None else line.user,
        resource_version="1",
    )


def _asks(line: Present) -> Amounts:
    """What the line says, of one pod: queues may count those, too."""
    return {"pods": NANO, **line.requests}


def _priority(line: Present, policy: Policy) -> int:
    named = policy.priority_of(line.priority, ())
    return named[1] if isinstance(named, tuple) else 0


def _admission(line: Present, policy: Policy, at: float) -> Admission:
    """What its start would have recorded."""
    flavors = _flavors(line, policy.quotas.queues[line.queue])
    asks = _asks(line)
    amounts = {resource: asks[resource] for resource in flavors}
    assigned = Assigned(POD_SET, 1, flavors, amounts)
    return Admission(line.queue, (assigned,), write_time(at), policy.revision)


def _flavors(line: Present, queue: Queue) -> Mapping[str, str]:
    """Resource → flavor: the one that is named, else for each group the first that names all of it."""
    asks = _asks(line)
    guessed = where(queue, asks, None)
    if line.flavor is None:
        return guessed
    block = next((quota for quota in queue.quotas if quota.flavor == line.flavor), None)
    if block is None:
        raise CannotPlay(f"queue {queue.name} has no quota on {line.flavor} ({line.place})")
    named = {resource: line.flavor for resource in asks if resource in block.shares}
    return {**guessed, **named}
