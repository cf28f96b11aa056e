"""A session as an editor has it, against the process an editor starts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.editor.client import Client, Failed, server
from webhook.cli.editor.server import DEBOUNCE_SECONDS
from webhook.language.format import format_text

QUEUES = """\
resource gpu = nvidia.com/gpu
flavor a100 { node "kind" = "a100" }
cohort research {
  queue vision { quota a100 { gpu 64 borrow 16 } }
  queue speech { quota a100 { gpu 32 } }
}
"""
RULES = """\
route vision when namespace.startsWith("vision-") to vision
deny big when queue == "vision" && requests.gpu > 80 { message "no {requests.gpu}" }
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "queues.tide").write_text(QUEUES)
    (tmp_path / "rules.tide").write_text(RULES)
    (tmp_path / ".hidden.tide").write_text("nonsense\n")
    return tmp_path


@pytest.fixture
def client() -> Iterator[Client]:
    with server() as (client, _):
        yield client


def spot(text: str, word: str, *, into: int = 1) -> tuple[int, int]:
    """Line and character of a place in a word."""
    before = text[: text.index(word) + into]
    return before.count("\n"), len(before.rpartition("\n")[2])


def applied(text: str, edits: list[dict[str, Any]]) -> str:
    """The text after edits, as an editor applies them (ASCII only)."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))

    def offset(position: dict[str, int]) -> int:
        return starts[position["line"]] + position["character"]

    for edit in sorted(edits, key=lambda each: -offset(each["range"]["start"])):
        where = edit["range"]
        text = text[: offset(where["start"])] + edit["newText"] + text[offset(where["end"]) :]
    return text


def test_open_break_complete_hover_rename_fix_format(folder: Path) -> None:
    with server() as (client, process):
        abilities = client.start(folder)
        assert {
            "hoverProvider",
            "completionProvider",
            "definitionProvider",
            "referencesProvider",
            "documentFormattingProvider",
        } <= {*abilities}
        queues, rules = client.open(folder / "queues.tide"), client.open(folder / "rules.tide")
        assert client.diagnostics(queues) == client.diagnostics(rules) == []

        # break: a name that nobody declared, found by what stands in the other file
        broken = RULES.replace("to vision", "to vison")
        client.change(rules, broken)
        [found] = client.diagnostics(rules)
        assert (found["code"], found["severity"], found["source"]) == ("TG104", 1, "tidegate")
        assert found["message"] == "no queue named `vison`\nhelp: did you mean `vision`?"
        assert found["relatedInformation"][0]["location"]["uri"] == queues
        line, character = spot(broken, "vison", into=0)
        assert found["range"]["start"] == {"line": line, "character": character}

        # complete, in the place of the mistake
        offers = client.ask("completion", rules, line, character + 2)["items"]
        assert [(each["label"], each["textEdit"]["range"]["start"]) for each in offers] == [
            ("vision", {"line": line, "character": character})
        ]

        # hover
        shown = client.ask("hover", queues, *spot(QUEUES, "gpu 64"))["contents"]["value"]
        assert "- own: 64" in shown
        assert "- most it could ever use: 80, by borrowing what others leave" in shown

        # definition and references, from one file to the other
        client.change(rules, RULES)
        assert client.diagnostics(rules) == []
        at = spot(RULES, "to vision", into=4)
        [declared] = client.ask("definition", rules, *at)
        assert (declared["uri"], declared["range"]["start"]["line"]) == (queues, 3)
        everywhere = client.ask("references", rules, *at, context={"includeDeclaration": True})
        assert sorted(each["uri"] for each in everywhere) == [queues, rules, rules]

        # rename
        where = client.ask("prepareRename", rules, *at)
        assert where["end"]["character"] - where["start"]["character"] == len("vision")
        edit = client.ask("rename", rules, *at, newName="images")
        assert applied(QUEUES, edit["changes"][queues]) == QUEUES.replace("vision", "images")
        renamed = applied(RULES, edit["changes"][rules])
        assert renamed == RULES.replace("to vision", "to images").replace('"vision"', '"images"')
        with pytest.raises(Failed, match="a queue named `speech` is declared twice"):
            client.ask("rename", rules, *at, newName="speech")

        # fix
        wrong = "queu extra { quota { cpu 1 } }\n"
        client.change(queues, QUEUES + wrong)
        [found] = client.diagnostics(queues)
        actions = client.request(
            "textDocument/codeAction",
            {
                "textDocument": {"uri": queues},
                "range": found["range"],
                "context": {"diagnostics": []},
            },
        )
        assert [each["title"] for each in actions] == ["replace `queu` by `queue`"]
        fixed = applied(QUEUES + wrong, actions[0]["edit"]["changes"][queues])
        assert fixed == QUEUES + wrong.replace("queu ", "queue ")
        client.change(queues, fixed)
        assert client.diagnostics(queues) == []

        # format, as typed and not as saved
        form: dict[str, Any] = {
            "textDocument": {"uri": queues},
            "options": {"tabSize": 8, "insertSpaces": False},
        }
        typed = fixed + "queue   b{quota {cpu   1}}  # rest\n"
        client.change(queues, typed)
        assert client.diagnostics(queues) == []
        formatted = applied(typed, client.request("textDocument/formatting", form))
        assert formatted == format_text(typed, path="queues.tide").text != typed
        client.change(queues, fixed + "queue {\n")
        assert client.diagnostics(queues) != []
        assert not client.request("textDocument/formatting", form)

        client.shut_down()
        assert process.wait() == 0
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert client.registered == ["workspace/didChangeWatchedFiles"]


def test_typing_fast_is_answered_once(client: Client, folder: Path) -> None:
    assert DEBOUNCE_SECONDS > 0
    client.start(folder)
    rules = client.open(folder / "rules.tide")
    assert client.diagnostics(rules) == []
    for at in range(1, 9):
        client.change(rules, RULES + "quo"[: at % 4])
    client.change(rules, RULES)
    assert client.diagnostics(rules) == []
    published = [m for m in client.notified if m["method"] == "textDocument/publishDiagnostics"]
    assert published == []


def test_columns_are_counted_as_the_editor_counts(client: Client, folder: Path) -> None:
    client.start(folder)
    text = 'deny x when name == "🚀🚀" && oops > 1 { message "m" }\n'
    other = client.open(folder / "other.tide", text)
    [found] = client.diagnostics(other)
    units = len(text[: text.index("oops")].encode("utf-16-le")) // 2
    assert found["range"]["start"] == {"line": 0, "character": units}
    start = {"line": 0, "character": units}
    client.change(other, "pods", {"start": start, "end": {"line": 0, "character": units + 4}})
    assert client.diagnostics(other) == []


def test_another_encoding_can_be_agreed_upon(client: Client, folder: Path) -> None:
    assert client.start(folder, ["utf-32"])["positionEncoding"] == "utf-32"
    text = 'deny x when name == "🚀🚀" && oops > 1 { message "m" }\n'
    [found] = client.diagnostics(client.open(folder / "other.tide", text))
    assert found["range"]["start"]["character"] == text.index("oops")


def test_what_is_on_disk_counts_until_it_is_open(client: Client, folder: Path) -> None:
    client.start(folder)
    rules = client.open(folder / "rules.tide")
    assert client.diagnostics(rules) == []
    (folder / "queues.tide").write_text(QUEUES.replace("vision", "images"))
    changed = {"changes": [{"uri": (folder / "queues.tide").as_uri(), "type": 2}]}
    client.notify("workspace/didChangeWatchedFiles", changed)
    assert [each["code"] for each in client.diagnostics(rules)] == ["TG104"]
    queues = client.open(folder / "queues.tide", QUEUES)  # the buffer wins
    assert client.diagnostics(queues) == client.diagnostics(rules) == []


def test_a_file_outside_of_the_folder_is_a_policy_of_its_own(
    client: Client, folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    client.start(folder)
    alone = tmp_path_factory.mktemp("else") / "alone.tide"
    [found] = client.diagnostics(client.open(alone, "route to vision\n"))
    assert found["code"] == "TG104"


def test_it_ends_with_the_editor_that_started_it(folder: Path) -> None:
    with server() as (client, process):
        client.start(folder)
        assert process.stdin is not None
        process.stdin.close()  # an editor that crashed says no goodbye
        assert process.wait() is not None


def test_places_that_are_none_are_no_trouble(client: Client, folder: Path) -> None:
    client.start(folder)
    empty = client.open(folder / "empty.tide", "")
    assert client.diagnostics(empty) == []
    for what in ("hover", "definition", "prepareRename"):
        assert not client.ask(what, empty, 7, 7)
    assert client.ask("rename", empty, 0, 0, newName="x") is None
    labels = {each["label"] for each in client.ask("completion", empty, 0, 0)["items"]}
    assert {"queue", "route"} <= labels
