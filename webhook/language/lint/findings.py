"""All findings about a policy that could be loaded, in one call: the door of this package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from webhook.language.lint.queues import queue_findings
from webhook.language.lint.routes import route_findings
from webhook.language.lint.rulebook import Known, read_rules
from webhook.language.lint.rules import rule_findings
from webhook.language.lint.sets import set_findings
from webhook.language.names import Names
from webhook.language.problems import Problem
from webhook.language.syntax import File
from webhook.model.queues import Quotas


def condition_findings(
    files: Sequence[File], names: Names, quotas: Quotas, aliases: Mapping[str, str]
) -> Iterator[Problem]:
    """What can be proven about conditions. Only for a policy without errors."""
    known = Known(aliases, tuple(names.kinds))
    rules = read_rules(files, known)
    yield from route_findings(rules)
    yield from rule_findings(rules)
    yield from set_findings(rules)
    yield from queue_findings(rules, names, quotas, known)
