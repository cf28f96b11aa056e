"""Every format says the same about the same policy, in a form that its readers accept."""

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

from tests.cli.test_lint import PLACES, TWELVE, lint, write
from webhook.cli.exits import Exit
from webhook.cli.reports.report import FORMATS

SCHEMA = json.loads((Path(__file__).parent / "sarif_schema.json").read_text(encoding="utf-8"))
MIXED = {
    "a b.tide": 'queue q { quota { cpu 1 } }\nflavor spot { }\nflavor "x" { }\n',
    "clean.tide": "queue p { quota { cpu 1 } }\n",
    "odd.tide": "# bell \x07, 100% sure: yes\n# tidegate: ignore[TG308]\nqueue r { quota { memory 64 } }\n",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path, MIXED)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def output(form: str, *arguments: object) -> str:
    result = lint("--format", form, *(arguments or (".",)))
    assert result.exit_code == Exit.FOUND
    return result.stdout


def test_concise_is_a_line_a_finding(tmp_path: Path) -> None:
    write(tmp_path, TWELVE)
    lines = output("concise", tmp_path).splitlines()
    found = [re.match(rf"{tmp_path}/(\S+): error\[(TG\d+)\] \S", line) for line in lines]
    assert [match.groups() for match in found if match] == PLACES


def test_json_holds_all_that_is_known(folder: Path) -> None:
    document = json.loads(output("json"))
    assert document["files"] == ["./a b.tide", "./clean.tide", "./odd.tide"]
    assert sum(document["counts"].values()) == len(document["problems"])
    for problem in document["problems"]:
        text = MIXED[Path(problem["path"]).name]
        start = sum(len(line) for line in text.splitlines(keepends=True)[: problem["line"] - 1])
        assert problem["start"] == start + problem["column"] - 1
    quoted = next(p for p in document["problems"] if p["code"] == "TG015")
    assert (quoted["fix"]["text"], quoted["fix"]["safe"]) == ("x", True)


def regions(node: Any) -> list[dict[str, int]]:
    if isinstance(node, list):
        return [region for part in node for region in regions(part)]
    if not isinstance(node, dict):
        return []
    own = [node] if "startLine" in node else []
    return own + [region for part in node.values() for region in regions(part)]


def test_sarif_is_valid_and_its_places_are_right(folder: Path) -> None:
    log = json.loads(output("sarif"))
    jsonschema.Draft202012Validator(SCHEMA).validate(log)
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    for result in run["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert uri in ("a%20b.tide", "odd.tide")
    for region in regions(run["results"]):
        assert (region["startLine"], region["startColumn"]) <= (
            region["endLine"],
            region["endColumn"],
        )
    assert len({r["partialFingerprints"]["tidegate/v1"] for r in run["results"]}) == len(
        run["results"]
    )


def test_sarif_carries_fixes_that_cure(folder: Path) -> None:
    (run,) = json.loads(output("sarif"))["runs"]
    (result,) = [r for r in run["results"] if r["ruleId"] == "TG015"]
    (replacement,) = result["fixes"][0]["artifactChanges"][0]["replacements"]
    region, text = replacement["deletedRegion"], MIXED["a b.tide"]
    start = region["charOffset"]
    assert text[start : start + region["charLength"]] == '"x"'
    assert replacement["insertedContent"] == {"text": "x"}


def test_junit_opens_and_agrees_with_the_exit_code(folder: Path) -> None:
    suites = ElementTree.fromstring(output("junit"))
    assert suites.tag == "testsuites"
    for suite in suites:
        cases = suite.findall("testcase")
        assert int(suite.get("tests", "")) == len(cases) > 0
        assert int(suite.get("failures", "")) == len(suite.findall("testcase/failure"))
    assert [suite.get("name") for suite in suites] == ["./a b.tide", "./clean.tide", "./odd.tide"]
    kinds = [failure.get("type") for failure in suites.iter("failure")]
    assert set(kinds) == {"error"}
    assert int(suites.get("failures", "")) == len(kinds)
    assert suites.find(".//system-out") is not None


def test_github_annotations_hit_the_line(folder: Path) -> None:
    lines = output("github").splitlines()
    for line in lines:
        match = re.fullmatch(r"::(error|warning|notice) (.*?)::(.*)", line)
        assert match is not None
        given = dict(part.split("=", 1) for part in match[2].split(","))
        assert (folder / given["file"]).exists()
        shown = (folder / given["file"]).read_text().splitlines()[int(given["line"]) - 1]
        assert shown[int(given["col"]) - 1 : int(given["endColumn"]) - 1]
        assert "%0A" not in given["title"]
    assert any(
        line.startswith("::error file=a b.tide,line=3,endLine=3,col=8,endColumn=11,")
        for line in lines
    )


@pytest.mark.parametrize("form", FORMATS)
def test_a_clean_policy_is_said_in_every_format(form: str, tmp_path: Path) -> None:
    write(tmp_path, {"a.tide": MIXED["clean.tide"]})
    result = lint("--format", form, tmp_path)
    assert result.exit_code == Exit.OK
    assert result.stderr == "1 file, no problems\n"
    assert (result.stdout == "") == (form in ("text", "concise", "github"))


def test_what_is_selected_and_ignored(folder: Path) -> None:
    def found(*arguments: str) -> set[str]:
        report = json.loads(lint("--format", "json", ".", *arguments).stdout)
        return {problem["code"] for problem in report["problems"]}

    errors = {"TG001", "TG015"}
    (folder / "a b.tide").write_text("queue q { quota { memory 1 } }\nflavor spot { }\n")
    (folder / "odd.tide").write_text("# tidegate: ignore[TG308]\nqueue r { quota { cpu 1 } }\n")
    assert found() == {"TG014", "TG308", "TG703"}
    assert found("--select", "TG3") == {"TG308"}
    assert found("--select", "TG014,TG703") == {"TG014", "TG703"}
    assert found("--ignore", "tg014", "--ignore", "TG7") == {"TG308"}
    write(folder, MIXED)
    assert found("--select", "TG3", "--ignore", "TG0") == errors


@pytest.mark.parametrize(
    "arguments",
    [["--select", "TG999"], ["--select", "X"], ["--ignore", "TG104"], ["--format", "yaml"],
     ["--unsafe-fixes"], ["--statistics", "--format", "sarif"]],
)  # fmt: skip
def test_options_that_cannot_be_meant_are_wrong_usage(folder: Path, arguments: list[str]) -> None:
    result = lint(".", *arguments)
    assert (result.exit_code, result.stdout) == (Exit.USAGE, "")
    assert "rror: " in result.stderr


def test_statistics_count_by_code(tmp_path: Path) -> None:
    write(tmp_path, TWELVE)
    lines = lint("--statistics", tmp_path).stdout.splitlines()
    assert lines[0] == "    2  TG004  error    word that is not valid here"
    assert sum(int(line.split()[0]) for line in lines) == len(PLACES)
    listed = json.loads(lint("--statistics", "--format", "json", tmp_path).stdout)
    assert listed[0] == {"code": "TG004", "count": 2, "severity": "error"}
