"""``tidegate fmt``: policy files in their one form.

A file is touched only after the formatter proved its output; where it cannot, that is a mistake of ours, said as
such, and the file stays as it is. What was done goes to stderr; a difference, and the result of ``-``, to stdout.
"""

from __future__ import annotations

import difflib
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from webhook.cli.exits import Exit

if TYPE_CHECKING:
    from webhook.language.problems import Problem

STDIN: Final = "-"
_BOM: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class _Done:
    """One file: as it is, as it should be, and why it cannot be (``problems`` are the file's, ``failed`` ours)."""

    path: str
    old: bytes
    new: bytes
    problems: tuple[Problem, ...] = ()
    failed: str = ""

    @property
    def changed(self) -> bool:
        return self.old != self.new


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file would change.")
@click.option("--diff", is_flag=True, help="As --check, and show what would change.")
@click.pass_context
def command(ctx: click.Context, paths: tuple[str, ...], *, check: bool, diff: bool) -> None:
    """Put policy files into their one form; there are no options of style.

    All .tide files below the PATHs are formatted in place; - reads standard input and writes the result to standard
    output. Exits with 0 when all is well, with 1 for files that would change under --check or --diff or that have
    mistakes in their text, with 2 where it could not run.
    """
    done = [_format(path, data) for path, data in _read(ctx, paths)]
    _show_problems(done)
    if diff:
        for one in done:
            click.echo(_difference(one), nl=False)
    elif not check:
        done = [_write(one) for one in done]
    for one in done:
        _say(one, kept=check or diff)
    if done[0].path != STDIN or check or diff:
        click.echo(_sum(done, kept=check or diff), err=True)
    ctx.exit(_exit(done, kept=check or diff))


def _read(ctx: click.Context, paths: Sequence[str]) -> list[tuple[str, bytes]]:
    from webhook.service.policy_files import Unreadable, read_policy_files

    if STDIN in paths:
        if len(paths) > 1:
            raise click.UsageError("- stands alone")
        return [(STDIN, sys.stdin.buffer.read())]
    try:
        names = [file.path for file in read_policy_files(paths)]
        return [(name, Path(name).read_bytes()) for name in names]
    except (Unreadable, OSError) as error:
        click.echo(f"error: {error}", err=True)
        ctx.exit(Exit.USAGE)


def _format(path: str, data: bytes) -> _Done:
    from webhook.language.characters import decode, not_utf8
    from webhook.language.format import NotProven, format_text
    from webhook.language.syntax import Source

    mark = _BOM if data.startswith(_BOM) else b""
    text, flaw = decode(data)
    if flaw is not None:
        return _Done(path, data, data, (not_utf8(Source(path, text), flaw),))
    try:
        formatted = format_text(text, path=path)
    except NotProven as error:
        return _Done(path, data, data, failed=f"internal error: {error}")
    return _Done(path, data, mark + formatted.text.encode(), formatted.problems)


def _write(one: _Done) -> _Done:
    if one.path == STDIN:
        if not (one.problems or one.failed):
            sys.stdout.buffer.write(one.new)
        return one
    why = _replace(one) if one.changed else ""
    return replace(one, new=one.old, failed=why) if why else one


def _replace(one: _Done) -> str:
    """Put the new text in place of the old; returns why not."""
    from webhook.cli.writing import write_text

    try:
        if Path(one.path).read_bytes() != one.old:
            return "it changed while it was read"
        write_text(one.path, one.new.decode())
    except OSError as error:
        return (error.strerror or str(error)).lower()
    return ""


def _show_problems(done: Sequence[_Done]) -> None:
    from webhook.language.characters import decode
    from webhook.language.render import render_text
    from webhook.language.syntax import Source

    problems = [problem for one in done for problem in one.problems]
    sources = {one.path: Source(one.path, decode(one.old)[0]) for one in done if one.problems}
    color = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    click.echo(render_text(problems, sources, color=color), nl=False, color=True, err=True)


def _difference(one: _Done) -> str:
    old, new = (
        data.decode("utf-8", "replace").splitlines(keepends=True) for data in (one.old, one.new)
    )
    lines = difflib.unified_diff(old, new, one.path, f"{one.path} (formatted)")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ no newline\n" for line in lines)


def _say(one: _Done, *, kept: bool) -> None:
    if one.failed:
        click.echo(f"error: {one.path}: {one.failed}; the file is left alone", err=True)
    elif one.changed and one.path != STDIN:
        click.echo(f"{'would format' if kept else 'formatted'} {one.path}", err=True)


def _sum(done: Sequence[_Done], *, kept: bool) -> str:
    changed = sum(one.changed for one in done)
    mistaken = sum(bool(one.problems) for one in done)
    failed = sum(bool(one.failed) for one in done)
    same = len(done) - changed - mistaken - failed
    parts = [
        f"{_count(changed)} {'would be ' if kept else ''}formatted" if changed else "",
        f"{_count(same)} in form already" if same else "",
        f"{_count(mistaken)} with mistakes" if mistaken else "",
        f"{_count(failed)} left alone" if failed else "",
    ]
    return ", ".join(part for part in parts if part)


def _count(number: int) -> str:
    return "1 file" if number == 1 else f"{number} files"


def _exit(done: Sequence[_Done], *, kept: bool) -> Exit:
    if any(one.failed for one in done):
        return Exit.USAGE
    found = any(one.problems or (kept and one.changed) for one in done)
    return Exit.FOUND if found else Exit.OK
