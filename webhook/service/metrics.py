"""Every number we publish, in one table, from which the registry and the documentation are held.

Label values come from the policy and from code, never from objects, so the number of series is
bounded. Amounts are published in whole units (cores, bytes, pieces), because Prometheus keeps
floats; decisions never read them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from webhook.model.quantity import NANO
from webhook.quota.news import QueueStatus

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
REVIEW_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0)
PLAN_BUCKETS = (0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0)


@dataclass(frozen=True, slots=True)
class Metric:
    """One row: what it is called, of which kind it is, its labels and its meaning."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    meaning: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


_AMOUNT = ("queue", "flavor", "resource")

METRICS: tuple[Metric, ...] = (
    Metric(
        "tidegate_reviews_total",
        "counter",
        "reviews answered, by path and by what was decided",
        ("path", "decision"),
    ),
    Metric(
        "tidegate_review_seconds",
        "histogram",
        "time from a review's first byte read to its answer",
        ("path",),
        REVIEW_BUCKETS,
    ),
    Metric("tidegate_reviews_in_flight", "gauge", "reviews that are being answered now"),
    Metric("tidegate_overload_total", "counter", "reviews turned away at once, with 503"),
    Metric("tidegate_lookups_total", "counter", "live look-ups of a parent not yet in memory"),
    Metric(
        "tidegate_rule_audit_total",
        "counter",
        "times a rule under audit would have had an effect; from 0 again with every change of the policy",
        ("rule",),
    ),
    Metric(
        "tidegate_rule_failures_total",
        "counter",
        "times a rule's condition could not be evaluated; from 0 again with every change of the policy",
        ("rule",),
    ),
    Metric(
        "tidegate_certificate_expiry_seconds",
        "gauge",
        "when the served certificate expires, in seconds since the epoch",
    ),
    Metric(
        "tidegate_policy_info", "gauge", "1 for the revision of the policy in force", ("revision",)
    ),
    Metric(
        "tidegate_policy_differs",
        "gauge",
        "1 while the loop beside this webhook goes by another policy; for a moment that is normal",
    ),
    Metric(
        "tidegate_policy_stale_since_seconds",
        "gauge",
        "since when the policy files are broken and an older policy is in force; 0: they are not",
    ),
    Metric("tidegate_watch_failures_total", "counter", "watches and lists that failed", ("kind",)),
    Metric("tidegate_synced", "gauge", "1 once every watched kind has been listed"),
    Metric("tidegate_queue_waiting", "gauge", "workloads that wait", ("queue",)),
    Metric("tidegate_queue_started", "gauge", "workloads that run", ("queue",)),
    Metric("tidegate_queue_stopping", "gauge", "workloads whose pods are still going", ("queue",)),
    Metric(
        "tidegate_queue_bypassed",
        "gauge",
        "workloads that run although nobody started them by quota; charged all the same",
        ("queue",),
    ),
    Metric("tidegate_quota_nominal", "gauge", "quota of the queue's own", _AMOUNT),
    Metric("tidegate_quota_used", "gauge", "what the queue's workloads hold", _AMOUNT),
    Metric(
        "tidegate_quota_available",
        "gauge",
        "what the queue could still take, borrowing included; below 0: held beyond the policy",
        _AMOUNT,
    ),
    Metric("tidegate_queue_gone", "gauge", "workloads whose queue the policy does not have"),
    Metric(
        "tidegate_starts_total",
        "counter",
        "starts, by outcome: started, conflict, refused, gone, unknown, abandoned; reopened: the write before one",
        ("outcome",),
    ),
    Metric("tidegate_starts_in_flight", "gauge", "starts whose outcome is not known yet"),
    Metric("tidegate_adopted_total", "counter", "objects stamped that no webhook had seen"),
    Metric("tidegate_plan_seconds", "histogram", "time of one pass of planning", (), PLAN_BUCKETS),
)


class Metrics:
    """A registry of its own with every row of METRICS."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._counters: dict[str, Counter] = {}
        self._gauges: dict[str, Gauge] = {}
        self._histograms: dict[str, Histogram] = {}
        for row in METRICS:
            self._register(row)
        self._revision = ""

    def _register(self, row: Metric) -> None:
        if row.kind == "counter":
            self._counters[row.name] = Counter(
                row.name, row.meaning, row.labels, registry=self.registry
            )
        elif row.kind == "gauge":
            self._gauges[row.name] = Gauge(
                row.name, row.meaning, row.labels, registry=self.registry
            )
        else:
            self._histograms[row.name] = Histogram(
                row.name, row.meaning, row.labels, registry=self.registry, buckets=row.buckets
            )

    def count(self, name: str, *labels: str) -> None:
        """One more."""
        counter = self._counters[name]
        (counter.labels(*labels) if labels else counter).inc()

    def set(self, name: str, value: float, *labels: str) -> None:
        """The value now."""
        gauge = self._gauges[name]
        (gauge.labels(*labels) if labels else gauge).set(value)

    def observe(self, name: str, seconds: float, *labels: str) -> None:
        """One measurement."""
        histogram = self._histograms[name]
        (histogram.labels(*labels) if labels else histogram).observe(seconds)

    def policy(self, revision: str, stale_since: float | None) -> None:
        """What is in force, and since when the files are broken."""
        if revision != self._revision:
            self._gauges["tidegate_policy_info"].clear()
            # names of rules are the policy's: those of older ones leave no series
            for name in _OF_RULES:
                self._counters[name].clear()
            self._revision = revision
        self.set("tidegate_policy_info", 1, revision)
        self.set("tidegate_policy_stale_since_seconds", stale_since or 0)

    def rules(self, audited: Iterable[str], failed: Iterable[str]) -> None:
        """Rules that had a say in one decision, by their word and name."""
        for name, told in zip(_OF_RULES, (audited, failed), strict=True):
            for rule in told:
                self.count(name, rule)

    def queues(self, queues: Iterable[QueueStatus]) -> None:
        """How every queue stands; queues that are gone leave no series behind."""
        for name in _OF_QUEUES:
            self._gauges[name].clear()
        for queue in queues:
            self._queue(queue)

    def _queue(self, queue: QueueStatus) -> None:
        self.set("tidegate_queue_waiting", sum(queue.waiting.values()), queue.queue)
        self.set("tidegate_queue_started", queue.started, queue.queue)
        self.set("tidegate_queue_stopping", queue.stopping, queue.queue)
        self.set("tidegate_queue_bypassed", len(queue.bypassed), queue.queue)
        for at, balance in queue.balances.items():
            labels = (queue.queue, at.flavor, at.resource)
            self.set("tidegate_quota_nominal", balance.nominal / NANO, *labels)
            self.set("tidegate_quota_used", balance.used / NANO, *labels)
            self.set("tidegate_quota_available", balance.available / NANO, *labels)

    def render(self) -> bytes:
        """The exposition; call it in a thread."""
        return generate_latest(self.registry)


_OF_RULES = ("tidegate_rule_audit_total", "tidegate_rule_failures_total")
_OF_QUEUES = tuple(
    row.name for row in METRICS if row.kind == "gauge" and row.labels[:1] == ("queue",)
)
