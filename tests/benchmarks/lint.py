"""What linting costs beside parsing, and a start of the command beside that of its parser: ``make bench`` prints both.

Every run is a process of its own, as in a commit hook; processor time counts, the least of some, for
the clock on the wall measures what else the machine does. No test asserts a time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import pytest

FILES, LINES, RUNS = 100, 100, 3
LINT = [sys.executable, "-m", "webhook.cli.main", "lint"]
PARSE = """
import sys
from webhook.language.parse import parse
from webhook.service.policy_files import read_policy_files
for file in read_policy_files(sys.argv[1:]):
    assert not parse(file.text, path=file.path).problems
"""


def team(number: int) -> str:
    """One file of a hundred lines, as one of many teams would write it."""
    name = f"team-{number}"
    lines = [f"# the queues of {name}", f"cohort {name} {{", "  pool spot { cpu 100 }"]
    for queue in range(8):
        lines += [
            f"  queue {name}-{queue} {{",
            f"    quota a100 {{ gpu {queue + 1} borrow 16, memory 512Gi }}",
            "    quota spot { cpu 500 }",
            "    order first-fit",
            "  }",
        ]
    lines.append("}")
    for queue in range(8):
        condition = f'namespace.startsWith("{name}-{queue}-") && (requests.gpu > 0 || pods > 4)'
        lines.append(f"route {name}-r{queue} for Job, JobSet when {condition} to {name}-{queue}")
    for rule in range(16):
        bound = f'"{name}" in labels && labels["{name}"] == "{rule}" && requests.gpu > {rule}'
        lines += [
            f"deny {name}-d{rule} for Job when {bound} {{",
            '  message "at most {pods} pods"',
            "}",
        ]
    return "\n".join([*lines, *["# the end"] * (LINES - len(lines))]) + "\n"


HEAD = "resource gpu = nvidia.com/gpu\nflavor a100 { }\nflavor spot { }\n"


def best(command: list[str]) -> float:
    """The least processor time of some runs, in seconds."""
    times = []
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    for _ in range(RUNS):
        before = getrusage(RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True, env=usual)
        after = getrusage(RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def compared(what: str, mine: list[str], against: str, other: list[str], bound: float) -> None:
    """Print one line of the table."""
    here, there = best(mine), best(other)
    print(
        f"{what:<34} {here:6.2f} s   {against:<24} {there:6.2f} s   {here / there:4.1f}x (at most {bound:g}x)"
    )


@pytest.mark.bench
def test_lint_beside_parsing_and_a_start_beside_its_parser() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for number in range(FILES):
            text = team(number) if number else HEAD + team(number)
            (Path(folder) / f"{number:03}.tide").write_text(text, encoding="utf-8")
        small = Path(folder) / "small" / "a.tide"
        small.parent.mkdir()
        small.write_text("queue q { quota { cpu 1 } }\nroute to q\n", encoding="utf-8")
        many = [str(path) for path in sorted(Path(folder).glob("*.tide"))]
        print()
        parsing = [sys.executable, "-c", PARSE, *many]
        compared(f"lint {FILES} files of {LINES} lines", [*LINT, *many], "parsing them", parsing, 3)
        lark = [sys.executable, "-c", "import lark"]
        compared("lint one small file", [*LINT, str(small)], 'python -c "import lark"', lark, 3)


if __name__ == "__main__":
    test_lint_beside_parsing_and_a_start_beside_its_parser()
