"""The one kind of error the testbed raises for things a user can mend."""

from __future__ import annotations

from howquick.errors import UserError


class TestbedError(UserError):
    """Something of the testbed could not be made or read; the text says what and how to mend it."""

    # pytest collects classes whose name starts with "Test"; this one is not a test.
    __test__ = False
