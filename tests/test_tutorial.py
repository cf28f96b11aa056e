"""docs/tutorial.md from top to bottom in an empty folder: files are written, commands run, answers compared.

A block follows the name of its file, or the command that it is the answer to; `…` stands for any lines.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import yaml

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "tutorial.md").read_text()
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)
NAMED = re.compile(r"`([\w./-]+\.(?:tide|yaml))`")


def steps() -> Iterator[tuple[str, str, str]]:
    """Language and text of each block, with the text before it."""
    at = 0
    for block in BLOCK.finditer(PAGE):
        yield block[1], block[2], PAGE[at : block.start()]
        at = block.end()


def matches(wanted: str, shown: str) -> bool:
    """Whether an answer is the one of the page."""
    pattern = re.escape(wanted).replace(re.escape("…\n"), "(?:.*\n)*?")
    return re.fullmatch(pattern, shown) is not None


def test_the_tutorial_goes_as_it_says(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    command = tmp_path / "bin" / "tidegate"
    command.write_text(
        f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m webhook.cli.main "$@"\n'
    )
    command.chmod(0o755)
    folder = tmp_path / "empty"
    folder.mkdir()
    environment = {**os.environ, "PATH": f"{command.parent}:{os.environ['PATH']}"}
    answer, compared = "", 0
    for language, text, before in steps():
        if language == "sh" and "pip install" not in text:
            ended = subprocess.run(
                ["bash", "-c", text], cwd=folder, env=environment, text=True, check=False,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
            answer = ended.stdout
        elif language == "text":
            assert matches(text, answer), f"the page says\n{text}\nit is\n{answer}"
            compared += 1
        elif language in ("tide", "yaml"):
            path = folder / NAMED.findall(before)[-1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    assert compared == PAGE.count("```text")
    assert sorted(p.name for p in folder.rglob("*") if p.is_file()) == [
        "policy.yaml", "queues.tide", "rules.tide", "tests.tide",
    ]  # fmt: skip


def test_the_workflow_is_that_of_the_page_about_ci() -> None:
    [workflow] = (yaml.safe_load(text) for language, text, _ in steps() if language == "yaml")
    ci = (ROOT / "docs" / "ci.md").read_text()
    other = next(
        w
        for w in map(yaml.safe_load, re.findall(r"```yaml\n(.*?)```", ci, re.DOTALL))
        if "jobs" in w
    )
    assert workflow["jobs"] == other["jobs"]
