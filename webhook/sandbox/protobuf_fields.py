"""The numbers of the protobuf fields that are read, message by message.

Only what typed kubectl commands send. In the tables ``7:suspend?:bool`` is field 7, optional in
Go (a pointer: zero is a value, not the absence of one); ``*`` marks a repeated field; an empty name
is an embedded struct; a status is ignored, as it is when an object is created. The numbers are
those of the generated.proto files of k8s.io/api.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a message; ``type`` is a scalar, a map or the name of a message."""

    name: str
    type: str
    pointer: bool = False
    repeated: bool = False


_TABLES = {
    "ObjectMeta": """1:name 2:generateName 3:namespace 4:selfLink 5:uid 6:resourceVersion
        7:generation:int 8:creationTimestamp:Time 9:deletionTimestamp:Time
        10:deletionGracePeriodSeconds?:int 11:labels:map 12:annotations:map
        13:ownerReferences*:OwnerReference 14:finalizers*""",
    "OwnerReference": "5:apiVersion 1:kind 3:name 4:uid 6:controller?:bool "
    "7:blockOwnerDeletion?:bool",
    "LabelSelector": "1:matchLabels:map 2:matchExpressions*:LabelSelectorRequirement",
    "LabelSelectorRequirement": "1:key 2:operator 3:values*",
    "Namespace": "1:metadata:ObjectMeta 2:spec:NamespaceSpec 3:status:ignored",
    "NamespaceSpec": "1:finalizers*",
    "ConfigMap": "1:metadata:ObjectMeta 4:immutable?:bool 2:data:map 3:binaryData:bytesmap",
    "Secret": "1:metadata:ObjectMeta 5:immutable?:bool 2:data:bytesmap 4:stringData:map 3:type",
    "ServiceAccount": """1:metadata:ObjectMeta 2:secrets*:ObjectReference
        3:imagePullSecrets*:LocalObjectReference 4:automountServiceAccountToken?:bool""",
    "LocalObjectReference": "1:name",
    "ObjectReference": "1:kind 2:namespace 3:name 4:uid 5:apiVersion 6:resourceVersion 7:fieldPath",
    "PodTemplateSpec": "1:metadata:ObjectMeta 2:spec:PodSpec",
    "PodSpec": """1:volumes*:Volume 20:initContainers*:Container 2:containers*:Container
        3:restartPolicy 4:terminationGracePeriodSeconds?:int 5:activeDeadlineSeconds?:int
        6:dnsPolicy 7:nodeSelector:map 8:serviceAccountName 9:serviceAccount
        21:automountServiceAccountToken?:bool 10:nodeName 11:hostNetwork:bool 12:hostPID:bool
        13:hostIPC:bool 27:shareProcessNamespace?:bool 14:securityContext?:PodSecurityContext
        15:imagePullSecrets*:LocalObjectReference 16:hostname 17:subdomain 19:schedulerName
        22:tolerations*:Toleration 24:priorityClassName 25:priority?:int 29:runtimeClassName?
        30:enableServiceLinks?:bool 31:preemptionPolicy? 38:schedulingGates*:PodSchedulingGate""",
    "PodSecurityContext": "2:runAsUser?:int 6:runAsGroup?:int 3:runAsNonRoot?:bool 5:fsGroup?:int",
    "PodSchedulingGate": "1:name",
    "Toleration": "1:key 2:operator 3:value 4:effect 5:tolerationSeconds?:int",
    "Container": """1:name 2:image 3:command* 4:args* 5:workingDir 6:ports*:ContainerPort
        7:env*:EnvVar 8:resources?:ResourceRequirements 24:restartPolicy?
        9:volumeMounts*:VolumeMount 13:terminationMessagePath 20:terminationMessagePolicy
        14:imagePullPolicy 16:stdin:bool 17:stdinOnce:bool 18:tty:bool""",
    "ContainerPort": "1:name 2:hostPort:int 3:containerPort:int 4:protocol 5:hostIP",
    "EnvVar": "1:name 2:value 3:valueFrom?:EnvVarSource",
    "EnvVarSource": "1:fieldRef?:ObjectFieldSelector",
    "ObjectFieldSelector": "1:apiVersion 2:fieldPath",
    "ResourceRequirements": "1:limits:quantities 2:requests:quantities",
    "VolumeMount": "1:name 2:readOnly:bool 3:mountPath 4:subPath 5:mountPropagation? 6:subPathExpr",
    "Volume": "1:name 2::VolumeSource",
    "VolumeSource": "2:emptyDir?:EmptyDirVolumeSource",
    "EmptyDirVolumeSource": "1:medium 2:sizeLimit?:Quantity",
    "Job": "1:metadata:ObjectMeta 2:spec:JobSpec 3:status:ignored",
    "JobSpec": """1:parallelism?:int 2:completions?:int 3:activeDeadlineSeconds?:int
        7:backoffLimit?:int 12:backoffLimitPerIndex?:int 13:maxFailedIndexes?:int
        4:selector?:LabelSelector 5:manualSelector?:bool 6:template:PodTemplateSpec
        8:ttlSecondsAfterFinished?:int 9:completionMode? 10:suspend?:bool
        14:podReplacementPolicy? 15:managedBy?""",
    "JobTemplateSpec": "1:metadata:ObjectMeta 2:spec:JobSpec",
    "CronJob": "1:metadata:ObjectMeta 2:spec:CronJobSpec 3:status:ignored",
    "CronJobSpec": """1:schedule 8:timeZone? 2:startingDeadlineSeconds?:int 3:concurrencyPolicy
        4:suspend?:bool 5:jobTemplate:JobTemplateSpec 6:successfulJobsHistoryLimit?:int
        7:failedJobsHistoryLimit?:int""",
    "PriorityClass": "1:metadata:ObjectMeta 2:value?:int 3:globalDefault:bool 4:description "
    "5:preemptionPolicy?",
    "SelfSubjectReview": "1:metadata:ObjectMeta 2:status:ignored",
    "SelfSubjectAccessReview": "1:metadata:ObjectMeta 2:spec:AccessSpec 3:status:ignored",
    "AccessSpec": "1:resourceAttributes?:ResourceAttributes 2:nonResourceAttributes?:PathAttributes",
    "ResourceAttributes": "1:namespace 2:verb 3:group 4:version 5:resource 6:subresource 7:name",
    "PathAttributes": "1:path 2:verb",
    "Status": "1:allowed:bool 2:reason 3:evaluationError 4:denied:bool",
}


def _field(entry: str) -> tuple[int, Field]:
    number, name, kind = (*entry.split(":"), "string")[:3]
    plain = name.rstrip("?*")
    return int(number), Field(plain, kind, pointer="?" in name, repeated="*" in name)


MESSAGES: Mapping[str, Mapping[int, Field]] = {
    name: dict(map(_field, table.split())) for name, table in _TABLES.items()
}
