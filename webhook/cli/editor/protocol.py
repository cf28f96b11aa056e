"""Our values as those of the Language Server Protocol. The only module beside the server that knows its types."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate
from typing import Final

from lsprotocol import types
from pygls import uris

from webhook.cli.editor.completion import Offer, Offers
from webhook.cli.editor.fixes import fix_of
from webhook.cli.editor.hover import Hover
from webhook.cli.editor.lens import Lens
from webhook.cli.editor.positions import Place, offset_of, place_of
from webhook.cli.editor.workspace import Workspace
from webhook.language.problems import Fix, Problem, Severity
from webhook.language.syntax import Span

SOURCE: Final = "tidegate"
RUN_TESTS: Final = "tidegate.runTests"
"""A command of ours; its one argument is the address of a file of the policy."""
_MOST_FIXES: Final = 20
"""An editor may ask for those of a whole file; some have to be tried first."""
_SEVERITIES: Final = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.STYLE: types.DiagnosticSeverity.Information,
}
_SORTS: Final = {
    "keyword": types.CompletionItemKind.Keyword,
    "value": types.CompletionItemKind.EnumMember,
    "variable": types.CompletionItemKind.Variable,
    "field": types.CompletionItemKind.Field,
    "function": types.CompletionItemKind.Function,
    "kind": types.CompletionItemKind.Class,
}


def uri_of(path: str) -> str:
    """A path as an address; a buffer without a file is called by its address already."""
    return (
        path if "://" in path or path.startswith("untitled:") else uris.from_fs_path(path) or path
    )


def path_of(uri: str) -> str:
    """The path of an address, itself where it is none of a file."""
    return uris.to_fs_path(uri) or uri if uri.startswith("file:") else uri


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes places of a workspace in the units that were agreed upon."""

    workspace: Workspace
    encoding: str

    def offset(self, path: str, position: types.Position) -> int:
        """Where a position is."""
        place = Place(position.line, position.character)
        return offset_of(self.text(path), place, encoding=self.encoding)

    def text(self, path: str) -> str:
        """The text of a file."""
        source = self.workspace.sources.get(path)
        return source.text if source is not None else ""

    def range(self, span: Span) -> types.Range:
        """A stretch of its file."""
        return self.between(span.path, span.start, span.end)

    def between(self, path: str, start: int, end: int) -> types.Range:
        """The range between two offsets of a file."""
        text = self.text(path)
        first = place_of(text, start, encoding=self.encoding)
        last = place_of(text, end, encoding=self.encoding)
        return types.Range(types.Position(*first), types.Position(*last))

    def location(self, span: Span) -> types.Location:
        """A stretch with its file."""
        return types.Location(uri_of(span.path), self.range(span))

    def diagnostic(self, found: Problem) -> types.Diagnostic:
        """A finding; the help stands below the message, as a client shows nothing else."""
        lines = [found.message, *(f"note: {note}" for note in found.notes)]
        lines += [f"help: {found.help}"] if found.help else []
        related = [
            types.DiagnosticRelatedInformation(self.location(span), label)
            for span, label in found.others
        ]
        return types.Diagnostic(
            range=self.range(found.span),
            message="\n".join(lines),
            severity=_SEVERITIES[found.severity],
            code=found.code,
            source=SOURCE,
            related_information=related or None,
        )

    def hover(self, found: Hover) -> types.Hover:
        """What to show at a place."""
        content = types.MarkupContent(types.MarkupKind.Markdown, found.text)
        return types.Hover(content, self.range(found.span))

    def completion(self, path: str, offers: Offers, offset: int) -> types.CompletionList:
        """Every offer, replacing the word at the cursor."""
        where = self.between(path, offers.start, offset)
        return types.CompletionList(False, [_item(offer, where) for offer in offers.items])

    def lens(self, found: Lens) -> types.CodeLens:
        """A line above a test; who clicks on it runs the tests of the policy."""
        command = types.Command(found.title, RUN_TESTS, arguments=[uri_of(found.span.path)])
        return types.CodeLens(self.range(found.span), command=command)

    def edit(self, changes: Iterable[Fix]) -> types.WorkspaceEdit:
        """Changes in any number of files."""
        by_file: dict[str, list[types.TextEdit]] = {}
        for change in changes:
            edits = by_file.setdefault(uri_of(change.span.path), [])
            edits.append(types.TextEdit(self.range(change.span), change.text))
        return types.WorkspaceEdit(changes=by_file)

    def replacing(self, path: str, old: str, new: str) -> list[types.TextEdit]:
        """The edits from one text to the other, line by line, so that the cursor stays where it was."""
        before, after = old.splitlines(keepends=True), new.splitlines(keepends=True)
        starts = [0, *accumulate(map(len, before))]
        return [
            types.TextEdit(self.between(path, starts[a], starts[b]), "".join(after[c:d]))
            for tag, a, b, c, d in SequenceMatcher(
                None, before, after, autojunk=False
            ).get_opcodes()
            if tag != "equal"
        ]

    def actions(self, path: str, start: int, end: int) -> Sequence[types.CodeAction]:
        """The fixes of all findings that touch a stretch of a file."""
        here = [
            found
            for found in self.workspace.problems
            if found.span.path == path and found.span.start <= end and start <= found.span.end
        ]
        fixes = [(found, fix_of(self.workspace, found)) for found in here[:_MOST_FIXES]]
        return [self._action(found, fix) for found, fix in fixes if fix is not None]

    def _action(self, found: Problem, fix: Fix) -> types.CodeAction:
        return types.CodeAction(
            title=title(fix, self.text(fix.span.path)),
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[self.diagnostic(found)],
            edit=self.edit([fix]),
            is_preferred=fix.safe or None,
        )


def title(fix: Fix, text: str) -> str:
    """What a fix does, for a menu."""
    old, new = text[fix.span.start : fix.span.end].strip(), fix.text.strip()
    if not old:
        return f"insert `{new}`"
    return f"replace `{old}` by `{new}`" if new else f"remove `{old}`"


def _item(offer: Offer, where: types.Range) -> types.CompletionItem:
    return types.CompletionItem(
        label=offer.text,
        kind=_SORTS.get(offer.sort, types.CompletionItemKind.Reference),
        detail=offer.detail or None,
        text_edit=types.TextEdit(where, offer.text),
    )
