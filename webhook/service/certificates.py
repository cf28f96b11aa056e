"""A CA and a serving certificate of our own, for where nobody else makes them.

Kept in a directory and used again at the next start, because the API server is told the CA once:
a new CA at every start would fail every review without a word. A leaf is renewed when a third of
its life is left, also while it serves, or when its names change. The CA is renewed only at a start
in the last third of its ten years; the API server has to be told the new one then. To rotate it
under way takes a time in which both are trusted, and is not done yet.
"""

from __future__ import annotations

import errno
import ipaddress
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

CA_LIFE = timedelta(days=3650)
LEAF_LIFE = timedelta(days=365)
SLACK = timedelta(minutes=5)
"""Certificates begin this long ago, for clocks that are behind."""


@dataclass(frozen=True, slots=True)
class Files:
    """Where the certificates are: what the API server trusts, what the server shows, and their keys."""

    ca: Path
    certificate: Path
    key: Path
    ca_key: Path


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey


def ensure_certificates(
    directory: Path, names: Sequence[str], *, now: datetime | None = None
) -> Files:
    """Make what is missing, expired or for other names; leave the rest. Raises OSError."""
    now = now or datetime.now(UTC)
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    files = _files(directory)
    authority = _kept(files.ca, files.ca_key)
    if authority is None or not _fresh(authority.certificate, now):
        authority = make_authority(now)
        _write(files.ca_key, _key_pem(authority.key))
        _write(files.ca, _pem(authority.certificate))
    _ensure_leaf(files, authority, names, now)
    return files


def renew_leaf(directory: Path, names: Sequence[str], *, now: datetime | None = None) -> None:
    """While it serves: a new leaf in the last third of its life, under the CA that is there. Raises OSError.

    Never a new CA: the API server trusts only the one it was told of.
    """
    now = now or datetime.now(UTC)
    files = _files(directory)
    leaf = _kept(files.certificate, files.key)
    if leaf is not None and _fresh(leaf.certificate, now):
        return
    authority = _kept(files.ca, files.ca_key)
    if authority is None:
        raise FileNotFoundError(errno.ENOENT, "no CA with its key", str(files.ca))
    _ensure_leaf(files, authority, names, now)


def _files(directory: Path) -> Files:
    return Files(*(directory / name for name in ("ca.crt", "tls.crt", "tls.key", "ca.key")))


def _ensure_leaf(files: Files, authority: Pair, names: Sequence[str], now: datetime) -> None:
    leaf = _kept(files.certificate, files.key)
    if leaf is None or not _serves(leaf.certificate, authority, names, now):
        leaf = make_leaf(authority, names, now)
        _write(files.key, _key_pem(leaf.key))
        _write(files.certificate, _pem(leaf.certificate))


def make_authority(now: datetime) -> Pair:
    """A CA that may sign leaves and nothing else."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name("tidegate CA")
    usage = _usage(signs_certificates=True)
    builder = (
        _builder(name, name, key, now, CA_LIFE)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(_key_id(key), critical=False)
    )
    return Pair(builder.sign(key, hashes.SHA256()), key)


def make_leaf(authority: Pair, names: Sequence[str], now: datetime) -> Pair:
    """A serving certificate for DNS names and addresses."""
    key = ec.generate_private_key(ec.SECP256R1())
    issuer = authority.certificate.subject
    signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.key.public_key())
    builder = (
        _builder(_name(names[0]), issuer, key, now, LEAF_LIFE)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(_general(names)), critical=False)
        .add_extension(_key_id(key), critical=False)
        .add_extension(signer, critical=False)
    )
    return Pair(builder.sign(authority.key, hashes.SHA256()), key)


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    now: datetime,
    life: timedelta,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - SLACK)
        .not_valid_after(now + life)
    )


def _key_id(key: ec.EllipticCurvePrivateKey) -> x509.SubjectKeyIdentifier:
    return x509.SubjectKeyIdentifier.from_public_key(key.public_key())


def _usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text[:64])])


def _general(names: Iterable[str]) -> list[x509.GeneralName]:
    found: list[x509.GeneralName] = []
    for name in dict.fromkeys(names):
        try:
            found.append(x509.IPAddress(ipaddress.ip_address(name)))
        except ValueError:
            found.append(x509.DNSName(name))
    return found


def _fresh(certificate: x509.Certificate, now: datetime) -> bool:
    """At least a third of its life is left."""
    begin, end = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    return begin <= now and end - now > (end - begin) / 3


def _serves(leaf: x509.Certificate, authority: Pair, names: Sequence[str], now: datetime) -> bool:
    try:
        leaf.verify_directly_issued_by(authority.certificate)
        extension = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except Exception:  # noqa: BLE001 - whatever is wrong with it, it is made anew
        return False
    return _fresh(leaf, now) and set(_general(names)) <= set(extension.value)


def _kept(certificate: Path, key: Path) -> Pair | None:
    """What an earlier start left; None where it is missing or unusable."""
    try:
        read = x509.load_pem_x509_certificate(certificate.read_bytes())
        private = serialization.load_pem_private_key(key.read_bytes(), password=None)
    except (OSError, ValueError, TypeError):
        return None
    if not isinstance(private, ec.EllipticCurvePrivateKey):
        return None
    return Pair(read, private) if private.public_key() == read.public_key() else None


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _write(path: Path, content: bytes) -> None:
    """Whole or not at all, and for our eyes only."""
    fresh = path.with_name(f".{path.name}.new")
    fresh.unlink(missing_ok=True)
    with os.fdopen(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        file.write(content)
    fresh.replace(path)
