"""Changes to offer for a finding: the fix it carries, else what its help says to write, if that helps.

A help of one sentence (did you mean `x`?, write `x`) is about the stretch the finding marks. Whether putting it there
cures anything is tried on the texts before it is offered: a menu with a wrong entry is worse than a shorter one.
"""

from __future__ import annotations

import re
from typing import Final

from webhook.cli.editor.workspace import Workspace, read_workspace
from webhook.language.problems import Fix, Problem, Severity

_HELP: Final = re.compile(r"(?:did you mean|write) `([^`]+)`\??")
_WORD: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")


def fix_of(workspace: Workspace, found: Problem) -> Fix | None:
    """The change that cures a finding; None where nobody knows one."""
    if found.fix is not None:
        return found.fix
    advice = _HELP.fullmatch(found.help)
    source = workspace.sources.get(found.span.path)
    if advice is None or source is None:
        return None
    span = found.span
    if not _WORD.fullmatch(source.text, span.start, span.end):
        return None
    fix = Fix(span, advice[1])
    return fix if _cures(workspace, found, fix) else None


def _cures(workspace: Workspace, found: Problem, fix: Fix) -> bool:
    """Whether it leaves fewer errors, or the same without this one."""
    span = fix.span
    texts = [
        (
            f.path,
            f.text[: span.start] + fix.text + f.text[span.end :] if f.path == span.path else f.text,
        )
        for f in workspace.files
    ]
    after = read_workspace(texts).problems
    here = any(
        (p.code, p.span.path, p.span.start) == (found.code, span.path, span.start) for p in after
    )
    return not here and _errors(after) <= _errors(workspace.problems)


def _errors(problems: tuple[Problem, ...]) -> int:
    return sum(p.severity is Severity.ERROR for p in problems)
