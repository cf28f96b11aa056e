"""A client of the language server that speaks raw JSON-RPC to a process, as an editor does; nothing of ours in it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
ABILITIES = {
    "workspace": {
        "didChangeWatchedFiles": {"dynamicRegistration": True},
        "codeLens": {"refreshSupport": True},
    },
    "textDocument": {"publishDiagnostics": {"versionSupport": True, "relatedInformation": True}},
}


class Failed(Exception):
    """The server answered with an error."""


class Client:
    """One conversation. Every wait ends by an answer; a server that stays silent ends by the test's timeout."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._in, self._out = process.stdin, process.stdout
        self._number = 0
        self._versions: dict[str, int] = {}
        self.registered: list[str] = []
        self.asked: list[str] = []
        self.notified: list[dict[str, Any]] = []

    def request(self, method: str, params: Any = None) -> Any:
        """Ask, and wait for the answer; what comes in between is kept."""
        self._number += 1
        number = self._number
        self._send({"id": number, "method": method, "params": params})
        while True:
            message = self._take()
            if message.get("id") == number and "method" not in message:
                if "error" in message:
                    raise Failed(message["error"]["message"])
                return message["result"]

    def notify(self, method: str, params: Any) -> None:
        """Tell, without an answer."""
        self._send({"method": method, "params": params})

    def start(self, folder: Path, encodings: list[str] | None = None) -> Any:
        """The greeting; returns what the server can do."""
        general = {"general": {"positionEncodings": encodings}} if encodings else {}
        folders = [{"uri": folder.as_uri(), "name": folder.name}]
        params = {
            "processId": None, "rootUri": folder.as_uri(), "workspaceFolders": folders,
            "capabilities": ABILITIES | general,
        }  # fmt: skip
        answer = self.request("initialize", params)
        self.notify("initialized", {})
        return answer["capabilities"]

    def open(self, path: Path, text: str | None = None) -> str:
        """Open a file, with its text on disk or another; returns its address."""
        uri = path.as_uri()
        self._versions[uri] = 1
        text = path.read_text(encoding="utf-8") if text is None else text
        document = {"uri": uri, "languageId": "tide", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})
        return uri

    def change(self, uri: str, text: str, where: Any = None) -> None:
        """Type: the whole text, or only a range of it."""
        self._versions[uri] += 1
        change = {"text": text} | ({"range": where} if where is not None else {})
        document = {"uri": uri, "version": self._versions[uri]}
        params = {"textDocument": document, "contentChanges": [change]}
        self.notify("textDocument/didChange", params)

    def ask(self, what: str, uri: str, line: int, character: int, **more: Any) -> Any:
        """A question about a place."""
        position = {"line": line, "character": character}
        return self.request(
            f"textDocument/{what}", {"textDocument": {"uri": uri}, "position": position, **more}
        )

    def diagnostics(self, uri: str) -> list[dict[str, Any]]:
        """Those of the version that was sent last."""
        while True:
            for at, message in enumerate(self.notified):
                params = message["params"]
                if (
                    message["method"] == "textDocument/publishDiagnostics"
                    and params["uri"] == uri
                    and params.get("version") == self._versions.get(uri)
                ):
                    earlier = [m for m in self.notified[:at] if m["params"].get("uri") != uri]
                    self.notified[: at + 1] = earlier
                    found: list[dict[str, Any]] = params["diagnostics"]
                    return found
            self._take()

    def save(self, uri: str) -> None:
        """Tell that a file was saved."""
        self.notify("textDocument/didSave", {"textDocument": {"uri": uri}})

    def lenses(self, uri: str) -> list[tuple[int, str]]:
        """Line and title of what stands above the lines of a file."""
        found = self.request("textDocument/codeLens", {"textDocument": {"uri": uri}})
        return [(each["range"]["start"]["line"], each["command"]["title"]) for each in found]

    def shut_down(self) -> None:
        """End in good order."""
        self.request("shutdown")
        self._send({"method": "exit"})

    def _send(self, message: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self._in.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self._in.flush()

    def _take(self) -> dict[str, Any]:
        """The next message; questions of the server are answered."""
        length = 0
        while line := self._out.readline().strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        assert length, "the server is gone"
        message: dict[str, Any] = json.loads(self._out.read(length))
        if "method" in message and "id" in message:
            asked = message.get("params") or {}
            self.registered += [each["method"] for each in asked.get("registrations", ())]
            self.asked.append(message["method"])
            self._send({"id": message["id"], "result": None})
        elif "method" in message:
            self.notified.append(message)
        return message


@contextmanager
def server() -> Iterator[tuple[Client, subprocess.Popen[bytes]]]:
    """``tidegate lsp`` as a process."""
    process = subprocess.Popen(
        [sys.executable, "-m", "webhook.cli.main", "lsp"],
        cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    with process:
        try:
            yield Client(process), process
        finally:
            process.kill()
