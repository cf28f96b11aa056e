"""Who am I, may I: the two questions a client asks about itself.

Without RBAC the second has one answer.
"""

from __future__ import annotations

from webhook.sandbox.resources import Object, User

WHO_AM_I = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
MAY_I = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
PATHS = frozenset({WHO_AM_I, MAY_I})


def review(path: str, body: object, user: User) -> Object:
    """Answer the review posted to one of PATHS."""
    if path == MAY_I:
        given = body if isinstance(body, dict) else {}
        return {
            "kind": "SelfSubjectAccessReview",
            "apiVersion": "authorization.k8s.io/v1",
            "metadata": {},
            "spec": given.get("spec") or {},
            "status": {"allowed": True, "reason": "the sandbox has no RBAC"},
        }
    info: Object = {"username": user.name, "groups": list(user.groups)}
    if user.uid:
        info["uid"] = user.uid
    return {
        "kind": "SelfSubjectReview",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {},
        "status": {"userInfo": info},
    }
