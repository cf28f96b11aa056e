"""``# tidegate: ignore[TG203] reason`` above a line: the finding was seen, and somebody says why it stays.

It holds for what stands on the next line that is neither blank nor comment, and for the rest of a statement that
begins there and goes on over more lines; not for the statements in its block. Errors cannot be suppressed, a
suppression without a reason suppresses nothing, and one that has nothing to suppress is a finding itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Final

from webhook.language.codes import BY_TESTS, CODES, ON_REQUEST, Severity
from webhook.language.problems import Fix, Problem, has_errors, problem
from webhook.language.records import dataclass
from webhook.language.suggest import did_you_mean
from webhook.language.syntax import Comment, File, Source, Span

_MARK: Final = re.compile(r"#[ \t]*tidegate[ \t]*:[ \t]*(?P<rest>.*)")
_FORM: Final = re.compile(r"ignore\[(?P<codes>[^\]]*)\](?P<reason>.*)")
_CODE: Final = re.compile(r"[^\s,]+")
_PARTS: Final = frozenset({"Word", "Number", "Text", "Comment", "Path", "Field", "Literal"})
"""Nodes that are parts of a line, never one of their own."""


@dataclass(frozen=True, slots=True)
class Suppression:
    """One comment: the codes it names and the line it is about."""

    comment: Comment
    codes: tuple[str, ...]
    line: int


def suppressed(
    problems: Sequence[Problem], files: Sequence[File]
) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
    """The findings that are left, with those about suppressions; and those that were suppressed."""
    marks = {file.path: tuple(_read(file)) for file in files}
    hidden: list[Problem] = []
    used: set[tuple[Span, str]] = set()
    by_path = {file.path: file for file in files}
    for found in problems:
        marked = [s for s, _ in marks.get(found.span.path, ()) if s is not None]
        which = _which(found, marked, by_path.get(found.span.path)) if marked else None
        if which is not None:
            hidden.append(found)
            used.add((which.comment.span, found.code))
    kept = [found for found in problems if found not in hidden]
    for path, read in marks.items():
        source = by_path[path].source
        kept += [wrong for _, wrongs in read for wrong in wrongs]
        if not has_errors(problems):  # else nobody looked for what it suppresses
            kept += _unused([s for s, _ in read if s is not None], used, source)
    return tuple(kept), tuple(hidden)


def _which(found: Problem, marks: Iterable[Suppression], file: File | None) -> Suppression | None:
    if found.severity is Severity.ERROR or file is None:
        return None
    lines = {found.span.line, _statement_line(file, found.span.start)}
    return next((s for s in marks if found.code in s.codes and s.line in lines), None)


def _read(file: File) -> Iterator[tuple[Suppression | None, tuple[Problem, ...]]]:
    """Each comment that wants to be a suppression, and what is wrong with it."""
    for comment in file.comments:
        mark = _MARK.match(comment.text)
        if mark is None:
            continue
        form = _FORM.match(mark["rest"])
        if form is None:
            yield None, (_wrong(comment, "this suppresses nothing", _ADVICE),)
        elif file.source.line(comment.span.line)[: comment.span.column - 1].strip():
            advice = "write it on a line of its own, above the line it is about"
            yield None, (_wrong(comment, "a suppression behind a statement", advice),)
        elif not form["reason"].strip(" \t:-"):
            advice = "say why the finding may stay, behind the `]`"
            yield None, (_wrong(comment, "a suppression without a reason", advice),)
        else:
            yield _suppression(comment, form, file.source)


_ADVICE: Final = "write `# tidegate: ignore[TG203] reason`"


def _suppression(
    comment: Comment, form: re.Match[str], source: Source
) -> tuple[Suppression | None, tuple[Problem, ...]]:
    named = _CODE.findall(form["codes"])
    wrong = [_bad_code(comment, code, source) for code in named]
    if not named:
        return None, (_wrong(comment, "this suppresses nothing", _ADVICE),)
    good = tuple(c for c, bad in zip(named, wrong, strict=True) if bad is None)
    line = _next_line(source, comment.span.line)
    return Suppression(comment, good, line), tuple(bad for bad in wrong if bad is not None)


def _bad_code(comment: Comment, code: str, source: Source) -> Problem | None:
    """TG703: a code that does not exist, or that of an error."""
    at = comment.span.start + comment.text.find(code)
    span = source.span(at, at + len(code))
    if code not in CODES:
        return problem("TG703", span, f"there is no code `{code}`", help=did_you_mean(code, CODES))
    if CODES[code].severity is Severity.ERROR:
        return problem("TG703", span, f"`{code}` is an error, which cannot be suppressed")
    return None


def _wrong(comment: Comment, message: str, advice: str) -> Problem:
    return problem("TG703", comment.span, message, help=advice)


def _next_line(source: Source, line: int) -> int:
    """The next line with a statement on it."""
    last = source.text.count("\n") + 1
    while line <= last:
        line += 1
        text = source.line(line).strip()
        if text and not text.startswith("#"):
            break
    return line


def _unused(
    marks: Sequence[Suppression], used: set[tuple[Span, str]], source: Source
) -> Iterator[Problem]:
    """TG704: what it speaks of is not found there."""
    for mark in marks:
        asked = [code for code in mark.codes if code not in ON_REQUEST | BY_TESTS]
        idle = [code for code in asked if (mark.comment.span, code) not in used]
        if idle:
            names = " and ".join(f"`{code}`" for code in idle)
            message = f"nothing on the next line is reported as {names}"
            whole = len(idle) == len(mark.codes)
            fix = Fix(_whole_line(mark.comment.span, source), "", safe=True) if whole else None
            yield problem("TG704", mark.comment.span, message, help="remove it", fix=fix)


def _whole_line(span: Span, source: Source) -> Span:
    """A comment with its line, so that nothing is left of it."""
    start = span.start - (span.column - 1)
    end = source.text.find("\n", span.end)
    return source.span(start, len(source.text) if end < 0 else end + 1)


def _statement_line(file: File, at: int) -> int:
    """The line on which the innermost statement around a place begins; 0 outside of all."""
    line = 0
    nodes: list[object] = list(file.statements)
    while nodes:
        node = nodes.pop()
        if isinstance(node, tuple):
            nodes.extend(node)
            continue
        if not _is_statement(node):
            continue
        span: Span = node.span  # type: ignore[attr-defined]
        if span.start <= at < span.end:
            line = span.line
            nodes = [getattr(node, field.name) for field in fields(node)]  # type: ignore[arg-type]
    return line


def _is_statement(node: object) -> bool:
    """True for what has a line of its own: a node of syntax.py that is no word, number or text."""
    kind = type(node)
    own = kind.__module__.startswith("webhook.language.syntax") and kind.__name__ not in _PARTS
    return own and is_dataclass(node) and hasattr(node, "span")
