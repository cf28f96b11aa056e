"""All findings about a policy that could be loaded, in one call: the door of this package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from webhook.language.lint.routes import route_findings
from webhook.language.lint.rulebook import Known, read_rules
from webhook.language.lint.rules import rule_findings
from webhook.language.problems import Problem
from webhook.language.syntax import File


def condition_findings(
    files: Sequence[File], aliases: Mapping[str, str], declared: Sequence[str] = ()
) -> Iterator[Problem]:
    """What can be proven about conditions. Only for a policy without errors."""
    rules = read_rules(files, Known(aliases, tuple(declared)))
    yield from route_findings(rules)
    yield from rule_findings(rules)
