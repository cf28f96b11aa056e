"""The garbage collector: what belongs to nobody any more is deleted, what is orphaned let go.

An owner counts as gone when its kind is served and no object has that name and uid. An owner of a
kind nobody serves can never be looked up: what it is said to own stays for ever, as on a real
server. Events are not collected.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from webhook.sandbox.api import Api
from webhook.sandbox.deleting import FOREGROUND, ORPHAN
from webhook.sandbox.players.informer import Informer, key_of, owners_of, uid_of
from webhook.sandbox.players.job_progress import going
from webhook.sandbox.players.workqueue import WorkQueue
from webhook.sandbox.resources import RESOURCES, Object, Resource, User
from webhook.sandbox.status import StatusError

USER = User("system:serviceaccount:kube-system:generic-garbage-collector")
MERGE_PATCH = "application/merge-patch+json"
COLLECTED = tuple(resource for resource in RESOURCES if resource.kind != "Event")
_BY_KIND = {(resource.api_version, resource.kind): resource for resource in COLLECTED}


class Owner(Enum):
    """What has become of an owner."""

    THERE = "there"
    GONE = "gone"
    WAITING = "is being deleted and waits for what it owns"
    UNKNOWN = "of a kind that is not served"


@dataclass(frozen=True, slots=True)
class Item:
    """An object to look at."""

    resource: Resource
    namespace: str
    name: str


class Collector:
    """Collects all kinds but events; ``run`` never ends."""

    def __init__(self, api: Api, informers: Sequence[Informer]) -> None:
        self._api = api
        self._informers = {informer.resource: informer for informer in informers}
        self._queue: WorkQueue[Item] = WorkQueue(self._sync)
        for informer in informers:
            self._attach(informer)

    async def run(self) -> None:
        await self._queue.run()

    def _attach(self, informer: Informer) -> None:
        def changed(before: Object | None, after: Object | None) -> None:
            if after is not None and (owners_of(after) or going(after)):
                self._add(informer.resource, after)
            for owner in owners_of(before) if before is not None else ():
                self._look_at_owner(owner, before)
            if after is None and before is not None:
                self._add_all(self._dependents(before))

        informer.listen(changed)

    def _look_at_owner(self, owner: Object, dependent: Object | None) -> None:
        """An owner that waits for its dependents wants to know that one went."""
        resource = _BY_KIND.get((str(owner.get("apiVersion")), str(owner.get("kind"))))
        if resource is not None and dependent is not None:
            namespace = dependent["metadata"].get("namespace", "") if resource.namespaced else ""
            self._queue.add(Item(resource, namespace, str(owner.get("name"))))

    def _add(self, resource: Resource, obj: Object) -> None:
        self._queue.add(Item(resource, *key_of(obj)))

    def _add_all(self, objects: Iterable[tuple[Resource, Object]]) -> None:
        for resource, obj in objects:
            self._add(resource, obj)

    def _dependents(self, owner: Object) -> list[tuple[Resource, Object]]:
        uid = uid_of(owner)
        return [
            (resource, obj)
            for resource, informer in self._informers.items()
            for obj in informer.owned_by(uid)
        ]

    async def _sync(self, item: Item) -> None:
        informer = self._informers[item.resource]
        obj = informer.get((item.namespace, item.name))
        if obj is None:
            return
        finalizers = obj["metadata"].get("finalizers") or []
        if going(obj) and ORPHAN in finalizers:
            await self._orphan(item, obj)
        elif going(obj) and FOREGROUND in finalizers:
            await self._wait_for_dependents(item, obj)
        elif not going(obj) and owners_of(obj):
            await self._judge(item, obj)

    async def _orphan(self, item: Item, owner: Object) -> None:
        uid = uid_of(owner)
        for resource, obj in self._dependents(owner):
            rest = [ref for ref in owners_of(obj) if ref.get("uid") != uid]
            await self._set(Item(resource, *key_of(obj)), obj, "ownerReferences", rest)
        await self._unfinalize(item, owner, ORPHAN)

    async def _wait_for_dependents(self, item: Item, owner: Object) -> None:
        dependents = self._dependents(owner)
        self._add_all((r, obj) for r, obj in dependents if not going(obj))
        if not any(_blocks(obj, owner) for _, obj in dependents):
            await self._unfinalize(item, owner, FOREGROUND)

    async def _unfinalize(self, item: Item, obj: Object, finalizer: str) -> None:
        rest = [name for name in obj["metadata"].get("finalizers") or [] if name != finalizer]
        await self._set(item, obj, "finalizers", rest)

    async def _judge(self, item: Item, obj: Object) -> None:
        """Delete an object none of whose owners is left; drop the references that are stale."""
        owners = [(ref, await self._state(item, ref)) for ref in owners_of(obj)]
        states = {state for _, state in owners}
        if Owner.UNKNOWN in states:
            return
        if Owner.THERE in states:
            rest = [ref for ref, state in owners if state is Owner.THERE]
            if len(rest) < len(owners):
                await self._set(item, obj, "ownerReferences", rest)
            return
        foreground = Owner.WAITING in states and bool(self._dependents(obj))
        await self._delete(item, obj, "Foreground" if foreground else "Background")

    async def _state(self, item: Item, reference: Object) -> Owner:
        kind = (str(reference.get("apiVersion")), str(reference.get("kind")))
        resource = _BY_KIND.get(kind)
        if resource is None:
            return Owner.UNKNOWN
        namespace = item.namespace if resource.namespaced else ""
        try:
            owner = await self._api.get(resource, namespace, str(reference.get("name")))
        except StatusError as error:
            if error.code == 404:
                return Owner.GONE
            raise
        if uid_of(owner) != reference.get("uid"):
            return Owner.GONE
        waits = FOREGROUND in (owner["metadata"].get("finalizers") or [])
        return Owner.WAITING if going(owner) and waits else Owner.THERE

    async def _delete(self, item: Item, obj: Object, propagation: str) -> None:
        try:
            await self._api.delete(
                item.resource,
                item.namespace,
                item.name,
                user=USER,
                propagation=propagation,
                preconditions={"uid": uid_of(obj)},
            )
        except StatusError as error:
            if error.code not in (404, 409):
                raise

    async def _set(
        self, item: Item, obj: Object, field: str, value: list[Object] | list[str]
    ) -> None:
        """Write one metadata field, if the object is still the one that was looked at."""
        metadata = {"uid": uid_of(obj), field: value or None}
        metadata["resourceVersion"] = obj["metadata"]["resourceVersion"]
        try:
            await self._api.patch(
                item.resource,
                item.namespace,
                item.name,
                {"metadata": metadata},
                patch_type=MERGE_PATCH,
                user=USER,
            )
        except StatusError as error:
            if error.code == 404:
                return
            raise


def _blocks(dependent: Object, owner: Object) -> bool:
    """Whether the owner has to wait until this dependent is gone."""
    uid = uid_of(owner)
    return any(
        ref.get("uid") == uid and ref.get("blockOwnerDeletion") is True
        for ref in owners_of(dependent)
    )
