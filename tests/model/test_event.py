"""What the loop is told, as values."""

from webhook.model.event import Event, Gone, Seen, Synced
from webhook.model.kinds import JOB


def test_the_same_sight_twice_is_the_same_value():
    assert Seen(JOB, {"spec": {}}) == Seen(JOB, {"spec": {}})
    events: list[Event] = [Seen(JOB, {}), Gone(JOB, {})]
    assert events[0] != events[1]
    assert len({Synced(JOB, "7"), Synced(JOB, "7"), Synced(JOB, "8")}) == 2
