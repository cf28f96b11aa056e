"""The admission chain: which webhooks are asked, in what order, and what their answers do.

As on a real server: mutating webhooks one after the other by the name of their configuration,
those with ``reinvocationPolicy: IfNeeded`` once more when a later one sent a patch (on a real
server, too, one that changes nothing counts); then the
validating ones all at once. A webhook that cannot be asked is passed over (Ignore, silently but
for the log and ``failed_open``) or fails the request (Fail).
"""

from __future__ import annotations

import asyncio
import logging
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Protocol

from webhook.sandbox.hook_calls import Answer, CallFailed, Denied, HookClient, Services
from webhook.sandbox.hooks import Hook, Labels, Review, hooks_of
from webhook.sandbox.patching import json_patch
from webhook.sandbox.resources import (
    MUTATING_WEBHOOKS,
    NAMESPACES,
    VALIDATING_WEBHOOKS,
    Object,
    Resource,
    User,
)
from webhook.sandbox.status import StatusError, bad_request
from webhook.sandbox.strategies.fields import section

log = logging.getLogger(__name__)

WARNINGS_LIMIT = 4096  # characters of all warnings of one answer; beyond, each is cut
WARNING_CUT = 256
WARNINGS_SHOWN = WARNINGS_LIMIT // WARNING_CUT
DRY_RUN_SAFE = frozenset({"None", "NoneOnDryRun"})


class Reader(Protocol):
    """The part of the Api the chain needs."""

    async def get(self, resource: Resource, namespace: str, name: str) -> Object: ...
    async def list(self, resource: Resource) -> Object: ...


class AdmissionChain:
    """All webhooks of the cluster; ``services`` maps (namespace, name) to an https address."""

    def __init__(self, api: Reader, *, services: Services | None = None) -> None:
        self.failed_open: Counter[str] = Counter()  # by the name of the webhook
        self._api = api
        self._client = HookClient(services)
        self._read: dict[tuple[str, str], tuple[Hook, ...]] = {}

    async def close(self) -> None:
        """Close the connections to the webhooks."""
        await self._client.close()

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
        warnings: list[str] | None,
    ) -> Object | None:
        """The object as the mutating webhooks want it; raises StatusError."""
        hooks = await self._hooks(MUTATING_WEBHOOKS)
        if not hooks:
            return new
        review = Review(
            operation, resource, subresource, namespace, name, old, new, user, dry_run, options
        )
        labels = await self._namespace_labels(review)
        again: set[int] = set()
        called: set[int] = set()
        for index, hook in enumerate(hooks):
            before = review.new
            if not hook.concerns(review, labels):
                continue
            review = await self._mutated(hook, review, warnings)
            if review.new is not before:
                again |= called
            if hook.reinvoked:
                called.add(index)
        for index in sorted(again):
            if hooks[index].concerns(review, labels):
                review = await self._mutated(hooks[index], review, warnings)
        return review.new

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
        warnings: list[str] | None,
    ) -> None:
        """Ask all validating webhooks at once; raises the first refusal, in their order."""
        hooks = await self._hooks(VALIDATING_WEBHOOKS)
        if not hooks:
            return
        review = Review(
            operation, resource, subresource, namespace, name, old, new, user, dry_run, options
        )
        labels = await self._namespace_labels(review)
        concerned = [hook for hook in hooks if hook.concerns(review, labels)]
        outcomes = await asyncio.gather(
            *(self._ask(hook, review) for hook in concerned), return_exceptions=True
        )
        for outcome in outcomes:
            if isinstance(outcome, Answer | Denied):
                warn(warnings, outcome.warnings)
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome

    async def _mutated(self, hook: Hook, review: Review, warnings: list[str] | None) -> Review:
        try:
            answer = await self._ask(hook, review)
        except Denied as denied:
            warn(warnings, denied.warnings)
            raise
        if answer is None:
            return review
        warn(warnings, answer.warnings)
        if not answer.patch:
            return review
        return _patched(hook, review, answer.patch)

    async def _ask(self, hook: Hook, review: Review) -> Answer | None:
        """One answer; None when the webhook failed and that is to be ignored."""
        if review.dry_run and hook.side_effects not in DRY_RUN_SAFE:
            raise bad_request(f'admission webhook "{hook.name}" does not support dry run')
        try:
            return await self._client.call(hook, review)
        except CallFailed as failure:
            text = f'failed calling webhook "{hook.name}": {failure}'
            if not hook.ignores_failure:
                raise internal_error(text) from failure
            log.warning("Failed calling webhook, failing open %s: %s", hook.name, text)
            self.failed_open[hook.name] += 1
            return None

    async def _hooks(self, resource: Resource) -> list[Hook]:
        """The webhooks of a kind, by the name of their configuration; read anew when it changed."""
        configurations = (await self._api.list(resource))["items"]
        found: list[Hook] = []
        for configuration in sorted(configurations, key=lambda c: str(c["metadata"]["name"])):
            found.extend(self._cached(configuration))
        return found

    def _cached(self, configuration: Object) -> tuple[Hook, ...]:
        metadata = configuration["metadata"]
        key = (metadata["uid"], metadata["resourceVersion"])
        if key not in self._read:
            stale = [known for known in self._read if known[0] == metadata["uid"]]
            for known in stale:
                del self._read[known]
            self._read[key] = hooks_of(configuration)
        return self._read[key]

    async def _namespace_labels(self, review: Review) -> Labels | None:
        """The labels selectors are held against; None: there is no namespace to ask about."""
        if review.resource is NAMESPACES and review.new is not None:
            return section(review.new, "metadata", "labels")
        namespace = review.name if review.resource is NAMESPACES else review.namespace
        if not namespace:
            return None
        try:
            stored = await self._api.get(NAMESPACES, "", namespace)
        except StatusError:
            return {}
        return section(stored, "metadata", "labels")


def _patched(hook: Hook, review: Review, patch: list[Object]) -> Review:
    if review.new is None:
        why = "attempted to modify the object, which is not supported for this operation"
        raise internal_error(f'admission webhook "{hook.name}" {why}')
    try:
        new = json_patch(review.new, patch)
    except StatusError as error:
        raise internal_error(f"the patch of webhook {hook.name} does not apply: {error}") from error
    return replace(review, new=new)


def internal_error(text: str) -> StatusError:
    """500, as the API server words what is nobody's fault but a webhook's."""
    details = {"causes": [{"message": text}]}
    return StatusError(500, "InternalError", f"Internal error occurred: {text}", details=details)


def warn(warnings: list[str] | None, texts: Iterable[str]) -> None:
    """Add warnings as the API server does: control characters and repeats are dropped silently.

    Once all together exceed WARNINGS_LIMIT characters each is cut, so that all can be shown.
    """
    if warnings is None:
        return
    for text in texts:
        if text and text not in warnings and not any(map(_is_control, text)):
            warnings.append(text)
    if sum(map(len, warnings)) > WARNINGS_LIMIT:
        warnings[:] = [text[:WARNING_CUT] for text in warnings[:WARNINGS_SHOWN]]


def _is_control(character: str) -> bool:
    return unicodedata.category(character) == "Cc"
