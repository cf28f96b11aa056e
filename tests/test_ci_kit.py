"""The CI kit as its services would run it, as far as that goes without them: parsed, and its commands executed.

``tidegate`` on the PATH is the command of this tree. The action's own installation is played by a ``python3`` that
makes an environment of the same shape, as a test installs nothing from a registry.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
import yaml

from webhook.cli.main import COMMANDS

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "ci.md").read_text()
HOOKS = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
PRECOMMIT, WORKFLOW, GITLAB = (
    yaml.safe_load(block) for block in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
)
GOOD = "queue q {\n  quota { cpu 1 }\n}\n"
WARNED = GOOD + "flavor spot { }\n"
BROKEN = GOOD + "route to r\n"
TESTED = (
    GOOD
    + """
route to q

test "it starts" {
  submit Job in "lab" requests { cpu 1 }
  expect queue q
  expect starts
}
"""
)
FAILING = TESTED.replace("requests { cpu 1 }", "requests { cpu 2 }")
UGLY = "queue q{\n quota {cpu   1}\n}\n"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Somebody's repository, with a folder for the policy."""
    (tmp_path / "repository" / "policies").mkdir(parents=True)
    return tmp_path / "repository"


@pytest.fixture
def path(tmp_path: Path) -> str:
    """A PATH with this tree's ``tidegate``, and a ``python3`` that installs it."""
    tools = tmp_path / "bin"
    tools.mkdir()
    tidegate = f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m webhook.cli.main "$@"\n'
    install = (
        "#!/bin/sh\n"
        'test "$1 $2" = "-m venv" || exit 9\n'
        f'mkdir -p "$3/bin" && cp {tools}/tidegate "$3/bin/tidegate"\n'
        f'printf \'#!/bin/sh\\necho "$@" > {tmp_path}/installed\\n\' > "$3/bin/pip"\n'
        'chmod +x "$3/bin/pip"\n'
    )
    for name, script in {"tidegate": tidegate, "python3": install}.items():
        (tools / name).write_text(script)
        (tools / name).chmod(0o755)
    return f"{tools}:{os.environ['PATH']}"


def policy(repository: Path, text: str) -> Path:
    file = repository / "policies" / "team.tide"
    file.write_text(text)
    return file


def run(
    script: str, folder: Path, path: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """A script as a runner has it executed, with `set -eo pipefail`."""
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=folder, env={**os.environ, "PATH": path, **environment},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def commands(text: str) -> list[str]:
    """The sub-commands of ``tidegate`` that a text calls."""
    return re.findall(r"(?<![\w./-])tidegate\"? ([a-z]+)(?= )", text)


def test_every_command_of_the_kit_exists() -> None:
    called = [
        *commands(yaml.safe_dump(GITLAB)),
        *commands("\n".join(step["run"] for step in ACTION["runs"]["steps"]).replace("/bin/", " ")),
        *(hook["entry"].split()[1] for hook in HOOKS.values()),
    ]
    assert set(called) - {"install"} == {"lint", "test", "fmt"} <= set(COMMANDS)


# -- pre-commit ---------------------------------------------------------------------------------------------


def hook(name: str, repository: Path, path: str, args: list[str] | None = None) -> Any:
    """What pre-commit does with a hook: its entry, its arguments, and the files that match where it wants them."""
    it = HOOKS[name]
    files = [str(p.relative_to(repository)) for p in sorted(repository.rglob("*")) if p.is_file()]
    matching = [file for file in files if re.search(it["files"], file)]
    assert matching, "the hook would be skipped"
    words = [*shlex.split(it["entry"]), *(args if args is not None else it.get("args", []))]
    words += matching if it.get("pass_filenames", True) else []
    return run(shlex.join(words), repository, path)


@pytest.mark.parametrize(("text", "code"), [(GOOD, 0), (BROKEN, 1), (WARNED, 0)])
def test_the_lint_hook(repository: Path, path: str, text: str, code: int) -> None:
    policy(repository, text)
    (repository / "README.md").write_text("route to nowhere\n")
    assert hook("tidegate-lint", repository, path).returncode == code


def test_the_lint_hook_with_the_arguments_of_the_page(repository: Path, path: str) -> None:
    policy(repository, GOOD)
    (repository / "other.tide").write_text(BROKEN)
    [repo] = PRECOMMIT["repos"]
    chosen = {each["id"]: each.get("args") for each in repo["hooks"]}
    assert set(chosen) == set(HOOKS)
    assert hook("tidegate-lint", repository, path, chosen["tidegate-lint"]).returncode == 0
    assert hook("tidegate-lint", repository, path, ["--strict", "policies"]).returncode == 0
    assert hook("tidegate-lint", repository, path).returncode == 1


@pytest.mark.parametrize(("text", "code"), [(GOOD, 0), (TESTED, 0), (FAILING, 1), (BROKEN, 1)])
def test_the_test_hook(repository: Path, path: str, text: str, code: int) -> None:
    policy(repository, text)
    assert hook("tidegate-test", repository, path).returncode == code


def test_the_test_hook_with_the_arguments_of_the_page(repository: Path, path: str) -> None:
    policy(repository, TESTED)
    [repo] = PRECOMMIT["repos"]
    chosen = {each["id"]: each.get("args") for each in repo["hooks"]}
    assert hook("tidegate-test", repository, path, chosen["tidegate-test"]).returncode == 0
    policy(repository, GOOD)
    assert hook("tidegate-test", repository, path, chosen["tidegate-test"]).returncode == 2


def test_the_format_hook_writes_what_changed(repository: Path, path: str) -> None:
    file = policy(repository, UGLY)
    assert hook("tidegate-fmt", repository, path).returncode == 0
    assert file.read_text() == GOOD
    file.write_text("queue {\n")
    assert hook("tidegate-fmt", repository, path).returncode == 1


# -- GitHub -------------------------------------------------------------------------------------------------


def act(repository: Path, tools: str, tmp_path: Path, /, **inputs: str) -> dict[str, Any]:
    """The steps of the action, with what the runner puts in place of inputs; the result of each by its name."""
    values = {name: str(each["default"]) for name, each in ACTION["inputs"].items()} | inputs
    runner = {
        "RUNNER_TEMP": str(tmp_path), "GITHUB_WORKSPACE": str(repository),
        "GITHUB_ACTION_PATH": str(ROOT),
    }  # fmt: skip
    done: dict[str, Any] = {}
    for step in ACTION["runs"]["steps"]:
        assert step["shell"] == "bash"
        assert "${{" not in step["run"], "an input in a script is an injection"
        asked = re.search(r"inputs\.(\w+) == 'true'", step.get("if", ""))
        if asked and values[asked[1]] != "true":
            continue
        environment = {
            name: values[re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", value)[1]]  # type: ignore[index]
            for name, value in step.get("env", {}).items()
        }
        done[step["name"]] = run(step["run"], repository, tools, **runner, **environment)
    return done


def test_the_action_installs_its_own_revision(repository: Path, path: str, tmp_path: Path) -> None:
    policy(repository, GOOD)
    done = act(repository, path, tmp_path)
    assert {name: each.returncode for name, each in done.items()} == {
        "Install": 0,
        "Lint": 0,
        "Test": 0,
        "Format": 0,
    }
    assert (tmp_path / "installed").read_text().split()[-1] == str(ROOT)


def test_the_action_annotates_the_line_of_a_finding(
    repository: Path, path: str, tmp_path: Path
) -> None:
    policy(repository, BROKEN)
    lint = act(repository, path, tmp_path)["Lint"]
    assert lint.returncode == 1
    assert lint.stdout.startswith("::error file=policies/team.tide,line=4,")


def test_the_action_shows_what_the_formatter_would_write(
    repository: Path, path: str, tmp_path: Path
) -> None:
    file = policy(repository, UGLY)
    done = act(repository, path, tmp_path)
    assert (done["Lint"].returncode, done["Format"].returncode) == (0, 1)
    assert "+  quota { cpu 1 }" in done["Format"].stdout
    assert file.read_text() == UGLY
    assert "Format" not in act(repository, path, tmp_path, format="false")


def test_the_action_runs_the_tests_of_the_policy(
    repository: Path, path: str, tmp_path: Path
) -> None:
    policy(repository, FAILING)
    done = act(repository, path, tmp_path)
    assert (done["Lint"].returncode, done["Test"].returncode) == (0, 1)
    assert "error[TG604]" in done["Test"].stdout
    assert "Test" not in act(repository, path, tmp_path, test="false")


def test_the_action_is_strict_when_asked_to(repository: Path, path: str, tmp_path: Path) -> None:
    policy(repository, WARNED)
    assert act(repository, path, tmp_path)["Lint"].returncode == 0
    assert act(repository, path, tmp_path, strict="true")["Lint"].returncode == 1


def test_an_input_is_a_path_and_nothing_else(repository: Path, path: str, tmp_path: Path) -> None:
    for odd in ("$(touch owned)", "--help", "a b; touch owned"):
        assert act(repository, path, tmp_path, path=odd)["Lint"].returncode == 2
    assert not (repository / "owned").exists()


def test_the_workflow_of_the_page_uses_inputs_that_there_are() -> None:
    [job] = WORKFLOW["jobs"].values()
    step = job["steps"][-1]
    assert step["uses"].split("@")[0].endswith("/tidegate")
    assert set(step["with"]) <= set(ACTION["inputs"])
    rows = dict(re.findall(r"^\| `(\w+)` \| `\"?(\w+)\"?`", PAGE, re.MULTILINE))
    assert rows == {name: each["default"] for name, each in ACTION["inputs"].items()}


# -- GitLab -------------------------------------------------------------------------------------------------


def gitlab(repository: Path, path: str) -> subprocess.CompletedProcess[str]:
    """The script of the job as one shell runs it; what installs is left out."""
    [job] = GITLAB.values()
    assert job["before_script"] == ["pip install --quiet tidegate"]
    return run("\n".join(job["script"]), repository, path)


@pytest.mark.parametrize(
    ("text", "code"), [(GOOD, 0), (TESTED, 0), (FAILING, 1), (BROKEN, 1), (WARNED, 1), (UGLY, 1)]
)
def test_the_gitlab_job(repository: Path, path: str, text: str, code: int) -> None:
    policy(repository, text)
    assert gitlab(repository, path).returncode == code


def test_the_gitlab_job_reports_findings(repository: Path, path: str) -> None:
    policy(repository, BROKEN)
    ended = gitlab(repository, path)
    assert "TG104" in ended.stdout
    [job] = GITLAB.values()
    pattern = job["artifacts"]["reports"]["junit"]
    assert sorted(each.name for each in repository.glob(pattern)) == [
        "tidegate-tests.xml",
        "tidegate.xml",
    ]
    report = ET.parse(repository / "tidegate.xml")
    assert len(report.findall(".//failure")) == 1


def test_the_gitlab_job_reports_tests(repository: Path, path: str) -> None:
    policy(repository, FAILING)
    assert gitlab(repository, path).returncode == 1
    report = ET.parse(repository / "tidegate-tests.xml")
    [failure] = report.findall(".//failure")
    assert failure.get("type") == "TG604"
