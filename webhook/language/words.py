"""The words of the language, and those that people write instead.

The synonyms come from Kueue, Volcano, Slurm and ResourceQuota.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

RULES: Final = ("route", "deny", "warn", "set")
TOP: Final = (
    *("resource", "flavor", "priority", "cohort", "queue", "kind", "settings", "test"),
    *RULES,
)
IN_COHORT: Final = ("pool", "cap", "cohort", "queue", "share", "weight")
IN_QUEUE: Final = (
    *("quota", "order", "weight", "preempt", "prefer", "limit", "uncovered", "accept"),
    *("hold", "drain", "ready"),
)
IN_FLAVOR: Final = ("node", "tolerate")
IN_SETTINGS: Final = ("mode", "queue-label")
IN_KIND: Final = (
    *("api", "suspend", "inject", "priority-class", "children", "pods"),
    *("finished", "active", "ready"),
)
IN_TEST: Final = ("given", "submit", "expect")
STATEMENTS: Final = frozenset(
    {*TOP, *IN_COHORT, *IN_QUEUE, *IN_FLAVOR, *IN_SETTINGS, *IN_KIND, *IN_TEST, "message"}
)
BLOCKS: Final = frozenset(
    {"flavor", "cohort", "pool", "cap", "queue", "quota", "deny", "warn", "set"}
    | {"kind", "settings", "test"}
)
"""Statements with a block."""


def _homes() -> dict[str, str]:
    """Where each word that begins a statement stands, in words."""
    places = (
        (TOP, "outside of blocks"),
        (IN_QUEUE, "in a queue"),
        (IN_COHORT, "in a cohort"),
        (IN_FLAVOR, "in a flavor"),
        (IN_SETTINGS, "in `settings`"),
        (IN_KIND, "in a `kind`"),
        (IN_TEST, "in a `test`"),
        (("message",), "in a deny or warn"),
    )
    homes: dict[str, str] = {}
    for words, place in places:
        for word in words:
            homes[word] = f"{homes[word]} or {place}" if word in homes else place
    return homes


HOME: Mapping[str, str] = MappingProxyType(_homes())
EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
"""Of taints, as Kubernetes names them."""
RESERVED: Final = frozenset(
    {"any", "none", "for", "when", "to", "otherwise", "in", "jobs", "waiting", "per", "default"}
)
"""No names, because they read badly or cannot be told from what else may stand there."""

SYNONYMS: Mapping[str, str] = MappingProxyType(
    {
        # resources
        "gpus": "nvidia.com/gpu",
        "gpu": "nvidia.com/gpu",
        "mem": "memory",
        "ram": "memory",
        "cpus": "cpu",
        "cores": "cpu",
        "vcpu": "cpu",
        "disk": "ephemeral-storage",
        "storage": "ephemeral-storage",
        # statements
        "alias": "resource",
        "resourceFlavor": "flavor",
        "ResourceFlavor": "flavor",
        "priorityClass": "priority",
        "PriorityClass": "priority",
        "clusterQueue": "queue",
        "ClusterQueue": "queue",
        "localQueue": "queue",
        "partition": "queue",
        "team": "cohort",
        "Cohort": "cohort",
        "rule": "route",
        "refuse": "deny",
        "reject": "deny",
        "forbid": "deny",
        # in blocks
        "nominalQuota": "quota",
        "resources": "quota",
        "guarantee": "quota",
        "deserved": "quota",
        "shared": "pool",
        "max": "cap",
        "maximum": "cap",
        "capacity": "cap",
        "strategy": "order",
        "queueingStrategy": "order",
        "nodeLabels": "node",
        "nodeSelector": "node",
        "taint": "tolerate",
        "toleration": "tolerate",
        "text": "message",
        "msg": "message",
        # words inside a statement
        "maxBorrow": "borrow",
        "borrowingLimit": "borrow",
        "borrows": "borrow",
        "maxLend": "lend",
        "lendingLimit": "lend",
        "lends": "lend",
        "if": "when",
        "where": "when",
        "into": "to",
        "else": "otherwise",
        "unlimited": "any",
        "infinite": "any",
        "all": "any",
        "zero": "none",
        "never": "none",
        "fifo": "strict",
        "StrictFIFO": "strict",
        "BestEffortFIFO": "first-fit",
        "backfill": "first-fit",
        "best-effort": "first-fit",
        # limits, preemption, who may enter
        "lower": "lower-priority",
        "LowerPriority": "lower-priority",
        "newer": "lower-or-newer",
        "LowerOrNewerEqualPriority": "lower-or-newer",
        "Any": "any",
        "reclaim": "preempt",
        "reclaimWithinCohort": "preempt",
        "withinClusterQueue": "preempt",
        "preemption": "preempt",
        "flavorFungibility": "prefer",
        "prefers": "prefer",
        "TryNextFlavor": "next-flavor",
        "Borrow": "borrowing",
        "borrow": "borrowing",
        "Preempt": "preempting",
        "preempt": "preempting",
        "maxJobs": "limit",
        "max-jobs": "limit",
        "quotaPerUser": "limit",
        "namespaceSelector": "accept",
        "allow": "accept",
        "admit": "accept",
        "allowed": "accept",
        "stopPolicy": "hold",
        "Hold": "hold",
        "HoldAndDrain": "drain",
        "pause": "hold",
        "paused": "hold",
        "stop": "drain",
        "disabled": "hold",
        "fairSharing": "weight",
        "fair-share": "share",
        "fairshare": "share",
        "shares": "share",
        "waitForPodsReady": "ready",
        "timeout": "ready",
        "attempts": "retries",
        "backoffLimit": "retries",
        "requeuingLimitCount": "retries",
        "users": "user",
        "ns": "namespace",
        "namespaces": "namespace",
        "group": "cohort",
        # rules, kinds, settings
        "warning": "warn",
        "mutate": "set",
        "default": "set",
        "defaults": "set",
        "patch": "set",
        "config": "settings",
        "configuration": "settings",
        "dryRun": "audit",
        "dry-run": "audit",
        "monitor": "audit",
        "enforcing": "enforce",
        "apiVersion": "api",
        "template": "pods",
        "replicas": "pods",
        "complete": "finished",
        "done": "finished",
        "completed": "finished",
        "running": "active",
        # tests
        "scenario": "test",
        "when": "given",
        "having": "given",
        "create": "submit",
        "apply": "submit",
        "then": "expect",
        "assert": "expect",
        "should": "expect",
        "rejected": "denied",
        "admitted": "starts",
        "started": "starts",
        "queued": "waiting",
        "pending": "waiting",
        "preempted": "preempts",
        "evicts": "preempts",
        "unmanaged": "ignored",
    }
)
"""What people write → what it is called here. A suggestion is made only where the right side may stand."""
