"""A rule is a function, a page and a test: every code has a page, whose examples fire and do not fire."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from webhook.cli.exits import Exit
from webhook.cli.main import program
from webhook.language.check import lint, lint_parsed
from webhook.language.codes import BY_TESTS, CODES, ON_REQUEST
from webhook.language.pages import page
from webhook.language.parse import parse
from webhook.language.scenes import Scene
from webhook.model.kinds import Object
from webhook.rehearsal.trials import BadFile, try_all

SECTIONS = ["What it does", "Why it is bad", "Avoid", "Prefer"]
FILE = re.compile(r"(?m)^# file: (\S+)\n")


def sections(code: str) -> dict[str, str]:
    """The parts of a page by their titles."""
    parts = re.split(r"(?m)^## (.+)\n", page(code))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def example(code: str, title: str) -> list[tuple[str, str]]:
    """The files of an example: one, or several that are parted by their names."""
    found = re.search(r"```tide\n(.*?)```", sections(code)[title], re.DOTALL)
    assert found is not None, (code, title)
    parts = FILE.split(found[1])
    if len(parts) == 1:
        return [("x.tide", found[1])]
    return list(zip(parts[1::2], parts[2::2], strict=True))


def codes(files: list[tuple[str, str]], *, form: bool = False) -> list[str]:
    return [found.code for found in lint(files, form=form)[1]]


def told(files: list[tuple[str, str]]) -> list[str]:
    """What lint finds, and what is found when the tests are run."""
    parsed = [parse(text, path=path) for path, text in files]
    policy, found = lint_parsed(parsed)
    assert policy is not None
    trials = try_all(policy, [each.file for each in parsed], no_file)
    return [each.code for each in (*found, *trials.problems, *trials.untested)]


def no_file(scene: Scene) -> Object:
    raise BadFile(f"{scene.submission.file}: no such file")


@pytest.mark.parametrize("code", sorted(CODES))
def test_a_code_has_a_page_whose_examples_are_true(code: str) -> None:
    severity, summary = CODES[code]
    text = page(code)
    assert text.startswith(f"# {code}: {summary}\n\nA")
    assert severity.value in text.split("\n")[2]
    assert list(sections(code))[:4] == SECTIONS
    if code in BY_TESTS:
        assert codes(example(code, "Avoid")) == []
        assert set(told(example(code, "Avoid"))) == {code}
        assert told(example(code, "Prefer")) == []
        return
    asked = code in ON_REQUEST
    assert set(codes(example(code, "Avoid"), form=asked)) == {code}
    assert codes(example(code, "Prefer"), form=asked) == []


def test_pages_are_about_codes_that_exist_and_lead_to_such() -> None:
    folder = Path(__file__).parents[2] / "webhook" / "language" / "pages"
    pages = {path.stem for path in folder.glob("*.md")}
    assert pages == set(CODES)
    for code in pages:
        assert set(re.findall(r"\]\((TG\d+)\.md\)", page(code))) <= pages


def test_the_index_lists_them_all() -> None:
    text = (Path(__file__).parents[2] / "docs" / "rules" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"(?m)^\| \[(TG\d+)\]\(\S+/pages/(TG\d+)\.md\) \| (\w+) \| (.*) \|$", text)
    assert rows == [(c, c, code.severity.value, code.summary) for c, code in sorted(CODES.items())]


def test_explain_shows_a_page_without_network() -> None:
    result = CliRunner().invoke(program, ["explain", "tg104"])
    assert (result.exit_code, result.stdout) == (Exit.OK, page("TG104"))
    listed = CliRunner().invoke(program, ["explain"]).stdout.splitlines()
    assert [line.split()[0] for line in listed] == sorted(CODES)


def test_a_code_that_does_not_exist_could_not_be_explained() -> None:
    result = CliRunner().invoke(program, ["explain", "TG1044"])
    assert (result.exit_code, result.stdout) == (Exit.USAGE, "")
    assert result.stderr == "error: there is no code TG1044, did you mean `TG104`?\n"
