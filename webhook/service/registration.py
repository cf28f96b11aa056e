"""What the API server is told about the webhook: for which requests, how to reach it, how long to wait.

CREATE is registered without an object selector, since a route may claim objects that bear no label;
UPDATE with one, which the API server asks of the old and the new object, so that dropping the label
is still seen. The loop's own writes are left out: a start must cost no review.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from webhook.model.kinds import JOB, JOBSET, Key, Kind, Object
from webhook.service.settings import DEFAULT_USER

NAME = "tidegate"
TIMEOUT_SECONDS = 2
FENCED = ("kube-system", "kube-public", "kube-node-lease")
_KINDS: tuple[Kind, ...] = (JOB, JOBSET)

FailurePolicy = Literal["Ignore", "Fail"]


@dataclass(frozen=True, slots=True)
class Reach:
    """How the API server reaches the webhook: by ``url``, or as a service."""

    ca: bytes
    url: str | None = None
    service: tuple[str, str] | None = None
    """namespace and name"""
    port: int = 443

    def client_config(self, path: str) -> Object:
        """As it stands in a configuration."""
        bundle = base64.b64encode(self.ca).decode()
        if self.url is not None:
            return {"url": self.url.rstrip("/") + path, "caBundle": bundle}
        if self.service is None:
            raise ValueError("a webhook is reached by a url or a service")
        namespace, name = self.service
        service = {"namespace": namespace, "name": name, "path": path, "port": self.port}
        return {"service": service, "caBundle": bundle}


def registrations(
    reach: Reach,
    *,
    failure_policy: FailurePolicy = "Ignore",
    loop_user: str = DEFAULT_USER,
    own_namespace: str = "tidegate-system",
    only_namespaces: Mapping[str, str] | None = None,
    name: str = NAME,
) -> tuple[Object, Object]:
    """The mutating and the validating configuration.

    ``only_namespaces``: labels that a namespace has to bear for its objects to be reviewed at all; the system's own
    are never, whatever they bear.
    """
    namespaces = _namespaces(own_namespace, only_namespaces or {})
    common = _common(failure_policy, loop_user, namespaces)
    mutating = _entries(reach.client_config("/mutate"), common | {"reinvocationPolicy": "IfNeeded"})
    validating = _entries(reach.client_config("/validate"), common)
    return (
        _configuration("MutatingWebhookConfiguration", name, mutating),
        _configuration("ValidatingWebhookConfiguration", name, validating),
    )


def _configuration(kind: str, name: str, webhooks: list[Object]) -> Object:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": name},
        "webhooks": webhooks,
    }


def _common(failure_policy: FailurePolicy, loop_user: str, namespaces: Object) -> Object:
    return {
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "timeoutSeconds": TIMEOUT_SECONDS,
        "failurePolicy": failure_policy,
        "matchPolicy": "Equivalent",
        "namespaceSelector": namespaces,
        "matchConditions": [
            {
                "name": "not-the-loop",
                "expression": f"request.userInfo.username != {_cel(loop_user)}",
            }
        ],
    }


def _entries(client_config: Object, common: Mapping[str, Any]) -> list[Object]:
    labelled = {"matchExpressions": [{"key": Key.QUEUE, "operator": "Exists"}]}
    create: Object = {
        "name": "create.tidegate.dev",
        "clientConfig": client_config,
        "rules": _rules("CREATE"),
        **common,
    }
    update: Object = {
        "name": "update.tidegate.dev",
        "clientConfig": client_config,
        "rules": _rules("UPDATE"),
        "objectSelector": labelled,
        **common,
    }
    return [create, update]


def _rules(operation: str) -> list[Object]:
    return [
        {
            "apiGroups": [kind.group],
            "apiVersions": [kind.version],
            "resources": [kind.plural],
            "operations": [operation],
            "scope": "Namespaced",
        }
        for kind in _KINDS
    ]


def _namespaces(own: str, labels: Mapping[str, str]) -> Object:
    """All but the system's and our own; where labels are named, of those only the ones that bear them."""
    key = "kubernetes.io/metadata.name"
    values = list(dict.fromkeys((*FENCED, own)))
    outside = {"matchExpressions": [{"key": key, "operator": "NotIn", "values": values}]}
    return outside | ({"matchLabels": dict(labels)} if labels else {})


def _cel(text: str) -> str:
    """A string literal of CEL."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
