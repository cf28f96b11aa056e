"""What the exit codes of every command mean, in one place, so that scripts can rely on them."""

from enum import IntEnum


class Exit(IntEnum):
    """A command ends with ``ctx.exit(Exit.FOUND)``; click itself uses 2 for wrong usage."""

    OK = 0
    FOUND = 1
    """It ran and found something: errors in a policy, unformatted files, failed tests."""
    USAGE = 2
    """It could not run: wrong usage, a path that is missing or unreadable, no policy file."""
