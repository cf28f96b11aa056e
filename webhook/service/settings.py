"""Every flag of the long-running processes: its default, its unit and what it means, in one place.

The command line builds its options from these fields and docs/operations.md is held to them by a
test, so a flag cannot exist in one place only. A value that cannot work is refused here.
"""

# ruff: noqa: RUF009 - flag() makes a field, as dataclasses.field does

from __future__ import annotations

from dataclasses import dataclass, field, fields
from ipaddress import ip_address
from pathlib import Path
from typing import Any, NamedTuple

DEFAULT_USER = "system:serviceaccount:tidegate-system:tidegate"


class SettingsError(ValueError):
    """A flag that cannot work; one line, fit to be shown."""


class Address(NamedTuple):
    """Where to listen."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """True where only this machine, or this pod, can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False


def read_address(text: str) -> Address:
    """``HOST:PORT``, ``[::1]:PORT``; port 0 takes a free one. Raises SettingsError."""
    host, colon, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not colon or not host or not port.isdecimal() or int(port) > 65535:
        raise SettingsError(f"`{text}` is not HOST:PORT")
    return Address(host, int(port))


def flag(meaning: str, *, default: Any = None, unit: str = "", metavar: str = "") -> Any:
    """A field that is a flag; without a default it has to be given."""
    about = {"meaning": meaning, "unit": unit, "metavar": metavar}
    return field(default=default, metadata=about)


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """Flags of both processes."""

    policies: tuple[Path, ...] = flag(
        "a policy file or a directory of `*.tide` files; may be repeated",
        default=(),
        metavar="PATH",
    )
    kubeconfig: Path | None = flag(
        "how to reach the API server; default: the pod's service account, else $KUBECONFIG or ~/.kube/config",
        metavar="FILE",
    )
    context: str | None = flag("the context of the kubeconfig", metavar="NAME")
    policy_poll: float = flag(
        "how often policy files are looked at for changes", default=2.0, unit="seconds"
    )
    log_level: str = flag("debug, info, warning or error", default="info", metavar="LEVEL")
    log_format: str = flag("text (key=value) or json", default="text", metavar="FORMAT")

    def check(self) -> None:
        """Raises SettingsError."""
        if not self.policies:
            raise SettingsError("give at least one --policies PATH")
        if not 0 < self.policy_poll <= 60:
            raise SettingsError("--policy-poll must be above 0 and at most 60 seconds")
        if self.log_level not in ("debug", "info", "warning", "error"):
            raise SettingsError("--log-level must be debug, info, warning or error")
        if self.log_format not in ("text", "json"):
            raise SettingsError("--log-format must be text or json")


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookSettings(Common):
    """Flags of `tidegate serve webhook`."""

    listen: Address = flag(
        "where to serve HTTPS; port 0 takes a free one",
        default=Address("0.0.0.0", 8443),  # noqa: S104 - the API server comes from another host
        metavar="HOST:PORT",
    )
    tls_cert: Path | None = flag("the certificate chain; reread when it changes", metavar="FILE")
    tls_key: Path | None = flag("its private key; reread when it changes", metavar="FILE")
    self_signed_dir: Path | None = flag(
        "make a CA and a certificate in this directory, and keep them there", metavar="DIR"
    )
    tls_names: tuple[str, ...] = flag(
        "a further DNS name or address for the self-made certificate; may be repeated",
        default=(),
        metavar="NAME",
    )
    tls_poll: float = flag(
        "how often the certificate is looked at for changes", default=10.0, unit="seconds"
    )
    loop_user: str = flag(
        "the user the loop writes as; what it does is not reviewed",
        default=DEFAULT_USER,
        metavar="USER",
    )
    own_namespace: str = flag(
        "the namespace we live in; nothing there is ours", default="tidegate-system", metavar="NAME"
    )
    status_url: str | None = flag(
        "the loop's address, for the numbers in warnings; default: none", metavar="URL"
    )
    max_in_flight: int = flag(
        "reviews at a time; more are answered 503 at once", default=256, unit="requests"
    )
    lookup_timeout: float = flag(
        "for the one live look-up of a parent not yet seen", default=0.5, unit="seconds"
    )
    drain: float = flag(
        "how long to go on serving, not ready, after SIGTERM", default=5.0, unit="seconds"
    )

    def check(self) -> None:
        """Raises SettingsError."""
        Common.check(self)
        if bool(self.tls_cert) != bool(self.tls_key):
            raise SettingsError("--tls-cert and --tls-key belong together")
        if bool(self.tls_cert) == bool(self.self_signed_dir):
            raise SettingsError("give either --tls-cert and --tls-key or --self-signed-dir")
        if self.max_in_flight < 1:
            raise SettingsError("--max-in-flight must be at least 1")
        if self.status_url and not self.status_url.startswith("http://"):
            raise SettingsError("--status-url must begin with http://")
        for name in ("tls_poll", "lookup_timeout"):
            if getattr(self, name) <= 0:
                raise SettingsError(f"{flag_name(name)} must be above 0")
        if self.drain < 0:
            raise SettingsError("--drain must not be negative")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopSettings(Common):
    """Flags of `tidegate serve loop`."""

    status_listen: Address = flag(
        "where to serve /status to the webhook beside it; loopback only",
        default=Address("127.0.0.1", 8081),
        metavar="HOST:PORT",
    )
    metrics_listen: Address | None = flag(
        "where to serve /metrics, /healthz and /readyz to others; default: with /status only",
        metavar="HOST:PORT",
    )
    max_writes: int = flag("writes to the API server at a time", default=16, unit="requests")
    retry: float = flag(
        "the first delay of a workload whose start failed; doubles up to 5 minutes",
        default=1.0,
        unit="seconds",
    )
    ask_again: float = flag(
        "until a start that no watch has shown, or pods of a deleted workload, are asked for",
        default=10.0,
        unit="seconds",
    )

    def check(self) -> None:
        """Raises SettingsError."""
        Common.check(self)
        if not self.status_listen.is_loopback:
            raise SettingsError("--status-listen must be a loopback address")
        if self.max_writes < 1:
            raise SettingsError("--max-writes must be at least 1")
        for name in ("retry", "ask_again"):
            if getattr(self, name) <= 0:
                raise SettingsError(f"{flag_name(name)} must be above 0")


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag, as the command line and the documentation show it."""

    name: str
    field: str
    default: Any
    meaning: str
    unit: str
    metavar: str

    @property
    def many(self) -> bool:
        """It may be repeated."""
        return isinstance(self.default, tuple) and not isinstance(self.default, Address)

    @property
    def shown_default(self) -> str:
        """The default as a person reads it; empty where there is none."""
        if self.default is None or self.many:
            return ""
        number = isinstance(self.default, int | float)
        text = f"{self.default:g}" if number else str(self.default)
        return f"{text} {self.unit}".strip()


def flag_name(name: str) -> str:
    """The flag of a field."""
    return "--" + name.replace("_", "-")


def flags_of(settings: type[Common]) -> tuple[Flag, ...]:
    """Every flag of a process, its own before the common ones."""
    found = [
        Flag(flag_name(one.name), one.name, one.default, **one.metadata) for one in fields(settings)
    ]
    shared = {one.name for one in fields(Common)}
    return tuple(sorted(found, key=lambda one: one.field in shared))
