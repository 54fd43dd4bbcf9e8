"""The one error of this package."""

from __future__ import annotations

from howquick.errors import UserError


class CaptureError(UserError):
    """A capture that cannot be used; the message names the file, the place and the remedy."""
