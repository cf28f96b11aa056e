"""In which form the client wants the answer: JSON, a Table, only the metadata, discovery v2.

Answers are JSON: a client that lists it among others gets it, one that does not gets 406. Bodies
may be JSON, YAML or, for some kinds, protobuf; anything else gets 415.
"""

from __future__ import annotations

from dataclasses import dataclass

import orjson
import yaml

from webhook.sandbox.protobuf import MEDIA_TYPE, decode_protobuf
from webhook.sandbox.resources import Object
from webhook.sandbox.status import StatusError, bad_request, unsupported_media_type

JSON = "application/json"
_SERVED_AS = {
    "Table": ("meta.k8s.io", "v1"),
    "PartialObjectMetadata": ("meta.k8s.io", "v1"),
    "PartialObjectMetadataList": ("meta.k8s.io", "v1"),
    "APIGroupDiscoveryList": ("apidiscovery.k8s.io", "v2"),
}


@dataclass(frozen=True, slots=True)
class Form:
    """``as_kind`` is empty for the object itself."""

    as_kind: str = ""
    pretty: bool = False

    @property
    def content_type(self) -> str:
        if self.as_kind == "APIGroupDiscoveryList":
            group, version = _SERVED_AS[self.as_kind]
            return f"{JSON};g={group};v={version};as={self.as_kind}"
        return JSON


def form_of(accept: str) -> Form:
    """The first form of an Accept header that is served; raises StatusError 406."""
    if not accept.strip():
        return Form()
    for entry in accept.split(","):
        media, *pairs = (part.strip() for part in entry.split(";"))
        options = dict(pair.partition("=")[::2] for pair in pairs)
        if media not in (JSON, "application/*", "*/*"):
            continue
        kind = options.get("as", "")
        if not kind or _SERVED_AS.get(kind) == (options.get("g"), options.get("v")):
            return Form(kind)
    message = f"only the following media types are accepted: {JSON}"
    raise StatusError(406, "NotAcceptable", message)


def decode(body: bytes, content_type: str, *, patch: bool = False) -> object:
    """The body of a request; raises StatusError 400 or 415."""
    media = content_type.partition(";")[0].strip().lower()
    if patch and media.endswith("+yaml"):
        return None  # server-side apply: refused, by its content type, where patches are applied
    if media == MEDIA_TYPE:
        return decode_protobuf(body)
    try:
        if media == "application/yaml":
            return yaml.safe_load(body)
        if media in ("", JSON) or media.endswith("+json"):
            return orjson.loads(body) if body else {}
    except (orjson.JSONDecodeError, yaml.YAMLError) as error:
        raise bad_request(f"the body of the request is not valid: {error}") from error
    raise unsupported_media_type(
        f"the body of the request was in an unknown format ({media}) - accepted media types "
        f"include: {JSON}, application/yaml"
    )


def encode(value: Object) -> bytes:
    return orjson.dumps(value)


def warning_headers(warnings: list[str]) -> list[str]:
    """The values of the Warning headers: each text once; one with a line break is lost."""
    return [
        '299 - "' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
        for text in dict.fromkeys(warnings)
        if "\n" not in text and "\r" not in text
    ]
