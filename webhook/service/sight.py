"""What the cluster looks like, put together from watches of several kinds.

An object alone does not tell what it holds: a JobSet that stops is judged by its child Jobs, and an
object that was deleted goes on holding what its pods hold until they are gone, which only the pods
tell. Events come late, twice and in any order between kinds; state here is by uid and by version,
so the result does not depend on the order.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from webhook.admission.knowledge import Knowledge
from webhook.admission.subject import read_subject
from webhook.cluster.watch import uid_of, version_of
from webhook.language.policy import Policy
from webhook.model.event import Event, Seen, Synced
from webhook.model.kinds import JOB, JOBSET, POD, Key, Kind, Object
from webhook.model.workload import Phase, Uid, Workload
from webhook.service.pods import live_pods, pod_set_of, roots_of, workload_of_pods
from webhook.workloads.jobset import left_to_children
from webhook.workloads.objects import BadObject, labels, metadata, notes
from webhook.workloads.record import admission_of
from webhook.workloads.registry import ADAPTERS, Owner, controller_of, is_child

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Departed:
    """A workload that was deleted while it held something. ``told``: its pods were asked for."""

    kind: Kind
    object: Object
    last: Workload
    told: bool = False


def is_ours(obj: Object) -> bool:
    """Bears a queue's label or a mark of ours: also what lost its label is still counted."""
    marks = notes(obj)
    return Key.QUEUE in labels(obj) or Key.SUBMITTED in marks or Key.ADMISSION in marks


def trim(obj: Object) -> Object:
    """Of what is neither ours nor of a JobSet only the name is kept; clusters run many such Jobs."""
    if obj["kind"] != JOB.name or is_ours(obj) or controller_of(obj) is not None:
        return obj
    kept = ("name", "namespace", "uid", "resourceVersion")
    about = {key: obj["metadata"][key] for key in kept if key in obj["metadata"]}
    return {"kind": obj["kind"], "apiVersion": obj["apiVersion"], "metadata": about}


@dataclass(slots=True)
class Sight:
    """Everything known, by uid. ``take`` says which workloads have to be read again."""

    knowledge: Knowledge
    policy: Policy
    objects: dict[str, tuple[Kind, Object]] = field(default_factory=dict)
    children: dict[str, dict[str, Object]] = field(default_factory=dict)
    pods: dict[str, dict[str, Object]] = field(default_factory=dict)
    departed: dict[str, Departed] = field(default_factory=dict)
    others: set[str] = field(default_factory=set)
    """uids of Jobs that are none of ours: pods of theirs are no orphans"""
    ended: dict[str, int] = field(default_factory=dict)
    complained: set[str] = field(default_factory=set)

    def take(self, event: Event) -> set[Uid]:
        """Learn; returns the uids of workloads that may have changed."""
        if isinstance(event, Synced):
            return set()
        if event.kind == POD:
            return self._take_pod(event.object, gone=not isinstance(event, Seen))
        if isinstance(event, Seen):
            return self._seen(event.kind, event.object)
        return self._gone(event.kind, event.object)

    def object(self, uid: Uid) -> Object | None:
        """The object as last seen."""
        found = self.objects.get(uid)
        return found[1] if found else None

    def workload(self, uid: Uid) -> Workload | None:
        """The workload as things stand; None where it is none, or none any more."""
        if uid in self.objects:
            kind, obj = self.objects[uid]
            return self._read(kind, obj) if self.is_root(kind, obj) else None
        gone = self.departed.get(uid)
        return self._left_by(uid, gone) if gone else None

    def is_root(self, kind: Kind, obj: Object) -> bool:
        """Whether it queues by itself. A child whose parent is not known yet is not: wait for it."""
        if not is_ours(obj) or not ADAPTERS[kind.name].ours(obj):
            return False
        owner = controller_of(obj)
        if owner is None or owner.kind != JOBSET or Key.SUBMITTED in notes(obj):
            return True
        if owner.uid not in self.objects:
            return False
        parent = self.objects[owner.uid][1]
        try:
            near = _namespace(parent) == _namespace(obj)
            return not (near and is_ours(parent) and is_child(obj, kind, parent, owner))
        except BadObject:
            return True

    def family(self, uid: Uid, namespace: str) -> tuple[Object, ...]:
        """Its child Jobs. Who bears a stamp is a root, whatever owner it names, and so is who lives elsewhere."""
        return tuple(
            child
            for child in self.children.get(uid, {}).values()
            if _namespace(child) == namespace and Key.SUBMITTED not in notes(child)
        )

    def roots(self) -> list[Uid]:
        """Everything that may be a workload: all of it is read again when the policy changes."""
        return [Uid(uid) for uid in (*self.objects, *self.departed)]

    def unstamped(self, uid: Uid) -> bool:
        """In a queue by its label, but no webhook has seen it."""
        found = self.objects.get(uid)
        if found is None or Key.QUEUE not in labels(found[1]) or Key.SUBMITTED in notes(found[1]):
            return False
        kind, obj = found
        gone = metadata(obj).get("deletionTimestamp") or ADAPTERS[kind.name].finished(obj)
        return self.is_root(kind, obj) and not gone

    def told_pods(self, uid: Uid, pods: Iterable[Object]) -> set[Uid]:
        """All pods a departed workload has left, as the API server just said."""
        gone = self.departed.get(uid)
        self.pods[uid] = {uid_of(pod): pod for pod in live_pods(pods)}
        if gone is not None:
            gone.told = True
        return {uid}

    def find_orphans(self) -> set[Uid]:
        """After the first lists: pods of ours whose workload was deleted before we started."""
        known = self.objects.keys() | self.departed.keys() | self.others
        known |= {uid for family in self.children.values() for uid in family}
        found: set[Uid] = set()
        for uid, pods in self.pods.items():
            root = roots_of(next(iter(pods.values()))) if pods else ()
            if uid not in known and root and root[0] == uid:
                found.add(self._orphan(Uid(uid), list(pods.values())))
        return found

    def forget_child(self, parent: Uid, child: Object) -> None:
        """A child we have just deleted."""
        self._drop_child(parent, uid_of(child))
        self.objects.pop(uid_of(child), None)

    def _drop_child(self, parent: str, uid: str) -> None:
        family = self.children.get(parent, {})
        family.pop(uid, None)
        if not family:
            self.children.pop(parent, None)

    def _seen(self, kind: Kind, obj: Object) -> set[Uid]:
        uid = uid_of(obj)
        known = self.objects.get(uid)
        late = known is not None and version_of(obj) < version_of(known[1])
        if late or version_of(obj) <= self.ended.get(uid, -1):
            return set()
        owner = controller_of(obj)
        left = self._leave_parent(uid, owner)
        if owner is not None:
            self.children.setdefault(owner.uid, {})[uid] = obj
        if known is None and kind == JOB and owner is None and not is_ours(obj):
            self.others.add(uid)
            return set()
        self.others.discard(uid)
        self.departed.pop(uid, None)
        self.objects[uid] = (kind, obj)
        touched = {Uid(uid)} | left | ({Uid(owner.uid)} if owner else set())
        # children that came before their parent can be told from roots only now
        return touched | (
            {Uid(child) for child in self.children.get(uid, ())} if not known else set()
        )

    def _leave_parent(self, uid: str, owner: Owner | None) -> set[Uid]:
        """It had another owner before, and is orphaned now."""
        known = self.objects.get(uid)
        before = controller_of(known[1]) if known else None
        if before is None or (owner is not None and owner.uid == before.uid):
            return set()
        self._drop_child(before.uid, uid)
        return {Uid(before.uid)}

    def _gone(self, kind: Kind, obj: Object) -> set[Uid]:
        uid = uid_of(obj)
        touched = {Uid(uid)}
        owner = controller_of(obj)
        if owner is not None:
            touched.add(Uid(owner.uid))
            self._drop_child(owner.uid, uid)
        self.others.discard(uid)
        known = self.objects.get(uid)
        latest = max((obj, known[1] if known else obj), key=version_of)
        if known and self.is_root(kind, known[1]) and (last := self._read(kind, latest)):
            self.departed[uid] = Departed(kind, latest, last)
        self.objects.pop(uid, None)
        self._end(uid, version_of(obj))
        return touched

    def _end(self, uid: str, version: int) -> None:
        """A late sight of it must not bring it back; the oldest endings are dropped."""
        self.ended[uid] = version
        while len(self.ended) > 8192:
            del self.ended[next(iter(self.ended))]

    def depart(self, uid: Uid) -> None:
        """It holds nothing any more."""
        self.departed.pop(uid, None)
        self.children.pop(uid, None)

    def _read(self, kind: Kind, obj: Object) -> Workload | None:
        adapter = ADAPTERS[kind.name]
        try:
            subject = read_subject(adapter, obj, self.policy, self.knowledge)
            record = admission_of(obj)
            queue = subject.queue or (record.queue if record else "")
            family = self.family(Uid(uid_of(obj)), _namespace(obj))
            found = adapter.read(obj, queue=queue, priority=subject.priority_value, children=family)
            if record is not None and found.phase in (Phase.STARTED, Phase.STOPPING):
                # pods are charged where they were granted, though the label may have moved on to wait elsewhere
                return replace(found, queue=record.queue)
            # without its label it waits for nothing, but what it holds is still charged
            return None if not subject.queue and found.phase is Phase.WAITING else found
        except BadObject as error:
            self._complain(obj, error)
            return None

    def _complain(self, obj: Object, error: BadObject) -> None:
        if uid_of(obj) not in self.complained:
            self.complained.add(uid_of(obj))
            about = metadata(obj)
            log.error(
                "cannot count %s %s/%s: %s",
                obj.get("kind"),
                about.get("namespace"),
                about.get("name"),
                error,
            )

    def _take_pod(self, pod: Object, *, gone: bool) -> set[Uid]:
        owners = roots_of(pod)
        for owner in owners:
            family = self.pods.setdefault(owner, {})
            if gone or not live_pods([pod]):
                family.pop(uid_of(pod), None)
            else:
                family[uid_of(pod)] = pod
            if not family:
                del self.pods[owner]
        return {Uid(owner) for owner in owners if owner in self.departed}

    def _left_by(self, uid: Uid, gone: Departed) -> Workload | None:
        """Until its pods were asked for it holds all it held; then what is left, at last nothing."""
        if not gone.told:
            if gone.last.phase in (Phase.WAITING, Phase.FINISHED):
                return None
            return replace(gone.last, phase=Phase.STOPPING)
        left = Counter(pod_set_of(pod, gone.last) for pod in self._pods_left(uid, gone.last))
        for name, count in self._left_to_children(uid, gone).items():
            left[name] = max(left[name], count)
        holds = {name: count for name, count in left.items() if count}
        return replace(gone.last, phase=Phase.STOPPING, holds=holds) if holds else None

    def _pods_left(self, uid: Uid, last: Workload) -> list[Object]:
        """Those in its namespace (labels prove nothing) that no orphaned child Job, a root by now, is charged for."""
        return [
            pod
            for pod in self.pods.get(uid, {}).values()
            if _namespace(pod) == last.namespace
            and not any(owner != uid and self._runs_alone(owner) for owner in roots_of(pod))
        ]

    def _runs_alone(self, uid: str) -> bool:
        found = self.objects.get(uid)
        return found is not None and self.is_root(*found)

    def _left_to_children(self, uid: Uid, gone: Departed) -> Mapping[str, int]:
        """Child Jobs outlive a JobSet for a moment and may still be making pods."""
        family = self.family(uid, gone.last.namespace)
        if gone.kind != JOBSET or not family:
            return {}
        return left_to_children(gone.object, family)

    def _orphan(self, uid: Uid, pods: list[Object]) -> Uid:
        kind, last = workload_of_pods(uid, pods)
        self.departed[uid] = Departed(kind, {"metadata": {}, "spec": {}}, last, told=True)
        return uid


def _namespace(obj: Object) -> str:
    return str(metadata(obj).get("namespace") or "")
