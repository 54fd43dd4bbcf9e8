"""Real pages: images that decode, style sheets that change the look, scripts that run."""

from howquick.site.make import SITES, make_site

__all__ = ["SITES", "make_site"]
