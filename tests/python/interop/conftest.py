"""The pages and certificates that the tests of all programs share."""

from programs.conftest import certs, page, small_page

__all__ = ["certs", "page", "small_page"]
