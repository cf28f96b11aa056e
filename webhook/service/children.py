"""Child Jobs that keep an earlier flavor's keys, taken away before a JobSet starts on another.

JobSet merges node selectors and tolerations into its child Jobs when it is resumed; keys of the
earlier flavor stay, and pods that ask for both never land anywhere. So the JobSet's own templates
are cleaned first, then its unfinished children deleted: they come back clean, still suspended.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from webhook.cluster.client import Client
from webhook.cluster.errors import Conflict, NotFound
from webhook.model.kinds import JOB, JOBSET, Object
from webhook.model.patch import Patch
from webhook.model.queues import Flavor
from webhook.model.workload import Admission, Injected, Workload
from webhook.quota.news import Start
from webhook.workloads.jobset import replicated_job_of
from webhook.workloads.objects import mapping, metadata
from webhook.workloads.record import admission_of, injected_into
from webhook.workloads.registry import ADAPTERS
from webhook.workloads.start import locked
from webhook.workloads.templates import inject, template_at


@dataclass(frozen=True, slots=True)
class Leftovers:
    """What has to be written first: the templates cleaned, these children deleted."""

    clean: Patch
    children: tuple[Object, ...]


def leftovers(
    obj: Object, start: Start, family: Sequence[Object], flavors: Mapping[str, Flavor]
) -> Leftovers | None:
    """None where every unfinished child may be resumed as it is."""
    record = admission_of(obj)
    if start.workload.kind != JOBSET or record is None:
        return None
    stale = tuple(
        child
        for child in family
        if not ADAPTERS[JOB.name].finished(child)
        and _keeps(child, record, _wanted(obj, record, start.admission, flavors))
    )
    return Leftovers(_clean(obj, record), stale) if stale else None


async def reset(client: Client, workload: Workload, obj: Object, left: Leftovers) -> Object | None:
    """Write it; the JobSet as it is afterwards, None where its templates were clean. Raises ApiError."""
    cleaned = None
    if left.clean:
        cleaned = await client.patch(
            workload.kind, workload.namespace, workload.name, (locked(obj), *left.clean)
        )
    for child in left.children:
        about = metadata(child)
        with suppress(NotFound, Conflict):  # gone, or another one by now
            await client.delete(
                JOB, str(about["namespace"]), str(about["name"]), uid=str(about["uid"])
            )
    return cleaned


def _clean(obj: Object, record: Admission) -> Patch:
    """Operations that take the earlier injection out of the templates."""
    patch: Patch = ()
    for name, path in ADAPTERS[JOBSET.name].templates(obj).items():
        patch += inject(obj, path, injected_into(record, name), ())[0]
    return patch


def _wanted(
    obj: Object, record: Admission, admission: Admission, flavors: Mapping[str, Flavor]
) -> Mapping[str, Injected]:
    """Pod set → what the coming start would inject."""
    paths = ADAPTERS[JOBSET.name].templates(obj)
    found = {}
    for pods in admission.pod_sets:
        chosen = [flavors[name] for name in dict.fromkeys(pods.flavors.values()) if name in flavors]
        earlier = injected_into(record, pods.name)
        found[pods.name] = inject(obj, paths[pods.name], earlier, chosen)[1]
    return found


def _keeps(child: Object, record: Admission, wanted: Mapping[str, Injected]) -> bool:
    """Whether it bears keys of the earlier start that the coming one does not want."""
    name = replicated_job_of(child)
    earlier, coming = injected_into(record, name), wanted.get(name, Injected())
    template = template_at(child, ("spec", "template")) or {}
    spec = mapping(template, "spec")
    selector = spec.get("nodeSelector") or {}
    nodes = any(
        selector.get(key) == value and coming.nodes.get(key) != value
        for key, value in earlier.nodes.items()
    )
    tolerated = spec.get("tolerations") or []
    return nodes or any(
        item in tolerated and item not in coming.tolerations for item in earlier.tolerations
    )
