"""Mistakes of people who come from elsewhere or type too fast: one problem each, whose help names the fix."""

import pytest

from tests.language.chunks import problems
from webhook.language.fixes import apply
from webhook.language.problems import has_errors

QUEUE = "queue q {{\n  quota {{ cpu 1 }}\n  {}\n}}\n"
QUOTA = "cohort c {{\n  queue q {{\n    quota {{ {} }}\n  }}\n  queue p {{ quota {{ cpu 9, memory 9Gi }} }}\n}}\n"
TEST = (
    "queue q {{ quota {{ cpu 1 }} }}\n"
    'test "t" {{\n  submit Job in "a" requests {{ cpu 1 }}\n  {}\n}}\n'
)
TOP = "queue q {{ quota {{ cpu 1 }} }}\n{}\n"

MISTAKES = [
    # what, in which text, the code, a part of the help
    ("nominalQuota { cpu 5 }", QUEUE, "TG004", "did you mean `quota`?"),
    ("borrowingLimit 5", QUEUE, "TG004", "it stands behind the amount: `quota { cpu 5 borrow 2 }`"),
    ("cpu 5 borrowingLimit 2", QUOTA, "TG004", "did you mean `borrow`?"),
    ("cpu 5 lendingLimit 2", QUOTA, "TG004", "did you mean `lend`?"),
    ("queueingStrategy StrictFIFO", QUEUE, "TG004", "did you mean `order`?"),
    ("order StrictFIFO", QUEUE, "TG004", "did you mean `strict`?"),
    ("order BestEffortFIFO", QUEUE, "TG004", "did you mean `first-fit`?"),
    ("flavorFungibility x", QUEUE, "TG004", "did you mean `prefer`?"),
    ("preemption any from borrowers", QUEUE, "TG004", "did you mean `preempt`?"),
    ("preempt LowerPriority within queue", QUEUE, "TG004", "did you mean `lower-priority`?"),
    ("preempt any from cohort", QUEUE, "TG004", "`borrowers`"),
    ("stopPolicy Hold", QUEUE, "TG004", "did you mean `hold`?"),
    ("namespaceSelector x", QUEUE, "TG004", "did you mean `accept`?"),
    ("accept if pods > 1", QUEUE, "TG004", "did you mean `when`?"),
    ("fairSharing 2", QUEUE, "TG004", "did you mean `weight`?"),
    ("limit cpu 5 for user", QUEUE, "TG004", "did you mean `per`?"),
    ("limit cpu 5 per users", QUEUE, "TG004", "did you mean `user`?"),
    ("limit cpu 5", QUEUE, "TG005", "add whom it bounds: `per user`"),
    ("max-jobs 5", QUEUE, "TG004", "did you mean `limit`?"),
    ("ready within 15", QUEUE, "TG013", "write `15s`, `15m` or `15h`"),
    ("ready within 15 minutes", QUEUE, "TG004", "write the unit without a blank: `15m`"),
    ("ready in 15m", QUEUE, "TG004", "did you mean `within`?"),
    ("timeout 15m", QUEUE, "TG004", "did you mean `ready`?"),
    ("memory 64GB", QUOTA, "TG010", "write `64G` or `64Gi`"),
    ("memory 512MB", QUOTA, "TG010", "write `512M` or `512Mi`"),
    ("cpu 4cores", QUOTA, "TG010", "write `4`"),
    ("cpu: 5", QUOTA, "TG004", "write `cpu 5`"),
    ("cpu = 5", QUOTA, "TG004", "write `cpu 5`"),
    ('cpu "5"', QUOTA, "TG004", "write `5`"),
    ("mem 5Gi", QUOTA, "TG108", "did you mean `memory`?"),
    ("- cpu 5", QUOTA, "TG004", "a list needs no `-`"),
    ("cpu 5; memory 5Gi", QUOTA, "TG004", "write a comma, or begin a new line"),
    ("name: q", QUEUE, "TG004", "this is no YAML"),
    ("apiVersion: kueue.x-k8s.io/v1beta1", TOP, "TG003", "statements of its own"),
    ("kind: ClusterQueue", TOP, "TG004", "this is no YAML"),
    ("ClusterQueue x { quota { cpu 5 } }", TOP, "TG004", "did you mean `queue`?"),
    ("partition x { quota { cpu 5 } }", TOP, "TG004", "did you mean `queue`?"),
    ("quota { cpu 5 }", TOP, "TG004", "it stands in a queue"),
    ("limit cpu 5 per user", TOP, "TG004", "it stands in a queue"),
    ("route x for Job to q", QUEUE, "TG004", "it stands outside of blocks"),
    ("pool { cpu 5 }", QUEUE, "TG004", "it stands in a cohort"),
    ("share by weight", QUEUE, "TG004", "it stands in a cohort"),
    ("hold", TOP, "TG004", "it stands in a queue"),
    ("deny x when pods > 1 and pods < 5 { message \"a\" }", TOP, "TG004", "write `&&`"),
    ("deny x if pods > 1 { message \"a\" }", TOP, "TG004", "did you mean `when`?"),
    ("reject x when pods > 1 { message \"a\" }", TOP, "TG004", "did you mean `deny`?"),
    ("deny x when pods > 1 { msg \"a\" }", TOP, "TG004", "did you mean `message`?"),
    ("deny x when pods > 1 { message a }", TOP, "TG004", 'write `"a"`'),
    ("set x { spec.suspend = true }", TOP, "TG510", "decided by quota"),
    ("set x for Job { spec.parallelism: 5 }", TOP, "TG004", "write `=`"),
    ("settings { mode dry-run }", TOP, "TG004", "did you mean `audit`?"),
    ("expects queue q", TEST, "TG004", "did you mean `expect`?"),
    ("expect pending", TEST, "TG004", "did you mean `waiting`?"),
    ("expect waiting due quota", TEST, "TG004", "did you mean `because`?"),
    ("route all to Q", TOP, "TG104", "did you mean `q`?"),
    ("// a comment", TOP, "TG004", "write `#`"),
    ("cohort research", QUEUE, "TG004", "`queue NAME in research {`"),
    ("queue a cohort c {\n  quota { cpu 1 }\n}", TOP, "TG004", "did you mean `in`?"),
    ("cohort c", TOP, "TG005", "`cohort c { }`"),
    ("flavor f", TOP, "TG005", "`flavor f { }`"),
    ("nvidia.com/gpu 8 nominalQuota 4", QUOTA, "TG004", "the amount behind a resource is its quota"),
    ("cpu 50%", QUOTA, "TG004", "write the amount itself"),
    ("cpu 8 borrow 50%", QUOTA, "TG004", "write the amount itself"),
    ("cpu unlimited", QUOTA, "TG004", "name a number"),
    ("cpu 8 borrow unlimited", QUOTA, "TG004", "did you mean `any`?"),
    ("cpu 4-8", QUOTA, "TG004", "`4 borrow 4`"),
    ("limit cpu 4 user", QUEUE, "TG005", "write `per user`"),
    ("limit jobs 4 namespace", QUEUE, "TG005", "write `per namespace`"),
    ("deny \"too big\" when pods > 1 { message \"at most 1\" }", TOP, "TG015", "write `too-big`"),
    ("deny x when requests.cpu > 64 cores { message \"at most 64\" }", TOP, "TG004", "write `64`"),
    ("route when namespace like \"x-*\" to q", TOP, "TG004", 'write `namespace.startsWith("x-")`'),
    ("route when user like \"*-bot\" to q", TOP, "TG004", 'write `user.endsWith("-bot")`'),
    ("route when user like \"%bot%\" to q", TOP, "TG004", 'write `user.contains("bot")`'),
    ("route when user like \"bot\" to q", TOP, "TG004", 'write `user == "bot"`'),
    ("route when labels[\"a\"] contains \"x\" to q", TOP, "TG004", 'write `….contains("x")`'),
]  # fmt: skip


@pytest.mark.parametrize(
    ("written", "where", "code", "help_"), MISTAKES, ids=[m[0] for m in MISTAKES]
)
def test_a_real_mistake_comes_with_its_fix(written: str, where: str, code: str, help_: str) -> None:
    found = problems(where.format(written))
    assert [(p.code, help_ in p.help) for p in found] == [(code, True)], [
        (p.code, p.message, p.help) for p in found
    ]


FIXED = [
    ("limit cpu 4 user", QUEUE),
    ('deny "too big" when pods > 1 { message "at most 1" }', TOP),
    ('deny x when requests.cpu > 64 cores { message "at most 64" }', TOP),
    (
        "queue a cohort q { quota { cpu 1 } }",
        "cohort q {{ queue b {{ quota {{ cpu 1 }} }} }}\n{}\n",
    ),
]


@pytest.mark.parametrize(("written", "where"), FIXED, ids=[fixed[0] for fixed in FIXED])
def test_the_fix_of_a_mistake_leaves_no_error(written: str, where: str) -> None:
    text = where.format(written)
    (found,) = problems(text)
    assert found.fix is not None
    left = problems(apply(text, [found.fix], "x.tide"))
    assert not has_errors(left), left


def test_what_looks_like_a_mistake_and_is_none_is_left_alone() -> None:
    text = (
        "resource cores = a.b/c\nqueue cohort { quota { cores 4 } }\n"
        'route when pods % 2 == 1 && labels["like"].contains("x-*") to cohort\n'
        'deny any-one when requests.cores > 64 { message "at most 64" }\n'
    )
    assert not has_errors(problems(text))


def test_there_are_at_least_thirty() -> None:
    assert len(MISTAKES) >= 30
