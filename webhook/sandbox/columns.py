"""The columns of each kind, as the real server prints them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from webhook.sandbox.durations import age, human, parse_time
from webhook.sandbox.pod_columns import pod_ready, pod_restarts, pod_status
from webhook.sandbox.resources import Object, Resource

Cell = Callable[[Object, datetime], Any]


@dataclass(frozen=True, slots=True)
class Column:
    """``wide``: shown with ``-o wide`` only."""

    name: str
    cell: Cell
    type: str = "string"
    wide: bool = False
    description: str = ""


def _at(path: str, missing: Any = None) -> Cell:
    """The value at a dotted path."""
    parts = path.split(".")

    def cell(obj: Object, _now: datetime) -> Any:
        value: Any = obj
        for part in parts:
            value = value.get(part) if isinstance(value, dict) else None
        return missing if value is None else value

    return cell


def _text(path: str, missing: str | None = "<none>") -> Cell:
    """The value at a dotted path as text."""
    read = _at(path)

    def cell(obj: Object, now: datetime) -> str | None:
        value = read(obj, now)
        if value is None or value == "":
            return missing
        return str(value).lower() if isinstance(value, bool) else str(value)

    return cell


def _age_of(path: str) -> Cell:
    read = _at(path)
    return lambda obj, now: age(read(obj, now), now)


def _size(path: str) -> Cell:
    read = _at(path, ())
    return lambda obj, now: len(read(obj, now))


def _condition(obj: Object, name: str) -> str | None:
    for condition in (obj.get("status") or {}).get("conditions") or []:
        if condition.get("type") == name:
            return str(condition.get("status"))
    return None


_JOB_STATES = (
    ("Complete", "Complete"),
    ("Failed", "Failed"),
    ("", "Terminating"),
    ("Suspended", "Suspended"),
    ("FailureTarget", "FailureTarget"),
    ("SuccessCriteriaMet", "SuccessCriteriaMet"),
)


def _job_status(obj: Object, _now: datetime) -> str:
    for condition, word in _JOB_STATES:
        if condition and _condition(obj, condition) == "True":
            return word
        if not condition and "deletionTimestamp" in obj["metadata"]:
            return word
    return "Running"


def _job_completions(obj: Object, _now: datetime) -> str:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    succeeded = status.get("succeeded", 0)
    if spec.get("completions") is not None:
        return f"{succeeded}/{spec['completions']}"
    parallelism = spec.get("parallelism") or 0
    return f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"


def _job_duration(obj: Object, now: datetime) -> str:
    status = obj.get("status") or {}
    start = parse_time(status.get("startTime"))
    if start is None:
        return ""
    end = parse_time(status.get("completionTime")) or now
    return human((end - start).total_seconds())


def _containers(field: str) -> Cell:
    def cell(obj: Object, _now: datetime) -> str:
        spec = ((obj.get("spec") or {}).get("template") or {}).get("spec") or {}
        return ",".join(str(c.get(field, "")) for c in spec.get("containers") or [])

    return cell


def _selector(obj: Object, _now: datetime) -> str:
    labels = ((obj.get("spec") or {}).get("selector") or {}).get("matchLabels") or {}
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items())) or "<none>"


def _node_status(obj: Object, _now: datetime) -> str:
    ready = {"True": "Ready", None: "Unknown"}.get(_condition(obj, "Ready"), "NotReady")
    unschedulable = (obj.get("spec") or {}).get("unschedulable")
    return f"{ready},SchedulingDisabled" if unschedulable else ready


def _node_roles(obj: Object, _now: datetime) -> str:
    prefix = "node-role.kubernetes.io/"
    labels = obj["metadata"].get("labels") or {}
    return ",".join(sorted(k[len(prefix) :] for k in labels if k.startswith(prefix))) or "<none>"


def _event_last_seen(obj: Object, now: datetime) -> str:
    series = obj.get("series") or {}
    seen = (
        series.get("lastObservedTime")
        or obj.get("lastTimestamp")
        or obj.get("deprecatedLastTimestamp")
        or obj.get("eventTime")
    )
    return age(seen, now)


def _event_object(obj: Object, _now: datetime) -> str:
    about = obj.get("involvedObject") or obj.get("regarding") or {}
    return f"{str(about.get('kind', '')).lower()}/{about.get('name', '')}"


def _event_message(obj: Object, _now: datetime) -> str:
    return str(obj.get("message") or obj.get("note") or "").strip()


def _ready_replicas(obj: Object, _now: datetime) -> str:
    ready = (obj.get("status") or {}).get("readyReplicas", 0)
    return f"{ready}/{(obj.get('spec') or {}).get('replicas', 1)}"


def _completed(obj: Object, _now: datetime) -> str | None:
    return _condition(obj, "Completed")


NAME = Column("Name", _at("metadata.name"), description="Name must be unique within a namespace.")
AGE = Column("Age", _age_of("metadata.creationTimestamp"))
CREATED = Column("Created At", _at("metadata.creationTimestamp"), "date")

_COLUMNS: dict[tuple[str, str], Sequence[Column]] = {
    ("", "Namespace"): (NAME, Column("Status", _text("status.phase")), AGE),
    ("", "Pod"): (
        NAME,
        Column("Ready", pod_ready),
        Column("Status", pod_status),
        Column("Restarts", pod_restarts),
        AGE,
        Column("IP", _text("status.podIP"), wide=True),
        Column("Node", _text("spec.nodeName"), wide=True),
        Column("Nominated Node", _text("status.nominatedNodeName"), wide=True),
        Column("Readiness Gates", lambda _obj, _now: "<none>", wide=True),
    ),
    ("batch", "Job"): (
        NAME,
        Column("Status", _job_status),
        Column("Completions", _job_completions),
        Column("Duration", _job_duration),
        AGE,
        Column("Containers", _containers("name"), wide=True),
        Column("Images", _containers("image"), wide=True),
        Column("Selector", _selector, wide=True),
    ),
    ("batch", "CronJob"): (
        NAME,
        Column("Schedule", _text("spec.schedule")),
        Column("Timezone", _text("spec.timeZone")),
        Column("Suspend", lambda obj, _now: str(obj["spec"].get("suspend", False))),
        Column("Active", _size("status.active"), "integer"),
        Column("Last Schedule", lambda _obj, _now: "<none>"),
        AGE,
    ),
    ("jobset.x-k8s.io", "JobSet"): (
        NAME,
        Column("TerminalState", _text("status.terminalState", None)),
        Column("Restarts", _text("status.restarts", None)),
        Column("Completed", _completed),
        Column("Suspended", _text("spec.suspend", None)),
        Column("Age", AGE.cell, "date"),
    ),
    ("apps", "StatefulSet"): (NAME, Column("Ready", _ready_replicas), AGE),
    ("", "Node"): (
        NAME,
        Column("Status", _node_status),
        Column("Roles", _node_roles),
        AGE,
        Column("Version", _text("status.nodeInfo.kubeletVersion", "")),
    ),
    ("", "ConfigMap"): (NAME, Column("Data", _size("data"), "integer"), AGE),
    ("", "Secret"): (
        NAME,
        Column("Type", _text("type", "Opaque")),
        Column("Data", _size("data"), "integer"),
        AGE,
    ),
    ("", "ServiceAccount"): (NAME, Column("Secrets", _size("secrets"), "integer"), AGE),
    ("", "LimitRange"): (NAME, CREATED),
    ("coordination.k8s.io", "Lease"): (
        NAME,
        Column("Holder", _text("spec.holderIdentity", "")),
        AGE,
    ),
    ("node.k8s.io", "RuntimeClass"): (NAME, Column("Handler", _text("handler")), AGE),
    ("scheduling.k8s.io", "PriorityClass"): (
        NAME,
        Column("Value", _at("value", 0), "integer"),
        Column("Global-Default", lambda obj, _now: bool(obj.get("globalDefault")), "boolean"),
        AGE,
        Column("PreemptionPolicy", _text("preemptionPolicy", "PreemptLowerPriority")),
    ),
}
_EVENT_COLUMNS = (
    Column("Last Seen", _event_last_seen),
    Column("Type", _text("type", "")),
    Column("Reason", _text("reason", "")),
    Column("Object", _event_object),
    Column("Message", _event_message),
    Column("Name", NAME.cell, wide=True),
)
_WEBHOOKS = (NAME, Column("Webhooks", _size("webhooks"), "integer"), AGE)


def columns_of(resource: Resource) -> Sequence[Column]:
    """The columns of a kind; NAME and AGE when there are no others."""
    if resource.kind == "Event":
        return _EVENT_COLUMNS
    if resource.kind.endswith("WebhookConfiguration"):
        return _WEBHOOKS
    return _COLUMNS.get((resource.group, resource.kind), (NAME, AGE))
