"""``tidegate lint`` as people and CI use it: what it prints where, and how it ends."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from webhook.cli.exits import Exit
from webhook.cli.main import program

ROOT = Path(__file__).parents[2]
GOOD = "queue q {\n  quota { cpu 1 }\n}\n"
WARNED = GOOD + "flavor spot { }\n"

TWELVE = {
    "a/flavors.tide": (
        "resource gpu = nvidia.com/gpu\n"
        "resource card = nvidia.com/gpu\n"  # 1: TG107
        'flavor a100 {\n  node "a" = "b"\n  node "a" = "c"\n}\n'  # 2: TG314
        "flavor spot {\n  nod \"a\" = \"b\"\n}\n"  # 3: TG004
    ),
    "a/queues.tide": (
        "cohort research {\n"
        "  queue vision {\n"
        "    quota a100 { gpu 64GB }\n"  # 4: TG010
        "    order first-fits\n"  # 5: TG004
        "  }\n"
        "  queue speech {\n"
        "    quota sopt { gpu 32 }\n"  # 6: TG103
        "    quota spot { cpu 5 memory 3Gi }\n"  # 7: TG008
        "  }\n"
        "}\n"
        "queue alone { quota { cpu 5 borrow 3 } }\n"  # 8: TG303
    ),
    "b/routes.tide": (
        'route vision when namespace.startsWith("vision-") to vison\n'  # 9: TG104
        "route speech when labels[\"team\"] == to speech\n"  # 10: TG005
    ),
    "b/rules.tide": (
        "deny big for Job when object.spec.paralelism > 3 {\n"  # 11: TG502
        '  message "too many: {pods\n'  # 12: TG007
        "}\n"
    ),
}  # fmt: skip
PLACES = [
    ("a/flavors.tide:2:10", "TG107"),
    ("a/flavors.tide:5:8", "TG314"),
    ("a/flavors.tide:8:3", "TG004"),
    ("a/queues.tide:3:22", "TG010"),
    ("a/queues.tide:4:11", "TG004"),
    ("a/queues.tide:7:11", "TG103"),
    ("a/queues.tide:8:24", "TG008"),
    ("a/queues.tide:11:36", "TG303"),
    ("b/routes.tide:1:54", "TG104"),
    ("b/routes.tide:2:37", "TG005"),
    ("b/rules.tide:1:35", "TG502"),
    ("b/rules.tide:2:11", "TG007"),
]


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def lint(*arguments: object) -> Result:
    return CliRunner().invoke(program, ["lint", *map(str, arguments)])


def found(result: Result, folder: Path) -> list[tuple[str, str]]:
    """Place and code of every problem, as they stand in the output."""
    lines = result.stdout.splitlines()
    return [
        (below.partition("--> ")[2].removeprefix(f"{folder}/"), line.partition("[")[2][:5])
        for line, below in pairwise(lines)
        if line.startswith(("error[", "warning["))
    ]


def test_twelve_mistakes_in_four_files_are_twelve_problems_each_at_its_place(
    tmp_path: Path,
) -> None:
    write(tmp_path, TWELVE)
    result = lint(tmp_path)
    assert found(result, tmp_path) == PLACES
    assert result.stderr == "4 files, 12 errors (1 fixable with --fix)\n"
    assert result.exit_code == Exit.FOUND


POLICIES = [ROOT / "policies" / "examples", *(ROOT / "policies" / "reference").glob("*.tide")]


@pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)
def test_the_policies_we_ship_are_clean(policy: Path) -> None:
    result = lint(policy, "--strict")
    assert (result.stdout, result.exit_code) == ("", Exit.OK)
    assert result.stderr.endswith(", no problems\n")


@pytest.mark.parametrize("arguments", [["/no/such/path"], [], ["--no-such", "x"]])
def test_what_cannot_run_ends_with_its_own_code(arguments: list[str]) -> None:
    result = lint(*arguments)
    assert (result.stdout, result.exit_code) == ("", Exit.USAGE)
    assert "rror: " in result.stderr


def test_a_folder_without_a_policy_could_not_be_linted(tmp_path: Path) -> None:
    result = lint(tmp_path)
    assert result.exit_code == Exit.USAGE
    assert result.stderr == f"error: no .tide file below {tmp_path}\n"


def test_warnings_count_only_when_asked_to(tmp_path: Path) -> None:
    write(tmp_path, {"a.tide": WARNED})
    relaxed, strict = lint(tmp_path), lint("--strict", tmp_path)
    assert (relaxed.exit_code, strict.exit_code) == (Exit.OK, Exit.FOUND)
    assert relaxed.stdout == strict.stdout != ""
    assert relaxed.stderr == "1 file, 1 warning\n"


def test_a_file_that_is_not_utf8_is_one_problem(tmp_path: Path) -> None:
    (tmp_path / "a.tide").write_bytes(b"queue \xff { }\nroute to nowhere\n")
    (tmp_path / "b.tide").write_text("rout to q\n")
    result = lint(tmp_path)
    assert [code for _, code in found(result, tmp_path)] == ["TG001", "TG004"]


def test_output_that_is_no_terminal_has_no_colour(tmp_path: Path) -> None:
    write(tmp_path, {"a.tide": WARNED})
    assert "\x1b" not in lint(tmp_path).stdout


def test_a_reader_that_leaves_causes_no_traceback(tmp_path: Path) -> None:
    write(tmp_path, {"a.tide": "foo\n" * 100})
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "webhook.cli.main", "lint", tmp_path],
            cwd=ROOT, stdout=writing, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    finally:
        os.close(writing)
    assert "Traceback" not in ended.stderr


def test_the_command_loads_no_client_and_no_server(tmp_path: Path) -> None:
    write(tmp_path, {"a.tide": GOOD})
    script = (
        "import sys; from click.testing import CliRunner; from webhook.cli.lint import command\n"
        f"assert CliRunner().invoke(command, [{str(tmp_path)!r}]).exit_code == 0\n"
        "print(*{'kubernetes', 'aiohttp', 'asyncio', 'yaml'} & {*sys.modules})"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert ended.stdout == "\n"


@pytest.mark.parametrize(("environment", "colored"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_a_terminal_gets_colour_unless_it_asks_not_to(
    tmp_path: Path, environment: dict[str, str], colored: bool
) -> None:
    write(tmp_path, {"a.tide": WARNED})
    reading, writing = os.openpty()
    usual = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    subprocess.run(
        [sys.executable, "-m", "webhook.cli.main", "lint", tmp_path],
        cwd=ROOT, env=usual | environment, stdout=writing, stderr=subprocess.PIPE, check=True,
    )  # fmt: skip
    shown = os.read(reading, 4096)
    os.close(writing)
    os.close(reading)
    assert (b"\x1b[1;33mwarning[TG308]" in shown) == colored
    assert b"TG308" in shown
