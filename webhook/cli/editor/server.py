"""The language server: it keeps buffers and debounces, and hands every question to the functions beside it.

Diagnostics follow typing at a distance (``DEBOUNCE_SECONDS``), everything else answers from the texts as they are.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from dataclasses import dataclass, field
from typing import Final, Protocol

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import json_rpc

from webhook import __version__
from webhook.cli.editor.completion import complete
from webhook.cli.editor.hover import hover
from webhook.cli.editor.lens import lenses, run_tests, summary
from webhook.cli.editor.names import Use, name_at, places
from webhook.cli.editor.protocol import RUN_TESTS, Writer, path_of, uri_of
from webhook.cli.editor.rename import Refused, rename
from webhook.cli.editor.roots import Texts, read_texts, root_of
from webhook.cli.editor.workspace import Workspace, read_workspace
from webhook.language.format import NotProven, format_text
from webhook.language.policy import Policy
from webhook.language.problems import Problem
from webhook.rehearsal.trials import Trials

DEBOUNCE_SECONDS: Final = 0.15
REQUEST_FAILED: Final = -32803
"""The protocol's code for a request that is well formed and cannot be done."""


@dataclass(slots=True)
class _Root:
    """One policy: what was read last, and the last one without errors."""

    texts: Texts | None = None
    workspace: Workspace | None = None
    last: Policy | None = None
    shown: set[str] = field(default_factory=set)
    """Files that have diagnostics in the editor."""
    trouble: str = ""
    trials: tuple[Workspace, Trials | None] | None = None
    """The tests as they ended, and the texts they were run on."""
    timer: asyncio.TimerHandle | None = None

    def unmet(self) -> tuple[Problem, ...]:
        """What the tests of these very texts found."""
        if self.trials is None or self.trials[0] is not self.workspace or self.trials[1] is None:
            return ()
        return self.trials[1].problems


class Server(LanguageServer):
    """A language server with the policies that are open in it."""

    def __init__(self) -> None:
        super().__init__("tidegate", __version__)
        self._roots: dict[str, _Root] = {}

    def changed(self, uri: str, *, at_once: bool = False) -> None:
        """A file is not what it was: look at its policy soon."""
        self._schedule(self._root(path_of(uri)), at_once=at_once)

    def disk_changed(self) -> None:
        """Something beside the buffers may have changed."""
        for root in self._roots:
            self._schedule(root)

    def read(self, uri: str) -> tuple[Writer, str]:
        """The policy of a file as it is now, and the file's path."""
        path = path_of(uri)
        workspace = self._read(self._root(path))
        return Writer(workspace, str(getattr(self._encoding, "value", self._encoding))), path

    def last_policy(self, uri: str) -> Policy | None:
        """The last policy without errors."""
        return self._roots[self._root(path_of(uri))].last

    def trials(self, uri: str) -> Trials | None:
        """The policy's tests as they end now; None where nobody has run them since the last change."""
        root = self._root(path_of(uri))
        tried = self._roots[root].trials
        return tried[1] if tried is not None and tried[0] is self._read(root) else None

    async def run_tests(self, uri: str) -> str:
        """Run all tests of the policy of a file, and show what does not hold; returns how they ended, in a line."""
        root = self._root(path_of(uri))
        workspace = self._read(root)
        trials = await asyncio.to_thread(run_tests, workspace)
        state = self._roots[root]
        if state.workspace is workspace:  # else somebody has gone on typing
            state.trials = (workspace, trials)
            self._publish(root)
            self._refresh_lenses()
        return summary(trials)

    def _refresh_lenses(self) -> None:
        of_workspace = self.client_capabilities.workspace
        lens = of_workspace.code_lens if of_workspace is not None else None
        if lens is not None and lens.refresh_support:
            self.workspace_code_lens_refresh(None)

    @property
    def _encoding(self) -> object:
        return self.workspace.position_encoding or types.PositionEncodingKind.Utf16

    def _root(self, path: str) -> str:
        folders = [path_of(folder.uri) for folder in self.workspace.folders.values()]
        if not folders and self.workspace.root_path:
            folders = [self.workspace.root_path]
        root = root_of(path, folders)
        self._roots.setdefault(root, _Root())
        return root

    def _buffers(self, root: str) -> dict[str, str]:
        found = {}
        for uri, document in self.workspace.text_documents.items():
            path = path_of(uri)
            if self._root(path) == root:
                found[path] = document.source
        return found

    def _read(self, root: str) -> Workspace:
        """Parsed and checked anew only where a text changed."""
        state, texts = self._roots[root], read_texts(root, self._buffers(root))
        if state.workspace is None or texts != state.texts:
            state.workspace = read_workspace(texts.texts, flaws=texts.flaws)
            state.texts = texts
        if texts.trouble and texts.trouble != state.trouble:
            message = types.ShowMessageParams(types.MessageType.Warning, texts.trouble)
            self.window_show_message(message)
        state.trouble = texts.trouble
        return state.workspace

    def _schedule(self, root: str, *, at_once: bool = False) -> None:
        state = self._roots[root]
        if state.timer is not None:
            state.timer.cancel()
        delay = 0.0 if at_once else DEBOUNCE_SECONDS
        state.timer = asyncio.get_running_loop().call_later(delay, self._publish, root)

    def _publish(self, root: str) -> None:
        state, workspace = self._roots[root], self._read(root)
        state.last = workspace.policy or state.last
        writer = Writer(workspace, str(getattr(self._encoding, "value", self._encoding)))
        found: dict[str, list[types.Diagnostic]] = {path: [] for path in state.shown}
        found |= {path: [] for path in self._buffers(root)}
        for each in [*workspace.problems, *state.unmet()]:
            found.setdefault(each.span.path, []).append(writer.diagnostic(each))
        for path, diagnostics in found.items():
            uri = uri_of(path)
            document = self.workspace.text_documents.get(uri)
            version = document.version if document is not None else None
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(uri, diagnostics, version)
            )
        state.shown = {path for path, diagnostics in found.items() if diagnostics}


class _Refusal(JsonRpcException):
    """An answer to a request that cannot be done: nothing to be logged."""

    CODE = REQUEST_FAILED

    @classmethod
    def is_none(cls, record: logging.LogRecord) -> bool:
        """False for the log record that pygls writes of one."""
        return not (record.exc_info and isinstance(record.exc_info[1], cls))


def speak() -> None:
    """Serve the client at the other end of stdin and stdout until it leaves."""
    logging.getLogger(json_rpc.__name__).addFilter(_Refusal.is_none)
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as out:  # pygls closes what it writes to
        make_server().start_io(stdout=out)


def make_server() -> Server:
    """A server that was told what to answer with; it still has to be started."""
    server = Server()
    _follow_texts(server)
    _follow_disk(server)
    _answer_about_places(server)
    _answer_about_names(server)
    _offer_changes(server)
    _format(server)
    _run_tests(server)
    return server


def _follow_texts(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(ls: Server, params: types.DidOpenTextDocumentParams) -> None:
        ls.changed(params.text_document.uri, at_once=True)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(ls: Server, params: types.DidChangeTextDocumentParams) -> None:
        ls.changed(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
        ls.changed(params.text_document.uri, at_once=True)


def _follow_disk(server: Server) -> None:
    @server.feature(types.INITIALIZED)
    async def initialized(ls: Server, params: types.InitializedParams) -> None:
        workspace = ls.client_capabilities.workspace
        watching = workspace.did_change_watched_files if workspace is not None else None
        if watching is not None and watching.dynamic_registration:
            options = types.DidChangeWatchedFilesRegistrationOptions(
                [types.FileSystemWatcher("**/*.tide")]
            )
            method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            await ls.client_register_capability_async(
                types.RegistrationParams([types.Registration("files", method, options)])
            )

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def disk_changed(ls: Server, params: types.DidChangeWatchedFilesParams) -> None:
        ls.disk_changed()

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(ls: Server, params: types.DidSaveTextDocumentParams) -> None:
        ls.changed(params.text_document.uri, at_once=True)
        await ls.run_tests(params.text_document.uri)


def _answer_about_places(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hovered(ls: Server, params: types.HoverParams) -> types.Hover | None:
        writer, path = ls.read(params.text_document.uri)
        offset = writer.offset(path, params.position)
        last = ls.last_policy(params.text_document.uri)
        found = hover(writer.workspace, path, offset, last=last)
        return writer.hover(found) if found is not None else None

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=[".", '"'])
    )
    def completed(ls: Server, params: types.CompletionParams) -> types.CompletionList:
        writer, path = ls.read(params.text_document.uri)
        offset = writer.offset(path, params.position)
        offers = complete(writer.workspace, writer.text(path), offset)
        return writer.completion(path, offers, offset)


def _answer_about_names(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(ls: Server, params: types.DefinitionParams) -> list[types.Location]:
        writer, use = _name(ls, params)
        found = places(writer.workspace.files, use) if use is not None else []
        return [writer.location(each.span) for each in found if each.declares]

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def references(ls: Server, params: types.ReferenceParams) -> list[types.Location]:
        writer, use = _name(ls, params)
        found = places(writer.workspace.files, use) if use is not None else []
        wanted = params.context.include_declaration
        return [writer.location(each.span) for each in found if wanted or not each.declares]


def _offer_changes(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    def prepared(ls: Server, params: types.PrepareRenameParams) -> types.Range | None:
        writer, use = _name(ls, params)
        return writer.range(use.span) if use is not None else None

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    def renamed(ls: Server, params: types.RenameParams) -> types.WorkspaceEdit | None:
        writer, use = _name(ls, params)
        if use is None:
            return None
        try:
            return writer.edit(rename(writer.workspace, use, params.new_name))
        except Refused as error:
            raise _Refusal(str(error)) from error

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
    )
    def actions(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
        writer, path = ls.read(params.text_document.uri)
        start = writer.offset(path, params.range.start)
        return list(writer.actions(path, start, writer.offset(path, params.range.end)))


def _run_tests(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_CODE_LENS)
    def above_tests(ls: Server, params: types.CodeLensParams) -> list[types.CodeLens]:
        uri = params.text_document.uri
        writer, path = ls.read(uri)
        return [writer.lens(each) for each in lenses(writer.workspace, path, ls.trials(uri))]

    @server.command(RUN_TESTS)
    async def run(ls: Server, uri: str) -> str:
        return await ls.run_tests(uri)


class _At(Protocol):
    """Parameters that name a place."""

    @property
    def text_document(self) -> types.TextDocumentIdentifier: ...
    @property
    def position(self) -> types.Position: ...


def _format(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_FORMATTING)
    def formatted(
        ls: Server, params: types.DocumentFormattingParams
    ) -> list[types.TextEdit] | None:
        """No edit for a file with mistakes in its text: they are shown as diagnostics."""
        writer, path = ls.read(params.text_document.uri)
        text = writer.text(path)
        try:
            new = format_text(text, path=path).text
        except NotProven as error:
            raise _Refusal(f"internal error: {error}") from error
        return writer.replacing(path, text, new)


def _name(ls: Server, params: _At) -> tuple[Writer, Use | None]:
    """The policy, and the name at a position."""
    writer, path = ls.read(params.text_document.uri)
    file = writer.workspace.file(path)
    return writer, name_at(file, writer.offset(path, params.position)) if file else None
