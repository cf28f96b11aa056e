"""The path of a write: from what the client sent to what is stored.

CREATE: mutating admission, names and uid, defaults, validation, validating admission, store.
UPDATE and PATCH: the change is computed from the stored object, then the same; if somebody else
wrote in the meantime all of it is done again, unless the client stated the version it had read.
A write that changes nothing is not stored and nobody hears of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from webhook.sandbox import metadata as meta
from webhook.sandbox import small_kinds
from webhook.sandbox.events import stored_form, validate_event
from webhook.sandbox.resources import Object, Resource, User
from webhook.sandbox.status import Cause, StatusError, already_exists, conflict, invalid
from webhook.sandbox.store import StaleError, Store

ATTEMPTS = 100  # far more than ever collide; a real server does not count either


class Strategy(Protocol):
    """The pure rules of a kind, as the package ``strategies`` offers them.

    ``prepare_create`` is called before admission (the object has no uid yet, as on a real server)
    and again after it, with uid and name.
    """

    def prepare_create(self, resource: Resource, obj: Object, now: datetime) -> Object: ...
    def prepare_update(
        self, resource: Resource, old: Object, new: Object, subresource: str
    ) -> Object: ...
    def validate_create(self, resource: Resource, obj: Object) -> Sequence[Cause]: ...
    def validate_update(
        self, resource: Resource, old: Object, new: Object, subresource: str
    ) -> Sequence[Cause]: ...


class Admission(Protocol):
    """The chain of webhooks, as ``webhooks.AdmissionChain`` is."""

    async def admit(
        self,
        operation: str,
        resource: Resource,
        subresource: str,
        namespace: str,
        name: str,
        old: Object | None,
        new: Object | None,
        user: User,
        dry_run: bool,
        options: Object,
        warnings: list[str],
    ) -> Object | None: ...

    async def validate(
        self,
        operation: str,
        resource: Resource,
        subresource: str,
        namespace: str,
        name: str,
        old: Object | None,
        new: Object | None,
        user: User,
        dry_run: bool,
        options: Object,
        warnings: list[str],
    ) -> None: ...


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for, apart from the object."""

    operation: str  # CREATE, UPDATE, DELETE
    resource: Resource
    namespace: str
    name: str
    user: User
    subresource: str = ""
    dry_run: bool = False
    field_manager: str = ""
    warnings: list[str] = field(default_factory=list)
    options: Object = field(default_factory=dict)


class Writer:
    """Carries a request through admission and validation into the store."""

    def __init__(self, store: Store, strategy: Strategy, clock: Callable[[], datetime]) -> None:
        self.store = store
        self.admission: Admission | None = None
        self._strategy = strategy
        self._clock = clock

    async def create(self, request: Request, obj: Object) -> Object:
        """Returns what is stored (or would be); raises StatusError."""
        resource = request.resource
        new = self._prepared(resource, meta.without_server_fields(obj))
        new = await self.admit(request, None, new) or new
        new = meta.stamp_new(resource, new, self._clock(), lambda n: self._exists(request, n))
        new = self._prepared(resource, new)
        name = new["metadata"].get("name", "")
        causes = [
            *meta.validate_metadata(resource, new),
            *self._strategy.validate_create(resource, new),
            *validate_event(resource, new),
        ]
        if causes:
            raise invalid(resource, name, causes)
        await self.validate(request, None, new, name)
        return self._insert(request, new, name)

    def _prepared(self, resource: Resource, obj: Object) -> Object:
        obj = small_kinds.without_status(resource, small_kinds.prepared(resource, obj))
        return self._strategy.prepare_create(resource, obj, self._clock())

    def _exists(self, request: Request, name: str) -> bool:
        return self.store.get(request.resource.storage, request.namespace, name) is not None

    def _insert(self, request: Request, new: Object, name: str) -> Object:
        if self._exists(request, name):
            raise already_exists(request.resource, name)
        new = stored_form(request.resource, self._signed(request, new))
        if request.dry_run:
            return new
        return self.store.put(request.resource.storage, new, old=None)

    def _signed(self, request: Request, new: Object) -> Object:
        if not request.field_manager:
            return new
        return meta.with_manager(
            new, request.field_manager, "Update", request.subresource, self._clock()
        )

    async def update(
        self, request: Request, read: Callable[[], Object], change: Callable[[Object], Object]
    ) -> Object:
        """Apply ``change`` to what ``read`` returns until nobody comes in between."""
        for _ in range(ATTEMPTS):
            old = read()
            new = await self._changed(request, old, change(old))
            try:
                return self._replace(request, old, new)
            except StaleError:
                continue
        raise conflict(request.resource, request.name)

    async def _changed(self, request: Request, old: Object, new: Object) -> Object:
        resource, subresource = request.resource, request.subresource
        new = self._prepared_update(request, old, new)
        admitted = await self.admit(request, old, new)
        if admitted is not None and admitted is not new:
            new = self._prepared_update(request, old, admitted)
        causes = [
            *meta.validate_metadata(resource, new, old),
            *self._strategy.validate_update(resource, old, new, subresource),
            *validate_event(resource, new, old),
        ]
        if causes:
            raise invalid(resource, request.name, causes)
        await self.validate(request, old, new, request.name)
        return new

    def _prepared_update(self, request: Request, old: Object, new: Object) -> Object:
        resource, subresource = request.resource, request.subresource
        new = meta.carried_over(resource, old, new)
        if subresource == "status":
            metadata = old["metadata"] if resource.custom else new["metadata"]
            new = old | {"metadata": metadata, "status": new.get("status")}
        elif "status" in resource.subresources:
            new = {**new, "status": old.get("status")}
        new = {key: value for key, value in new.items() if key != "status" or value is not None}
        new = small_kinds.prepared(resource, new)
        new = self._strategy.prepare_update(resource, old, new, subresource)
        return meta.with_generation(resource, old, new)

    def _replace(self, request: Request, old: Object, new: Object) -> Object:
        kind = request.resource.storage
        stored = self.store.get(kind, request.namespace, request.name)
        if stored is None or (
            stored["metadata"]["resourceVersion"] != old["metadata"]["resourceVersion"]
        ):
            raise StaleError
        new = stored_form(request.resource, new)
        if new == stored or request.dry_run:
            return stored if new == stored else self._signed(request, new)
        new = self._signed(request, new)
        if to_be_removed(new):
            return self.store.remove(kind, stored, last=new)
        return self.store.put(kind, new, old=stored)

    async def admit(
        self, request: Request, old: Object | None, new: Object | None
    ) -> Object | None:
        """Ask the mutating webhooks; returns the object as they want it."""
        if self.admission is None:
            return new
        return await self.admission.admit(
            request.operation,
            request.resource,
            request.subresource,
            request.namespace,
            request.name,
            old,
            new,
            request.user,
            request.dry_run,
            request.options,
            request.warnings,
        )

    async def validate(
        self, request: Request, old: Object | None, new: Object | None, name: str
    ) -> None:
        """Ask the validating webhooks; raises StatusError."""
        if self.admission is None:
            return
        await self.admission.validate(
            request.operation,
            request.resource,
            request.subresource,
            request.namespace,
            name,
            old,
            new,
            request.user,
            request.dry_run,
            request.options,
            request.warnings,
        )


def to_be_removed(obj: Object) -> bool:
    """An object being deleted goes with its last finalizer, once its grace period is over."""
    metadata = obj["metadata"]
    if "deletionTimestamp" not in metadata or metadata.get("finalizers"):
        return False
    return not metadata.get("deletionGracePeriodSeconds") and obj["kind"] != "Namespace"


def options_of(request_kind: str, field_manager: str, dry_run: bool) -> Object:
    """The options an AdmissionReview carries."""
    options: Object = {"kind": request_kind, "apiVersion": "meta.k8s.io/v1"}
    if field_manager:
        options["fieldManager"] = field_manager
    if dry_run:
        options["dryRun"] = ["All"]
    return options


__all__ = ["Admission", "Request", "StatusError", "Strategy", "Writer", "options_of"]
