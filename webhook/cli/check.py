"""``tidegate check``: what would become of some manifests under a policy, without a cluster.

Verdicts go to stdout, all talk to stderr. The decision is the webhook's own, made on paper.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NoReturn

import click

from webhook.cli.exits import Exit

if TYPE_CHECKING:
    from webhook.admission.rules import Rules
    from webhook.cli.checking.answers import Answer
    from webhook.language.policy import Policy
    from webhook.rehearsal.manifests import Manifest

FORMATS: Final = ("text", "json")
ANYONE: Final = "anyone"
"""Who submits where nobody says, as in the tests of a policy."""


def _labels(ctx: click.Context, param: click.Parameter, given: Sequence[str]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for pair in (pair for text in given for pair in text.split(",") if pair):
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise click.BadParameter(f"{pair} is no label; write key=value")
        found[key] = value
    return found


@click.command()
@click.argument("policies", nargs=-1, required=True, metavar="POLICIES...")
@click.option(
    "-f",
    "--filename",
    "files",
    multiple=True,
    required=True,
    metavar="FILE",
    help="Manifests: a file, a folder, or - for standard input. May be given again.",
)
@click.option(
    "--as", "user", default=ANYONE, show_default=True, metavar="USER", help="Who submits them."
)
@click.option(
    "--group",
    "groups",
    multiple=True,
    metavar="GROUP",
    help="A group of that user. May be given again.",
)
@click.option(
    "-n",
    "--namespace",
    default="default",
    show_default=True,
    metavar="NAME",
    help="The namespace of objects that name none.",
)
@click.option(
    "--namespace-labels",
    "labels",
    multiple=True,
    callback=_labels,
    metavar="KEY=VALUE,…",
    help="Labels of the namespaces that the files do not declare.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    default="text",
    show_default=True,
    help="How verdicts are written.",
)
@click.option("--strict", is_flag=True, help="Exit with 1 for warnings, too.")
@click.pass_context
def command(
    ctx: click.Context, policies: tuple[str, ...], *,
    files: tuple[str, ...], user: str, groups: tuple[str, ...], namespace: str,
    labels: Mapping[str, str], form: str, strict: bool,
) -> None:  # fmt: skip
    """Say what would become of manifests under a policy, without a cluster.

    Exits with 0 where all would be queued or are none of the policy's business, with 1 where something would be
    refused, with 2 where it could not run: errors in the policy, a file that cannot be read.
    """
    from webhook.admission.rules import Rules
    from webhook.cli.checking.answers import summary

    rules = Rules.of(_policy(ctx, policies))
    manifests = _manifests(ctx, files)
    answers = _answers(rules, manifests, user, groups, namespace, labels)
    click.echo(_shown(answers, form), nl=False, color=True)
    click.echo(summary(answers), err=True)
    ctx.exit(Exit.FOUND if any(_fails(each, strict=strict) for each in answers) else Exit.OK)


def _policy(ctx: click.Context, paths: Sequence[str]) -> Policy:
    """The policy; where it has errors they are shown as lint shows them."""
    from webhook.language.check import load_policy
    from webhook.language.problems import PolicyErrors, Severity
    from webhook.language.render import render_text
    from webhook.language.syntax import Source
    from webhook.service.policy_files import Unreadable, read_policy_files

    try:
        files = read_policy_files(paths)
    except (Unreadable, OSError) as error:
        _stop(ctx, [str(error)])
    flaws = [file.flaw for file in files if file.flaw is not None]
    try:
        policy = load_policy([(file.path, file.text) for file in files], flaws=flaws)
    except PolicyErrors as error:
        problems = [each for each in error.problems if each.severity is Severity.ERROR]
        sources = {file.path: Source(file.path, file.text) for file in files}
        color = _colorful(sys.stderr.isatty())
        click.echo(render_text(problems, sources, color=color), err=True, color=True)
        _stop(ctx, ["the policy has errors, so nothing was checked"])
    for word, place in policy.not_obeyed:
        text = f"{place}: this version does not obey `{word}` yet, and `tidegate serve` refuses to load it"
        click.echo(f"warning: {text}", err=True)
    return policy


def _manifests(ctx: click.Context, paths: Sequence[str]) -> tuple[Manifest, ...]:
    from webhook.cli.checking.files import CannotRead, read_all

    try:
        return read_all(paths)
    except CannotRead as error:
        _stop(ctx, error.lines)


def _stop(ctx: click.Context, lines: Sequence[str]) -> NoReturn:
    for line in lines:
        click.echo(f"error: {line}", err=True)
    ctx.exit(Exit.USAGE)


def _answers(
    rules: Rules, manifests: Sequence[Manifest], user: str, groups: Sequence[str],
    namespace: str, labels: Mapping[str, str],
) -> list[Answer]:  # fmt: skip
    from webhook.cli.checking.answers import Answer
    from webhook.rehearsal.submission import submit
    from webhook.rehearsal.surroundings import surroundings
    from webhook.rehearsal.verdict import verdict

    cluster = surroundings([each.object for each in manifests], labels, namespace)
    now = time.time()
    found: list[Answer] = []
    for manifest in manifests:
        done = submit(
            rules, cluster, manifest.object, user=user, groups=groups, namespace=namespace, now=now
        )
        found.append(Answer(manifest, verdict(done, rules, cluster)))
    return found


def _shown(answers: Sequence[Answer], form: str) -> str:
    if form == "json":
        from webhook.cli.checking import data

        return data.render(answers)
    from webhook.cli.checking import text

    return text.render(answers, color=_colorful(sys.stdout.isatty()))


def _fails(answer: Answer, *, strict: bool) -> bool:
    submitted = answer.verdict.submitted
    return not submitted.admitted or (strict and bool(submitted.account.warned))


def _colorful(terminal: bool) -> bool:
    return terminal and not os.environ.get("NO_COLOR")
