"""Who asks: a table of bearer tokens, and impersonation for system:masters.

There is no RBAC here: a token that is known may do everything. Only impersonation is limited, so
that a client that relies on it finds out.
"""

from __future__ import annotations

from collections.abc import Mapping

from multidict import CIMultiDictProxy

from webhook.sandbox.resources import User
from webhook.sandbox.status import StatusError, unauthorized

AUTHENTICATED = "system:authenticated"
MASTERS = "system:masters"
_SERVICE_ACCOUNT = "system:serviceaccount:"


Headers = CIMultiDictProxy[str]


def identify(headers: Headers, tokens: Mapping[str, User]) -> User:
    """The user of a request; raises StatusError 401, or 403 for an impersonation."""
    scheme, _, token = headers.get("Authorization", "").partition(" ")
    user = tokens.get(token.strip()) if scheme.lower() == "bearer" else None
    if user is None:
        raise unauthorized()
    wanted = headers.get("Impersonate-User", "")
    return _impersonated(user, wanted, headers) if wanted else user


def _impersonated(user: User, name: str, headers: Headers) -> User:
    if MASTERS not in user.groups:
        message = (
            f'users "{name}" is forbidden: User "{user.name}" cannot impersonate resource "users" '
            'in API group "" at the cluster scope'
        )
        raise StatusError(403, "Forbidden", message, details={"name": name, "kind": "users"})
    groups = headers.getall("Impersonate-Group", [])
    return user_named(name, groups, headers.get("Impersonate-Uid", ""))


def user_named(name: str, groups: list[str] | tuple[str, ...] = (), uid: str = "") -> User:
    """A user with the groups everybody and every service account is in."""
    implied = [AUTHENTICATED]
    if name.startswith(_SERVICE_ACCOUNT):
        namespace = name.removeprefix(_SERVICE_ACCOUNT).partition(":")[0]
        implied = [
            "system:serviceaccounts",
            f"system:serviceaccounts:{namespace}",
            AUTHENTICATED,
        ]
    return User(name, tuple(dict.fromkeys([*groups, *implied])), uid)
