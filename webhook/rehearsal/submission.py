"""One object, submitted on paper: what the mutating call and then the validating call make of it.

The two answers are those of ``webhook.admission.decide``, asked one after the other as an API server
asks them, with the first one's patch applied in between. Nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from webhook.admission.decide import Judge, mutate, validate
from webhook.admission.decision import NO_ACCOUNT, Account, Decision, Refusal
from webhook.admission.knowledge import Identity, Knowledge, ParentRef, QueueNews
from webhook.admission.review import VERSIONS, Request, read_review
from webhook.admission.rules import Rules
from webhook.model.json_patch import apply_patch
from webhook.model.kinds import BUILT_IN, Object
from webhook.model.patch import Patch
from webhook.workloads.defaults import defaulted

AUTHENTICATED = "system:authenticated"
DEFAULT_NAMESPACE = "default"
NAME_LABEL = "kubernetes.io/metadata.name"
"""The API server puts it on every namespace."""
SYSTEM_CLASSES = MappingProxyType(
    {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
)
"""PriorityClasses that every cluster has."""
UID = "rehearsal"


@dataclass(frozen=True, slots=True)
class PaperCluster:
    """A cluster of which only this is known: labels of namespaces, and values of PriorityClasses.

    A namespace that is not named is there all the same, with the label that every namespace bears.
    """

    namespaces: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    priority_classes: Mapping[str, int] = field(default_factory=dict)

    def namespace_object(self, name: str) -> Object | None:
        """The namespace, as the API server would send it."""
        labels = {**self.namespaces.get(name, {}), NAME_LABEL: name}
        about = {"name": name, "labels": labels}
        return {"apiVersion": "v1", "kind": "Namespace", "metadata": about}

    def priority_class(self, name: str) -> int | None:
        """The value of a PriorityClass."""
        return self.priority_classes.get(name, SYSTEM_CLASSES.get(name))

    def parent(self, ref: ParentRef) -> Object | None:
        """Nothing is there before, so nothing has a parent."""
        return None

    def queue_news(self, queue: str) -> QueueNews | None:
        """No loop runs."""
        return None


@dataclass(frozen=True, slots=True)
class Submitted:
    """What the two admission calls made of one object.

    ``original`` is the object as the API server hands it on: in its namespace, with all defaults and no status;
    ``object`` is what would be stored, the original where it is refused. ``queue`` None: none of our
    business, or refused before a queue was found. ``request`` is what the first call was asked.
    """

    request: Request
    original: Object
    object: Object
    patch: Patch
    queue: str | None
    refusals: tuple[Refusal, ...]
    warnings: tuple[str, ...]
    account: Account = NO_ACCOUNT

    @property
    def admitted(self) -> bool:
        """Whether it would be stored: in a queue, or as it came where it is none of our business."""
        return not self.refusals


def submit(
    rules: Rules,
    knowledge: Knowledge,
    obj: Object,
    *,
    user: str,
    groups: Sequence[str] = (),
    namespace: str | None = None,
    now: float,
) -> Submitted:
    """What becomes of a new object; ``namespace`` where it names none itself, ``now`` in seconds since the epoch.

    Raises BadReview where metadata is no map.
    """
    judge = Judge(rules, knowledge, Identity())
    request = request_to_create(obj, user=user, groups=groups, namespace=namespace)
    original = request.subject
    first = mutate(request, judge, now)
    if not first.allowed:
        return _submitted(request, original, first, first.warnings)
    stored = apply_patch(original, first.patch)
    seen = request_to_create(stored, user=user, groups=groups, namespace=namespace)
    second = validate(seen, judge, now)
    told = (*first.warnings, *second.warnings)
    said = _both(first.account, second.account)
    if not second.allowed:
        return _submitted(request, original, replace(second, account=said), told)
    return _submitted(request, stored, replace(second, account=said), told, first.patch)


def _both(first: Account, second: Account) -> Account:
    """What rules said in either call, each once: the second asks again what the first has asked."""
    every = first + second
    return Account(
        every.route,
        *(
            tuple(dict.fromkeys(said))
            for said in (every.sets, every.warned, every.audited, every.failed)
        ),
    )


def _submitted(
    request: Request, stored: Object, last: Decision, told: Sequence[str], patch: Patch = ()
) -> Submitted:
    """``last`` is the answer that decides; no patch is left of what was refused."""
    return Submitted(
        request=request,
        original=request.subject,
        object=stored,
        patch=patch,
        queue=last.queue,
        refusals=last.refusals,
        warnings=tuple(dict.fromkeys(told)),
        account=last.account,
    )


def request_to_create(
    obj: Object, *, user: str, groups: Sequence[str] = (), namespace: str | None = None
) -> Request:
    """The request an API server makes of a manifest: defaults and the namespace filled in, a status thrown away.

    Raises BadReview where metadata is no map.
    """
    about = obj.get("metadata")
    named = about.get("namespace") if isinstance(about, Mapping) else None
    where = str(named or namespace or DEFAULT_NAMESPACE)
    groups = (*groups, *_of_service_account(user), AUTHENTICATED)
    sent = {key: value for key, value in defaulted(obj).items() if key != "status"}
    if about is None or isinstance(about, Mapping):
        sent["metadata"] = {**(about or {}), "namespace": where}
    raw = _raw(sent, where, user, tuple(dict.fromkeys(groups)))
    return read_review({"apiVersion": VERSIONS[0], "kind": "AdmissionReview", "request": raw})


def _of_service_account(user: str) -> tuple[str, ...]:
    """The groups that the API server itself puts a service account into."""
    match user.split(":"):
        case ["system", "serviceaccount", namespace, _]:
            return "system:serviceaccounts", f"system:serviceaccounts:{namespace}"
    return ()


def _raw(obj: Object, namespace: str, user: str, groups: tuple[str, ...]) -> dict[str, Any]:
    """The request as it stands in the review, and as conditions read it."""
    group, _, version = str(obj.get("apiVersion") or "").rpartition("/")
    kind = str(obj.get("kind") or "")
    about = obj.get("metadata")
    name = about.get("name") if isinstance(about, Mapping) else None
    gvk = {"group": group, "version": version, "kind": kind}
    gvr = {"group": group, "version": version, "resource": _plural(group, kind)}
    request = {
        "uid": UID,
        "kind": gvk,
        "resource": gvr,
        "requestKind": gvk,
        "requestResource": gvr,
        "namespace": namespace,
        "operation": "CREATE",
        "userInfo": {"username": user, "groups": list(groups)},
        "object": obj,
        "oldObject": None,
        "dryRun": False,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
    }
    return request | {"name": name} if name else request


def _plural(group: str, kind: str) -> str:
    """What the API server calls the resource of a kind; near enough for those nobody decides about."""
    known = {(each.group, each.name): each.plural for each in BUILT_IN}
    return known.get((group, kind), f"{kind.lower()}s")
