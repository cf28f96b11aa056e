"""Every verb of the API server, for the HTTP layer and the players alike.

Objects that come out are frozen by convention: nobody mutates what they get, and the store never
mutates what it keeps. All verbs raise StatusError. The path of a write is in ``writing``.

``strategies`` and ``webhooks`` are given to the Api as values, so both may import this module.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime

from webhook.sandbox import deleting, metadata, namespaces
from webhook.sandbox.events import served_form
from webhook.sandbox.listing import Pages
from webhook.sandbox.patches import check_type, patched
from webhook.sandbox.resources import (
    NAMESPACES,
    PODS,
    RESOURCES,
    Object,
    Resource,
    User,
    resource_at,
)
from webhook.sandbox.status import Cause, StatusError, binding_conflict, not_found
from webhook.sandbox.store import StaleError, Store
from webhook.sandbox.watching import Event, Watch, check_since, selection
from webhook.sandbox.writing import Admission, Request, Strategy, Writer, options_of

__all__ = ["RESOURCES", "Api", "Cause", "Event", "Object", "Resource", "StatusError", "User"]

CONTROLLER = User("system:kube-controller-manager", ("system:authenticated",))
Warnings = list[str]


def utc_now() -> datetime:
    return datetime.now(UTC)


class Api:
    """The verbs over one store."""

    def __init__(
        self,
        store: Store | None = None,
        *,
        strategy: Strategy,
        clock: Callable[[], datetime] = utc_now,
        bookmark_seconds: float = 60.0,
    ) -> None:
        self.store = Store() if store is None else store
        self.clock = clock
        self.bookmark_seconds = bookmark_seconds
        self._writer = Writer(self.store, strategy, clock)
        self._pages = Pages()
        self._create_first_namespaces()

    def use_admission(self, admission: Admission) -> None:
        """From now on every write is shown to these webhooks."""
        self._writer.admission = admission

    def resource(self, group: str, version: str, plural: str) -> Resource | None:
        return resource_at(group, version, plural)

    async def get(self, resource: Resource, namespace: str, name: str) -> Object:
        return self._read(resource, namespace, name)

    async def list(
        self,
        resource: Resource,
        namespace: str = "",
        *,
        label_selector: str = "",
        field_selector: str = "",
        limit: int = 0,
        continue_: str = "",
    ) -> Object:
        path = (resource, namespace, label_selector, field_selector)
        if continue_:
            return self._pages.next(path, continue_, limit)
        chosen = selection(*path)
        stored = self.store.items(resource.storage, namespace)
        items = [obj for one in stored if (obj := chosen.of(one)) is not None]
        return self._pages.first(path, items, self.store.revision, limit)

    def watch(
        self,
        resource: Resource,
        namespace: str = "",
        *,
        since: str = "",
        label_selector: str = "",
        field_selector: str = "",
        bookmarks: bool = False,
        timeout_seconds: float | None = None,
        initial_events: bool = False,
    ) -> AsyncIterator[Event]:
        """The events after ``since``; empty or 0: everything there is, and then what happens."""
        check_since(since, self.store.revision)
        return Watch(
            self.store,
            selection(resource, namespace, label_selector, field_selector),
            since,
            self.bookmark_seconds if bookmarks else None,
            timeout_seconds,
            initial_events,
        ).events()

    async def create(
        self,
        resource: Resource,
        namespace: str,
        obj: Object,
        *,
        user: User,
        dry_run: bool = False,
        field_manager: str = "",
        warnings: Warnings | None = None,
    ) -> Object:
        new = metadata.addressed(resource, namespace, "", obj)
        name = new["metadata"].get("name") or ""
        if resource.namespaced:
            home = self.store.get(NAMESPACES.storage, "", namespace)
            namespaces.check_home(resource, home, namespace, name)
        elif resource is NAMESPACES:
            new = namespaces.prepared(new)
        if new["metadata"].get("resourceVersion"):
            raise StatusError(
                500, "InternalError", "resourceVersion should not be set on objects to be created"
            )
        request = self._request(
            "CREATE", resource, namespace, name, user, "", dry_run, field_manager, warnings
        )
        return served_form(resource, await self._writer.create(request, new))

    async def update(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        obj: Object,
        *,
        user: User,
        subresource: str = "",
        dry_run: bool = False,
        field_manager: str = "",
        warnings: Warnings | None = None,
    ) -> Object:
        new = metadata.addressed(resource, namespace, name, obj)
        metadata.check_unconditional(resource, new)
        request = self._request(
            "UPDATE", resource, namespace, name, user, subresource, dry_run, field_manager, warnings
        )
        return await self._update(request, lambda old: metadata.check_uid(resource, old, new))

    async def patch(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        body: object,
        *,
        patch_type: str,
        user: User,
        subresource: str = "",
        dry_run: bool = False,
        field_manager: str = "",
        warnings: Warnings | None = None,
    ) -> Object:
        """``patch_type`` is the content type, such as application/merge-patch+json."""
        check_type(resource, patch_type)

        def change(old: Object) -> Object:
            changed = patched(resource, old, body, patch_type)
            return metadata.addressed(resource, namespace, name, changed)

        request = self._request(
            "UPDATE", resource, namespace, name, user, subresource, dry_run, field_manager, warnings
        )
        return await self._update(request, change)

    async def delete(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        *,
        user: User,
        propagation: str = "",
        preconditions: Object | None = None,
        dry_run: bool = False,
        grace_seconds: int | None = None,
        warnings: Warnings | None = None,
    ) -> Object:
        """Returns a Status when the object is gone, otherwise the object that is going."""
        if error := deleting.undeletable(resource, name):
            raise error
        request = self._request(
            "DELETE", resource, namespace, name, user, "", dry_run, "", warnings
        )
        policy = deleting.propagation_of(resource, propagation, request.warnings)
        while True:
            old = self._read(resource, namespace, name)
            deleting.check_preconditions(resource, old, preconditions)
            await self._writer.admit(request, old, None)
            await self._writer.validate(request, old, None, name)
            try:
                return self._mark_or_remove(request, old, policy, grace_seconds)
            except StaleError:
                continue

    async def bind(
        self, namespace: str, name: str, node: str, *, user: User, dry_run: bool = False
    ) -> None:
        """Give a pod its node; 409 when it has one, is gated or is being deleted."""
        stored = self._stored(PODS, namespace, name)
        if why := _unbindable(stored, name):
            raise binding_conflict(name, why)
        scheduled = {
            "type": "PodScheduled",
            "status": "True",
            "lastProbeTime": None,
            "lastTransitionTime": metadata.rfc3339(self.clock()),
        }
        status = stored.get("status") or {}
        others = [c for c in status.get("conditions") or [] if c["type"] != "PodScheduled"]
        new = stored | {
            "spec": stored["spec"] | {"nodeName": node},
            "status": status | {"conditions": [*others, scheduled]},
        }
        if not dry_run:
            self.store.put(PODS.storage, new, old=stored)

    def remove_namespace(self, name: str) -> None:
        """The last step of the deletion of a namespace: it is empty."""
        stored = self.store.get(NAMESPACES.storage, "", name)
        if stored is not None and not stored["metadata"].get("finalizers"):
            self.store.remove(NAMESPACES.storage, stored)

    def compact(self) -> None:
        """Forget the past: older watches and continue tokens get 410."""
        self.store.compact()
        self._pages.forget()

    def _create_first_namespaces(self) -> None:
        for name in namespaces.FIRST:
            if self.store.get(NAMESPACES.storage, "", name) is None:
                obj = metadata.addressed(NAMESPACES, "", name, {})
                obj = metadata.stamp_new(
                    NAMESPACES, namespaces.prepared(obj), self.clock(), lambda _name: False
                )
                self.store.put(NAMESPACES.storage, obj, old=None)

    def _request(
        self,
        operation: str,
        resource: Resource,
        namespace: str,
        name: str,
        user: User,
        subresource: str,
        dry_run: bool,
        field_manager: str,
        warnings: Warnings | None,
    ) -> Request:
        options = options_of(f"{operation.capitalize()}Options", field_manager, dry_run)
        return Request(
            operation,
            resource,
            namespace,
            name,
            user,
            subresource,
            dry_run,
            field_manager,
            [] if warnings is None else warnings,
            options,
        )

    async def _update(self, request: Request, change: Callable[[Object], Object]) -> Object:
        resource = request.resource
        if request.subresource not in ("", *resource.subresources):
            raise not_found(resource, request.name)

        def read() -> Object:
            return self._read(resource, request.namespace, request.name)

        return served_form(resource, await self._writer.update(request, read, change))

    def _mark_or_remove(
        self, request: Request, old: Object, policy: str, grace_seconds: int | None
    ) -> Object:
        resource = request.resource
        stored = self._stored(resource, request.namespace, request.name)
        if stored["metadata"]["resourceVersion"] != old["metadata"]["resourceVersion"]:
            raise StaleError
        new = deleting.marked(resource, stored, policy, grace_seconds, self.clock())
        if new is None:
            last = stored if request.dry_run else self.store.remove(resource.storage, stored)
            return deleting.gone(resource, served_form(resource, last), self.clock())
        if new is not stored and not request.dry_run:
            new = self.store.put(resource.storage, new, old=stored)
        return served_form(resource, new)

    def _stored(self, resource: Resource, namespace: str, name: str) -> Object:
        stored = self.store.get(resource.storage, namespace, name)
        if stored is None:
            raise not_found(resource, name)
        return stored

    def _read(self, resource: Resource, namespace: str, name: str) -> Object:
        return served_form(resource, self._stored(resource, namespace, name))


def _unbindable(pod: Object, name: str) -> str:
    spec = pod.get("spec") or {}
    if "deletionTimestamp" in pod["metadata"]:
        return f"pod {name} is being deleted, cannot be assigned to a host"
    if node := spec.get("nodeName"):
        return f'pod {name} is already assigned to node "{node}"'
    if spec.get("schedulingGates"):
        return f"pod {name} has non-empty .spec.schedulingGates"
    return ""
