"""UPDATE by anybody but the loop: nobody starts, moves or unmarks a workload by an edit (behaviour.md §2).

What only an attacker would do (take the label off, move what runs to another queue, ask for more per pod) is refused
in one clear line; the rest is put back by ``keeping``. The policy's rules are asked again where the change costs.
"""

from __future__ import annotations

from webhook.admission.change import Change
from webhook.admission.checks import refusals, unknown_priority, unknown_queue
from webhook.admission.decision import Decision, Refusal
from webhook.admission.keeping import put_back
from webhook.admission.kinship import Kinship
from webhook.admission.subject import Subject, in_queue
from webhook.model.kinds import Key
from webhook.model.quantity import format_quantity

OUTGROWN = Refusal("a child may not ask for more than its parent's template")
UNDONE = Refusal("another webhook changed what tidegate keeps: suspend, its marks or injected keys")


def changed(change: Change) -> Decision:
    """The decision of the mutating call."""
    refused = forbidden(change) or judged(change)
    if refused:
        return Decision(refusals=refused, note="refused")
    patch, warnings = put_back(change)
    return Decision(patch=patch, warnings=warnings, note="changed")


def going(change: Change) -> Decision:
    """The mutating call on what is being deleted: never refused, but nobody starts it, or grows it, on its way out."""
    return Decision(patch=put_back(change)[0], note="deleting")


def still_kept(change: Change) -> Decision:
    """The decision of the validating call: no later webhook may undo what the mutating call put back."""
    refused = forbidden(change) or judged(change)
    if not refused and put_back(change)[0]:
        refused = (UNDONE,)
    return Decision(refusals=refused, note="refused" if refused else "changed")


def forbidden(change: Change) -> tuple[Refusal, ...]:
    """What an edit may not do at all, whatever the policy says."""
    old, new = change.old, change.new
    found = [*_label(change)]
    if old.priority != new.priority:
        found += unknown_priority(change.rules.policy, new)
    if change.outgrows:
        found.append(OUTGROWN)
    if old.started and new.started:
        found += [*_grown_counts(old, new), *_grown_requests(old, new)]
    return tuple(found)


def judged(change: Change) -> tuple[Refusal, ...]:
    """Rules of the policy, asked of a waiting root that changes; what held before the change does not count."""
    if change.kinship is Kinship.CHILD or not change.waits or not change.costs:
        return ()
    new = in_queue(change.new, change.queue)
    after = refusals(change.rules, new, change.scope(new))
    if change.moves or not after:
        return after
    before = {
        refusal.cause for refusal in refusals(change.rules, change.old, change.scope(change.old))
    }
    return tuple(refusal for refusal in after if refusal.cause not in before)


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
