"""The schemas of conditions: whole in themselves, and as the projects publish their own."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
import yaml

from webhook.language.schemas import definitions, object_shape, shape_of
from webhook.language.shapes import ANY, BOOL, INT, STRING, Each, ListOf, MapOf, Record
from webhook.model.kinds import JOB, JOBSET, POD

CRD = (
    Path(__file__).resolve().parents[3]
    / "shared" / "crds" / "jobset.x-k8s.io_jobsets.yaml.gz"
)  # fmt: skip
PLAIN = {"integer": INT, "string": STRING, "boolean": BOOL}


def test_every_type_in_a_schema_is_defined() -> None:
    for fields in definitions().values():
        for text in fields.values():
            shape_of(text)


def test_a_rule_for_two_kinds_sees_what_both_have() -> None:
    shape = object_shape((JOB, JOBSET))
    assert isinstance(shape, Each)
    assert [kind for kind, _ in shape.options] == ["Job", "JobSet"]
    assert object_shape((JOB,)) == shape_of("Job")
    assert object_shape((JOB, POD)) == ANY
    assert object_shape(()) == ANY


@pytest.mark.skipif(
    not CRD.is_file(), reason="the definition of JobSet (../shared/crds) is not here"
)
def test_fields_are_those_of_the_published_definition() -> None:
    published = yaml.safe_load(gzip.decompress(CRD.read_bytes()))
    schema = published["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
    wrong: list[str] = []
    for part in ("spec", "status"):
        wrong += _differences(schema[part], shape_of(f"JobSet{part.title()}"), part)
    assert wrong == []


def _differences(schema: dict[str, Any], shape: Any, path: str) -> list[str]:
    if schema.get("x-kubernetes-int-or-string") or schema.get(
        "x-kubernetes-preserve-unknown-fields"
    ):
        return [] if shape == ANY else [f"{path}: not dynamic"]
    if schema["type"] == "array":
        same = isinstance(shape, ListOf)
        return _differences(schema["items"], shape.item, path) if same else [f"{path}: no list"]
    if "additionalProperties" in schema:
        same = isinstance(shape, MapOf)
        inner = schema["additionalProperties"]
        return _differences(inner, shape.value, path) if same else [f"{path}: no map"]
    if schema["type"] in PLAIN:
        expected = PLAIN[schema["type"]]
        time = schema.get("format") == "date-time" or shape.__class__.__name__ != "Simple"
        return [] if shape == expected or time else [f"{path}: {shape.title}"]
    return _fields(schema, shape, path)


def _fields(schema: dict[str, Any], shape: Any, path: str) -> list[str]:
    if not isinstance(shape, Record):
        return [] if not schema.get("properties") else [f"{path}: no record"]
    wrong = [
        f"{path}: lacks {name}" for name in schema.get("properties", {}) if name not in shape.fields
    ]
    for name, inner in schema.get("properties", {}).items():
        if name in shape.fields:
            wrong += _differences(inner, shape_of(shape.fields[name]), f"{path}.{name}")
    return wrong
