"""Objects that come as protobuf, which some kubectl commands send whatever the server says.

``kubectl create job``, ``create configmap``, ``create namespace``, ``auth whoami`` and the like
know no other way. What they send is read by the tables of ``protobuf_fields``; a field that is not
in them is refused by number, so that nothing a user asked for is dropped. Answers are JSON.

The wire format: https://protobuf.dev/programming-guides/encoding/ inside the envelope of
Kubernetes, ``k8s\\0`` and a ``runtime.Unknown``.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from webhook.sandbox.metadata import rfc3339
from webhook.sandbox.protobuf_fields import MESSAGES, Field
from webhook.sandbox.resources import Object
from webhook.sandbox.status import bad_request, unsupported_media_type

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"
_MAGIC = b"k8s\x00"
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_INT64_SIGN, _INT64_SPAN = 1 << 63, 1 << 64


def decode_protobuf(body: bytes) -> Object:
    """The object in a body; raises StatusError 400, or 415 for what is not in the tables."""
    if not body.startswith(_MAGIC):
        raise bad_request("the body of the request is not a protobuf of Kubernetes")
    try:
        envelope = dict(_fields(body[len(_MAGIC) :]))
        names = {number: bytes(value).decode() for number, value in _fields(envelope[1])}
        kind, api_version = names[2], names.get(1, "v1")
        decoded = _message(kind, envelope.get(2, b""))
    except (IndexError, KeyError, ValueError, TypeError) as error:
        raise bad_request("the body of the request is a broken protobuf") from error
    return {"kind": kind, "apiVersion": api_version, **decoded}


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """(number, value) of each field of a message: an int or bytes."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        wire = key & 7
        if wire == _VARINT:
            value, at = _varint(data, at)
            yield key >> 3, value
            continue
        if wire == _LENGTH:
            length, at = _varint(data, at)
        else:
            length = {_FIXED64: 8, _FIXED32: 4}[wire]
        if at + length > len(data):
            raise ValueError("a field is longer than its message")
        yield key >> 3, data[at : at + length]
        at += length


def _message(name: str, data: bytes) -> Object:
    if (known := MESSAGES.get(name)) is None:
        raise _unknown(f"the kind {name}")
    obj: Object = {}
    for number, raw in _fields(data):
        if (field := known.get(number)) is None:
            raise _unknown(f"field {number} of {name}")
        _add(obj, field, raw)
    return obj


def _add(obj: Object, field: Field, raw: Any) -> None:
    if field.type in ("map", "bytesmap", "quantities"):
        entry = dict(_fields(raw))
        key = bytes(entry.get(1, b"")).decode()
        obj.setdefault(field.name, {})[key] = _map_value(field, entry.get(2, b""))
        return
    if field.type == "ignored":
        return
    value = _value(field.type, raw)
    if field.repeated:
        obj.setdefault(field.name, []).append(value)
    elif field.name == "":
        obj.update(value)  # a struct that is embedded, as VolumeSource is in Volume
    elif field.pointer or value not in ("", 0, False, None):
        obj[field.name] = value


def _map_value(field: Field, raw: bytes) -> str:
    if field.type == "bytesmap":
        return base64.b64encode(raw).decode("ascii")
    if field.type == "quantities":
        return str(_value("Quantity", raw))
    return bytes(raw).decode()


def _value(kind: str, raw: Any) -> Any:
    match kind:
        case "string":
            return bytes(raw).decode()
        case "bool":
            return bool(raw)
        case "int":
            return raw - _INT64_SPAN if raw >= _INT64_SIGN else raw
        case "Quantity":
            return bytes(dict(_fields(raw)).get(1, b"0")).decode()
        case "Time":
            seconds = dict(_fields(raw)).get(1)
            return None if seconds is None else rfc3339(datetime.fromtimestamp(seconds, UTC))
    return _message(kind, raw)


def _unknown(what: str) -> Exception:
    return unsupported_media_type(
        f"{what} is not read from protobuf by the sandbox; send JSON, for example with "
        "kubectl ... --dry-run=client -o json | kubectl create -f -"
    )
