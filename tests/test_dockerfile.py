"""The image for CI, as far as that goes without a builder: its file is parsed, its commands are run in a soak.

What a builder would trip over is looked for here: sources that are not there, or are ignored; stages nobody made.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FILE = ROOT / "deploy" / "Dockerfile"
PAGE = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")


@dataclass
class Stage:
    """One FROM and what follows, each instruction with its text."""

    image: str
    name: str
    steps: list[tuple[str, str]] = field(default_factory=list)

    def texts(self, instruction: str) -> list[str]:
        return [text for word, text in self.steps if word == instruction]


def parse() -> tuple[dict[str, str], list[Stage]]:
    """Arguments with their defaults, and the stages."""
    text = re.sub(r"^\s*#.*\n", "", FILE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    arguments: dict[str, str] = {}
    stages: list[Stage] = []
    for line in re.sub(r"\\\n", " ", text).splitlines():
        if not line.strip():
            continue
        word, _, rest = line.strip().partition(" ")
        if word == "FROM":
            image, name = re.fullmatch(r"(\S+) AS (\S+)", rest).groups()  # type: ignore[union-attr]
            stages.append(Stage(image, name))
        elif stages:
            stages[-1].steps.append((word, rest))
        else:
            assert word == "ARG"
            key, _, value = rest.partition("=")
            arguments[key] = value
    return arguments, stages


ARGUMENTS, STAGES = parse()


def copies(stage: Stage) -> list[tuple[str, list[str]]]:
    """Where from ("" is the repository), and what."""
    found = []
    for text in stage.texts("COPY"):
        words = shlex.split(text)
        origin = next((w.removeprefix("--from=") for w in words if w.startswith("--from=")), "")
        found.append((origin, [w for w in words if not w.startswith("--")][:-1]))
    return found


def ignored(name: str) -> bool:
    """What the builder does not see: the last pattern that matches decides."""
    verdict = False
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        pattern = line.strip()
        if pattern and not pattern.startswith("#") and pattern.removeprefix("!") in ("*", name):
            verdict = not pattern.startswith("!")
    return verdict


def test_images_are_pinned_by_a_tag_and_name_no_registry() -> None:
    for stage in STAGES:
        image = re.sub(r"\$\{(\w+)\}", lambda match: ARGUMENTS[match[1]], stage.image)
        name, _, tag = image.partition(":")
        assert re.fullmatch(r"[a-z]+", name), image
        assert re.search(r"\d+\.\d+", tag), image
        assert "slim" in tag


def test_the_image_has_the_python_that_the_constraints_are_for() -> None:
    (version,) = re.findall(r"for Python (\d+\.\d+)", (ROOT / "constraints.txt").read_text())
    assert ARGUMENTS["PYTHON"].startswith(f"{version}-")


def test_everything_that_is_copied_is_there_and_not_ignored() -> None:
    made = []
    for stage in STAGES:
        for origin, sources in copies(stage):
            if origin:
                assert origin in made
                continue
            assert sources
            for source in sources:
                assert (ROOT / source).exists(), source
                assert not ignored(source), source
        made.append(stage.name)
    assert ignored(".git")
    assert ignored(".venv")


def test_what_is_copied_is_all_that_a_wheel_is_built_from() -> None:
    (build,) = [stage for stage in STAGES if stage.name == "build"]
    sources = {name for origin, names in copies(build) for name in names if not origin}
    project = (ROOT / "pyproject.toml").read_text()
    named = set(re.findall(r"^(?:readme|license-files) = .*?\"([\w.]+)\"", project, re.MULTILINE))
    assert named == {"README.md", "LICENSE"}
    assert named | {"pyproject.toml", "webhook", "constraints.txt"} == sources


def test_the_image_for_ci_is_the_command_of_nobody_in_particular() -> None:
    (stage,) = [stage for stage in STAGES if stage.name == "lint"]
    (user,) = stage.texts("USER")
    assert min(map(int, user.split(":"))) > 1000
    (entrypoint,), (command,) = stage.texts("ENTRYPOINT"), stage.texts("CMD")
    assert (json.loads(entrypoint), json.loads(command)) == (["tidegate"], ["--help"])
    assert stage.steps.index(("USER", user)) > [word for word, _ in stage.steps].index("COPY")
    assert stage.texts("RUN") == []
    assert "PYTHONDONTWRITEBYTECODE=1" in stage.texts("ENV")[0]


def test_the_page_builds_and_runs_this_image() -> None:
    (block,) = re.findall(r"```sh\n(docker build.*?)```", PAGE, re.DOTALL)
    build, *runs = block.splitlines()
    words = shlex.split(build)
    assert words[words.index("--file") + 1] == str(FILE.relative_to(ROOT))
    assert words[words.index("--target") + 1] in [stage.name for stage in STAGES]
    (place,) = [s.texts("WORKDIR")[0] for s in STAGES if s.name == "lint"]
    assert runs
    assert all(f":{place}:ro" in run and "--read-only" in run for run in runs)


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_the_commands_of_the_build_make_a_tidegate_that_lints(tmp_path: Path) -> None:
    """In a clean environment instead of an image; this one fetches what tidegate needs."""
    (build,) = [stage for stage in STAGES if stage.name == "build"]
    source, python = tmp_path / "source", tmp_path / "python"
    source.mkdir()
    for name in (name for origin, names in copies(build) for name in names if not origin):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name)
    subprocess.run([sys.executable, "-m", "venv", python], check=True)
    environment = {**os.environ, "PATH": f"{python}/bin:{os.environ['PATH']}"}
    for command in build.texts("RUN"):
        here = re.sub(r"/(?:wheels|opt/tidegate)\b", rf"{tmp_path}\g<0>", command)
        subprocess.run(["/bin/sh", "-c", here], cwd=source, env=environment, check=True)
    tidegate = tmp_path / "opt" / "tidegate" / "bin" / "tidegate"
    policies = ROOT / "policies" / "examples"
    for words in (["lint"], ["test", "--allow-no-tests"]):
        done = subprocess.run(
            [tidegate, *words, policies], cwd=tmp_path, env={"PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
    assert not (tidegate.parent / "pip").exists()
