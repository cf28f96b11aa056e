"""``tidegate test`` as people and CI use it: what it prints where, and how it ends."""

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
POLICY = """\
queue q { quota { cpu 4 } }
route lab when namespace == "lab" to q
route otherwise ignore
"""
GOOD = """
test "the lab has a queue" {
  submit Job in "lab" requests { cpu 1 }
  expect queue q
}
"""
BAD = """
test "the lab is full" {
  given  queue q running { cpu 3 }
  submit Job in "lab" requests { cpu 1 }
  expect waiting because quota
}
"""
ON_FLAVOR = """
test "no such place" {
  given  queue q running { cpu 1 } on spot
  submit Job in "lab" requests { cpu 1 }
  expect queue q
}
"""
FILE = """
test "as it is submitted" {
  submit file "job.yaml"
  expect queue q
  expect set spec.parallelism = 2
}
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: nightly
  namespace: lab
spec:
  parallelism: 2
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: example.com/nightly
        resources: {requests: {cpu: 500m}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the command runs, with a folder for the policy."""
    (tmp_path / "policies").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path / "policies"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(program, ["test", *arguments])


def policy(folder: Path, *parts: str, name: str = "ml.tide") -> str:
    (folder / name).write_text(POLICY + "".join(parts), encoding="utf-8")
    return "policies"


def test_tests_that_pass_are_a_line_each(folder: Path) -> None:
    result = run(policy(folder, GOOD))
    assert result.stdout == "policies/ml.tide\n  ✓ the lab has a queue\n"
    assert result.stderr == "1 test passed\n"
    assert result.exit_code == Exit.OK


def test_a_test_that_fails_shows_both_sides_with_the_numbers(folder: Path) -> None:
    result = run(policy(folder, GOOD, BAD))
    assert result.stdout == (
        "policies/ml.tide\n"
        "  ✓ the lab has a queue\n"
        "  ✗ the lab is full\n"
        "\n"
        "error[TG604]: expected it to wait because quota, but it starts in `q` on `default`\n"
        "  --> policies/ml.tide:13:3\n"
        "   |\n"
        "13 |   expect waiting because quota\n"
        "   |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
        "   |\n"
        "  ::: policies/ml.tide:1:1\n"
        " 1 | queue q { quota { cpu 4 } }\n"
        "   | --------------------------- it starts here\n"
    )
    assert result.stderr == "2 tests, 1 failed\n"
    assert result.exit_code == Exit.FOUND


def test_a_name_cannot_command_a_terminal(folder: Path) -> None:
    result = run(policy(folder, GOOD.replace("the lab", "\\u001b[2J\\nthe lab")))
    assert result.stdout == "policies/ml.tide\n  ✓ [2J the lab has a queue\n"


def test_a_test_that_cannot_be_run_did_not_pass(folder: Path) -> None:
    result = run(policy(folder, "flavor spot { }\nqueue r { quota spot { cpu 1 } }\n", ON_FLAVOR))
    why = "queue q has no quota on spot (policies/ml.tide:8)"
    assert result.stdout == f"policies/ml.tide\n  ! no such place: {why}\n"
    assert result.stderr == "1 test, 1 not run\n"
    assert result.exit_code == Exit.FOUND


def test_all_files_are_one_policy_and_each_has_its_tests(folder: Path) -> None:
    (folder / "b.tide").write_text(GOOD, encoding="utf-8")
    (folder / "c.tide").write_text("queue c { quota { cpu 1 } }\n", encoding="utf-8")
    result = run(policy(folder, name="a.tide"))
    assert result.stdout == "policies/b.tide\n  ✓ the lab has a queue\n"


def test_errors_of_lint_stop_the_tests(folder: Path) -> None:
    result = run(policy(folder, GOOD, "route to nowhere\n"))
    assert "error[TG104]: no queue named `nowhere`" in result.stdout
    assert "the lab has a queue" not in result.stdout
    assert result.stderr == "no test was run: 1 problem of lint\n"
    assert result.exit_code == Exit.FOUND


def test_warnings_stop_them_only_where_that_is_asked_for(folder: Path) -> None:
    path = policy(folder, GOOD, "flavor spot { }\n")
    assert run(path).exit_code == Exit.OK
    strict = run(path, "--strict")
    assert "warning[TG308]" in strict.stdout
    assert strict.exit_code == Exit.FOUND


def test_a_file_that_is_not_utf_8_is_an_error(folder: Path) -> None:
    (folder / "ml.tide").write_bytes(POLICY.encode() + b"# \xff\n")
    result = run("policies")
    assert "error[TG001]" in result.stdout
    assert result.exit_code == Exit.FOUND


@pytest.mark.parametrize("path", ["nowhere", "empty"])
def test_where_there_is_no_policy_it_could_not_run(folder: Path, path: str) -> None:
    (folder.parent / "empty").mkdir()
    result = run(path)
    assert result.stderr.startswith("error: ")
    assert (result.stdout, result.exit_code) == ("", Exit.USAGE)


def test_no_test_is_no_success_unless_that_is_allowed(folder: Path) -> None:
    path = policy(folder)
    result = run(path)
    assert result.stderr == "error: there is no test; --allow-no-tests lets that pass\n"
    assert (result.stdout, result.exit_code) == ("", Exit.USAGE)
    allowed = run(path, "--allow-no-tests")
    assert (allowed.stderr, allowed.exit_code) == ("0 tests passed\n", Exit.OK)


def test_a_part_of_a_name_chooses_tests(folder: Path) -> None:
    path = policy(folder, GOOD, BAD)
    assert run(path, "--filter", "has a").exit_code == Exit.OK
    assert run(path, "--filter", "is full").exit_code == Exit.FOUND
    none = run(path, "--filter", "moon")
    assert none.stderr == "error: no test has a name that contains `moon`\n"
    assert none.exit_code == Exit.USAGE
    assert "--coverage" in run(path, "--filter", "has", "--coverage").stderr


def test_coverage_names_what_is_missing_at_its_line(folder: Path) -> None:
    result = run(policy(folder, GOOD), "--coverage")
    assert result.stdout == (
        "policies/ml.tide\n"
        "  ✓ the lab has a queue\n"
        "\n"
        "coverage: 1 of 2 rules, 50 %\n"
        "policies/ml.tide:3:1: style[TG605] `route otherwise`: no test comes to it\n"
    )
    assert result.exit_code == Exit.OK


def test_too_little_coverage_fails(folder: Path) -> None:
    path = policy(folder, GOOD)
    assert run(path, "--min-coverage", "50").exit_code == Exit.OK
    result = run(path, "--min-coverage", "51")
    assert "coverage is 50 %, at least 51 % is asked for" in result.stderr
    assert result.exit_code == Exit.FOUND


def test_a_file_beside_the_policy_is_submitted_as_it_stands(folder: Path) -> None:
    (folder / "job.yaml").write_text(JOB, encoding="utf-8")
    result = run(policy(folder, FILE))
    assert (result.stderr, result.exit_code) == ("1 test passed\n", Exit.OK)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "policies/job.yaml: no such file or directory"),
        (b"", "policies/job.yaml has 0 objects, a test submits one"),
        (f"{JOB}---\n{JOB}".encode(), "policies/job.yaml has 2 objects, a test submits one"),
        (b"kind: [", "policies/job.yaml:1: "),
        (b"\xff\xfe\xfa", "policies/job.yaml is not UTF-8"),
    ],
)
def test_a_file_that_is_not_one_object_fails_its_test(
    folder: Path, text: bytes | None, message: str
) -> None:
    if text is not None:
        (folder / "job.yaml").write_bytes(text)
    result = run(policy(folder, FILE))
    assert f"error[TG606]: {message}" in result.stdout
    assert '  submit file "job.yaml"' in result.stdout
    assert result.exit_code == Exit.FOUND


def test_json_has_all_of_it(folder: Path) -> None:
    more = "flavor spot { }\nqueue r { quota spot { cpu 1 } }\n"
    document = json.loads(
        run(policy(folder, more, GOOD, BAD, ON_FLAVOR), "--format", "json").stdout
    )
    assert document["counts"] == {"tests": 3, "passed": 1, "failed": 1, "not_run": 1}
    assert document["coverage"] is None
    good, bad, lost = document["tests"]
    assert (good["name"], good["status"], good["queue"]) == ("the lab has a queue", "passed", "q")
    assert good["outcome"] == "it starts in `q` on `default`"
    assert (bad["status"], bad["path"], bad["line"]) == ("failed", "policies/ml.tide", 12)
    (problem,) = bad["problems"]
    assert (problem["code"], problem["line"]) == ("TG604", 15)
    assert problem["others"][0]["label"] == "it starts here"
    assert lost["status"] == "not run"
    assert "no quota on spot" in lost["not_run"]


def test_json_with_coverage(folder: Path) -> None:
    document = json.loads(run(policy(folder, GOOD), "--format", "json", "--coverage").stdout)
    assert document["coverage"] == {
        "covered": 1,
        "total": 2,
        "percent": 50,
        "uncovered": [
            {
                "rule": "route otherwise",
                "place": "policies/ml.tide:3",
                "missing": "no test comes to it",
            }
        ],
    }


def test_junit_has_a_case_a_test(folder: Path) -> None:
    more = "flavor spot { }\nqueue r { quota spot { cpu 1 } }\n"
    path = policy(folder, more, GOOD, BAD, ON_FLAVOR)
    root = Xml.fromstring(run(path, "--format", "junit", "--coverage").stdout)
    counts = {name: root.get(name) for name in ("tests", "failures", "errors")}
    assert counts == {"tests": "3", "failures": "1", "errors": "1"}
    (suite,) = root.findall("testsuite")
    good, bad, lost = suite.findall("testcase")
    assert (good.get("name"), good.get("classname"), len(good)) == (
        "the lab has a queue",
        "policies/ml.tide",
        0,
    )
    failure = bad.find("failure")
    assert failure is not None
    assert failure.get("type") == "TG604"
    assert "expect waiting because quota" in (failure.text or "")
    assert lost.find("error") is not None
    properties = [(each.get("name"), each.get("value")) for each in root.iter("property")]
    assert properties[0] == ("coverage", "50")
    assert properties[1] == (
        "uncovered",
        "policies/ml.tide:3: route otherwise: no test comes to it",
    )


@pytest.mark.parametrize("form", ["json", "junit"])
def test_errors_of_lint_keep_the_format(folder: Path, form: str) -> None:
    result = run(policy(folder, "route to nowhere\n"), "--format", form)
    assert "TG104" in result.stdout
    if form == "json":
        assert json.loads(result.stdout)["counts"]["error"] == 1
    else:
        assert Xml.fromstring(result.stdout).get("failures") == "1"


def in_a_process(folder: Path, *arguments: str, **environment: str) -> str:
    return subprocess.run(
        [sys.executable, "-m", "webhook.cli.main", "test", *arguments],
        cwd=folder.parent,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        check=True,
        capture_output=True,
        encoding="ascii" if "PYTHONIOENCODING" in environment else "utf-8",
    ).stdout


def test_where_signs_cannot_be_shown_there_are_words(folder: Path) -> None:
    shown = in_a_process(folder, policy(folder, GOOD), PYTHONIOENCODING="ascii")
    assert shown == "policies/ml.tide\n  ok      the lab has a queue\n"


def test_a_run_loads_neither_a_web_server_nor_the_client(folder: Path) -> None:
    (folder / "job.yaml").write_text(JOB, encoding="utf-8")
    policy(folder, GOOD, FILE)
    script = (
        "import sys\nfrom click.testing import CliRunner\nfrom webhook.cli.main import program\n"
        "ended = CliRunner().invoke(program, ['test', 'policies', '--coverage'])\n"
        "print(ended.exit_code, [n for n in ('aiohttp', 'kubernetes', 'asyncio') if n in sys.modules])"
    )
    printed = subprocess.run(
        [sys.executable, "-c", script],
        cwd=folder.parent,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert printed == "0 []\n"


def test_the_policies_we_ship_are_covered() -> None:
    examples = run(str(ROOT / "policies" / "examples"), "--min-coverage", "100", "--strict")
    assert (examples.exit_code, examples.stderr) == (Exit.OK, examples.stderr), examples.stdout


@pytest.mark.parametrize(
    "file", sorted((ROOT / "policies" / "reference").glob("*.tide")), ids=lambda file: file.stem
)
def test_no_test_of_the_reference_fails(file: Path) -> None:
    result = run(str(file), "--allow-no-tests", "--format", "json")
    counts = json.loads(result.stdout)["counts"]
    assert counts["failed"] == 0, result.stdout
