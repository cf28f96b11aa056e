"""The file with which kubectl, or any other client, finds the server."""

from __future__ import annotations

import base64

import yaml


def kubeconfig_text(url: str, authority: bytes, user: str, token: str) -> str:
    """A kubeconfig with one cluster, one user and the namespace ``default``."""
    cluster = {
        "server": url,
        "certificate-authority-data": base64.b64encode(authority).decode("ascii"),
    }
    return yaml.safe_dump(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "sandbox", "cluster": cluster}],
            "users": [{"name": user, "user": {"token": token}}],
            "contexts": [
                {
                    "name": "sandbox",
                    "context": {"cluster": "sandbox", "user": user, "namespace": "default"},
                }
            ],
            "current-context": "sandbox",
        },
        sort_keys=False,
    )
