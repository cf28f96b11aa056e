"""A certificate authority of its own and a leaf for this machine, made when the server starts.

Nothing is kept: the key of the authority is never written, and all of it is worthless the day
after. The leaf covers 127.0.0.1, ::1 and localhost.
"""

from __future__ import annotations

import ipaddress
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_VALID = timedelta(days=1)
_NAMES: list[x509.GeneralName] = [
    x509.DNSName("localhost"),
    x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
    x509.IPAddress(ipaddress.ip_address("::1")),
]


@dataclass(frozen=True, slots=True)
class Certificates:
    """Where the files are: the authority for clients, the leaf with its key for the server."""

    ca_file: Path
    leaf_file: Path

    def server_context(self) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self.leaf_file)
        return context


def create(folder: Path) -> Certificates:
    """Make an authority and a leaf and write what is needed into ``folder``."""
    ca_key = ec.generate_private_key(ec.SECP256R1())
    leaf_key = ec.generate_private_key(ec.SECP256R1())
    ca = _authority(ca_key)
    leaf = _leaf(leaf_key, ca, ca_key)
    made = Certificates(folder / "ca.crt", folder / "server.pem")
    made.ca_file.write_bytes(ca.public_bytes(serialization.Encoding.PEM))
    made.leaf_file.touch(mode=0o600)
    made.leaf_file.write_bytes(_pem(leaf_key) + leaf.public_bytes(serialization.Encoding.PEM))
    return made


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _builder(name: str, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + _VALID)
    )


def _authority(key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    builder = _builder("tidegate-sandbox-ca", key)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tidegate-sandbox-ca")])
    usage = x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=True,
        crl_sign=True,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    builder = builder.issuer_name(name).add_extension(usage, critical=True)
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    builder = builder.add_extension(identifier, critical=False)
    constraints = x509.BasicConstraints(ca=True, path_length=0)
    return builder.add_extension(constraints, critical=True).sign(key, hashes.SHA256())


def _leaf(
    key: ec.EllipticCurvePrivateKey, ca: x509.Certificate, ca_key: ec.EllipticCurvePrivateKey
) -> x509.Certificate:
    identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key())
    usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH])
    return (
        _builder("tidegate-sandbox", key)
        .issuer_name(ca.subject)
        .add_extension(x509.SubjectAlternativeName(_NAMES), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(usage, critical=False)
        .add_extension(identifier, critical=False)
        .sign(ca_key, hashes.SHA256())
    )
