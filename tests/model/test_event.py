"""What the loop is told, as values."""

from webhook.model.event import Gone, Seen, Synced
from webhook.model.kinds import JOB


def test_the_same_sight_twice_is_the_same_value():
    assert Seen(JOB, {"spec": {}}) == Seen(JOB, {"spec": {}})
    assert Seen(JOB, {}) != Gone(JOB, {})
    assert len({Synced(JOB, "7"), Synced(JOB, "7"), Synced(JOB, "8")}) == 2
