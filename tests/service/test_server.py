"""The webhook over real TLS: what it answers, when it is ready, and how it behaves under load."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import jsonpatch
import orjson
import pytest
from aiohttp import web

from tests.client.scripted import Script, answer, served, status, stream, until
from webhook.admission.knowledge import Identity, ParentRef
from webhook.cluster.access import Access
from webhook.cluster.client import Client
from webhook.cluster.watch import Pace
from webhook.model.event import Gone, Seen, Synced
from webhook.model.kinds import JOBSET, NAMESPACE, PRIORITY_CLASS
from webhook.service.certificates import ensure_certificates
from webhook.service.knowledge import ClusterMemory
from webhook.service.metrics import Metrics
from webhook.service.policies import PolicySource
from webhook.service.server import Webhook
from webhook.service.tls import ServingTls

POLICY = """
queue a {
  quota { cpu 100 }
}
route all when namespace == "team" to a
deny secret when name == "refuse-me" {
  message "no"
}
"""
QUICK = Pace(first_delay=0.01, longest_delay=0.05)


def job(name: str = "j", **about: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "team", **about},
        "spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [container]}}},
    }


def review(obj: dict[str, Any], *, version: str = "v1", kind: str = "Job") -> dict[str, Any]:
    group = "batch" if kind == "Job" else "jobset.x-k8s.io"
    return {
        "apiVersion": f"admission.k8s.io/{version}",
        "kind": "AdmissionReview",
        "request": {
            "uid": "the-uid",
            "kind": {"group": group, "version": "v1", "kind": kind},
            "resource": {"group": group, "version": "v1", "resource": kind.lower() + "s"},
            "operation": "CREATE",
            "namespace": "team",
            "name": obj["metadata"]["name"],
            "userInfo": {"username": "alice", "groups": []},
            "object": obj,
        },
    }


@dataclass
class Served:
    url: str
    webhook: Webhook
    memory: ClusterMemory
    session: aiohttp.ClientSession
    metrics: Metrics
    tls: ssl.SSLContext

    async def post(self, path: str, body: object) -> aiohttp.ClientResponse:
        data = io.BytesIO(body if isinstance(body, bytes) else orjson.dumps(body))
        response = await self.session.post(self.url + path, data=data, ssl=self.tls)
        await response.read()
        return response

    async def answer(self, path: str, body: object) -> dict[str, Any]:
        response = await self.post(path, body)
        assert response.status == 200
        return (await response.json())["response"]

    async def text(self, path: str) -> tuple[int, str]:
        async with self.session.get(self.url + path, ssl=self.tls) as response:
            return response.status, await response.text()


def synced(memory: ClusterMemory) -> None:
    for kind in (NAMESPACE, PRIORITY_CLASS, JOBSET):
        memory.take(Synced(kind, "1"))


@asynccontextmanager
async def serving(
    folder: Path,
    *,
    client: Client | None = None,
    ready: bool = True,
    policy: str = POLICY,
    **options: Any,
) -> AsyncIterator[Served]:
    (folder / "p.tide").write_text(policy)
    policies = PolicySource([folder / "p.tide"])
    await policies.load()
    files = ensure_certificates(folder / "certs", ("localhost", "127.0.0.1"))
    tls, memory, metrics = ServingTls(files.certificate, files.key), ClusterMemory(), Metrics()
    async with Client(Access(server="http://127.0.0.1:1")) as nowhere:
        webhook = Webhook(
            policies=policies,
            memory=memory,
            client=client or nowhere,
            identity=Identity(),
            metrics=metrics,
            **options,
        )
        runner = web.AppRunner(webhook.app(), access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls.context).start()
        webhook.readiness.done("tls")
        webhook.readiness.done("policy")
        if ready:
            synced(memory)
            webhook.readiness.done("lists")
        try:
            async with aiohttp.ClientSession(trust_env=False) as session:
                trusted = ssl.create_default_context(cafile=str(files.ca))
                url = f"https://127.0.0.1:{runner.addresses[0][1]}"
                yield Served(url, webhook, memory, session, metrics, trusted)
        finally:
            await runner.cleanup()


async def test_a_job_is_suspended_and_stamped_by_a_patch_that_applies(tmp_path):
    async with serving(tmp_path) as s:
        obj = job(annotations={"x.io/a~b": "kept"})
        response = await s.answer("/mutate", review(obj))
        patch = jsonpatch.JsonPatch(json.loads(base64.b64decode(response["patch"])))
        after = patch.apply(obj)
        assert response["allowed"]
        assert response["uid"] == "the-uid"
        assert after["spec"]["suspend"] is True
        assert after["metadata"]["labels"]["tidegate.dev/queue"] == "a"
        assert after["metadata"]["annotations"]["x.io/a~b"] == "kept"
        assert after["metadata"]["annotations"]["tidegate.dev/submitted-by"] == "alice"
        assert "patch" not in await s.answer("/mutate", review(after))


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
async def test_it_answers_in_the_version_it_was_asked_in(tmp_path, version):
    async with serving(tmp_path) as s:
        response = await s.post("/validate", review(job(), version=version))
        body = await response.json()
        assert body["apiVersion"] == f"admission.k8s.io/{version}"
        assert body["kind"] == "AdmissionReview"
        assert body["response"]["uid"] == "the-uid"


@pytest.mark.parametrize("path", ["/mutate", "/validate"])
@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 3000, b"NaN", b"[]", b"{}", b'"text"'],
)
async def test_what_is_no_review_is_http_400(tmp_path, path, body):
    async with serving(tmp_path) as s:
        assert (await s.post(path, body)).status == 400
        assert (await s.post(path, review(job()))).status == 200


async def test_a_review_that_cannot_be_read_is_refused_with_its_uid(tmp_path):
    async with serving(tmp_path) as s:
        bad = review(job())
        bad["request"]["object"] = "text"
        response = await s.answer("/mutate", bad)
        assert response["allowed"] is False
        assert response["uid"] == "the-uid"


async def test_a_refusal_carries_the_rule_to_the_user(tmp_path):
    async with serving(tmp_path) as s:
        response = await s.answer("/validate", review(job("refuse-me")))
        assert response["allowed"] is False
        assert "secret" in response["status"]["message"]
        assert "p.tide:" in response["status"]["message"]


async def test_a_very_large_job_is_answered_in_half_a_second(tmp_path):
    async with serving(tmp_path) as s:
        big = job()
        env = [{"name": f"V{n}", "value": "x" * 280} for n in range(5000)]
        big["spec"]["template"]["spec"]["containers"][0]["env"] = env
        body = review(big)
        body["request"]["oldObject"] = None
        data = orjson.dumps(body)
        assert len(data) > 1.4 * 1024 * 1024
        await s.post("/mutate", data)
        began = time.perf_counter()
        assert (await s.answer("/mutate", data))["allowed"]
        assert time.perf_counter() - began < 0.5


async def test_a_body_beyond_the_bound_is_refused(tmp_path):
    async with serving(tmp_path) as s:
        assert (await s.post("/mutate", b" " * (33 * 1024 * 1024))).status == 413


async def test_nobody_can_make_a_review_too_large_to_be_judged(tmp_path):
    """With failurePolicy Ignore what is not judged passes. etcd takes 1.5 MiB, JSON writes ``<`` as six characters."""
    async with serving(tmp_path) as s:
        obj = job(labels={"tidegate.dev/queue": "a"}, annotations={"tidegate.dev/submitted": "x"})
        obj["spec"]["template"]["spec"]["containers"][0]["args"] = ["<" * 1_500_000]
        waiting = obj | {"spec": {**obj["spec"], "suspend": True}}
        body = review(obj)
        body["request"] |= {"operation": "UPDATE", "oldObject": waiting}
        data = orjson.dumps(body).replace(b"<", b"\\u003c")
        assert len(data) > 16 * 1024 * 1024
        response = await s.answer("/mutate", data)
        patch = json.loads(base64.b64decode(response["patch"]))
        assert {"op": "add", "path": "/spec/suspend", "value": True} in patch


async def test_a_mistake_of_ours_is_an_answer_too(tmp_path, monkeypatch):
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    async with serving(tmp_path) as s:
        monkeypatch.setattr(s.webhook, "_judge", broken)
        response = await s.answer("/mutate", review(job()))
        assert (response["uid"], response["allowed"]) == ("the-uid", False)
        assert response["status"]["code"] == 500


async def test_it_is_ready_when_everything_is_there_and_not_before(tmp_path):
    async with serving(tmp_path, ready=False) as s:
        assert await s.text("/healthz") == (200, "ok\n")
        assert await s.text("/readyz") == (503, "waiting for: lists\n")
        assert (await s.post("/mutate", review(job()))).status == 503
        synced(s.memory)
        s.webhook.readiness.done("lists")
        assert await s.text("/readyz") == (200, "ok\n")
        assert (await s.answer("/mutate", review(job())))["patch"]
        s.webhook.readiness.lost("shutting down")
        assert (await s.text("/readyz"))[0] == 503
        assert (await s.answer("/mutate", review(job())))["patch"]


async def test_decisions_need_no_api_server(tmp_path):
    async with serving(tmp_path) as s:
        assert (await s.answer("/mutate", review(job())))["patch"]
        exposition = (await s.text("/metrics"))[1]
        assert 'tidegate_reviews_total{decision="queued",path="mutate"} 1.0' in exposition


async def test_too_many_at_a_time_are_turned_away_at_once(tmp_path):
    slow = Script(others=[stream(hang=True)])
    async with (
        served(slow) as client,
        serving(tmp_path, client=client, max_in_flight=2, lookup_seconds=20.0) as s,
    ):
        child = job("js-w-0", ownerReferences=[OWNER])
        waiting = [asyncio.create_task(s.post("/mutate", review(child))) for _ in range(2)]
        await until(lambda: len(slow.seen) == 2)
        began = time.perf_counter()
        response = await s.post("/mutate", review(job()))
        assert response.status == 503
        assert time.perf_counter() - began < 1
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


OWNER = {
    "apiVersion": "jobset.x-k8s.io/v1alpha2",
    "kind": "JobSet",
    "name": "js",
    "uid": "parent-uid",
    "controller": True,
}


def parent(version: int = 5, uid: str = "parent-uid") -> dict[str, Any]:
    inner = {"spec": job()["spec"]}
    return {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {
            "name": "js",
            "namespace": "team",
            "uid": uid,
            "resourceVersion": str(version),
            "labels": {"tidegate.dev/queue": "a"},
            "annotations": {"tidegate.dev/submitted": "2026-01-01T00:00:00.000000Z"},
        },
        "spec": {"replicatedJobs": [{"name": "w", "replicas": 1, "template": inner}]},
    }


async def test_a_parent_not_yet_in_memory_is_asked_for_once_and_its_child_is_left_alone(tmp_path):
    live = Script(others=[answer(parent())])
    async with served(live) as client, serving(tmp_path, client=client) as s:
        child = job("js-w-0", ownerReferences=[OWNER])
        for _ in range(3):
            response = await s.answer("/mutate", review(child))
            patch = base64.b64decode(response.get("patch", "")).decode()
            assert "suspend" not in patch
        assert len(live.seen) == 1


async def test_who_names_a_parent_that_is_not_there_is_a_root(tmp_path):
    async with (
        served(Script(others=[answer(status(404), status=404)])) as client,
        serving(tmp_path, client=client, lookup_seconds=0.2) as s,
    ):
        response = await s.answer("/mutate", review(job("js-w-0", ownerReferences=[OWNER])))
        assert "suspend" in base64.b64decode(response["patch"]).decode()


@pytest.mark.parametrize(
    "step", [answer(status(500), status=500), stream(hang=True)], ids=["500", "silence"]
)
async def test_where_nobody_can_tell_the_parent_its_controller_tries_again_soon(tmp_path, step):
    """To take a child for a root would queue it apart from its parent, which would wait for it for ever."""
    async with (
        served(Script(others=[step])) as client,
        serving(tmp_path, client=client, lookup_seconds=0.2) as s,
    ):
        began = time.perf_counter()
        response = await s.answer("/mutate", review(job("js-w-0", ownerReferences=[OWNER])))
        assert (response["allowed"], response["status"]["code"]) == (False, 503)
        assert time.perf_counter() - began < 1.5


def test_memory_keeps_what_is_newest_and_forgets_only_what_is_gone():
    memory = ClusterMemory()
    ref = ParentRef(JOBSET, "team", "js", "parent-uid")
    memory.take(Seen(JOBSET, parent(5)))
    memory.take(Seen(JOBSET, parent(4) | {"spec": {}}))
    found = memory.parent(ref)
    assert found is not None
    assert found["spec"]
    memory.take(Seen(JOBSET, parent(9, uid="second")))
    memory.take(Gone(JOBSET, parent(8)))
    assert memory.parent(ref) is None
    assert memory.parent(ParentRef(JOBSET, "team", "js", "second"))


async def test_memory_is_filled_by_watches(tmp_path):
    namespace = {"metadata": {"name": "team", "uid": "n", "resourceVersion": "3"}}
    script = Script(
        lists=[answer({"metadata": {"resourceVersion": "5"}, "items": [namespace]})],
        watches=[stream(hang=True)],
    )
    memory = ClusterMemory((NAMESPACE,))
    async with served(script) as client:
        task = asyncio.create_task(memory.follow(client, pace=QUICK))
        async with asyncio.timeout(20):
            await memory.synced.wait()
        assert memory.namespace_object("team") is not None
        task.cancel()


RULES = """
queue a { quota { cpu 100 } }
route broken when labels["team"] == "a" to a
route all when namespace == "team" to a
warn small when pods < 2 { message "{pods} pod, said {name}" }
deny soon when pods < 2 audit { message "this will be refused" }
"""


async def test_rules_that_failed_or_are_on_trial_are_counted_by_name_and_logged(tmp_path, caplog):
    async with serving(tmp_path, policy=RULES) as s:
        caplog.set_level("INFO")
        dry = review(job())
        dry["request"]["dryRun"] = True
        for asked in (dry, review(job())):
            assert (await s.answer("/mutate", asked))["allowed"]
        exposition = (await s.text("/metrics"))[1]
        assert 'tidegate_rule_audit_total{rule="deny soon"} 1.0' in exposition
        assert 'tidegate_rule_failures_total{rule="route broken"} 1.0' in exposition
        assert "audit='deny soon: this will be refused' failed='route broken: " in caplog.text


async def test_what_older_policies_called_their_rules_leaves_no_series(tmp_path):
    async with serving(tmp_path, policy=RULES) as s:
        s.metrics.policy("one", None)
        await s.answer("/mutate", review(job()))
        s.metrics.policy("one", None)
        assert "deny soon" in (await s.text("/metrics"))[1]
        s.metrics.policy("two", None)
        assert "deny soon" not in (await s.text("/metrics"))[1]


async def test_a_warning_never_holds_what_a_header_cannot(tmp_path):
    async with serving(tmp_path, policy=RULES) as s:
        asked = review(job("a\x1b[31mred\nline\x7f\x85"))
        made = (await s.answer("/mutate", asked))["patch"]
        obj = jsonpatch.apply_patch(asked["request"]["object"], json.loads(base64.b64decode(made)))
        told = (await s.answer("/validate", review(obj)))["warnings"]
        assert told == ["queued in a", "1 pod, said a [31mred line (warn small p.tide:5)"]
