"""A checked policy, asked: routes, denies, priorities; and the values the quota core gets."""

from dataclasses import replace
from types import MappingProxyType
from typing import Any

from webhook.language.check import load_policy
from webhook.language.conditions import Scope
from webhook.language.policy import Policy, UnknownPriority
from webhook.model.quantity import NANO
from webhook.model.queues import Flavor, FlavorQuota, FlavorResource, Order, Share, Toleration

TEXT = """\
resource gpu = nvidia.com/gpu
flavor a100 {
  node "acc" = "a100"
  tolerate "gpu" = "yes" : NoSchedule
  tolerate "any"
}
priority urgent 1000
priority normal 100 default
cohort all {
  pool a100 { gpu 2 }
  cap a100 { gpu 9 }
  queue vision {
    quota a100 { gpu 8 borrow 4 lend none, cpu 500m }
    quota { cpu 0 }
    order strict
  }
}
queue other in all { quota { cpu 1 lend any } }

route audited when pods > 0 to other audit
route broken when labels["team"] == "x" to other
route vision for Job when namespace == "vision" to vision
route otherwise deny "nobody takes {kind} {name}"

deny big when requests.gpu > 8 { message "asks for {requests.gpu}, {{most}} is 8" }
deny team for JobSet when labels["team"] == "" { message "{name}" }
deny quiet when true audit { message "would" }
"""
SCOPE = Scope(
    object={}, old_object=None, request={}, namespace_object=None, namespace="vision",
    name="train", kind="Job", labels={}, annotations={}, user="ana", groups=(), queue=None,
    priority=None, pods=1, requests={},
)  # fmt: skip


def policy(text: str = TEXT) -> Policy:
    return load_policy([("p.tide", text)])


def scope(**changes: Any) -> Scope:
    return replace(SCOPE, **changes)


def test_the_first_route_that_matches_wins_and_failures_are_handed_back() -> None:
    routed = policy().route(scope())
    assert (routed.queue, routed.denied, routed.rule, routed.place) == (
        "vision",
        None,
        "vision",
        "p.tide:22",
    )
    assert [(f.rule, f.place) for f in routed.failures] == [("broken", "p.tide:21")]
    assert routed.audited == ("audited",)


def test_who_matches_no_route_gets_what_otherwise_says() -> None:
    routed = policy().route(scope(kind="JobSet"))
    assert (routed.queue, routed.denied) == (None, "nobody takes JobSet train")
    assert (
        policy("").route(scope()) == policy("route otherwise ignore\n").route(scope()).__class__()
    )


def test_otherwise_ignore_is_none_of_our_business() -> None:
    routed = policy("route otherwise ignore\n").route(scope())
    assert (routed.queue, routed.denied, routed.rule) == (None, None, "otherwise")


def test_all_denies_that_fire_are_reported_and_one_that_fails_denies() -> None:
    asked = policy().denials(scope(kind="JobSet", requests={"nvidia.com/gpu": 9 * NANO}))
    assert [(d.rule, d.place, d.failed) for d in asked] == [
        ("big", "p.tide:25", False),
        ("team", "p.tide:26", True),
    ]
    assert asked[0].message == "asks for 9, {most} is 8"
    assert "could not be evaluated" in asked[1].message
    assert policy().denials(scope()) == ()
    assert [d.rule for d in policy().audited(scope())] == ["quiet"]


def test_priority_by_label_by_class_by_default() -> None:
    asked = policy().priority_of
    assert asked("urgent", ()) == ("urgent", 1000)
    assert asked("nope", ()) == UnknownPriority("nope", ("urgent", "normal"))
    assert asked(None, [("other", 7), ("urgent", 5)]) == ("urgent", 1000)
    assert asked(None, [("other", 7)]) == ("normal", 100)
    assert policy("").priority_of(None, [("a", 7), ("b", 9), ("c", None)]) == ("b", 9)
    assert policy("").priority_of(None, ()) == ("", 0)


def test_the_core_gets_plain_values_with_places() -> None:
    quotas = policy().quotas
    gpu = "nvidia.com/gpu"
    vision, cohort = quotas.queues["vision"], quotas.cohorts["all"]
    assert vision.quotas == (
        FlavorQuota(
            "a100", MappingProxyType({gpu: Share(8 * NANO, 4 * NANO, 0), "cpu": Share(NANO // 2)})
        ),
        FlavorQuota("default", MappingProxyType({"cpu": Share(0)})),
    )
    assert (vision.cohort, vision.order, vision.place) == ("all", Order.STRICT, "p.tide:12")
    assert quotas.queues["other"].cohort == "all"
    assert dict(cohort.caps) == {FlavorResource("a100", gpu): 9 * NANO}
    assert cohort.pools == (FlavorQuota("a100", MappingProxyType({gpu: Share(2 * NANO)})),)
    assert quotas.flavors["a100"] == Flavor(
        "a100",
        MappingProxyType({"acc": "a100"}),
        (Toleration("gpu", "yes", "NoSchedule"), Toleration("any")),
    )
    assert quotas.flavors["default"] == Flavor("default")
    assert quotas.revision == policy().revision
    assert dict(policy().aliases) == {"gpu": gpu}


def test_a_message_is_cut_before_it_floods_a_terminal() -> None:
    text = 'deny d when true { message "{name}" }\n'
    (denied,) = policy(text).denials(scope(name="n" * 5000))
    assert len(denied.message) == 1024
