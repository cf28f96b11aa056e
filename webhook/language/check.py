"""Trees to a policy: every check that looks across files, each finding once.

The parts read and report (names, resources, flavors, quotas, rules); this module only puts them in an order in which
a name that is wrong is known to be wrong before anybody uses it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from types import MappingProxyType
from typing import Final

from webhook.language.flavors import read_flavors, read_priorities
from webhook.language.kinds import KindReader
from webhook.language.lint.findings import condition_findings
from webhook.language.lint.lines import deadline_findings, line_findings
from webhook.language.lint.quotas import quota_findings
from webhook.language.lint.scenes import scene_findings
from webhook.language.lint.style import form_findings, style_findings
from webhook.language.names import Names, collect
from webhook.language.obeyed import not_obeyed
from webhook.language.parse import LARGEST, Parsed, parse
from webhook.language.policy import Policy
from webhook.language.problems import PolicyErrors, Problem, has_errors, problem, sorted_problems
from webhook.language.quotas import QuotaReader, cycles, too_deep
from webhook.language.resources import Resources
from webhook.language.rules import RuleReader
from webhook.language.scene_reader import SceneReader
from webhook.language.settings import read_settings
from webhook.language.suppress import suppressed
from webhook.language.syntax import File, Source
from webhook.model.queues import Quotas

MOST_TOGETHER: Final = 16 * LARGEST
"""Code points of all files together, without those that are too large by themselves."""


def check(files: Sequence[File]) -> tuple[Policy | None, tuple[Problem, ...]]:
    """The policy of all files, None where there are errors; findings in the order of the files."""
    found: list[Problem] = []
    policy = _policy(tuple(files), found)
    problems = _first_of_each(sorted_problems(found, [file.path for file in files]))
    unread = any(file.unread for file in files)
    return (None if unread or has_errors(problems) else policy), problems


def _first_of_each(problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """A resource that is missing is one problem, whether quotas or conditions name it."""
    missing: set[str] = set()
    kept: list[Problem] = []
    for each in problems:
        if each.code == "TG108" and each.message in missing:
            continue
        missing.add(each.message)
        kept.append(each)
    return tuple(kept)


def lint(
    texts: Sequence[tuple[str, str]], *, form: bool = False
) -> tuple[Policy | None, tuple[Problem, ...]]:
    """Path and text of every file → the policy, and everything there is to say about the texts.

    ``form``: also whether they are in canonical form.
    """
    policy, problems, _ = _lint(texts, (), form=form)
    return policy, problems


def lint_sources(
    texts: Sequence[tuple[str, str]], *, flaws: Sequence[Problem] = (), form: bool = False
) -> tuple[tuple[Problem, ...], dict[str, Source]]:
    """The problems with what a renderer needs; a file with a flaw of its encoding is not read any further."""
    _, problems, files = _lint(texts, flaws, form=form)
    return problems, {file.path: file.source for file in files}


def _lint(
    texts: Sequence[tuple[str, str]], flaws: Sequence[Problem], *, form: bool = False
) -> tuple[Policy | None, tuple[Problem, ...], list[File]]:
    flawed = {flaw.span.path for flaw in flaws}
    parsed, beyond, length = list[Parsed](), list[Problem](), 0
    for path, text in texts:
        length += len(text) if len(text) <= LARGEST else 0
        if path in flawed or length > MOST_TOGETHER:
            parsed.append(_not_read(path, text))
        else:
            parsed.append(parse(text, path=path))
        if not beyond and length > MOST_TOGETHER:
            beyond.append(_too_much(parsed[-1].file.source))
    policy, found = lint_parsed(parsed, flaws=[*flaws, *beyond], form=form)
    return policy, found, [each.file for each in parsed]


def lint_parsed(
    parsed: Sequence[Parsed], *, flaws: Sequence[Problem] = (), form: bool = False
) -> tuple[Policy | None, tuple[Problem, ...]]:
    """The policy of files that were parsed before, and everything there is to say about them."""
    files = [each.file for each in parsed]
    paths = [file.path for file in files]
    policy, problems = check(files)
    every = [*flaws, *(p for each in parsed for p in each.problems), *problems]
    if form:
        every += [
            p for file in files if not file.unread for p in form_findings(file.text, file.path)
        ]
    left, _ = suppressed(sorted_problems(every, paths), files)
    found = sorted_problems(left, paths)
    return (None if has_errors(found) else policy), found


def _too_much(source: Source) -> Problem:
    message = (
        f"of all files together at most {MOST_TOGETHER} characters are read, so this one is not"
    )
    return problem("TG017", source.span(0, 0), message, help="lint the files of each cluster apart")


def _not_read(path: str, text: str) -> Parsed:
    source = Source(path, text)
    whole = source.span(0, len(text))
    return Parsed(File(path, (), (), source, unread=(whole,)), ())


def load_policy(texts: Sequence[tuple[str, str]], *, flaws: Sequence[Problem] = ()) -> Policy:
    """The policy of these files. Raises PolicyErrors."""
    policy, problems, _ = _lint(texts, flaws)
    if policy is None:
        raise PolicyErrors(problems)
    return policy


def revision(texts: Sequence[str]) -> str:
    """What names a policy's text: the same whatever the files are called and in which order they come."""
    digest = sha256()
    for text in sorted(texts):
        data = text.encode("utf-8", errors="surrogatepass")
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:12]


def _policy(files: tuple[File, ...], found: list[Problem]) -> Policy:
    names = collect(files)
    resources = Resources(names)
    sources = {file.path: file.source for file in files}
    flavors, flavor_problems = read_flavors(names, sources)
    priorities, default, priority_problems = read_priorities(names)
    quotas = _quotas(names, resources, files)
    cycle_problems, in_cycle = cycles(names)
    deep = [] if in_cycle else too_deep(names)
    kinds = KindReader(names, resources, sources)
    declared = kinds.kinds()
    settings, setting_problems = read_settings(names, sources)
    rules = RuleReader(names, _aliases(names, resources), sources, declared)
    unread = [span for file in files for span in file.unread]
    scenes = SceneReader(names, resources, rules.kind_names(), sources, unread)
    mark = revision([file.text for file in files])
    policy = Policy(
        revision=mark,
        quotas=Quotas(quotas.queues(), quotas.cohorts(), flavors, mark),
        priorities=MappingProxyType(priorities),
        default_priority=default,
        aliases=MappingProxyType(resources.known_aliases()),
        routes=rules.routes(files),
        otherwise=rules.otherwise(),
        denies=rules.denies(files),
        warns=rules.warns(files),
        sets=rules.sets(files),
        accepts=MappingProxyType(rules.accepts()),
        kinds=declared,
        settings=settings,
        tests=scenes.scenes(),
        not_obeyed=not_obeyed(files),
    )
    found += [*names.problems, *resources.problems, *flavor_problems, *priority_problems]
    found += [*cycle_problems, *deep, *quotas.problems, *kinds.problems, *setting_problems]
    found += [*rules.problems, *scenes.problems, *names.unknown_problems()]
    if not in_cycle and not names.incomplete and not has_errors(found):
        # arithmetic over a tree of which a part is missing says nothing
        found += quota_findings(names, policy.quotas, resources.known_aliases())
        found += line_findings(names, policy.quotas, priorities, default, resources.known_aliases())
        found += deadline_findings(names, _sent(policy))
        found += style_findings(files, names, priorities)
        found += scene_findings(names.tests)
        found += condition_findings(files, names, policy.quotas, resources.known_aliases())
    return policy


def _sent(policy: Policy) -> dict[str, frozenset[str]]:
    """The kinds that routes send to each queue."""
    sent: dict[str, frozenset[str]] = {}
    for route in policy.routes:
        if not route.audit:
            sent[route.queue] = sent.get(route.queue, frozenset()) | route.kinds
    return sent


def _quotas(names: Names, resources: Resources, files: Sequence[File]) -> QuotaReader:
    return QuotaReader(names, resources, files)


def _aliases(names: Names, resources: Resources) -> Mapping[str, str]:
    """What conditions may call resources; an alias that is wrong or lost stands for one nobody has."""
    lost = [name for what, name in names.lost if what == "resource"]
    wrong = {name: f"unread/{name}" for name in [*lost, *resources.aliases]}
    return MappingProxyType(wrong | resources.known_aliases())
