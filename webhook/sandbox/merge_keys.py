"""How strategic merge treats each list: the patchStrategy and patchMergeKey tags of the Go types.

A type maps its fields to a Field; a field that is not here is a plain value, a map that merges
key by key, or a list that is replaced (tolerations, args, topologies and so on).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Field:
    """``key``: the lists' merge key; ``primitive``: a list of plain values that is merged."""

    type: str = ""
    key: str = ""
    primitive: bool = False


_TEMPLATE = {"metadata": Field("ObjectMeta"), "spec": Field("PodSpec")}
_CONDITIONS = {"conditions": Field(key="type")}

FIELDS: Mapping[str, Mapping[str, Field]] = {
    "ObjectMeta": {
        "ownerReferences": Field(key="uid"),
        "finalizers": Field(primitive=True),
    },
    "PodSpec": {
        "volumes": Field("Volume", key="name"),
        "containers": Field("Container", key="name"),
        "initContainers": Field("Container", key="name"),
        "ephemeralContainers": Field("Container", key="name"),
        "imagePullSecrets": Field(key="name"),
        "hostAliases": Field(key="ip"),
        "topologySpreadConstraints": Field(key="topologyKey"),
        "schedulingGates": Field(key="name"),
        "resourceClaims": Field(key="name"),
    },
    "Container": {
        "ports": Field(key="containerPort"),
        "env": Field(key="name"),
        "volumeMounts": Field(key="mountPath"),
        "volumeDevices": Field(key="devicePath"),
    },
    "PodTemplateSpec": _TEMPLATE,
    "JobSpec": {"template": Field("PodTemplateSpec")},
    "JobTemplateSpec": {"metadata": Field("ObjectMeta"), "spec": Field("JobSpec")},
    "Job": {
        "metadata": Field("ObjectMeta"),
        "spec": Field("JobSpec"),
        "status": Field("JobStatus"),
    },
    "JobStatus": _CONDITIONS,
    "CronJob": {"metadata": Field("ObjectMeta"), "spec": Field("CronJobSpec")},
    "CronJobSpec": {"jobTemplate": Field("JobTemplateSpec")},
    "StatefulSet": {
        "metadata": Field("ObjectMeta"),
        "spec": Field("StatefulSetSpec"),
        "status": Field("StatefulSetStatus"),
    },
    "StatefulSetSpec": {"template": Field("PodTemplateSpec")},
    "StatefulSetStatus": _CONDITIONS,
    "Pod": {
        "metadata": Field("ObjectMeta"),
        "spec": Field("PodSpec"),
        "status": Field("PodStatus"),
    },
    "PodStatus": {
        "conditions": Field(key="type"),
        "podIPs": Field(key="ip"),
        "hostIPs": Field(key="ip"),
        "resourceClaimStatuses": Field(key="name"),
    },
    "Node": {
        "metadata": Field("ObjectMeta"),
        "spec": Field("NodeSpec"),
        "status": Field("NodeStatus"),
    },
    "NodeSpec": {"podCIDRs": Field(primitive=True)},
    "NodeStatus": {"conditions": Field(key="type"), "addresses": Field(key="type")},
    "Namespace": {"metadata": Field("ObjectMeta"), "status": Field("NamespaceStatus")},
    "NamespaceStatus": _CONDITIONS,
    "ServiceAccount": {
        "metadata": Field("ObjectMeta"),
        "secrets": Field(key="name"),
        "imagePullSecrets": Field(key="name"),
    },
    "MutatingWebhookConfiguration": {
        "metadata": Field("ObjectMeta"),
        "webhooks": Field("Webhook", key="name"),
    },
    "ValidatingWebhookConfiguration": {
        "metadata": Field("ObjectMeta"),
        "webhooks": Field("Webhook", key="name"),
    },
    "Webhook": {"matchConditions": Field(key="name")},
}

_PLAIN: Mapping[str, Field] = {"metadata": Field("ObjectMeta")}


def fields_of(type_name: str, *, root: bool = False) -> Mapping[str, Field]:
    """The fields of a type that strategic merge treats in a special way."""
    return FIELDS.get(type_name, _PLAIN if root else {})
