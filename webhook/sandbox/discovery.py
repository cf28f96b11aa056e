"""What a client asks first: which groups, versions and kinds are there.

Both forms are served, the aggregated one (one request, what kubectl prefers) and the old one.
"""

from __future__ import annotations

from webhook.sandbox.resources import RESOURCES, Object, Resource

VERSION: Object = {
    "major": "1",
    "minor": "37",
    "gitVersion": "v1.37.0+tidegate.sandbox",
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "",
    "compiler": "",
    "platform": "tidegate/sandbox",
}

_VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]
_SUBRESOURCE_VERBS = {
    "status": ["get", "patch", "update"],
    "binding": ["create"],
    "eviction": ["create"],
    "finalize": ["update"],
}
_SUBRESOURCE_KINDS = {"binding": ("", "v1", "Binding"), "eviction": ("policy", "v1", "Eviction")}
_IN_ALL = frozenset({"pods", "jobs", "cronjobs", "statefulsets"})


def groups() -> list[str]:
    """The named groups, in the order of the table."""
    return list(dict.fromkeys(r.group for r in RESOURCES if r.group))


def _of_group(group: str) -> list[Resource]:
    return [resource for resource in RESOURCES if resource.group == group]


def aggregated(*, core: bool) -> Object:
    """The APIGroupDiscoveryList of /api or /apis."""
    names = [""] if core else groups()
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": [_group_discovery(name) for name in names],
    }


def _group_discovery(group: str) -> Object:
    members = _of_group(group)
    version = {
        "version": members[0].version,
        "freshness": "Current",
        "resources": [_resource_discovery(resource) for resource in members],
    }
    return {"metadata": {"name": group} if group else {}, "versions": [version]}


def _resource_discovery(resource: Resource) -> Object:
    entry: Object = {
        "resource": resource.plural,
        "responseKind": _response_kind(resource, (resource.group, resource.version, resource.kind)),
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": _VERBS,
    }
    if resource.short_names:
        entry["shortNames"] = list(resource.short_names)
    if resource.plural in _IN_ALL:
        entry["categories"] = ["all"]
    if resource.subresources:
        entry["subresources"] = [
            {
                "subresource": name,
                "responseKind": _response_kind(resource, _subresource_kind(resource, name)),
                "verbs": _SUBRESOURCE_VERBS[name],
            }
            for name in sorted(resource.subresources)
        ]
    return entry


def _response_kind(resource: Resource, of: tuple[str, str, str]) -> Object:
    """Group and version are left empty where they are the resource's own, but for CRDs."""
    group, version, kind = of
    if (group, version) == (resource.group, resource.version) and not resource.custom:
        group = version = ""
    return {"group": group, "version": version, "kind": kind}


def _subresource_kind(resource: Resource, name: str) -> tuple[str, str, str]:
    own = (resource.group, resource.version, resource.kind)
    return _SUBRESOURCE_KINDS.get(name, own)


def api_versions() -> Object:
    """GET /api in the old form."""
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}


def group_list() -> Object:
    """GET /apis in the old form."""
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [group(n) for n in groups()]}


def group(name: str) -> Object:
    """GET /apis/{group}."""
    version = _of_group(name)[0].version
    preferred = {"groupVersion": f"{name}/{version}", "version": version}
    return {
        "kind": "APIGroup",
        "apiVersion": "v1",
        "name": name,
        "versions": [preferred],
        "preferredVersion": preferred,
    }


def resource_list(name: str, version: str) -> Object | None:
    """GET /api/v1 or /apis/{group}/{version}; None when there is no such version."""
    members = [resource for resource in _of_group(name) if resource.version == version]
    if not members:
        return None
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": members[0].api_version,
        "resources": [entry for resource in members for entry in _legacy_entries(resource)],
    }


def _legacy_entries(resource: Resource) -> list[Object]:
    own: Object = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": _VERBS,
    }
    if resource.short_names:
        own["shortNames"] = list(resource.short_names)
    if resource.plural in _IN_ALL:
        own["categories"] = ["all"]
    entries = [own]
    for name in sorted(resource.subresources):
        group_name, version, kind = _subresource_kind(resource, name)
        entry = {
            "name": f"{resource.plural}/{name}",
            "singularName": "",
            "namespaced": resource.namespaced,
            "kind": kind,
            "verbs": _SUBRESOURCE_VERBS[name],
        }
        if group_name != resource.group:
            entry |= {"group": group_name, "version": version}
        entries.append(entry)
    return entries
