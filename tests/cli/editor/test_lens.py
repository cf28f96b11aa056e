"""Above each test stands how it ended: in a session, and what the line says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.editor.client import Client, Failed, server
from webhook.cli.editor.lens import FIX_FIRST, LONGEST_TITLE, lenses, run_tests, summary
from webhook.cli.editor.workspace import Workspace, read_workspace

QUEUES = "queue vision { quota { cpu 4 } }\nqueue speech { quota { cpu 4 } }\nroute to vision\n"
TESTS = """\
test "where it goes" {
  submit Job in "a" requests { cpu 1 }
  expect queue vision
}

test "how much" {
  submit Job in "a" requests { cpu 5 }
  expect queue speech
  expect starts
}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "queues.tide").write_text(QUEUES)
    (tmp_path / "tests.tide").write_text(TESTS)
    return tmp_path


@pytest.fixture
def client(folder: Path) -> Iterator[Client]:
    with server() as (client, _):
        client.start(folder)
        yield client


def run(client: Client, uri: str) -> str:
    asked = {"command": "tidegate.runTests", "arguments": [uri]}
    said: str = client.request("workspace/executeCommand", asked)
    return said


def test_a_click_runs_them_and_shows_what_does_not_hold(client: Client, folder: Path) -> None:
    uri = client.open(folder / "tests.tide")
    assert client.diagnostics(uri) == []
    assert client.lenses(uri) == [(0, "run test"), (5, "run test")]
    assert run(client, uri) == "2 tests, 1 did not pass"
    found = client.diagnostics(uri)
    assert [(each["code"], each["range"]["start"]["line"]) for each in found] == [
        ("TG604", 7),
        ("TG604", 8),
    ]
    (first, passed), (second, failed) = client.lenses(uri)
    assert (first, passed, second) == (0, "✓ passed", 5)
    assert failed.startswith("✗ expected queue `speech`, but ")
    assert failed.endswith(" (and 1 more)")
    assert "workspace/codeLens/refresh" in client.asked


def test_typing_forgets_and_saving_runs(client: Client, folder: Path) -> None:
    uri = client.open(folder / "tests.tide")
    run(client, uri)
    mended = TESTS.replace("cpu 5", "cpu 4").replace("speech", "vision")
    client.change(uri, mended)
    assert client.diagnostics(uri) == []
    assert client.lenses(uri) == [(0, "run test"), (5, "run test")]
    client.save(uri)
    while client.lenses(uri) != [(0, "✓ passed"), (5, "✓ passed")]:
        pass  # each question waits for an answer; the test's timeout ends a server that never runs them


def test_a_change_in_another_file_counts(client: Client, folder: Path) -> None:
    tests, queues = client.open(folder / "tests.tide"), client.open(folder / "queues.tide")
    client.change(queues, QUEUES.replace("cpu 4", "cpu 8").replace("to vision", "to speech"))
    assert run(client, queues) == "2 tests, 1 did not pass"
    assert [title[0] for _, title in client.lenses(tests)] == ["✗", "✓"]
    assert client.lenses(queues) == []


def test_a_policy_with_errors_has_nothing_to_run(client: Client, folder: Path) -> None:
    uri = client.open(folder / "tests.tide", TESTS.replace("vision", "vison"))
    assert run(client, uri) == FIX_FIRST
    assert client.lenses(uri) == []


def test_a_command_without_its_argument_is_an_error(client: Client, folder: Path) -> None:
    asked = {"command": "tidegate.runTests", "arguments": []}
    with pytest.raises(Failed):
        client.request("workspace/executeCommand", asked)
    assert client.lenses(client.open(folder / "tests.tide")) != []


def read(text: str) -> Workspace:
    return read_workspace([("policy.tide", text)])


def titles(text: str) -> list[str]:
    workspace = read(text)
    return [each.title for each in lenses(workspace, "policy.tide", run_tests(workspace))]


def test_a_file_that_is_missing_is_named() -> None:
    [title] = titles(QUEUES + 'test "x" {\n  submit file "job.yaml"\n  expect queue vision\n}\n')
    assert title == "✗ job.yaml: no such file or directory"


def test_a_title_stays_a_line_of_bounded_length() -> None:
    text = QUEUES + f'test "x" {{\n  submit file "{"j" * 300}.yaml"\n  expect queue vision\n}}\n'
    [title] = titles(text)
    assert len(title) == LONGEST_TITLE
    assert title.endswith("…")


def test_two_tests_of_one_name_are_an_error_already() -> None:
    one = 'test "x" {\n  submit Job in "a" requests { cpu 1 }\n  expect queue vision\n}\n'
    assert run_tests(read(QUEUES + one + one)) is None


def test_the_summary_counts() -> None:
    one = 'test "x" {\n  submit Job in "a" requests { cpu 1 }\n  expect queue vision\n}\n'
    assert summary(run_tests(read(QUEUES + one))) == "1 test passed"
