"""``tidegate fmt`` as people and CI use it: what it prints where, what it writes, and how it ends."""

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from webhook.cli.exits import Exit
from webhook.cli.main import program
from webhook.language import format as formatter
from webhook.language.check import lint
from webhook.language.format.lines import WIDTH

ROUGH = "queue a{quota{cpu 1}} # why\n"
FORM = "queue a { quota { cpu 1 } }  # why\n"
WRONG = "queue a { qota { cpu 1 } }\n"


def fmt(*args: str | Path, stdin: str | bytes | None = None) -> Result:
    return CliRunner().invoke(program, ["fmt", *map(str, args)], input=stdin)


@pytest.fixture
def rough(tmp_path: Path) -> Path:
    path = tmp_path / "a.tide"
    path.write_text(ROUGH)
    return path


def test_a_file_is_put_into_form_once(rough: Path) -> None:
    first, second = fmt(rough), fmt(rough.parent)
    assert rough.read_text() == FORM
    assert (first.exit_code, first.stdout) == (Exit.OK, "")
    assert first.stderr == f"formatted {rough}\n1 file formatted\n"
    assert (second.exit_code, second.stderr) == (Exit.OK, "1 file in form already\n")


def test_check_writes_nothing(rough: Path) -> None:
    result = fmt("--check", rough)
    assert (result.exit_code, result.stdout) == (Exit.FOUND, "")
    assert result.stderr == f"would format {rough}\n1 file would be formatted\n"
    assert rough.read_text() == ROUGH
    rough.write_text(FORM)
    assert fmt("--check", rough).exit_code == Exit.OK


def test_diff_shows_what_would_change_and_writes_nothing(rough: Path) -> None:
    result = fmt("--diff", rough)
    assert result.exit_code == Exit.FOUND
    lines = result.stdout.splitlines()
    assert lines[0] == f"--- {rough}"
    assert lines[-2:] == [f"-{ROUGH[:-1]}", f"+{FORM[:-1]}"]
    assert rough.read_text() == ROUGH


def test_standard_input_goes_to_standard_output() -> None:
    result = fmt("-", stdin=ROUGH)
    assert (result.exit_code, result.stdout, result.stderr) == (Exit.OK, FORM, "")
    assert fmt("-", "--check", stdin=ROUGH).exit_code == Exit.FOUND
    wrong = fmt("-", stdin=WRONG)
    assert (wrong.exit_code, wrong.stdout) == (Exit.FOUND, "")
    assert "error[TG004]" in wrong.stderr
    assert fmt("-", "a.tide", stdin="").exit_code == Exit.USAGE


def test_a_file_with_mistakes_is_named_and_the_others_are_formatted(rough: Path) -> None:
    wrong = rough.parent / "b.tide"
    wrong.write_text(WRONG)
    result = fmt(rough.parent)
    assert result.exit_code == Exit.FOUND
    assert f"{wrong}:1:11" in result.stderr
    assert result.stderr.endswith("1 file formatted, 1 file with mistakes\n")
    assert (rough.read_text(), wrong.read_text()) == (FORM, WRONG)


def test_mode_line_ends_mark_and_links_are_kept(rough: Path, tmp_path: Path) -> None:
    rough.write_bytes(b"\xef\xbb\xbf" + ROUGH.replace("\n", "\r\n").encode())
    rough.chmod(0o640)
    link = tmp_path / "links" / "b.tide"
    link.parent.mkdir()
    link.symlink_to(rough)
    assert fmt(link).exit_code == Exit.OK
    assert rough.read_bytes() == b"\xef\xbb\xbf" + FORM.replace("\n", "\r\n").encode()
    assert stat.S_IMODE(rough.stat().st_mode) == 0o640
    assert link.is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.tide", "links"]


def test_a_file_that_is_not_utf8_is_left_alone(rough: Path) -> None:
    rough.write_bytes(b"queue a{} # \xff\n")
    result = fmt(rough)
    assert result.exit_code == Exit.FOUND
    assert "error[TG001]" in result.stderr
    assert rough.read_bytes() == b"queue a{} # \xff\n"


@pytest.mark.parametrize("paths", [["missing.tide"], ["."], []])
def test_where_it_cannot_run_it_says_so(
    paths: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = fmt(*paths)
    assert (result.exit_code, result.stdout) == (Exit.USAGE, "")
    assert result.stderr != ""


def test_an_output_that_is_not_proven_touches_no_file(
    rough: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formatter, "write_lines", lambda *_: "queue b {}\n")
    result = fmt(rough)
    assert result.exit_code == Exit.USAGE
    assert "internal error: the output would say something else" in result.stderr
    assert rough.read_text() == ROUGH


def test_a_file_that_somebody_changed_meanwhile_is_left_alone(
    rough: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = formatter.format_text

    def slow(text: str, *, path: str) -> formatter.Formatted:
        rough.write_text("queue c {}\n")
        return right(text, path=path)

    monkeypatch.setattr(formatter, "format_text", slow)
    result = fmt(rough)
    assert (result.exit_code, rough.read_text()) == (Exit.USAGE, "queue c {}\n")
    assert "it changed while it was read; the file is left alone" in result.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file away")
def test_the_owner_is_kept(rough: Path) -> None:
    os.chown(rough, 1234, 1234)
    assert fmt(rough).exit_code == Exit.OK
    assert (rough.stat().st_uid, rough.read_text()) == (1234, FORM)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anything")
def test_a_folder_that_cannot_be_written_is_told(rough: Path) -> None:
    rough.parent.chmod(0o500)
    try:
        result = fmt(rough)
    finally:
        rough.parent.chmod(0o700)
    assert (result.exit_code, rough.read_text()) == (Exit.USAGE, ROUGH)


def test_the_command_loads_neither_the_kubernetes_client_nor_a_web_server() -> None:
    code = (
        "import sys; from webhook.cli.main import program\n"
        "program(['fmt', '--check', 'policies'], standalone_mode=False)\n"
        "print(sorted({'kubernetes', 'aiohttp', 'rich'} & set(sys.modules)))"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=False
    )
    assert done.stdout == "[]\n", done.stderr


ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "fmt.md").read_text(encoding="utf-8")
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
OTHERS = [page for page in PAGES if page.stem != "fmt"]


@pytest.mark.parametrize("page", OTHERS, ids=lambda page: page.name)
def test_the_pages_show_policies_in_form(page: Path) -> None:
    for block in re.findall(r"```tide\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        assert formatter.format_text(block, path=page.name).text == block


def test_the_page_shows_what_becomes_of_a_file() -> None:
    before, after = re.findall(r"```tide\n(.*?)```", PAGE, re.DOTALL)
    assert formatter.format_text(before, path="x").text == after
    assert lint([("x", before)])[1] == ()


def test_the_page_names_every_option_and_exit_code() -> None:
    command = program.get_command(click.Context(program), "fmt")
    assert command is not None
    options = {option for param in command.params for option in param.opts if option[0] == "-"}
    assert options - set(re.findall(r"--?\w+", PAGE)) == set()
    assert re.findall(r"(?m)^\| (\d) \|", PAGE) == [str(int(code)) for code in Exit]
    assert f"within {WIDTH} columns" in PAGE
