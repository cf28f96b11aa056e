"""Webhook configurations: the defaults of v1 and the refusals a person may run into.

A ``matchConditions`` expression that this sandbox cannot judge is refused here, when the
configuration is written, so that no request is ever matched by guesswork.
"""

from __future__ import annotations

from collections.abc import Iterator

from webhook.sandbox.match_conditions import NotSupported, compile_condition
from webhook.sandbox.resources import Object, Resource
from webhook.sandbox.status import Cause
from webhook.sandbox.strategies.fields import (
    duplicate,
    invalid,
    items,
    made,
    number,
    required,
    section,
    unsupported,
)
from webhook.sandbox.strategies.names import subdomain_faults
from webhook.workloads.defaults import fill

DEFAULTS: Object = {"failurePolicy": "Fail", "matchPolicy": "Equivalent", "timeoutSeconds": 10}
CHOICES = {
    "failurePolicy": ("Fail", "Ignore"),
    "matchPolicy": ("Equivalent", "Exact"),
    "reinvocationPolicy": ("IfNeeded", "Never"),
    "sideEffects": ("None", "NoneOnDryRun"),
}
OPERATIONS = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
SCOPES = ("*", "Cluster", "Namespaced")
MAX_CONDITIONS = 64


def _default(resource: Resource, configuration: Object) -> None:
    for hook in items(configuration, "webhooks"):
        fill(hook, DEFAULTS)
        if resource.kind.startswith("Mutating"):
            fill(hook, {"reinvocationPolicy": "Never"})
        for selector in ("namespaceSelector", "objectSelector"):
            made(hook, selector)
        for rule in items(hook, "rules"):
            fill(rule, {"scope": "*"})
        service = section(hook, "clientConfig", "service")
        if service:
            fill(service, {"port": 443})


def prepare_create(resource: Resource, configuration: Object) -> None:
    _default(resource, configuration)


def prepare_update(resource: Resource, _: Object, new: Object) -> None:
    _default(resource, new)


def validate_create(_: Resource, configuration: Object) -> Iterator[Cause]:
    names: set[object] = set()
    for index, hook in enumerate(items(configuration, "webhooks")):
        field = f"webhooks[{index}]"
        if hook.get("name") in names:
            yield duplicate(f"{field}.name", hook.get("name"))
        names.add(hook.get("name"))
        yield from _validate_hook(hook, field)


def validate_update(resource: Resource, old: Object, new: Object, _: str) -> Iterator[Cause]:
    yield from validate_create(resource, new)


def _validate_hook(hook: Object, field: str) -> Iterator[Cause]:
    name = str(hook.get("name") or "")
    if name.count(".") < 2:
        text = "should be a domain with at least three segments separated by dots"
        yield invalid(f"{field}.name", name, text)
    yield from (invalid(f"{field}.name", name, fault) for fault in subdomain_faults(name))
    if not 1 <= number(hook.get("timeoutSeconds")) <= 30:
        text = "the timeout value must be between 1 and 30 seconds"
        yield invalid(f"{field}.timeoutSeconds", hook.get("timeoutSeconds"), text)
    yield from _validate_choices(hook, field)
    yield from _validate_versions(hook, field)
    for index, rule in enumerate(items(hook, "rules")):
        yield from _validate_rule(rule, f"{field}.rules[{index}]")
    yield from _validate_client(section(hook, "clientConfig"), f"{field}.clientConfig")
    yield from _validate_conditions(hook, field)


def _validate_choices(hook: Object, field: str) -> Iterator[Cause]:
    if hook.get("sideEffects") is None:
        text = "must specify one of None, NoneOnDryRun"
        yield required(f"{field}.sideEffects", text)
    for name, choices in CHOICES.items():
        if hook.get(name) is not None and hook[name] not in choices:
            yield unsupported(f"{field}.{name}", hook[name], choices)


def _validate_versions(hook: Object, field: str) -> Iterator[Cause]:
    field, versions = f"{field}.admissionReviewVersions", hook.get("admissionReviewVersions")
    if not isinstance(versions, list) or not versions:
        yield required(field, "must specify one of v1, v1beta1")
    elif "v1" not in versions:
        yield invalid(
            field, versions, "must include at least one of v1 (the sandbox sends no other)"
        )


def _validate_rule(rule: Object, field: str) -> Iterator[Cause]:
    for name in ("operations", "apiGroups", "apiVersions", "resources"):
        if not isinstance(rule.get(name), list) or not rule[name]:
            yield required(f"{field}.{name}")
    for index, operation in enumerate(rule.get("operations") or ()):
        if operation not in OPERATIONS:
            yield unsupported(f"{field}.operations[{index}]", operation, OPERATIONS)
    if rule.get("scope") not in SCOPES:
        yield unsupported(f"{field}.scope", rule.get("scope"), SCOPES)


def _validate_client(client: Object, field: str) -> Iterator[Cause]:
    url, service = client.get("url"), client.get("service")
    if bool(url) == bool(service):
        yield required(field, "exactly one of url or service is required")
    elif url and not str(url).startswith("https://"):
        text = "'https' is the only allowed URL scheme; desired format: https://host[/path]"
        yield invalid(f"{field}.url", url, text)
    elif service:
        for name in ("name", "namespace"):
            if not section(client, "service").get(name):
                yield required(f"{field}.service.{name}", f"service {name} is required")


def _validate_conditions(hook: Object, field: str) -> Iterator[Cause]:
    conditions = items(hook, "matchConditions")
    if len(conditions) > MAX_CONDITIONS:
        text = f"must have at most {MAX_CONDITIONS} items"
        yield invalid(f"{field}.matchConditions", len(conditions), text)
    for index, condition in enumerate(conditions):
        here, text = f"{field}.matchConditions[{index}]", str(condition.get("expression") or "")
        if not condition.get("name"):
            yield required(f"{here}.name")
        try:
            compile_condition(text)
        except NotSupported as fault:
            yield invalid(
                f"{here}.expression", text, f"the sandbox knows only a part of CEL: {fault}"
            )
