"""How a run went, as a value: printed as text for a person or as one object of JSON for a script."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from webhook.model.quantity import Amount, format_quantity, in_bytes
from webhook.model.queues import Quotas


@dataclass(frozen=True, slots=True)
class Peak:
    """The most a queue held of a resource at once, and what it owns of it. More is borrowed."""

    most_used: Amount
    quota: Amount

    @property
    def share(self) -> float | None:
        """None where it owns nothing."""
        return round(self.most_used / self.quota, 3) if self.quota else None


@dataclass(frozen=True, slots=True)
class Summary:
    """Of the demo's own submissions, but for the over-quota moments and peaks, which count everybody's."""

    planned: int
    submitted: int
    started: int
    finished: int
    failed: int
    refused: int
    unexpected: tuple[str, ...]
    """Answers at submission that were not meant to be"""
    over_quota_moments: int
    worst: str
    seconds: float
    queues: Mapping[str, Mapping[str, Peak]]

    @property
    def complete(self) -> bool:
        """The whole day is over, and all that was let in has run to its end."""
        return self.submitted == self.planned == self.finished + self.refused

    @property
    def good(self) -> bool:
        """What the exit code says."""
        return (
            self.complete
            and not self.failed
            and not self.unexpected
            and not self.over_quota_moments
        )


def peaks(quotas: Quotas, most: Mapping[str, Mapping[str, Amount]]) -> dict[str, dict[str, Peak]]:
    """By queue and resource, for all that a queue's quota names."""
    return {
        name: {
            resource: Peak(most.get(name, {}).get(resource, 0), nominal)
            for resource, nominal in owned(quotas, name).items()
        }
        for name in quotas.queues
    }


def owned(quotas: Quotas, queue: str) -> dict[str, Amount]:
    """Resource → what the queue owns of it, over all flavors, in the order of the policy."""
    total: dict[str, Amount] = {}
    for quota in quotas.queues[queue].quotas:
        for resource, share in quota.shares.items():
            total[resource] = total.get(resource, 0) + share.nominal
    return total


def as_json(summary: Summary) -> str:
    """One object."""
    body: dict[str, Any] = {
        "submitted": summary.submitted,
        "started": summary.started,
        "finished": summary.finished,
        "failed": summary.failed,
        "refused": summary.refused,
        "over_quota_moments": summary.over_quota_moments,
        "seconds": round(summary.seconds, 1),
        "queues": {
            name: {resource: _peak_json(resource, peak) for resource, peak in found.items()}
            for name, found in summary.queues.items()
        },
    }
    return json.dumps(body, indent=2)


def _peak_json(resource: str, peak: Peak) -> dict[str, Any]:
    return {
        "most_used": amount_text(peak.most_used, resource),
        "quota": amount_text(peak.quota, resource),
        "most_used_of_quota": peak.share,
    }


def as_text(summary: Summary, aliases: Mapping[str, str]) -> str:
    """Some lines; ``aliases`` maps a resource to the short name the policy gives it."""
    lines = [
        _counts_line(summary),
        _quota_line(summary),
        "",
        "most used of what the queue owns (above 100 % is borrowed):",
    ]
    for name, found in summary.queues.items():
        parts = [_peak_text(aliases.get(r, r), r, peak) for r, peak in found.items()]
        lines.append(f"  {name:<8} " + "   ".join(parts).rstrip())
    lines += [f"not expected: {text}" for text in summary.unexpected]
    if summary.failed:
        lines.append(f"{summary.failed} failed")
    if not summary.complete:
        left = summary.submitted - summary.refused - summary.finished
        lines.append(f"{left} not finished, {summary.planned - summary.submitted} not submitted")
    return "\n".join(lines)


def _counts_line(summary: Summary) -> str:
    ended = f"{summary.finished} finished in {summary.seconds:.0f} s"
    return (
        f"{summary.submitted} submitted: {summary.refused} refused,"
        f" {summary.started} started, {ended}"
    )


def _quota_line(summary: Summary) -> str:
    if not summary.over_quota_moments:
        return "over quota: never"
    return f"OVER QUOTA at {summary.over_quota_moments} moments; first: {summary.worst}"


def _peak_text(label: str, resource: str, peak: Peak) -> str:
    used, quota = amount_text(peak.most_used, resource), amount_text(peak.quota, resource)
    share = "" if peak.share is None else f" ({peak.share:.0%})"
    return f"{label} {used} of {quota}{share}".ljust(30)


def amount_text(amount: Amount, resource: str) -> str:
    """For a person: ``12``, ``7.5``, ``96Gi``; never longer than it must be."""
    if amount and in_bytes(resource):
        for suffix, unit in (("Gi", 2**30), ("Mi", 2**20)):
            if amount >= unit * 10**9:
                return f"{amount / (unit * 10**9):.4g}{suffix}"
    return f"{amount / 10**9:.6g}" if amount % 10**6 == 0 else format_quantity(amount, resource)
