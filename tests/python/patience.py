"""How long tests wait for what must come: no test asks how fast a machine is, or how busy."""

import time
from collections.abc import Callable

# Whatever takes so long has hung.
HANG_S = 900.0
# The same where a quiet machine needs a moment.
SOON_S = 60.0
POLL_S = 0.02


def wait_until(
    condition: Callable[[], object], within_s: float = HANG_S, poll_s: float = POLL_S
) -> bool:
    """Poll until `condition()` is true; returns whether it became true."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(poll_s)
    return bool(condition())
