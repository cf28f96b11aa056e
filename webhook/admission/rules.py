"""A policy made ready to be asked: its rules, and the quota tree it describes. Built once a policy, never changed."""

from __future__ import annotations

from dataclasses import dataclass

from webhook.language.policy import Policy
from webhook.quota.tree import Tree


@dataclass(frozen=True, slots=True)
class Rules:
    """What every decision under one policy is made by."""

    policy: Policy
    tree: Tree

    @classmethod
    def of(cls, policy: Policy) -> Rules:
        """The rules of a checked policy."""
        return cls(policy, Tree(policy.quotas))
