"""What docs/editors.md tells people to copy, and the extension beside it, as far as they can be held to the code."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from webhook.cli.editor.positions import ENCODINGS
from webhook.cli.main import COMMANDS

ROOT = Path(__file__).parent.parent
EDITORS = ROOT / "editors"
PAGE = (ROOT / "docs" / "editors.md").read_text()
EXTENSION = json.loads((EDITORS / "package.json").read_text())
STARTED = ["tidegate", "lsp"]


def block(language: str) -> str:
    [found] = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


def test_every_editor_starts_the_command_there_is() -> None:
    assert "lsp" in COMMANDS
    helix = tomllib.loads(block("toml"))
    server = helix["language-server"]["tidegate"]
    assert [server["command"], *server["args"]] == STARTED
    [language] = helix["language"]
    assert language["language-servers"] == ["tidegate"]
    assert language["file-types"] == ["tide"]
    assert re.findall(r"cmd = \{ (.*?) \}", block("lua")) == ['"tidegate", "lsp"']
    assert (
        EXTENSION["contributes"]["configuration"]["properties"]["tide.command"]["default"]
        == STARTED
    )
    assert json.loads(block("json"))["tide.command"][1:] == STARTED[1:]


def test_the_extension_names_files_that_are_there() -> None:
    [language], [grammar] = (
        EXTENSION["contributes"]["languages"],
        EXTENSION["contributes"]["grammars"],
    )
    for name in (EXTENSION["main"], language["configuration"], grammar["path"]):
        assert (EDITORS / name).is_file()
    scope = json.loads((EDITORS / grammar["path"]).read_text())["scopeName"]
    assert grammar["scopeName"] == scope == tomllib.loads(block("toml"))["language"][0]["scope"]
    assert (grammar["language"], language["extensions"]) == (language["id"], [".tide"])
    built = f"{EXTENSION['name']}-{EXTENSION['version']}.vsix"
    assert f"--install-extension {built}\n" in PAGE


def test_the_encodings_of_the_page_are_those_of_the_server() -> None:
    assert {name.upper() for name in ENCODINGS} == set(re.findall(r"UTF-\d+", PAGE))


STUBS = """
const Module = require("node:module");
const load = Module._load;
const started = [];
class LanguageClient {
  constructor(id, name, server, client) { started.push(server, client); }
  start() { return Promise.resolve(); }
  stop() { return Promise.resolve(); }
}
const workspace = { getConfiguration: (section) => ({ get: (key) => (SETTINGS)[`${section}.${key}`] }) };
Module._load = (name, ...rest) =>
  ({ vscode: { workspace }, "vscode-languageclient/node": { LanguageClient } })[name] ?? load(name, ...rest);
const extension = require(PATH);
extension.activate().then(() => extension.deactivate()).then(() => console.log(JSON.stringify(started)));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_the_extension_starts_what_its_settings_say() -> None:
    settings = {"tide.command": ["/opt/tidegate", "lsp"]}
    script = STUBS.replace("SETTINGS", json.dumps(settings)).replace(
        "PATH", json.dumps(str(EDITORS / EXTENSION["main"]))
    )
    ended = subprocess.run(["node", "-"], input=script, check=True, capture_output=True, text=True)
    assert json.loads(ended.stdout) == [
        {"command": "/opt/tidegate", "args": ["lsp"]},
        {"documentSelector": [{"language": "tide"}]},
    ]
