"""What the sites consist of that a study may ask for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Site:
    """What a site consists of; lengths in bytes, of each file of its kind (of pictures: their mean)."""

    sheets: int
    scripts: int
    pictures: int  # besides the main one
    html_bytes: int
    sheet_bytes: int
    script_bytes: int
    main_bytes: int
    picture_bytes: int

    @property
    def resources(self) -> int:
        """How many files it has, the HTML and the main picture among them."""
        return 1 + self.sheets + self.scripts + self.pictures + 1

    @property
    def total_bytes(self) -> int:
        """About how long all of them are, bytes."""
        return (
            self.html_bytes
            + self.sheets * self.sheet_bytes
            + self.scripts * self.script_bytes
            + self.pictures * self.picture_bytes
            + self.main_bytes
        )


SITES = {
    "small": Site(1, 1, 6, 12_000, 20_000, 30_000, 90_000, 24_000),
    "medium": Site(2, 3, 23, 30_000, 30_000, 50_000, 250_000, 42_000),
    "large": Site(4, 8, 66, 60_000, 30_000, 50_000, 400_000, 45_000),
    # HTML, CSS, JS and five images, as Nam, Jung, Choi, Koh (KIPS 2021) load.
    "web": Site(1, 1, 4, 20_000, 40_000, 80_000, 500_000, 215_000),
}
