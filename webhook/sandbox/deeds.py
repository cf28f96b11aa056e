"""A request that writes, as one call of the Api."""

from __future__ import annotations

from dataclasses import dataclass

from webhook.sandbox.api import Api
from webhook.sandbox.requests import Query, delete_options
from webhook.sandbox.resources import PODS, Object, User
from webhook.sandbox.routes import Target
from webhook.sandbox.status import bad_request

_SUCCESS: Object = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}


@dataclass(frozen=True, slots=True)
class Deed:
    """What is to be written where, by whom; ``warnings`` fills up on the way."""

    api: Api
    target: Target
    query: Query
    user: User
    body: object
    warnings: list[str]
    content_type: str

    async def done(self, verb: str) -> tuple[Object, int]:
        """Do it; returns the object and the code of the answer, raises StatusError."""
        if verb == "create":
            return await self._create(), 201
        if verb == "delete":
            return await self._delete(), 200
        if verb == "update":
            return await self._update(), 200
        return await self._patch(), 200

    async def _create(self) -> Object:
        if self.target.resource is PODS and self.target.name:
            return await self._of_a_pod()
        return await self.api.create(
            self.target.resource,
            self.target.namespace,
            self._object(),
            user=self.user,
            dry_run=self.query.dry_run,
            field_manager=self.query.field_manager,
            warnings=self.warnings,
        )

    async def _of_a_pod(self) -> Object:
        """POST pods/x/binding and pods/x/eviction."""
        body = self._object()
        if self.target.subresource == "binding":
            node = str((body.get("target") or {}).get("name") or "")
            await self.api.bind(
                self.target.namespace,
                self.target.name,
                node,
                user=self.user,
                dry_run=self.query.dry_run,
            )
        else:
            await self._delete_one(
                self.target.namespace, self.target.name, body.get("deleteOptions")
            )
        return _SUCCESS

    async def _update(self) -> Object:
        return await self.api.update(
            self.target.resource,
            self.target.namespace,
            self.target.name,
            self._object(),
            user=self.user,
            subresource=self.target.subresource,
            dry_run=self.query.dry_run,
            field_manager=self.query.field_manager,
            warnings=self.warnings,
        )

    async def _patch(self) -> Object:
        return await self.api.patch(
            self.target.resource,
            self.target.namespace,
            self.target.name,
            self.body,
            patch_type=self.content_type,
            user=self.user,
            subresource=self.target.subresource,
            dry_run=self.query.dry_run,
            field_manager=self.query.field_manager,
            warnings=self.warnings,
        )

    async def _delete(self) -> Object:
        if self.target.name:
            return await self._delete_one(self.target.namespace, self.target.name, self.body)
        found = await self.api.list(
            self.target.resource,
            self.target.namespace,
            label_selector=self.query.label_selector,
            field_selector=self.query.field_selector,
        )
        for obj in found["items"]:
            metadata = obj["metadata"]
            await self._delete_one(metadata.get("namespace", ""), metadata["name"], self.body)
        return found

    async def _delete_one(self, namespace: str, name: str, options: object) -> Object:
        return await self.api.delete(
            self.target.resource,
            namespace,
            name,
            user=self.user,
            warnings=self.warnings,
            **delete_options(self.query, options),
        )

    def _object(self) -> Object:
        if not isinstance(self.body, dict):
            raise bad_request("the body of the request is not an object")
        return self.body
