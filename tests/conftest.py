"""What all tests in Python have in common."""

import os


def pytest_configure():
    """Tests of something else than numbers must not depend on how busy the machine is."""
    os.environ.setdefault("HOWQUICK_GUARD", "record")
