"""Policies with tests in them, for the tests of how those are run."""

from __future__ import annotations

from dataclasses import replace

from webhook.language.check import lint_parsed
from webhook.language.parse import parse
from webhook.language.policy import Policy
from webhook.language.scenes import Scene
from webhook.language.syntax import File
from webhook.model.kinds import Object
from webhook.rehearsal.trials import BadFile, Trial, Trials, try_all

POLICY = """\
resource gpu = nvidia.com/gpu

flavor a100 {
  node "accelerator" = "a100"
}
flavor spot {
  node "spot" = "true"
}

priority urgent 1000
priority normal  100 default

cohort research {
  queue vision {
    quota a100 { gpu 8 borrow none, cpu 64 }
    quota spot { gpu 4, cpu 32 }
  }
  queue speech {
    quota a100 { gpu 4 borrow 2, cpu 32 }
    order strict
  }
}
queue guarded {
  quota { cpu 10 }
  accept when namespaceObject.metadata.labels["team"] == "ops"
}
queue closed {
  quota { cpu 10 }
  hold "new disks"
}

route vision for Job, JobSet when namespace == "team-vision" to vision
route speech when labels["team"] == "speech" to speech
route otherwise ignore

deny too-big when requests.gpu > 10 {
  message "at most 10 GPUs, this one asks for {requests.gpu}"
}
warn wide when pods > 3 {
  message "{pods} pods are many, 3 are usual"
}
"""


def load(text: str, path: str = "policies/ml.tide") -> tuple[Policy, list[File]]:
    """The checked policy and its one file; warnings are fine."""
    parsed = parse(text, path=path)
    policy, problems = lint_parsed([parsed])
    assert policy is not None, problems
    return policy, [parsed.file]


def no_file(scene: Scene) -> Object:
    raise BadFile(f"{scene.submission.file}: no such file")


def run(*tests: str, policy: str = POLICY, obeyed: bool = True) -> Trials:
    """These tests of the policy; ``obeyed``: as if this version obeyed all of it."""
    loaded, files = load("\n".join((policy, *tests)))
    if obeyed:
        loaded = replace(loaded, not_obeyed=())
    return try_all(loaded, files, no_file)


def scene(*lines: str, name: str = "it goes as it should") -> str:
    """The text of one test."""
    return "\n".join((f'test "{name}" {{', *(f"  {line}" for line in lines), "}", ""))


def tried(*lines: str, policy: str = POLICY) -> Trial:
    """One test of these lines, run."""
    (trial,) = run(scene(*lines), policy=policy).trials
    return trial


def told(*lines: str, policy: str = POLICY) -> list[str]:
    """The messages of a test that fails."""
    return [found.message for found in tried(*lines, policy=policy).problems]
