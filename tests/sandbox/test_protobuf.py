"""Protobuf bodies: the wire format, zero values, and what is refused."""

from __future__ import annotations

import pytest

from webhook.sandbox.protobuf import decode_protobuf
from webhook.sandbox.protobuf_fields import MESSAGES
from webhook.sandbox.status import StatusError


def varint(value: int) -> bytes:
    made = b""
    while value > 0x7F:
        made += bytes([value & 0x7F | 0x80])
        value >>= 7
    return made + bytes([value])


def text(number: int, value: str | bytes) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(raw)) + raw


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value % 2**64)


def body(kind: str, message: bytes, api_version: str = "v1") -> bytes:
    return b"k8s\x00" + text(1, text(1, api_version) + text(2, kind)) + text(2, message)


def test_maps_bytes_and_times():
    metadata = (
        text(1, "s") + text(8, number(1, 1_764_583_200)) + text(11, text(1, "a") + text(2, "b"))
    )
    secret = text(1, metadata) + text(2, text(1, "key") + text(2, b"\xff\x00")) + text(3, "Opaque")
    assert decode_protobuf(body("Secret", secret)) == {
        "kind": "Secret",
        "apiVersion": "v1",
        "metadata": {
            "name": "s",
            "creationTimestamp": "2025-12-01T10:00:00Z",
            "labels": {"a": "b"},
        },
        "data": {"key": "/wA="},
        "type": "Opaque",
    }


def test_zero_is_a_value_only_where_it_can_be_absent():
    pod = text(3, "") + number(11, 0)  # restartPolicy, hostNetwork: always on the wire
    spec = number(1, 0) + number(10, 0) + text(6, text(2, pod))  # parallelism, suspend, template
    decoded = decode_protobuf(body("Job", text(2, spec), "batch/v1"))
    assert decoded["spec"] == {"parallelism": 0, "suspend": False, "template": {"spec": {}}}


def test_numbers_may_be_negative():
    decoded = decode_protobuf(body("PriorityClass", number(2, -5), "scheduling.k8s.io/v1"))
    assert decoded["value"] == -5


def test_a_volume_shows_its_source_beside_its_name():
    volume = text(1, "v") + text(2, text(2, text(1, "Memory")))
    spec = text(6, text(2, text(1, volume)))
    decoded = decode_protobuf(body("Job", text(2, spec), "batch/v1"))
    (shown,) = decoded["spec"]["template"]["spec"]["volumes"]
    assert shown == {"name": "v", "emptyDir": {"medium": "Memory"}}


@pytest.mark.parametrize(
    ("kind", "message", "words"),
    [("ConfigMap", number(9, 1), "field 9 of ConfigMap"), ("Frob", b"\x08\x01", "the kind Frob")],
)
def test_what_is_not_in_the_tables_is_refused(kind: str, message: bytes, words: str):
    with pytest.raises(StatusError, match=words) as caught:
        decode_protobuf(body(kind, message))
    assert caught.value.code == 415


@pytest.mark.parametrize("cut", [1, 5, 9, 20])
def test_a_broken_body_is_a_bad_request(cut: int):
    whole = body("ConfigMap", text(1, text(1, "some-name")))
    with pytest.raises(StatusError) as caught:
        decode_protobuf(whole[:-cut])
    assert caught.value.code == 400


def test_every_message_named_in_the_tables_is_there():
    scalars = {
        "string",
        "bool",
        "int",
        "Quantity",
        "Time",
        "map",
        "bytesmap",
        "quantities",
        "ignored",
    }
    named = {field.type for fields in MESSAGES.values() for field in fields.values()}
    assert named - scalars <= MESSAGES.keys()
