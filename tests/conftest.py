"""How the tests run everywhere: properties find new examples at home and repeat the same in CI."""

import os

from hypothesis import settings

# No deadline in either: on a busy machine it would report the neighbours, not the code.
settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")
