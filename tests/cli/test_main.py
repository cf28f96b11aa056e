"""The command as a whole: its help, wrong names, and a reader that goes away."""

import os
import subprocess
import sys
from importlib import import_module

import click
import pytest
from click.testing import CliRunner

from webhook import __version__
from webhook.cli.exits import Exit
from webhook.cli.main import COMMANDS, program


def test_the_help_lists_every_command_and_imports_none() -> None:
    script = (
        "import sys; from click.testing import CliRunner; from webhook.cli.main import *\n"
        "print(CliRunner().invoke(program, ['--help'], prog_name='tidegate').output)\n"
        "print([entry.module for entry in COMMANDS.values() if entry.module in sys.modules])"
    )
    printed = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    ).stdout
    assert printed.rstrip().endswith("\n[]")
    for name, entry in COMMANDS.items():
        assert name in printed
        assert entry.help in " ".join(printed.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_of_commands_tells_the_truth(name: str) -> None:
    entry = COMMANDS[name]
    assert isinstance(import_module(entry.module).command, click.Command)


def test_version_names_the_installed_version() -> None:
    result = CliRunner().invoke(program, ["version"])
    assert result.exit_code == Exit.OK
    assert result.output.startswith(f"tidegate {__version__} ")


@pytest.mark.parametrize("arguments", [["vresion"], ["--verison"], ["version", "--no-such"]])
def test_wrong_usage_ends_with_its_own_code(arguments: list[str]) -> None:
    result = CliRunner().invoke(program, arguments)
    assert result.exit_code == Exit.USAGE
    assert result.stdout == ""


def test_a_name_with_a_typing_mistake_is_suggested() -> None:
    assert "Did you mean 'lint'?" in CliRunner().invoke(program, ["lnit"]).stderr
    assert "Did you mean" not in CliRunner().invoke(program, ["apply"]).stderr


def test_names_complete_without_importing_a_command() -> None:
    completed = subprocess.run(
        [sys.executable, "-m", "webhook.cli.main"],
        env=os.environ
        | {"_TIDEGATE_COMPLETE": "bash_complete", "COMP_WORDS": "tidegate ver", "COMP_CWORD": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert completed.stdout == "plain,version\n"


@pytest.mark.parametrize("arguments", ["--help", "version"])
@pytest.mark.parametrize("environment", [{}, {"PYTHONUNBUFFERED": "1"}], ids=["buffered", "plain"])
def test_a_reader_that_leaves_causes_no_traceback(
    arguments: str, environment: dict[str, str]
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "webhook.cli.main", arguments],
            env=os.environ | environment,
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    finally:
        os.close(writing)
    assert ended.stderr == ""
