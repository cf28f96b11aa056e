"""``tidegate lsp`` before anybody speaks to it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from webhook.cli import lsp
from webhook.cli.exits import Exit

ROOT = Path(__file__).parents[2]


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lsp, "find_spec", lambda name: None)
    result = CliRunner().invoke(lsp.command, [])
    assert (result.stdout, result.exit_code) == ("", Exit.USAGE)
    assert result.stderr == "error: the language server needs pygls: pip install 'tidegate[lsp]'\n"


def test_its_help_needs_no_extra() -> None:
    script = (
        "import sys; sys.modules['pygls'] = None\n"
        "from click.testing import CliRunner; from webhook.cli.lsp import command\n"
        "print(CliRunner().invoke(command, ['--help']).exit_code)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert ended.stdout == "0\n"
