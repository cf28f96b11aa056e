"""What is offered where: the grammar's keywords, the policy's names, the schemas' fields."""

from __future__ import annotations

import pytest

from tests.cli.editor.marked import marked, workspace
from webhook.cli.editor.completion import complete

OTHER = """\
resource gpu = nvidia.com/gpu
flavor a100 { }
flavor spot { }
priority urgent 10
cohort research { }
queue speech in research { quota a100 { gpu 1 } }
deny big when requests.gpu > 4 { message "no" }
"""


def offered(text: str) -> list[str]:
    text, offset = marked(text)
    return [offer.text for offer in complete(workspace(text, OTHER), text, offset).items]


@pytest.mark.parametrize(
    ("text", "wanted", "unwanted"),
    [
        ("¦", ["queue", "route", "deny", "cohort", "flavor"], ["quota", "order", "urgent"]),
        ("# a note\n\nro¦", ["route"], ["queue"]),
        ("queue q {\n  ¦\n}\n", ["quota", "order"], ["pool", "queue"]),
        ("cohort c {\n  queue q {\n    quota a100 { gpu 1 }\n    or¦", ["order"], ["quota"]),
        ("cohort c {\n  brokn\n  ¦", ["pool", "cap", "queue"], ["quota"]),
        ("brokn x y\nqueue q { ¦", ["quota", "order"], ["deny"]),
        ("queue q {\n  order ¦", ["strict", "first-fit"], ["a100"]),
        ("queue q {\n  quota ¦", ["a100", "spot", "default"], ["research", "speech"]),
        ("queue q {\n  quota a100 {\n    ¦", ["gpu", "cpu", "memory"], ["a100", "order"]),
        ("queue q { quota a100 { gpu 1, ¦", ["gpu", "cpu", "memory"], ["a100"]),
        ("queue q { quota a100 { gpu 64 ¦", ["borrow", "lend"], ["gpu"]),
        ("queue q { quota a100 { gpu 64 borrow ¦", ["any", "none"], ["gpu"]),
        ("queue q { quota a100 { gpu 64 borrow none l¦", ["lend"], ["borrow"]),
        ("queue q in ¦", ["research"], ["speech", "a100"]),
        ("route x to ¦", ["speech"], ["research", "urgent"]),
        ("route x for ¦", ["Job", "JobSet"], ["speech"]),
        ("route x for Job, ¦", ["Job", "JobSet"], []),
        ("route x for Job ¦", ["when", "to"], ["queue"]),
        ("route x\n  when namespace == \"a\"\n  ¦", ["to"], []),
        ("route x when ¦", ["namespace", "labels", "requests", "has", "true"], ["queue", "to"]),
        ("deny x when ¦", ["queue", "priority"], ["if"]),
        ("deny x when na¦", ["namespace", "name", "namespaceObject"], ["queue"]),
        ("deny x when requests.¦", ["gpu", "cpu", "memory"], ["spec"]),
        ("deny x for Job when object.¦", ["spec", "metadata"], ["gpu"]),
        ("deny x for Job when object.spec.¦", ["parallelism", "template"], ["replicatedJobs"]),
        ("deny x for JobSet when object.spec.¦", ["replicatedJobs"], ["parallelism"]),
        ("deny x when object.metadata.¦", ["labels", "name"], ["spec"]),
        ("deny x when namespace.st¦", ["startsWith"], ["size"]),
        ("deny x when requests.gpu.¦", ["isLessThan", "compareTo"], ["startsWith", "size"]),
        ("deny x when labels.team.¦", ["startsWith", "matches", "size"], ["all"]),
        ('deny x when object.metadata.labels["a"].¦', ["startsWith"], ["all"]),
        ("deny x when labels.¦", ["all", "size"], ["startsWith"]),
        ("deny x for Job when object.spec.template.spec.containers[0].¦", ["image"], ["spec"]),
        ("deny x when groups.e¦", ["exists", "exists_one"], ["startsWith"]),
        ('deny x when queue == "¦"', ["speech"], ["research"]),
        ('deny x when priority in ["a", "¦', ["urgent"], ["speech"]),
        ('deny x when requests["¦', ["gpu", "cpu"], ["speech"]),
        ("deny x when true {\n  message \"no {na¦", ["name", "namespace"], ["queue"]),
        ("deny x when true { message \"no {{ {requests.¦", ["gpu", "cpu"], ["spec"]),
        ("deny x for Job when true {\n  message \"{pods} {object.spec.pa¦ ", ["parallelism"], []),
        ("route otherwise deny \"{na¦", ["namespace"], []),
        ("deny x when pods > 3 ¦", ["audit"], ["to"]),
        ("flavor f {\n  ¦", ["node", "tolerate"], ["quota"]),
        ('flavor f { tolerate "a" : ¦', ["NoSchedule", "NoExecute"], ["a100"]),
        ("route otherwise ¦", ["to", "deny", "ignore"], ["when"]),
        ("priority low 1 ¦", ["default"], []),
        ("queue q {\n  pre¦", ["preempt", "prefer"], ["quota"]),
        ("queue q {\n  preempt ¦", ["lower-priority", "any"], ["urgent"]),
        ("queue q {\n  preempt lower-priority to borrow below ¦", ["urgent"], ["any"]),
        ("queue q {\n  prefer borrowing over ¦", ["next-flavor", "preempting"], ["a100"]),
        ("queue q {\n  limit ¦", ["gpu", "jobs", "waiting"], ["user"]),
        ("queue q {\n  limit gpu 4 ¦", ["jobs", "gpu", "per"], ["user"]),
        ("queue q {\n  limit gpu 4 per ¦", ["user", "namespace", "owner", "label"], ["gpu"]),
        ("queue q {\n  accept when ¦", ["namespace", "labels"], ["to"]),
        ("settings {\n  mode ¦", ["enforce", "audit"], []),
        ("test \"t\" {\n  ¦", ["given", "submit", "expect"], ["quota"]),
        ("test \"t\" {\n  given queue ¦", ["speech"], ["research"]),
        ("test \"t\" {\n  given queue speech running { ¦", ["gpu", "cpu"], ["speech"]),
        ("test \"t\" {\n  given queue speech running { gpu 1 } on ¦", ["a100", "spot"], ["gpu"]),
        ("test \"t\" {\n  submit ¦", ["Job", "JobSet", "file"], ["speech"]),
        ("test \"t\" {\n  expect ¦", ["queue", "denied", "waiting", "starts"], ["when"]),
        ("test \"t\" {\n  expect denied by ¦", ["big"], ["speech"]),
        ("test \"t\" {\n  expect waiting because ¦", ["quota", "limit"], ["big"]),
        ("set s for Job when has(object.spec.x) {\n  spec.a = ¦", ["requests", "true"], ["when"]),
    ],
)  # fmt: skip
def test_what_may_follow_is_offered_and_nothing_else(
    text: str, wanted: list[str], unwanted: list[str]
) -> None:
    found = offered(text)
    assert set(wanted) <= set(found), found
    assert not set(unwanted) & set(found), found


@pytest.mark.parametrize(
    "text",
    [
        "# qu¦",
        "queue ¦",
        'deny x when true { message "{{na¦',
        'deny x when true { message "{a} na¦',
        "deny x when nonsense.¦",
        "deny x when 1 2 ¦",
        'node "¦',
    ],
)
def test_where_nobody_knows_nothing_is_offered(text: str) -> None:
    assert offered(text) == []


def test_the_word_at_the_cursor_is_what_is_replaced() -> None:
    text, offset = marked("queue q {\n  order fir¦")
    found = complete(workspace(text), text, offset)
    assert text[found.start : offset] == "fir"
    assert [offer.text for offer in found.items] == ["first-fit"]
