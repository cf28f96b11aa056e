"""Which findings a run of the linter is about: ``--select`` and ``--ignore``, each code or the beginning of some."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import click

from webhook.language.codes import CODES, Severity
from webhook.language.problems import Problem
from webhook.language.suggest import did_you_mean


def codes(ctx: click.Context, param: click.Parameter, given: Sequence[str]) -> frozenset[str]:
    """What an option names, apart or with commas between. An unknown code could not be run."""
    return frozenset(
        code
        for text in given
        for name in re.split(r"[,\s]+", text)
        if name
        for code in _codes(name)
    )


def _codes(name: str) -> Iterable[str]:
    found = [code for code in CODES if code.startswith(name.upper())]
    if not found or len(name) < 3:
        advice = did_you_mean(name, CODES)
        raise click.BadParameter(f"there is no code {name}{', ' + advice if advice else ''}")
    return found


def refuse_errors(
    ctx: click.Context, param: click.Parameter, given: Sequence[str]
) -> frozenset[str]:
    """The same for ``--ignore``: an error keeps the policy from being loaded, hiding it helps nobody."""
    named = codes(ctx, param, given)
    for name in (name for text in given for name in re.split(r"[,\s]+", text)):
        if name.upper() in CODES and CODES[name.upper()].severity is Severity.ERROR:
            raise click.BadParameter(f"{name} is an error, which cannot be ignored")
    return named


def chosen(
    problems: Iterable[Problem], select: frozenset[str], ignore: frozenset[str]
) -> tuple[Problem, ...]:
    """Errors always; of the others those selected, all where none is, without those ignored."""
    return tuple(
        found
        for found in problems
        if found.severity is Severity.ERROR
        or ((not select or found.code in select) and found.code not in ignore)
    )
