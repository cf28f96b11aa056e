"""Every flag is bounded, and the documentation names each of them, with its default."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from webhook.service.metrics import METRICS
from webhook.service.settings import (
    Address,
    LoopSettings,
    SettingsError,
    WebhookSettings,
    flags_of,
    read_address,
)

OPERATIONS = Path(__file__).parents[2] / "docs" / "operations.md"
SOME = (Path("policies"),)
TLS: dict[str, Any] = {"policies": SOME, "self_signed_dir": Path("certs")}


def rows(heading: str) -> dict[str, list[str]]:
    """The table below a heading, by its first cell."""
    section = OPERATIONS.read_text().split(f"## {heading}\n")[1].split("\n## ")[0]
    cells = [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in section.splitlines()
        if line.startswith("| `")
    ]
    return {row[0].strip("| `"): row for row in cells}


@pytest.mark.parametrize("text", ["127.0.0.1:8081", "[::1]:0", "localhost:65535"])
def test_an_address_is_read(text):
    address = read_address(text)
    assert str(address) == text
    assert address.is_loopback


@pytest.mark.parametrize("text", ["", "8081", ":8081", "host", "host:", "host:x", "h:65536"])
def test_what_is_no_address_is_refused(text):
    with pytest.raises(SettingsError, match="HOST:PORT"):
        read_address(text)


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        ({"self_signed_dir": Path("c")}, "--policies"),
        ({"policies": SOME}, "--self-signed-dir"),
        ({"policies": SOME, "tls_cert": Path("c")}, "belong together"),
        (TLS | {"tls_cert": Path("c"), "tls_key": Path("k")}, "either"),
        (TLS | {"policy_poll": 0}, "--policy-poll"),
        (TLS | {"max_in_flight": 0}, "--max-in-flight"),
        (TLS | {"lookup_timeout": 0}, "--lookup-timeout"),
        (TLS | {"drain": -1}, "--drain"),
        (TLS | {"status_url": "https://x"}, "--status-url"),
        (TLS | {"log_level": "loud"}, "--log-level"),
        (TLS | {"log_format": "xml"}, "--log-format"),
    ],
)
def test_a_webhook_that_cannot_work_is_refused(flags, complaint):
    with pytest.raises(SettingsError, match=complaint):
        WebhookSettings(**flags).check()


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        ({}, "--policies"),
        ({"policies": SOME, "status_listen": Address("0.0.0.0", 1)}, "loopback"),
        ({"policies": SOME, "status_listen": Address("example.org", 1)}, "loopback"),
        ({"policies": SOME, "max_writes": 0}, "--max-writes"),
        ({"policies": SOME, "retry": 0}, "--retry"),
    ],
)
def test_a_loop_that_cannot_work_is_refused(flags, complaint):
    with pytest.raises(SettingsError, match=complaint):
        LoopSettings(**flags).check()


def test_the_defaults_work():
    WebhookSettings(**TLS).check()
    LoopSettings(policies=SOME).check()


def test_the_documentation_names_every_flag_and_its_default():
    for settings in (WebhookSettings, LoopSettings):
        documented = rows("Flags of " + settings.__name__.removesuffix("Settings").lower())
        for flag in flags_of(settings):
            assert flag.name in documented, flag.name
            _, default, meaning = documented[flag.name]
            assert default.strip("`") == flag.shown_default
            assert meaning == flag.meaning.replace("|", "\\|")
        assert set(documented) == {flag.name for flag in flags_of(settings)}


def test_the_documentation_names_every_metric():
    documented = rows("Metrics")
    for metric in METRICS:
        _, kind, labels, meaning = documented[metric.name]
        assert kind == metric.kind
        assert re.findall(r"`(\w+)`", labels) == list(metric.labels)
        assert meaning == metric.meaning
    assert set(documented) == {metric.name for metric in METRICS}
