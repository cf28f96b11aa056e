"""The words of the language, of its later versions, and those that people write instead.

A statement of a later version is recognised by its first word and refused once, by name, instead of by whatever its
parts look like to this grammar. The synonyms come from Kueue, Volcano, Slurm and ResourceQuota.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

TOP: Final = ("resource", "flavor", "priority", "cohort", "queue", "route", "deny")
IN_COHORT: Final = ("pool", "cap", "cohort", "queue")
IN_QUEUE: Final = ("quota", "order")
IN_FLAVOR: Final = ("node", "tolerate")
STATEMENTS: Final = frozenset({*TOP, *IN_COHORT, *IN_QUEUE, *IN_FLAVOR, "message"})
BLOCKS: Final = frozenset({"flavor", "cohort", "pool", "cap", "queue", "quota", "deny"})
"""Statements with a block."""
LATER: Final = frozenset(
    {"warn", "set", "accept", "limit", "preempt", "prefer", "hold", "drain", "ready", "uncovered"}
    | {"share", "weight", "kind", "settings", "test"}
)
"""Statements this version does not know yet."""
HOME: Mapping[str, str] = MappingProxyType(
    {"quota": "in a queue", "order": "in a queue", "pool": "in a cohort", "cap": "in a cohort"}
    | {"node": "in a flavor", "tolerate": "in a flavor", "message": "in a deny"}
    | dict.fromkeys(("resource", "flavor", "priority", "route", "deny"), "outside of blocks")
    | dict.fromkeys(("cohort", "queue"), "outside of blocks or in a cohort")
)
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
        "group": "cohort",
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
    }
)
"""What people write → what it is called here. A suggestion is made only where the right side may stand."""
