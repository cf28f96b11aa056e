"""Reports of users of other policy tools, each a test that it does not happen here; the number is the report's.

R66: a wrapper could not tell "violations" from "did not run". R67: a test passed because its rule was misspelt.
R69: output that only people could read.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from click.testing import CliRunner, Result

from webhook.cli.exits import Exit
from webhook.cli.main import program

ROOT = Path(__file__).parents[2]
CLEAN = """\
queue q { quota { cpu 4 } }
route lab when namespace == "lab" to q
route otherwise ignore

deny large when requests.cpu > 2 {
  message "at most 2 cores"
}

test "what is large is denied" {
  submit Job in "lab" requests { cpu 3 }
  expect denied by large
}

test "the lab has a queue" {
  submit Job in "lab" requests { cpu 1 }
  expect queue q
}
"""
WARNED = "flavor spot { }\n\n" + CLEAN
WRONG = CLEAN.replace("to q\n", "to qq\n")
ROUGH = CLEAN.replace("cpu 4 }", "cpu   4 }")
FAILING = CLEAN.replace("cpu > 2", "cpu > 3").replace("most 2", "most 3")
COMMANDS = [["lint"], ["fmt", "--check"], ["test"]]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(program, [str(argument) for argument in arguments])


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "policies" / "a.tide"
    path.parent.mkdir()
    path.write_text(CLEAN, encoding="utf-8")
    return path


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_r66_clean_is_zero(command: list[str], policy: Path) -> None:
    assert run(*command, policy).exit_code == 0


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (["lint"], WRONG),
        (["lint"], "queue q {\n"),
        (["fmt", "--check"], ROUGH),
        (["fmt", "--check"], "queue q {\n"),
        (["fmt"], "queue q {\n"),
        (["test"], FAILING),
        (["test"], WRONG),
    ],
)
def test_r66_findings_are_one_and_so_is_a_text_that_is_wrong(
    command: list[str], text: str, policy: Path
) -> None:
    policy.write_text(text, encoding="utf-8")
    result = run(*command, policy)
    assert result.exit_code == 1
    assert result.stdout + result.stderr


@pytest.mark.parametrize("command", [["lint"], ["test"]], ids=" ".join)
def test_r66_warnings_are_zero_and_one_where_they_count_as_errors(
    command: list[str], policy: Path
) -> None:
    policy.write_text(WARNED, encoding="utf-8")
    assert run(*command, policy).exit_code == 0
    assert run(*command, "--strict", policy).exit_code == 1


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_r66_what_could_not_run_is_two(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    nothing: list[list[object]] = [
        ["/no/such/path"],
        [tmp_path / "empty"],
        [tmp_path / "*.tide"],  # a pattern the shell found nothing for
        ["--no-such-option", tmp_path],
        [],
    ]
    for arguments in nothing:
        result = run(*command, *arguments)
        assert (result.exit_code, result.stdout) == (2, ""), arguments
        assert result.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_r66_a_file_that_may_not_be_read_is_two(command: list[str], policy: Path) -> None:
    policy.chmod(0)
    assert run(*command, policy.parent).exit_code == 2


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_r66_a_reader_that_leaves_is_no_traceback(command: list[str], policy: Path) -> None:
    policy.write_text("rout to q\n" * 5_000, encoding="utf-8")
    written = f'"{sys.executable}" -m webhook.cli.main {" ".join(command)} "{policy}" | head -c 1'
    shell = subprocess.run(["sh", "-c", written], cwd=ROOT, capture_output=True, check=False)
    assert b"Traceback" not in shell.stderr


@pytest.mark.parametrize(
    ("good", "bad", "name"),
    [
        ("denied by large", "denied by lage", "lage"),
        ("expect queue q", "expect queue qq", "qq"),
        ('submit Job in "lab" requests { cpu 1 }', 'submit file "no.yaml"', "no.yaml"),
        ("requests { cpu 1 }", "requests { gpu 1 }", "gpu"),
        (
            'submit Job in "lab" requests { cpu 1 }',
            'submit Job in "lab" priority urgnt requests { cpu 1 }',
            "urgnt",
        ),
    ],
)
def test_r67_a_name_that_does_not_exist_is_an_error_before_anything_runs(
    good: str, bad: str, name: str, policy: Path
) -> None:
    text = CLEAN.replace(good, bad, 1)
    assert text != CLEAN
    policy.write_text(text, encoding="utf-8")
    result = run("test", policy)
    assert result.exit_code == Exit.FOUND
    assert name in result.stdout + result.stderr
    assert "error[TG" in result.stdout
    assert "passed" not in result.stdout


@pytest.mark.parametrize("rule", ["lage", "q", "lab-"])
def test_r67_the_rule_a_test_names_is_asked_for_by_lint_already(rule: str, policy: Path) -> None:
    policy.write_text(CLEAN.replace("by large", f"by {rule}"), encoding="utf-8")
    result = run("lint", "--format", "json", policy)
    assert result.exit_code == Exit.FOUND
    codes = {found["code"] for found in json.loads(result.stdout)["problems"]}
    assert codes & {"TG601", "TG015"}


def test_r67_what_was_wanted_and_what_came_are_both_told(policy: Path) -> None:
    policy.write_text(FAILING, encoding="utf-8")
    result = run("test", policy)
    assert result.exit_code == Exit.FOUND
    shown = result.stdout + result.stderr
    assert "TG604" in shown
    assert "what is large is denied" in shown
    assert "large" in shown
    assert "1 failed" in shown


def test_r67_no_test_at_all_is_no_success(policy: Path) -> None:
    policy.write_text(CLEAN[: CLEAN.index("test ")], encoding="utf-8")
    assert run("test", policy).exit_code == Exit.USAGE
    assert run("test", "--allow-no-tests", policy).exit_code == Exit.OK
    policy.write_text(CLEAN, encoding="utf-8")
    assert run("test", "--filter", "no such test", policy).exit_code == Exit.USAGE


FORMATS = ["text", "concise", "json", "sarif", "junit", "github"]


@pytest.mark.parametrize("form", FORMATS)
def test_r69_data_goes_out_and_talk_to_the_side_without_colour(form: str, policy: Path) -> None:
    policy.write_text(WRONG, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "webhook.cli.main", "lint", "--format", form, str(policy)],
        cwd=ROOT, capture_output=True, check=False, env=os.environ | {"NO_COLOR": "1"},
    )  # fmt: skip
    assert done.returncode == 1
    assert b"TG104" in done.stdout
    assert b"\x1b" not in done.stdout + done.stderr
    assert done.stderr == b"1 file, 1 error\n"


def test_r69_every_format_for_machines_has_the_line(policy: Path) -> None:
    policy.write_text(WRONG, encoding="utf-8")
    at = {form: run("lint", "--format", form, policy).stdout for form in FORMATS}
    (result,) = json.loads(at["sarif"])["runs"][0]["results"]
    assert json.loads(at["sarif"])["version"] == "2.1.0"
    region = result["locations"][0]["physicalLocation"]["region"]
    assert (region["startLine"], region["startColumn"]) == (2, 38)
    (found,) = json.loads(at["json"])["problems"]
    assert found["line"] == 2
    (failure,) = Xml.fromstring(at["junit"]).iter("failure")
    assert f"{policy}:2:38" in (failure.text or "") + str(failure.attrib)
    assert "line=2" in at["github"]
    assert at["concise"].startswith(f"{policy}:2:38: ")


@pytest.mark.parametrize("form", ["json", "junit"])
def test_r69_tests_tell_machines_which_failed(form: str, policy: Path) -> None:
    policy.write_text(FAILING, encoding="utf-8")
    result = run("test", "--format", form, policy)
    assert result.exit_code == Exit.FOUND
    assert "what is large is denied" in result.stdout
    if form == "json":
        json.loads(result.stdout)
    else:
        assert len(list(Xml.fromstring(result.stdout).iter("failure"))) == 1
