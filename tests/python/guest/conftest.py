from __future__ import annotations

import pytest

from howquick.environment.manifest import prefix_of


@pytest.fixture(autouse=True)
def kernel() -> None:
    """Skip where user mode does not exist (it is for x86-64)."""
    if prefix_of("kernel") is None:
        pytest.skip("this environment has no kernel for virtual time")
