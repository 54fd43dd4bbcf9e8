"""One address of every page of the report."""

from __future__ import annotations

from report.sample import DETAILED, LOST, STUDY, Sample


def places(sample: Sample) -> dict[str, str]:
    """What follows the report's own address, by name."""
    slow = sample.slowest
    load = f"#/{STUDY}/{DETAILED}/{slow['arm']}/{slow['repetition']}"
    return {
        "studies": "#/", "cells": f"#/{STUDY}", "claims": f"#/{STUDY}?tab=claims",
        "figures": f"#/{STUDY}?tab=figures", "arms": f"#/{STUDY}?tab=arms", "loads": f"#/{STUDY}?tab=loads",
        "about": f"#/{STUDY}?tab=about", "cell": f"#/{STUDY}/{DETAILED}", "load": load,
        "packet": f"{load}/down-{LOST}",
    }  # fmt: skip
