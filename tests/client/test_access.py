"""A kubeconfig leads to the API server as the right user, or we say at once why it does not."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.client.scripted import Script, answer, job, served
from webhook.cluster import access as module
from webhook.cluster.access import AccessError, find_access
from webhook.cluster.client import Client
from webhook.model.kinds import JOB


def kubeconfig(folder: Path, server: str, user: dict[str, Any]) -> Path:
    path = folder / "kubeconfig"
    contexts = [
        {"name": name, "context": {"cluster": "c", "user": name}} for name in ("me", "other")
    ]
    users = [{"name": "me", "user": user}, {"name": "other", "user": {"token": "others"}}]
    path.write_text(
        yaml.safe_dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "current-context": "me",
                "clusters": [{"name": "c", "cluster": {"server": server}}],
                "users": users,
                "contexts": contexts,
            }
        )
    )
    return path


def plugin(folder: Path, *lines: str) -> dict[str, Any]:
    script = folder / "plugin.py"
    script.write_text("\n".join(lines))
    api = "client.authentication.k8s.io/v1"
    return {"exec": {"apiVersion": api, "command": sys.executable, "args": [str(script)]}}


def gives(token: str) -> str:
    credential = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {"token": token},
    }
    return f"print({json.dumps(credential)!r})"


async def authorization_of(script: Script, path: Path, **options: Any) -> str | None:
    access = await find_access(path, **options)
    async with Client(access) as client:
        await client.get(JOB, "n", "a")
    return script.seen[-1].headers.get("Authorization")


async def test_a_token_is_sent_without_the_newline_it_ends_in(tmp_path):
    script = Script(others=[answer(job("a", 1))])
    async with served(script):
        path = kubeconfig(tmp_path, script.url, {"token": "secret\n"})
        assert await authorization_of(script, path) == "Bearer secret"


async def test_the_context_chooses_the_user(tmp_path):
    script = Script(others=[answer(job("a", 1))])
    async with served(script):
        path = kubeconfig(tmp_path, script.url, {"token": "mine"})
        assert await authorization_of(script, path, context="other") == "Bearer others"


async def test_the_token_of_an_exec_plugin_is_sent_and_renewed(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "TOKEN_RENEWAL_SECONDS", 0.01)
    script = Script(others=[answer(job("a", 1))])
    async with served(script):
        user = plugin(tmp_path, gives("first"))
        access = await find_access(kubeconfig(tmp_path, script.url, user))
        async with Client(access):
            assert await access.authorization() == "Bearer first"
            plugin(tmp_path, "raise SystemExit(1)")
            await asyncio.sleep(0.1)
            plugin(tmp_path, gives("second"))
            async with asyncio.timeout(20):
                while await access.authorization() != "Bearer second":  # noqa: ASYNC110
                    await asyncio.sleep(0.01)


@pytest.mark.parametrize("lines", [["raise SystemExit(1)"], ["print('no json')"], ["print('{}')"]])
async def test_an_exec_plugin_that_fails_is_told_at_the_start(tmp_path, lines):
    path = kubeconfig(tmp_path, "http://127.0.0.1:1", plugin(tmp_path, *lines))
    with pytest.raises(AccessError):
        await find_access(path)


@pytest.mark.parametrize("text", ["", "{", "a: b", "apiVersion: v1\nkind: Config\n"])
async def test_what_is_no_kubeconfig_is_named(tmp_path, text):
    (tmp_path / "kubeconfig").write_text(text)
    with pytest.raises(AccessError, match="kubeconfig"):
        await find_access(tmp_path / "kubeconfig")


async def test_a_kubeconfig_or_context_that_is_not_there_is_named(tmp_path):
    with pytest.raises(AccessError, match="nowhere"):
        await find_access(tmp_path / "nowhere")
    path = kubeconfig(tmp_path, "http://127.0.0.1:1", {"token": "t"})
    with pytest.raises(AccessError, match="nothing"):
        await find_access(path, context="nothing")


@pytest.mark.parametrize("given", ["", "elsewhere", "here:there"])
async def test_where_there_is_no_kubeconfig_at_all_one_is_asked_for(tmp_path, monkeypatch, given):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    monkeypatch.delenv("KUBECONFIG", raising=False)
    if given:
        monkeypatch.setenv("KUBECONFIG", given)
    with pytest.raises(AccessError, match=f"`{given or '~/.kube/config'}`.* --kubeconfig"):
        await find_access()


async def test_in_a_pod_the_service_account_is_used_and_its_token_reread(tmp_path, monkeypatch):
    from kubernetes.aio.config import incluster_config

    token, ca = tmp_path / "token", tmp_path / "ca.crt"
    token.write_text("first\n")
    import trustme

    trustme.CA().cert_pem.write_to_path(ca)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(token))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(ca))
    access = await find_access()
    assert access.server == "https://10.0.0.1:443"
    assert await access.authorization() == "bearer first"
    assert access.tls is not None
    await access.close()
