"""UPDATE by anybody but the loop: nobody starts, moves or unmarks a workload by an edit (behaviour.md §2).

What only an attacker would do (take the label off, move what runs to another queue, ask for more per pod) is refused
in one clear line; the rest is put back by ``keeping``. The policy's rules are asked again where the change costs.
"""

from __future__ import annotations

from webhook.admission.asked import Answer, news, warned
from webhook.admission.change import Change
from webhook.admission.checks import judged, unknown_priority, unknown_queue
from webhook.admission.decision import NO_ACCOUNT, Account, Decision, Refusal
from webhook.admission.finding import differing
from webhook.admission.keeping import put_back
from webhook.admission.kinship import Kinship
from webhook.admission.subject import Subject, in_queue, queue_labels
from webhook.model.kinds import Key
from webhook.model.quantity import format_quantity
from webhook.workloads.objects import labels

OUTGROWN = Refusal("a child may not ask for more than its parent's template")
UNDONE = Refusal("another webhook changed what tidegate keeps: suspend, its marks or injected keys")


def changed(change: Change) -> Decision:
    """The decision of the mutating call."""
    answer = Answer(forbidden(change)) + asked_again(change)
    if answer.refusals:
        return Decision(refusals=answer.refusals, note="refused", account=answer.account)
    patch, warnings = put_back(change)
    return Decision(patch=patch, warnings=warnings, note="changed", account=answer.account)


def going(change: Change) -> Decision:
    """The mutating call on what is being deleted: never refused, but nobody starts it, or grows it, on its way out."""
    return Decision(patch=put_back(change)[0], note="deleting")


def still_kept(change: Change) -> Decision:
    """The decision of the validating call: no later webhook may undo what the mutating call put back."""
    answer = Answer(forbidden(change)) + asked_again(change)
    if not answer.refusals and put_back(change)[0]:
        answer = Answer((UNDONE,))
    if answer.refusals:
        return Decision(refusals=answer.refusals, note="refused", account=answer.account)
    account = warned_anew(change)
    told = tuple(one.line for one in account.warned)
    return Decision(warnings=told, note="changed", account=account)


def forbidden(change: Change) -> tuple[Refusal, ...]:
    """What an edit may not do at all, whatever the policy says."""
    old, new = change.old, change.new
    found = [*_label(change), *_two_labels(change)]
    if old.priority != new.priority:
        found += unknown_priority(change.rules.policy, new)
    if change.outgrows:
        found.append(OUTGROWN)
    if old.started and new.started:
        found += [*_grown_counts(old, new), *_grown_requests(old, new)]
    return tuple(found)


def asked_again(change: Change) -> Answer:
    """Rules of the policy, asked of a waiting root that changes; what held before the change does not count."""
    if not _concerns(change):
        return Answer()
    new, rules = in_queue(change.new, change.queue), change.rules
    after = judged(rules, new, change.scope(new), enters=change.moves)
    if change.moves or not (after.refusals or after.account != NO_ACCOUNT):
        return after
    before = judged(rules, change.old, change.scope(change.old), enters=False)
    held = {refusal.cause for refusal in before.refusals}
    refusals = tuple(refusal for refusal in after.refusals if refusal.cause not in held)
    return Answer(refusals, news(before.account, after.account))


def warned_anew(change: Change) -> Account:
    """Its ``warn`` rules, likewise."""
    if not _concerns(change):
        return NO_ACCOUNT
    new, policy = in_queue(change.new, change.queue), change.rules.policy
    after = warned(policy, change.scope(new))
    if change.moves or after == NO_ACCOUNT:
        return after
    return news(warned(policy, change.scope(change.old)), after)


def _concerns(change: Change) -> bool:
    return change.kinship is not Kinship.CHILD and change.waits and change.costs


def _label(change: Change) -> list[Refusal]:
    old, new = change.old, change.new
    if new.queue is None and not change.written_whole:
        return [
            Refusal(
                f"label {Key.QUEUE} stays; delete the workload to take it out of queue {old.queue}"
            )
        ]
    if not change.moves:
        return []
    if change.kinship is Kinship.CHILD:
        return [Refusal(f"label {Key.QUEUE} of a child is its parent's: {old.queue}")]
    if old.started:
        text = f"a started workload stays in queue {old.queue}; suspend it before it moves to {new.queue}"
        return [Refusal(text)]
    unknown = unknown_queue(change.rules.policy, change.queue)
    return [unknown] if unknown else []


def _two_labels(change: Change) -> list[Refusal]:
    """Labels that an edit makes name different queues; which of them a child bears is its parent's business."""
    policy, old, new = change.rules.policy, labels(change.old.object), labels(change.new.object)
    same = queue_labels(policy, old) == queue_labels(policy, new)
    two = None if same or change.kinship is Kinship.CHILD else differing(policy, new)
    return [two] if two else []


def _grown_counts(old: Subject, new: Subject) -> list[Refusal]:
    """More pods of a kind whose counts nobody can put back: its own controller takes them for immutable as well."""
    growth = new.adapter.grown(old.object, new.object)
    if growth is None or growth.patch:
        return []
    text = f"a started workload may not ask for more: pods from {growth.was} to {growth.wants}"
    return [Refusal(text)]


def _grown_requests(old: Subject, new: Subject) -> list[Refusal]:
    """What each pod of a started workload would ask for on top, in numbers."""
    before = {pods.name: pods.requests for pods in old.pod_sets}
    return [
        Refusal(
            f"a started workload may not ask for more: {resource} of each pod of {pods.name} from"
            f" {format_quantity(before.get(pods.name, {}).get(resource, 0), resource)}"
            f" to {format_quantity(amount, resource)}"
        )
        for pods in new.pod_sets
        for resource, amount in pods.requests.items()
        if amount > before.get(pods.name, {}).get(resource, 0)
    ]
