"""Real kubectl, with the same result against the sandbox and against the real API server."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.apiservers import Client, job
from tests.cluster.kubectl import Kubectl, kubectl_binary

CONDITION = "--for=condition=complete"


def manifest(name: str, **spec) -> str:
    made = job(name)
    made["spec"] |= spec
    return json.dumps(made)


def version_of(kubectl: Kubectl, name: str) -> str:
    return kubectl.ok("get", "job", name, "-o", "jsonpath={.metadata.resourceVersion}")


def test_create_get_describe_delete(kubectl: Kubectl):
    assert kubectl.ok("create", "-f", "-", stdin=manifest("t1")) == "job.batch/t1 created\n"
    heading, row = kubectl.ok("get", "jobs").splitlines()
    assert heading.split() == ["NAME", "STATUS", "COMPLETIONS", "DURATION", "AGE"]
    assert row.split()[0] == "t1"
    described = kubectl.ok("describe", "job", "t1")
    assert "Parallelism:" in described
    assert "example/train" in described
    assert "deleted" in kubectl.ok("delete", "job", "t1")
    assert "NotFound" in kubectl.run("get", "job", "t1").stderr


def test_a_second_apply_changes_nothing(kubectl: Kubectl):
    assert kubectl.ok("apply", "-f", "-", stdin=manifest("t1")) == "job.batch/t1 created\n"
    before = version_of(kubectl, "t1")
    assert kubectl.ok("apply", "-f", "-", stdin=manifest("t1")) == "job.batch/t1 unchanged\n"
    assert version_of(kubectl, "t1") == before


def test_apply_changes_what_the_manifest_changes(kubectl: Kubectl):
    kubectl.ok("apply", "-f", "-", stdin=manifest("t1", backoffLimit=3))
    done = kubectl.ok("apply", "-f", "-", stdin=manifest("t1", backoffLimit=4))
    assert done == "job.batch/t1 configured\n"
    assert kubectl.ok("get", "job", "t1", "-o", "jsonpath={.spec.backoffLimit}") == "4"


def test_a_dry_run_on_the_server(kubectl: Kubectl):
    done = kubectl.ok("apply", "--dry-run=server", "-f", "-", stdin=manifest("t1"))
    assert done == "job.batch/t1 created (server dry run)\n"
    assert "NotFound" in kubectl.run("get", "job", "t1").stderr


@pytest.mark.parametrize("kind", ["json", "merge", "strategic"])
def test_patches(kubectl: Kubectl, kind: str):
    kubectl.ok("create", "-f", "-", stdin=manifest("t1"))
    patch = '{"spec":{"backoffLimit":2}}'
    if kind == "json":
        patch = '[{"op":"replace","path":"/spec/backoffLimit","value":2}]'
    assert kubectl.ok("patch", "job", "t1", f"--type={kind}", "-p", patch) == (
        "job.batch/t1 patched\n"
    )
    again = kubectl.ok("patch", "job", "t1", f"--type={kind}", "-p", patch)
    assert again == "job.batch/t1 patched (no change)\n"


def test_conflicts_and_broken_patches_can_be_told_apart(kubectl: Kubectl):
    kubectl.ok("create", "-f", "-", stdin=manifest("t1"))
    stale = '[{"op":"replace","path":"/metadata/resourceVersion","value":"1"}]'
    refused = kubectl.run("patch", "job", "t1", "--type=json", "-p", stale)
    assert "(Conflict)" in refused.stderr
    broken = '[{"op":"test","path":"/spec/suspend","value":false}]'
    refused = kubectl.run("patch", "job", "t1", "--type=json", "-p", broken)
    assert "the server rejected our request due to an error in our request" in refused.stderr


def test_label_and_annotate(kubectl: Kubectl):
    kubectl.ok("create", "-f", "-", stdin=manifest("t1"))
    assert kubectl.ok("label", "job", "t1", "a=b") == "job.batch/t1 labeled\n"
    assert kubectl.ok("annotate", "job", "t1", "c=d") == "job.batch/t1 annotated\n"
    assert kubectl.ok("get", "jobs", "-l", "a=b", "-o", "name") == "job.batch/t1\n"
    assert kubectl.ok("get", "jobs", "-l", "a!=b", "-o", "name") == ""


def test_replace(kubectl: Kubectl):
    kubectl.ok("create", "-f", "-", stdin=manifest("t1"))
    now = kubectl.ok("get", "job", "t1", "-o", "json")
    assert kubectl.ok("replace", "-f", "-", stdin=now) == "job.batch/t1 replaced\n"


def test_get_follows_what_happens(client: Client, kubectl: Kubectl):
    kubectl.ok("create", "-f", "-", stdin=manifest("t1"))
    command = [str(kubectl_binary()), f"--kubeconfig={kubectl.kubeconfig}", "-n", client.namespace]
    with subprocess.Popen(
        [*command, "get", "jobs", "-w", "-o", "name"], stdout=subprocess.PIPE, text=True
    ) as watching:
        assert watching.stdout is not None
        assert watching.stdout.readline() == "job.batch/t1\n"
        kubectl.ok("create", "-f", "-", stdin=manifest("t2"))
        lines = iter(watching.stdout.readline, "")
        assert "job.batch/t2\n" in lines
        watching.terminate()


def test_wait_sees_a_job_become_complete(client: Client, kubectl: Kubectl):
    kubectl.ok("create", "-f", "-", stdin=manifest("t1"))
    command = [str(kubectl_binary()), f"--kubeconfig={kubectl.kubeconfig}", "-n", client.namespace]
    with subprocess.Popen(
        [*command, "wait", CONDITION, "job/t1", "--timeout=30s"], stdout=subprocess.PIPE, text=True
    ) as waiting:
        complete(client, "t1")
        assert waiting.stdout is not None
        assert waiting.stdout.read() == "job.batch/t1 condition met\n"


def complete(client: Client, name: str) -> None:
    """Say what the Job controller says at the end of a Job without work."""
    path = client.path("jobs", name) + "/status"
    for conditions in (["SuccessCriteriaMet"], ["SuccessCriteriaMet", "Complete"]):
        now = "2026-12-01T10:00:00Z"
        stated = [{"type": one, "status": "True", "lastProbeTime": now} for one in conditions]
        status = {"conditions": stated, "startTime": now}
        if "Complete" in conditions:
            status |= {"completionTime": now}
        answer = client.patch(path, {"status": status}, "application/merge-patch+json")
        assert answer.code == 200, answer.message


def test_a_namespace_comes_and_goes(client: Client, kubectl: Kubectl):
    name = f"{client.namespace}-more"
    made = json.dumps({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    kubectl.ok("create", "-f", "-", stdin=made)
    kubectl.ok("create", "-n", name, "-f", "-", stdin=manifest("t1"))
    assert "deleted" in kubectl.ok("delete", "namespace", name)
    assert "NotFound" in kubectl.run("get", "namespace", name).stderr


def test_the_typed_commands_work(client: Client, kubectl: Kubectl):
    """These send protobuf, with no way to make them send anything else."""
    kubectl.ok("create", "configmap", "c", "--from-literal=a=b")
    assert kubectl.ok("get", "configmap", "c", "-o", "jsonpath={.data.a}") == "b"
    kubectl.ok("create", "job", "t1", "--image=example/train", "--", "sleep", "1")
    command = "jsonpath={.spec.template.spec.containers[0].command}"
    assert json.loads(kubectl.ok("get", "job", "t1", "-o", command)) == ["sleep", "1"]
    assert kubectl.ok("auth", "can-i", "create", "jobs") == "yes\n"
    assert "admin" in kubectl.ok("auth", "whoami")


def test_server_side_apply_works_or_says_what_to_do(kubectl: Kubectl, is_sandbox: bool):
    done = kubectl.run("apply", "--server-side", "-f", "-", stdin=manifest("t1"))
    if is_sandbox:
        assert done.returncode == 1
        assert "use kubectl apply without --server-side" in done.stderr
    else:
        assert done.stdout == "job.batch/t1 serverside-applied\n"


def test_a_jobset_as_a_custom_resource(kubectl: Kubectl):
    template = {"spec": {**job("x")["spec"], "parallelism": 1, "completions": 1}}
    made = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "js"},
        "spec": {"suspend": True, "replicatedJobs": [{"name": "w", "template": template}]},
    }
    done = kubectl.ok("apply", "-f", "-", stdin=json.dumps(made))
    assert done == "jobset.jobset.x-k8s.io/js created\n"
    heading, row = kubectl.ok("get", "jobsets").splitlines()
    assert heading.split() == ["NAME", "TERMINALSTATE", "RESTARTS", "COMPLETED", "SUSPENDED", "AGE"]
    assert row.split()[0] == "js"
    assert "Replicated Jobs:" in kubectl.ok("describe", "jobset", "js")
    patch = '{"metadata":{"labels":{"a":"b"}}}'
    assert "patched" in kubectl.ok("patch", "jobset", "js", "--type=merge", "-p", patch)
    refused = kubectl.run("patch", "jobset", "js", "--type=strategic", "-p", patch)
    assert refused.returncode == 1
    assert "deleted" in kubectl.ok("delete", "jobset", "js")
