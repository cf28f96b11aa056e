"""Tables: what ``kubectl get`` prints is computed by the server, so it is here too."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from webhook.sandbox.columns import Column, columns_of
from webhook.sandbox.resources import Object, Resource

_TABLE = {"kind": "Table", "apiVersion": "meta.k8s.io/v1"}
_PARTIAL = {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1"}


def table(
    resource: Resource,
    objects: Sequence[Object],
    metadata: Object,
    now: datetime,
    *,
    include: str = "Metadata",
    with_columns: bool = True,
) -> Object:
    """The Table of some objects; ``include`` is None, Metadata or Object (what each row carries).

    ``metadata`` is that of the list, or the resourceVersion of a single object.
    """
    columns = columns_of(resource)
    definitions = [_definition(column) for column in columns] if with_columns else None
    rows = [_row(columns, obj, now, include) for obj in objects]
    return {**_TABLE, "metadata": metadata, "columnDefinitions": definitions, "rows": rows}


def _definition(column: Column) -> Object:
    return {
        "name": column.name,
        "type": column.type,
        "format": "name" if column.name == "Name" else "",
        "description": column.description or column.name,
        "priority": 1 if column.wide else 0,
    }


def _row(columns: Sequence[Column], obj: Object, now: datetime, include: str) -> Object:
    row: Object = {"cells": [column.cell(obj, now) for column in columns]}
    if include == "Object":
        row["object"] = obj
    elif include != "None":
        row["object"] = partial(obj)
    return row


def partial(obj: Object) -> Object:
    """The object reduced to its metadata."""
    return {**_PARTIAL, "metadata": obj["metadata"]}


def partial_list(objects: Sequence[Object], metadata: Object) -> Object:
    """A PartialObjectMetadataList."""
    return {
        "kind": "PartialObjectMetadataList",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "items": [partial(obj) for obj in objects],
    }
