"""Rules of names and labels inside an object: templates, selectors, containers, webhooks.

Those of the object's own metadata are checked by ``webhook.sandbox.metadata``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from webhook.sandbox.resources import Object
from webhook.sandbox.status import Cause
from webhook.sandbox.strategies.fields import invalid

LABEL_LIMIT = 63
SUBDOMAIN_LIMIT = 253

LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
SUBDOMAIN = rf"{LABEL}(\.{LABEL})*"
DNS_1035 = r"[a-z]([-a-z0-9]*[a-z0-9])?"
NAME_PART = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
LABEL_VALUE = rf"({NAME_PART})?"

_LABEL_TEXT = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    f"for validation is '{LABEL}')"
)
_SUBDOMAIN_TEXT = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    f"for validation is '{SUBDOMAIN}')"
)
_DNS_1035_TEXT = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    f"regex used for validation is '{DNS_1035}')"
)
_LABEL_VALUE_TEXT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
    f"or '12345', regex used for validation is '{LABEL_VALUE}')"
)
_NAME_PART_TEXT = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    f"validation is '{NAME_PART}')"
)


def _faults(text: str, pattern: str, limit: int, message: str) -> Iterator[str]:
    if len(text) > limit:
        yield f"must be no more than {limit} characters"
    if not re.fullmatch(pattern, text, re.ASCII):
        yield message


def label_faults(text: str) -> Iterator[str]:
    """What is wrong with a DNS label (RFC 1123)."""
    return _faults(text, LABEL, LABEL_LIMIT, _LABEL_TEXT)


def subdomain_faults(text: str) -> Iterator[str]:
    """What is wrong with a DNS subdomain (RFC 1123)."""
    return _faults(text, SUBDOMAIN, SUBDOMAIN_LIMIT, _SUBDOMAIN_TEXT)


def dns_1035_faults(text: str) -> Iterator[str]:
    return _faults(text, DNS_1035, LABEL_LIMIT, _DNS_1035_TEXT)


def qualified_faults(text: str) -> Iterator[str]:
    """What is wrong with the key of a label: an optional DNS prefix, ``/`` and a name."""
    prefix, slash, name = text.rpartition("/")
    if slash and not prefix:
        yield "prefix part must be non-empty"
    elif slash:
        yield from (f"prefix part {fault}" for fault in subdomain_faults(prefix))
    if not name:
        yield "name part must be non-empty"
    elif len(name) > LABEL_LIMIT:
        yield f"name part must be no more than {LABEL_LIMIT} characters"
    if not re.fullmatch(NAME_PART, name, re.ASCII):
        yield _NAME_PART_TEXT


def validate_labels(labels: Object, field: str) -> Iterator[Cause]:
    """Labels, or a node selector, which takes the same."""
    for key, value in labels.items():
        for fault in qualified_faults(key):
            yield invalid(field, key, fault)
        for fault in _faults(str(value), LABEL_VALUE, LABEL_LIMIT, _LABEL_VALUE_TEXT):
            yield invalid(field, value, fault)
