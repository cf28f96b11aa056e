"""Job: defaults, the generated selector and what may change, and when.

Semantics of 1.36: while a Job is suspended, has no active pods and either never started or is
marked Suspended, its template's scheduling directives and container resources may change; at any
other time the template is immutable. The OLD object decides, so suspending and changing the
template in one write is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from webhook.sandbox.resources import Object, Resource
from webhook.sandbox.status import Cause
from webhook.sandbox.strategies.fields import (
    copied,
    holds,
    immutable,
    invalid,
    items,
    made,
    not_negative,
    number,
    required,
    section,
    unsupported,
)
from webhook.sandbox.strategies.job_status import validate_status_update
from webhook.sandbox.strategies.names import label_faults
from webhook.sandbox.strategies.pod_spec import validate_template
from webhook.workloads.defaults import NON_INDEXED, default_job, default_labels

INDEXED = "Indexed"
CONTROLLER_UID = "batch.kubernetes.io/controller-uid"
JOB_NAME = "batch.kubernetes.io/job-name"
LEGACY = {CONTROLLER_UID: "controller-uid", JOB_NAME: "job-name"}
FIXED = (
    "selector",
    "completionMode",
    "podFailurePolicy",
    "backoffLimitPerIndex",
    "managedBy",
    "successPolicy",
)
DIRECTIVES = ("nodeSelector", "tolerations", "schedulingGates")
MAX_INDEXED_PARALLELISM = 100_000


def _generate_selector(job: Object) -> None:
    metadata = section(job, "metadata")
    labels = made(job, "spec", "template", "metadata", "labels")
    for key, value in ((CONTROLLER_UID, metadata["uid"]), (JOB_NAME, metadata.get("name"))):
        labels.setdefault(LEGACY[key], value)
        labels.setdefault(key, value)
    made(job, "spec", "selector", "matchLabels").setdefault(CONTROLLER_UID, metadata["uid"])


def prepare_create(_: Resource, job: Object) -> None:
    """Defaults; selector and template labels as soon as there is a uid, which webhooks never see."""
    default_job(job)
    if section(job, "metadata").get("uid") and not job["spec"]["manualSelector"]:
        _generate_selector(job)
        default_labels(job)
    job["status"] = {}


def prepare_update(_: Resource, __: Object, new: Object) -> None:
    """Defaults; a selector that a write leaves out is not made again."""
    default_job(new)


def validate_create(_: Resource, job: Object) -> Iterator[Cause]:
    yield from _validate_generated_labels(job)
    yield from validate_spec(section(job, "spec"), "spec")
    yield from _validate_selector(section(job, "spec"))
    yield from _validate_pod_names(job)


def validate_update(_: Resource, old: Object, new: Object, subresource: str) -> Iterator[Cause]:
    if subresource == "status":
        yield from validate_status_update(old, new)
        return
    spec, was = section(new, "spec"), section(old, "spec")
    yield from validate_spec(spec, "spec")
    yield from _validate_selector(spec)
    yield from _validate_completions(spec, was)
    yield from immutable("spec.selector", spec.get("selector"), was.get("selector"))
    yield from _validate_template_update(old, spec)
    for name in FIXED[1:]:
        yield from immutable(f"spec.{name}", spec.get(name), was.get(name))
    yield from _validate_pod_names(new)


def validate_spec(spec: Object, field: str) -> Iterator[Cause]:
    """A Job's spec by itself."""
    yield from not_negative(
        spec,
        field,
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    )
    yield from _validate_mode(spec, field)
    yield from _validate_replacement(spec, field)
    yield from validate_template(section(spec, "template"), f"{field}.template")
    policy = section(spec, "template", "spec").get("restartPolicy")
    restart = f"{field}.template.spec.restartPolicy"
    if policy in ("Always", "", None):
        yield required(restart, 'valid values: "OnFailure", "Never"')
    elif policy not in ("OnFailure", "Never"):
        yield unsupported(restart, policy, ("OnFailure", "Never"))
    elif spec.get("podFailurePolicy") and policy != "Never":
        yield invalid(
            restart, policy, 'only "Never" is supported when podFailurePolicy is specified'
        )


def _validate_mode(spec: Object, field: str) -> Iterator[Cause]:
    mode = spec.get("completionMode")
    if mode == INDEXED:
        if spec.get("completions") is None:
            yield required(f"{field}.completions", "when completion mode is Indexed")
        if number(spec.get("parallelism")) > MAX_INDEXED_PARALLELISM:
            text = f"must be less than or equal to {MAX_INDEXED_PARALLELISM} when completion mode"
            yield invalid(f"{field}.parallelism", spec["parallelism"], f"{text} is Indexed")
        return
    if mode != NON_INDEXED:
        yield unsupported(f"{field}.completionMode", mode, (NON_INDEXED, INDEXED))
    for name in ("backoffLimitPerIndex", "maxFailedIndexes", "successPolicy"):
        if spec.get(name) is not None:
            yield invalid(f"{field}.{name}", spec[name], "requires indexed completion mode")


def _validate_replacement(spec: Object, field: str) -> Iterator[Cause]:
    policy, field = spec.get("podReplacementPolicy"), f"{field}.podReplacementPolicy"
    if spec.get("podFailurePolicy") and policy != "Failed":
        yield unsupported(field, policy, ("Failed",))
    elif policy not in ("Failed", "TerminatingOrFailed"):
        yield unsupported(field, policy, ("Failed", "TerminatingOrFailed"))


def _validate_selector(spec: Object) -> Iterator[Cause]:
    wanted = section(spec, "selector", "matchLabels")
    if not isinstance(spec.get("selector"), dict):
        yield required("spec.selector")
        return
    labels = section(spec, "template", "metadata", "labels")
    if any(labels.get(key) != value for key, value in wanted.items()):
        yield invalid(
            "spec.template.metadata.labels", labels, "`selector` does not match template `labels`"
        )


def _validate_generated_labels(job: Object) -> Iterator[Cause]:
    spec, metadata = section(job, "spec"), section(job, "metadata")
    if spec.get("manualSelector") is True or not isinstance(spec.get("selector"), dict):
        return
    labels = section(spec, "template", "metadata", "labels")
    for key, value in ((CONTROLLER_UID, metadata.get("uid")), (JOB_NAME, metadata.get("name"))):
        for name in (LEGACY[key], key):
            if labels.get(name) != value:
                field = f"spec.template.metadata.labels[{name}]"
                yield invalid(field, labels, f"must be '{value}'")
    selected = section(spec, "selector", "matchLabels")
    if any(labels.get(key) != value for key, value in selected.items()):
        yield invalid("spec.selector", spec["selector"], "`selector` not auto-generated")


def _validate_pod_names(job: Object) -> Iterator[Cause]:
    spec, name = section(job, "spec"), section(job, "metadata").get("name")
    count = number(spec.get("completions"))
    if spec.get("completionMode") == INDEXED and count > 0:
        longest = f"{name}-{count - 1}"
        if any(label_faults(longest)):
            text = f"will not able to create pod with invalid DNS label: {longest}"
            yield invalid("metadata.name", name, text)


def _validate_completions(spec: Object, was: Object) -> Iterator[Cause]:
    field, count = "spec.completions", spec.get("completions")
    if spec.get("completionMode") != INDEXED:
        yield from immutable(field, count, was.get("completions"))
    elif count not in (None, was.get("completions"), spec.get("parallelism")):
        yield invalid(field, count, "can only be modified in tandem with spec.parallelism")


def template_may_change(job: Object) -> bool:
    """Whether the pod template of the stored Job may change (1.36)."""
    status = section(job, "status")
    idle = not status.get("startTime") or holds(job, "Suspended")
    return section(job, "spec").get("suspend") is True and idle and not status.get("active")


def _validate_template_update(old: Object, spec: Object) -> Iterator[Cause]:
    template, was = section(spec, "template"), copied(section(old, "spec", "template"))
    if not template_may_change(old):
        yield from immutable("spec.template", template, was)
        return
    _allow_directives(template, was)
    _allow_resources(section(template, "spec"), section(was, "spec"))
    yield from immutable("spec.template.spec", section(template, "spec"), section(was, "spec"))


def _allow_directives(template: Object, was: Object) -> None:
    """Write into the copy of the old template what the new one may freely say."""
    for name in DIRECTIVES:
        _adopt(section(template, "spec"), made(was, "spec"), name)
    for name in ("labels", "annotations"):
        _adopt(section(template, "metadata"), made(was, "metadata"), name)
    if section(template, "spec", "affinity"):
        _adopt(section(template, "spec", "affinity"), made(was, "spec", "affinity"), "nodeAffinity")
    else:
        section(was, "spec", "affinity").pop("nodeAffinity", None)


def _allow_resources(spec: Object, was: Object) -> None:
    for kind in ("containers", "initContainers"):
        new, old = items(spec, kind), items(was, kind)
        if len(new) != len(old):
            continue
        for ours, theirs in zip(new, old, strict=True):
            if ours.get("name") == theirs.get("name"):
                _adopt(ours, theirs, "resources")


def _adopt(source: Object, target: Object, name: str) -> None:
    value: Any = source.get(name)
    if value is None:
        target.pop(name, None)
    else:
        target[name] = value
