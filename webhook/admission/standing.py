"""What a submitter is told: where the workload waits, and why, as far as the loop beside us knows."""

from __future__ import annotations

from webhook.admission.knowledge import Knowledge, QueueNews, Room
from webhook.admission.subject import Subject
from webhook.language.policy import Policy
from webhook.model.kinds import Key
from webhook.model.quantity import add, format_quantity
from webhook.model.queues import FlavorResource, Queue
from webhook.workloads.objects import notes


def standing(subject: Subject, policy: Policy, knowledge: Knowledge) -> str:
    """One line: ``queued in vision: needs 8 nvidia.com/gpu, 3 free of 64, 11 ahead``."""
    queue = policy.quotas.queues[subject.queue or ""]
    held = notes(subject.object).get(Key.HOLD)
    parts = [f"on hold ({held})" if held else "on hold"] if held is not None else []
    news = knowledge.queue_news(queue.name)
    if news is None:
        return f"queued in {queue.name}{': ' if parts else ''}{', '.join(parts)}"
    scarce = _scarcest(subject, queue, news)
    parts += [scarce] if scarce else []
    parts.append(f"{news.ahead(subject.priority_value)} ahead")
    return f"queued in {queue.name}: {', '.join(parts)}"


def _scarcest(subject: Subject, queue: Queue, news: QueueNews) -> str:
    """The resource it needs most of, against what is free on the flavor that has most of it."""
    needs = add(*(pods.total for pods in subject.pod_sets))
    tightest: tuple[int, str] | None = None
    for resource, need in needs.items():
        room = _best_room(queue, resource, news)
        if room is None:
            continue
        percent = need * 100 // max(room.available, 1)
        if tightest is None or percent > tightest[0]:
            tightest = (percent, _words(resource, need, room))
    return tightest[1] if tightest else ""


def _words(resource: str, need: int, room: Room) -> str:
    free = format_quantity(max(0, room.available), resource)
    asked, own = format_quantity(need, resource), format_quantity(room.nominal, resource)
    lent = room.available > room.nominal  # "24 free of 8" reads like a mistake
    return (
        f"needs {asked} {resource}, {free} free {'with what others lend' if lent else f'of {own}'}"
    )


def _best_room(queue: Queue, resource: str, news: QueueNews) -> Room | None:
    rooms = [
        room
        for quota in queue.quotas
        if (room := news.rooms.get(FlavorResource(quota.flavor, resource))) is not None
    ]
    return max(rooms, key=lambda room: (room.available, room.nominal), default=None)
