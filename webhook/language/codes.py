"""Every code a finding may carry: its severity and what it is about, in one line.

A code keeps its meaning for ever and is never given again. Only codes that are really reported stand here; a test
walks the table and fails for one that nothing fires.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import NamedTuple


class Severity(Enum):
    """An error keeps a policy from being loaded; the others do not."""

    ERROR = "error"
    WARNING = "warning"
    STYLE = "style"


class Code(NamedTuple):
    """One line of the registry."""

    severity: Severity
    summary: str


_ERRORS = {
    "TG001": "not valid UTF-8, or a control character",
    "TG002": "invisible or look-alike character",
    "TG003": "a statement is expected here",
    "TG004": "word that is not valid here",
    "TG005": "something is missing before this",
    "TG006": "block never closed, or closed twice",
    "TG007": "text never closed, or a bad escape",
    "TG008": "entries need a comma or a new line",
    "TG009": "statement broken where it cannot be",
    "TG010": "unit that does not exist",
    "TG011": "amount out of range or negative",
    "TG012": "fraction of something that has none",
    "TG013": "duration without a unit",
    "TG015": "not a name (form, length, reserved word)",
    "TG016": "`audit` in the wrong place",
    "TG017": "file too large or too deep",
    "TG101": "name declared twice",
    "TG102": "no cohort of that name",
    "TG103": "no flavor, priority or rule of that name",
    "TG104": "no queue of that name",
    "TG105": "cohorts form a cycle",
    "TG106": "parent given by block and by `in`",
    "TG107": "resource already has a name, or an alias hides a resource",
    "TG108": "unknown resource",
    "TG109": "kind declared twice or built in",
    "TG110": "two default priorities",
    "TG111": "two `settings`",
    "TG201": "two `route otherwise`",
    "TG209": "a kind that is neither declared nor built in",
    "TG210": "`queue-label` names a key of ours, or one twice",
    "TG301": "queue without quota",
    "TG302": "flavor or resource given twice",
    "TG303": "`borrow` or `lend` where there is nobody",
    "TG310": "flavors used together contradict each other",
    "TG314": "`node` or `tolerate` key twice",
    "TG403": "same limit twice for one subject",
    "TG405": "two `preempt` lines of one form",
    "TG406": "`to borrow` without `from borrowers`, or in a tree that shares by weight",
    "TG407": "`weight` in a tree that shares by priority, or outside one",
    "TG408": "`share` outside a root cohort",
    "TG410": "`hold` beside `drain`",
    "TG411": "`ready within` for a kind without `ready when`",
    "TG501": "not in our subset of CEL",
    "TG502": "no such field",
    "TG503": "types do not go together",
    "TG504": "no such variable here",
    "TG507": "amount compared with a double",
    "TG508": "condition too deep, long or costly",
    "TG509": "pattern not RE2",
    "TG510": "`set` may not write this path",
    "TG511": "expression in a message is invalid",
    "TG601": "name in a test does not exist",
    "TG602": "a test without a `submit`, or with two",
    "TG603": "expectations contradict each other",
    "TG604": "expectation not met",
    "TG606": "file of a test missing, or not one object",
}
_WARNINGS = {
    "TG014": "memory below 1Mi",
    "TG202": "route can never match",
    "TG203": "route hidden by an earlier one",
    "TG204": "routes of two files overlap",
    "TG205": "queue does not accept what its route sends",
    "TG206": "`deny` can never fire",
    "TG207": "`deny` fires for everything",
    "TG208": "two `set`s write one path",
    "TG304": "`lend` above what there is to lend",
    "TG305": "`borrow` that nobody can lend",
    "TG306": "`cap` that can never bind",
    "TG307": "`cap` below one member's own quota",
    "TG308": "flavor without quota",
    "TG311": "bytes without a unit beside siblings with one",
    "TG312": "resource a queue names but can never give",
    "TG313": "`pool` that no queue can use",
    "TG315": "`lend` that nobody can use",
    "TG401": "`limit` that can never bind",
    "TG402": "`limit` below the least that is allowed in",
    "TG404": "`preempt` line that can find nobody",
    "TG412": "what is let through never fits",
    "TG505": "field may be absent, condition would fail",
    "TG506": "condition always true or always false",
}
_STYLE = {
    "TG309": "alternatives count different resources",
    "TG409": "`prefer` that says nothing in a queue with one flavor",
    "TG413": "queue that lends and has no line to take it back",
    "TG605": "rule without a test",
    "TG607": "test that can pass by accident",
    "TG701": "not in canonical form",
    "TG702": "`route otherwise` not last in its file",
    "TG703": "suppression without a reason, of no known code, or of an error",
    "TG704": "unused suppression",
    "TG705": "rule without a message worth the name",
    "TG706": "two priorities with one value",
}

CODES: Mapping[str, Code] = MappingProxyType(
    {code: Code(Severity.ERROR, summary) for code, summary in _ERRORS.items()}
    | {code: Code(Severity.WARNING, summary) for code, summary in _WARNINGS.items()}
    | {code: Code(Severity.STYLE, summary) for code, summary in _STYLE.items()}
)

ON_REQUEST = frozenset({"TG701"})
"""Codes that are looked for only where a run names them."""
BY_TESTS = frozenset({"TG604", "TG605", "TG606"})
"""Codes of ``tidegate test``: whether they apply is known when the tests have run."""
