"""Every verb of the API server, for the HTTP layer and the players alike.

The order of a write is that of the real server: decode, defaults, mutating admission, defaults
again, validation, validating admission, store. Objects that come out are frozen by convention:
nobody mutates what they get, and the store never mutates what it keeps.

SKELETON: signatures are final. Wiring (server.py): the Api takes the strategies and the admission
chain as values, so ``strategies.py`` may import ``resources`` and ``status`` and this module
freely. Players: ``webhook/sandbox/players/__init__.py: async def play(api: Api) -> None`` runs all
of them until it is cancelled; their user is ``CONTROLLER``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from webhook.sandbox.resources import RESOURCES, Object, Resource, User, resource_at
from webhook.sandbox.status import Cause, StatusError

__all__ = ["RESOURCES", "Api", "Cause", "Event", "Object", "Resource", "StatusError", "User"]

CONTROLLER = User("system:kube-controller-manager", ("system:authenticated", "system:masters"))


@dataclass(frozen=True, slots=True)
class Event:
    """One line of a watch: ADDED, MODIFIED, DELETED, BOOKMARK or ERROR, and its object."""

    type: str
    object: Object


class Strategy(Protocol):
    """What the module ``strategies`` offers: pure rules of a kind."""

    def prepare_create(self, resource: Resource, obj: Object, now: datetime) -> Object: ...
    def prepare_update(
        self, resource: Resource, old: Object, new: Object, subresource: str
    ) -> Object: ...
    def validate_create(self, resource: Resource, obj: Object) -> Sequence[Cause]: ...
    def validate_update(
        self, resource: Resource, old: Object, new: Object, subresource: str
    ) -> Sequence[Cause]: ...


class Api:
    """The verbs; raises StatusError."""

    def __init__(self, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.clock = clock

    async def create(
        self,
        resource: Resource,
        namespace: str,
        obj: Object,
        *,
        user: User,
        dry_run: bool = False,
        field_manager: str = "",
        warnings: list[str] | None = None,
    ) -> Object:
        raise NotImplementedError

    async def get(self, resource: Resource, namespace: str, name: str) -> Object:
        raise NotImplementedError

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
        raise NotImplementedError

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
        warnings: list[str] | None = None,
    ) -> Object:
        raise NotImplementedError

    async def patch(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        body: Object | list[Object],
        *,
        patch_type: str,  # the content type, such as application/merge-patch+json
        user: User,
        subresource: str = "",
        dry_run: bool = False,
        field_manager: str = "",
        warnings: list[str] | None = None,
    ) -> Object:
        raise NotImplementedError

    async def delete(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        *,
        user: User,
        propagation: str = "",  # Foreground, Background, Orphan
        preconditions: Object | None = None,
        dry_run: bool = False,
        grace_seconds: int | None = None,
        warnings: list[str] | None = None,
    ) -> Object:
        raise NotImplementedError

    async def bind(self, namespace: str, name: str, node: str, *, user: User) -> None:
        """POST pods/binding: 409 when the pod is bound or gated."""
        raise NotImplementedError

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
    ) -> AsyncIterator[Event]:
        raise NotImplementedError

    def resource(self, group: str, version: str, plural: str) -> Resource | None:
        return resource_at(group, version, plural)
