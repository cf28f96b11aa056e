"""Which webhooks a request concerns: rules, selectors and matchConditions of the configurations.

A ``Hook`` is one entry of a configuration, read once. ``concerns`` asks in the API server's order:
rules, namespace, object (the old OR the new one), conditions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from webhook.sandbox.match_conditions import EvaluationError, Test, compile_condition
from webhook.sandbox.resources import ADMISSION_GROUP, NAMESPACES, Object, Resource, User
from webhook.sandbox.status import forbidden
from webhook.sandbox.strategies.fields import items, section

Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Review:
    """What the webhooks are asked about; ``new`` is None for a DELETE, ``old`` for a CREATE."""

    operation: str
    resource: Resource
    subresource: str
    namespace: str
    name: str
    old: Object | None
    new: Object | None
    user: User
    dry_run: bool
    options: Object


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; ``*`` stands for everything, in ``resources`` apart for each side of the slash."""

    operations: frozenset[str]
    groups: frozenset[str]
    versions: frozenset[str]
    resources: tuple[tuple[str, str], ...]
    scope: str

    def covers(self, review: Review) -> bool:
        resource = review.resource
        return (
            _among(review.operation, self.operations)
            and _among(resource.group, self.groups)
            and _among(resource.version, self.versions)
            and self.scope in ("*", _scope(resource))
            and any(
                plural in ("*", resource.plural) and sub in ("*", review.subresource)
                for plural, sub in self.resources
            )
        )


def _among(value: str, choices: frozenset[str]) -> bool:
    return "*" in choices or value in choices


def _scope(resource: Resource) -> str:
    """A Namespace counts as cluster-wide."""
    return "Namespaced" if resource.namespaced else "Cluster"


@dataclass(frozen=True, slots=True)
class Hook:
    """One webhook of a configuration."""

    configuration: str
    name: str
    mutating: bool
    rules: tuple[Rule, ...]
    namespace_selector: Object
    object_selector: Object
    conditions: tuple[tuple[str, Test], ...]
    ignores_failure: bool
    timeout_seconds: int
    side_effects: str
    reinvoked: bool
    client: Object = field(repr=False)

    def concerns(self, review: Review, namespace_labels: Labels | None) -> bool:
        """Whether to call; raises StatusError 403 for a condition without a value (policy Fail)."""
        if review.resource.group == ADMISSION_GROUP:
            return False  # nobody could ever repair a broken configuration
        return (
            any(rule.covers(review) for rule in self.rules)
            and self._selects_namespace(review, namespace_labels)
            and self._selects_object(review)
            and self._conditions_hold(review)
        )

    def _selects_namespace(self, review: Review, namespace_labels: Labels | None) -> bool:
        if not self.namespace_selector:
            return True
        if not review.resource.namespaced and review.resource is not NAMESPACES:
            return True
        return namespace_labels is None or selects(self.namespace_selector, namespace_labels)

    def _selects_object(self, review: Review) -> bool:
        if not self.object_selector:
            return True
        objects = [obj for obj in (review.new, review.old) if obj is not None]
        return any(
            selects(self.object_selector, section(obj, "metadata", "labels")) for obj in objects
        )

    def _conditions_hold(self, review: Review) -> bool:
        if not self.conditions:
            return True
        scope = {"request": request_of(review), "object": review.new, "oldObject": review.old}
        scope["namespaceObject"] = None
        failures: list[str] = []
        for name, test in self.conditions:
            try:
                if test(scope) is not True:
                    return False
            except EvaluationError as error:
                failures.append(f"expression '{name}' resulted in error: {error}")
        return not failures or self._without_value(review, failures)

    def _without_value(self, review: Review, failures: list[str]) -> bool:
        if self.ignores_failure:
            return False
        raise forbidden(review.resource, review.name, "; ".join(failures))


def request_of(review: Review) -> Object:
    """``request`` of an AdmissionReview without uid and objects."""
    resource = review.resource
    kind = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    plural = {"group": resource.group, "version": resource.version, "resource": resource.plural}
    request: Object = {
        "kind": kind,
        "resource": plural,
        "requestKind": kind,
        "requestResource": plural,
        "operation": review.operation,
        "userInfo": _user_info(review.user),
        "dryRun": review.dry_run,
        "options": review.options,
    }
    texts = {
        "name": review.name,
        "namespace": _namespace(review),
        "subResource": review.subresource,
        "requestSubResource": review.subresource,
    }
    return request | {key: text for key, text in texts.items() if text}


def _namespace(review: Review) -> str:
    return review.name if review.resource is NAMESPACES else review.namespace


def _user_info(user: User) -> Object:
    info: Object = {"username": user.name}
    if user.uid:
        info["uid"] = user.uid
    if user.groups:
        info["groups"] = list(user.groups)
    return info


def selects(selector: Object, labels: Labels) -> bool:
    """A LabelSelector: all of matchLabels and of matchExpressions."""
    wanted = section(selector, "matchLabels")
    return all(labels.get(key) == value for key, value in wanted.items()) and all(
        _holds(expression, labels) for expression in items(selector, "matchExpressions")
    )


def _holds(expression: Object, labels: Labels) -> bool:
    value = labels.get(str(expression.get("key")))
    values: Sequence[object] = expression.get("values") or ()
    match expression.get("operator"):
        case "In":
            return value is not None and value in values
        case "NotIn":
            return value is None or value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
    return False


def hooks_of(configuration: Object) -> tuple[Hook, ...]:
    """The webhooks of a stored configuration, in its order."""
    name = configuration["metadata"]["name"]
    mutating = configuration["kind"].startswith("Mutating")
    return tuple(_hook(name, mutating, raw) for raw in items(configuration, "webhooks"))


def _hook(configuration: str, mutating: bool, raw: Object) -> Hook:
    return Hook(
        configuration=configuration,
        name=str(raw["name"]),
        mutating=mutating,
        rules=tuple(_rule(rule) for rule in items(raw, "rules")),
        namespace_selector=section(raw, "namespaceSelector"),
        object_selector=section(raw, "objectSelector"),
        conditions=tuple(
            (str(c["name"]), compile_condition(c["expression"]))
            for c in items(raw, "matchConditions")
        ),
        ignores_failure=raw.get("failurePolicy") == "Ignore",
        timeout_seconds=int(raw.get("timeoutSeconds") or 10),
        side_effects=str(raw.get("sideEffects") or "Unknown"),
        reinvoked=raw.get("reinvocationPolicy") == "IfNeeded",
        client=section(raw, "clientConfig"),
    )


def _rule(raw: Object) -> Rule:
    paths = (str(path).partition("/") for path in raw.get("resources") or ())
    return Rule(
        operations=frozenset(raw.get("operations") or ()),
        groups=frozenset(raw.get("apiGroups") or ()),
        versions=frozenset(raw.get("apiVersions") or ()),
        resources=tuple((plural, sub) for plural, _, sub in paths),
        scope=str(raw.get("scope") or "*"),
    )
