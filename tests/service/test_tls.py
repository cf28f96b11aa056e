"""Certificates are made once, kept, and replaced while the server serves."""

from __future__ import annotations

import asyncio
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trustme
from cryptography import x509

from tests.client.scripted import until
from webhook.service.certificates import CA_LIFE, LEAF_LIFE, ensure_certificates, renew_leaf
from webhook.service.run import _renewal
from webhook.service.settings import WebhookSettings
from webhook.service.tls import ServingTls, TlsError

NAMES = ("localhost", "127.0.0.1", "tidegate.tidegate-system.svc")


async def shown(tls: ServingTls, trusted: Path, *, name: str | None = "localhost") -> bytes:
    """The certificate a client is shown, after it has verified it."""
    server = await asyncio.start_server(lambda r, w: w.close(), "127.0.0.1", 0, ssl=tls.context)
    async with server:
        port = server.sockets[0].getsockname()[1]
        context = ssl.create_default_context(cafile=str(trusted))
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        context.check_hostname = name is not None
        _, writer = await asyncio.open_connection(
            "127.0.0.1", port, ssl=context, server_hostname=name or "127.0.0.1"
        )
        der = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        writer.close()
        await writer.wait_closed()
        return der


def write(authority: trustme.CA, folder: Path, kind: trustme.KeyType) -> None:
    pair = authority.issue_cert("localhost", key_type=kind)
    pair.private_key_pem.write_to_path(folder / "tls.key")
    pair.cert_chain_pems[0].write_to_path(folder / "tls.crt")
    authority.cert_pem.write_to_path(folder / "ca.crt")


async def test_the_self_made_certificate_is_trusted_by_its_ca_even_strictly(tmp_path):
    files = ensure_certificates(tmp_path / "certs", NAMES)
    tls = ServingTls(files.certificate, files.key)
    for name in ("localhost", "127.0.0.1"):
        assert await shown(tls, files.ca, name=name)
    assert tls.expires_at > datetime.now(UTC).timestamp() + 86400 * 300
    assert files.key.stat().st_mode & 0o777 == 0o600


def test_a_restart_uses_what_is_there(tmp_path):
    first = ensure_certificates(tmp_path, NAMES)
    before = [path.read_bytes() for path in (first.ca, first.certificate, first.key)]
    ensure_certificates(tmp_path, NAMES)
    assert [path.read_bytes() for path in (first.ca, first.certificate, first.key)] == before


@pytest.mark.parametrize("damage", ["junk", "missing", "another key", "other names", "expired"])
def test_a_leaf_that_cannot_serve_is_made_anew_under_the_same_ca(tmp_path, damage):
    now = datetime.now(UTC)
    files = ensure_certificates(tmp_path, NAMES, now=now)
    ca, leaf = files.ca.read_bytes(), files.certificate.read_bytes()
    names: tuple[str, ...] = NAMES
    later = now
    if damage == "junk":
        files.certificate.write_text("junk")
    elif damage == "missing":
        files.key.unlink()
    elif damage == "another key":
        other = ensure_certificates(tmp_path / "other", NAMES)
        files.key.write_bytes(other.key.read_bytes())
    elif damage == "other names":
        names = ("webhook.example", *NAMES)
    else:
        later = now + LEAF_LIFE * 2 / 3 + timedelta(days=1)
    ensure_certificates(tmp_path, names, now=later)
    assert files.ca.read_bytes() == ca
    assert files.certificate.read_bytes() != leaf
    x509.load_pem_x509_certificate(files.certificate.read_bytes()).verify_directly_issued_by(
        x509.load_pem_x509_certificate(ca)
    )
    ServingTls(files.certificate, files.key)


async def test_a_new_pair_is_served_to_new_connections_even_of_another_key_type(tmp_path):
    authority = trustme.CA()
    write(authority, tmp_path, trustme.KeyType.ECDSA)
    tls = ServingTls(tmp_path / "tls.crt", tmp_path / "tls.key")
    before = await shown(tls, tmp_path / "ca.crt")
    assert not tls.reload()
    write(authority, tmp_path, trustme.KeyType.RSA)
    assert tls.reload()
    after = await shown(tls, tmp_path / "ca.crt")
    assert after != before
    key = x509.load_der_x509_certificate(after).public_key()
    assert type(key).__name__ == "RSAPublicKey"


async def test_a_client_that_sends_no_name_gets_the_new_pair_too(tmp_path):
    authority = trustme.CA()
    write(authority, tmp_path, trustme.KeyType.ECDSA)
    tls = ServingTls(tmp_path / "tls.crt", tmp_path / "tls.key")
    before = await shown(tls, tmp_path / "ca.crt", name=None)
    write(authority, tmp_path, trustme.KeyType.RSA)
    tls.reload()
    assert await shown(tls, tmp_path / "ca.crt", name=None) != before


async def test_a_pair_that_does_not_match_is_said_and_the_old_one_goes_on(tmp_path, caplog):
    authority = trustme.CA()
    write(authority, tmp_path, trustme.KeyType.ECDSA)
    tls = ServingTls(tmp_path / "tls.crt", tmp_path / "tls.key")
    before = await shown(tls, tmp_path / "ca.crt")
    authority.issue_cert("localhost").private_key_pem.write_to_path(tmp_path / "tls.key")
    with pytest.raises(TlsError, match="no certificate and its key"):
        tls.reload()
    assert await shown(tls, tmp_path / "ca.crt") == before
    caplog.set_level("INFO")
    task = asyncio.create_task(tls.follow(every_seconds=0.01))
    await until(lambda: "stays as it is" in caplog.text)
    await asyncio.sleep(0.1)
    assert caplog.text.count("stays as it is") == 1
    write(authority, tmp_path, trustme.KeyType.ECDSA)
    await until(lambda: "new certificate expires_at" in caplog.text)
    assert await shown(tls, tmp_path / "ca.crt") != before
    task.cancel()


BEGIN = datetime(2027, 1, 1, tzinfo=UTC)


def test_a_leaf_is_renewed_at_two_thirds_of_its_life_and_not_before(tmp_path):
    files = ensure_certificates(tmp_path, NAMES, now=BEGIN)
    ca, leaf = files.ca.read_bytes(), files.certificate.read_bytes()
    renew_leaf(tmp_path, NAMES, now=BEGIN + LEAF_LIFE * 2 / 3 - timedelta(days=1))
    assert files.certificate.read_bytes() == leaf
    renew_leaf(tmp_path, NAMES, now=BEGIN + LEAF_LIFE * 2 / 3 + timedelta(days=1))
    assert files.certificate.read_bytes() != leaf
    assert files.ca.read_bytes() == ca


def test_a_ca_that_gets_old_is_kept_while_it_serves(tmp_path):
    files = ensure_certificates(tmp_path, NAMES, now=BEGIN)
    ca = files.ca.read_bytes()
    renew_leaf(tmp_path, NAMES, now=BEGIN + CA_LIFE * 3 / 4)
    assert files.ca.read_bytes() == ca


def test_without_its_ca_a_leaf_serves_on_until_it_is_due(tmp_path):
    files = ensure_certificates(tmp_path, NAMES, now=BEGIN)
    files.ca_key.unlink()
    renew_leaf(tmp_path, NAMES, now=BEGIN)
    with pytest.raises(OSError, match="no CA with its key"):
        renew_leaf(tmp_path, NAMES, now=BEGIN + LEAF_LIFE)


async def test_while_it_serves_it_is_renewed_and_shown_to_new_connections(tmp_path, caplog):
    caplog.set_level("INFO")
    now = [datetime.now(UTC)]
    files = ensure_certificates(tmp_path, NAMES, now=now[0])
    tls = ServingTls(files.certificate, files.key)
    before, looks = await shown(tls, files.ca), 0

    def renew() -> None:
        nonlocal looks
        renew_leaf(tmp_path, NAMES, now=now[0])
        looks += 1

    task = asyncio.create_task(tls.follow(every_seconds=0.01, renew=renew))
    await until(lambda: looks > 2)
    assert await shown(tls, files.ca) == before
    # what begins later than a client's own clock is not trusted by it: the test looks, no client
    now[0] += LEAF_LIFE * 3 / 4
    await until(lambda: "new certificate expires_at" in caplog.text)
    assert tls.expires_at == pytest.approx((now[0] + LEAF_LIFE).timestamp(), abs=1)
    task.cancel()


async def test_a_renewal_that_fails_is_said_once_and_the_old_pair_goes_on(tmp_path, caplog):
    files = ensure_certificates(tmp_path, NAMES)
    tls = ServingTls(files.certificate, files.key)
    before, tries = await shown(tls, files.ca), 0

    def renew() -> None:
        nonlocal tries
        tries += 1
        raise TlsError("cannot renew it: no space left")

    task = asyncio.create_task(tls.follow(every_seconds=0.01, renew=renew))
    await until(lambda: tries > 3)
    assert caplog.text.count("stays as it is: cannot renew it") == 1
    assert await shown(tls, files.ca) == before
    task.cancel()


def test_only_what_we_made_ourselves_is_renewed_by_us(tmp_path):
    policies, names = (tmp_path,), ("webhook.example",)
    given = WebhookSettings(policies=policies, tls_cert=tmp_path / "c", tls_key=tmp_path / "k")
    assert _renewal(given) is None
    ours = WebhookSettings(policies=policies, self_signed_dir=tmp_path / "certs", tls_names=names)
    renew = _renewal(ours)
    assert renew is not None
    with pytest.raises(TlsError, match=r"cannot renew it: `.*ca.crt`: no CA with its key"):
        renew()
    files = ensure_certificates(tmp_path / "certs", NAMES)
    files.certificate.unlink()
    renew()
    leaf = x509.load_pem_x509_certificate(files.certificate.read_bytes())
    served = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert "webhook.example" in served.get_values_for_type(x509.DNSName)


@pytest.mark.parametrize("missing", ["tls.crt", "tls.key"])
def test_a_file_that_cannot_be_read_is_named(tmp_path, missing):
    write(trustme.CA(), tmp_path, trustme.KeyType.ECDSA)
    (tmp_path / missing).unlink()
    with pytest.raises(TlsError, match=missing):
        ServingTls(tmp_path / "tls.crt", tmp_path / "tls.key")
