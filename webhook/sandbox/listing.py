"""Lists, whole or page by page: every page shows the moment of the first.

The rest of a list that was cut by ``limit`` is kept here (objects are never mutated, so that is a
list of references); only so many are kept, and an older continue token is answered with 410.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from dataclasses import dataclass

from webhook.sandbox.resources import Object, Resource
from webhook.sandbox.status import bad_request, expired

_PREFIX = "sandbox."
_EXPIRED = (
    "The provided continue parameter is too old to display a consistent list result. You can "
    "start a new list without the continue parameter."
)


@dataclass(frozen=True, slots=True)
class _Rest:
    path: tuple[Resource, str, str, str]
    revision: int
    items: list[Object]


class Pages:
    """The lists that are being read; ``keep`` of them at the most."""

    def __init__(self, *, keep: int = 64) -> None:
        self._keep = keep
        self._rests: OrderedDict[str, _Rest] = OrderedDict()

    def first(
        self, path: tuple[Resource, str, str, str], items: list[Object], revision: int, limit: int
    ) -> Object:
        return self._page(_Rest(path, revision, items), limit)

    def next(self, path: tuple[Resource, str, str, str], token: str, limit: int) -> Object:
        """The next page; raises StatusError 410 for a token that is no longer known."""
        if not token.startswith(_PREFIX):
            raise bad_request("invalid continue token: continue key is not valid")
        rest = self._rests.get(token)
        if rest is None:
            raise expired(_EXPIRED)
        if rest.path != path:
            raise bad_request("continue key is not valid: it belongs to another list")
        return self._page(rest, limit)

    def forget(self) -> None:
        self._rests.clear()

    def _page(self, rest: _Rest, limit: int) -> Object:
        metadata: Object = {"resourceVersion": str(rest.revision)}
        items = rest.items
        if 0 < limit < len(items):
            left = items[limit:]
            items = items[:limit]
            metadata |= {"continue": self._remember(_Rest(rest.path, rest.revision, left))}
            if not (rest.path[2] or rest.path[3]):
                metadata["remainingItemCount"] = len(left)
        resource = rest.path[0]
        kind = {"kind": f"{resource.kind}List", "apiVersion": resource.api_version}
        return {**kind, "metadata": metadata, "items": items}

    def _remember(self, rest: _Rest) -> str:
        token = _PREFIX + secrets.token_urlsafe(12)
        self._rests[token] = rest
        while len(self._rests) > self._keep:
            self._rests.popitem(last=False)
        return token
