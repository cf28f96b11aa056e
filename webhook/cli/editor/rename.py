"""Give a name another one, everywhere, or say why not.

The proof is the checker itself: the renamed texts are read again, and where that finds an error that was not there
before (not a name, a name that is taken, a use that was left behind) nothing is renamed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from webhook.cli.editor.names import Use, places
from webhook.cli.editor.workspace import Workspace, read_workspace
from webhook.language.problems import Fix, Severity


class Refused(Exception):
    """It cannot be renamed; the text is one line for a person."""


def rename(workspace: Workspace, use: Use, name: str) -> tuple[Fix, ...]:
    """Every change that gives the name under the cursor a new one. Raises Refused."""
    found = places(workspace.files, use)
    if not any(each.declares for each in found):
        raise Refused(f"`{use.name}` is declared in none of these files")
    if use.sort == "kind":
        raise Refused("what a kind is called is not decided in a policy")
    if name == use.name:
        return ()
    _not_in_what_is_unread(workspace, use.name)
    changes = tuple(Fix(each.span, name) for each in found)
    _no_new_error(workspace, _changed(workspace, changes))
    return changes


def _not_in_what_is_unread(workspace: Workspace, name: str) -> None:
    """A statement with a mistake may use the name, too."""
    word = re.compile(rf"(?<![A-Za-z0-9_-]){re.escape(name)}(?![A-Za-z0-9_-])")
    for file in workspace.files:
        for span in file.unread:
            if word.search(file.text, span.start, span.end):
                raise Refused(f"{span.place} has a mistake and may use `{name}`: mend it first")


def _changed(workspace: Workspace, changes: tuple[Fix, ...]) -> Mapping[str, str]:
    texts = {file.path: file.text for file in workspace.files}
    for change in sorted(changes, key=lambda each: -each.span.start):
        text = texts[change.span.path]
        texts[change.span.path] = text[: change.span.start] + change.text + text[change.span.end :]
    return texts


def _no_new_error(before: Workspace, texts: Mapping[str, str]) -> None:
    after = read_workspace([(path, text) for path, text in texts.items()])
    known = Counter(p.code for p in before.problems if p.severity is Severity.ERROR)
    for each in after.problems:
        if each.severity is Severity.ERROR:
            known[each.code] -= 1
            if known[each.code] < 0:
                raise Refused(each.message)
