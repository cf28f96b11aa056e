"""What the import contracts cannot say: sizes, names, and what a start of the command costs."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MODULES = sorted((ROOT / "webhook").rglob("*.py"))
MOST_LINES = 400
NAMES_THAT_SAY_NOTHING = {"base", "common", "helpers", "types", "utils"}
SLOW_TO_IMPORT = {"aiohttp", "asyncio", "kubernetes", "lark", "rich", "yaml"}


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_a_module_can_be_read_in_one_sitting(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= MOST_LINES, f"{_name(path)} has {lines} lines: which two things is it about?"


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_a_module_says_why_it_exists(path: Path) -> None:
    first = path.read_text(encoding="utf-8").lstrip()
    assert first.startswith(('"""', 'r"""')), f"{_name(path)} does not open with a docstring"


def test_no_module_has_a_name_that_says_nothing() -> None:
    places = [path.relative_to(ROOT / "webhook").with_suffix("") for path in MODULES]
    assert [
        p for p in places if NAMES_THAT_SAY_NOTHING & {part.strip("_") for part in p.parts}
    ] == []


def test_the_command_starts_without_what_only_some_commands_need() -> None:
    script = "import sys, webhook.cli.main; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    assert SLOW_TO_IMPORT.intersection(loaded) == set()
