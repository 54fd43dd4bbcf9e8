"""What a study says of itself, with the numbers of the scale that runs.

Texts name what the plan decides in braces:

* `{FACTOR}`: the levels of a factor in the cells of the scale, of a claim in the cells that it is tested in;
* `{FACTOR:LEVEL}`: the value that a level has there, or that it is not measured;
* `{PARAMETER}`: the value of what `fixed` gives, and `{repetitions}`, `{timeout_s}` those of the scale;
* `{SCALE/…}`: each of these at another scale.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from howquick.errors import ConfigError
from howquick.model import Cell, Workload
from howquick.study.cells import asked_repetitions, needs_guests
from howquick.study.claims import cells_of_claim
from howquick.study.sites import SITES
from howquick.study.workload import kind_of, normalised, video_of

PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
UNITS = (("GB", 1e9), ("MB", 1e6), ("KB", 1e3))
BINARY = (("GiB", 2.0**30), ("MiB", 2.0**20))
# Of what `fixed` gives; a factor says its own.
FIXED_UNITS = {
    "bandwidth_mbit": "Mbit/s", "rtt_ms": "ms", "queue_ms": "ms", "loss_percent": "%",
    "mtu_bytes": "bytes",
}  # fmt: skip
NOT_MEASURED = "not measured"
# Of a scale itself.
SCALE_KEYS = ("repetitions", "timeout_s")
Text = dict[str, str]
# What every study says whose loads are in virtual time.
CLOCK = {
    "paper": "machines and their clocks",
    "here": "real programs on a pinned kernel whose clock stands while anything computes (virtual time)",
    "why": (
        "Loads are exact, undisturbed, and the same for everybody. What a processor costs is left out: "
        "a slow implementation looks as good as a fast one."
    ),
}


@dataclass(frozen=True)
class Scaled:
    """A study at one scale: `study` as `at_scale` changes it, `scale` itself, the `cells` measured."""

    study: dict[str, Any]
    scale: dict[str, Any]
    cells: list[Cell]


class Declarations:
    """Fills in the placeholders of a study's texts.

    own: the study at the scale that runs. other: gives it at another one, by name; raises KeyError.
    """

    def __init__(self, path: Path, own: Scaled, other: Callable[[str], Scaled]) -> None:
        self._path, self._own, self._other = path, own, other

    def differences(self, differences: Iterable[Text]) -> list[Text]:
        """The differences from the paper, filled in, that of the clock first.

        Raises ConfigError for what names nothing.
        """
        filled = [
            difference
            | {
                key: self.filled(f"differences.{n}.{key}", difference[key])
                for key in ("here", "why")
            }
            for n, difference in enumerate(differences)
        ]
        return [CLOCK, *filled] if filled and needs_guests(self._own.cells) else filled

    def claims(self, claims: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        """The claims, their texts filled in. Raises ConfigError for what names nothing.

        A claim names the levels that it is tested at, not all that the scale has.
        """
        return [
            claim | {"text": self.filled(f"claims.{claim['id']}.text", claim["text"], claim)}
            for claim in claims
        ]

    def filled(self, key: str, text: str, claim: dict[str, Any] | None = None) -> str:
        """A text without placeholders. Raises ConfigError for one that names nothing.

        claim: whose text it is; its levels are to be those of the claim's own cells.
        """

        def value(match: re.Match[str]) -> str:
            name, _, of = match[1].rpartition("/")
            try:
                at = self._other(name) if name else self._own
                return _value_of(
                    at, of, at.cells if claim is None else cells_of_claim(claim, at.cells)
                )
            except KeyError:
                raise self._names_nothing(key, match[0]) from None

        return PLACEHOLDER.sub(value, text)

    def _names_nothing(self, key: str, placeholder: str) -> ConfigError:
        study = self._own.study
        factors = study["factors"].items()
        known = [f"{{{name}}}" for name in [*study["factors"], *_fixed(study), *SCALE_KEYS]]
        known += [f"{{{name}:{next(iter(factor['levels']))}}}" for name, factor in factors]
        return ConfigError(
            self._path, key, f"{placeholder} names no factor, level, or fixed value",
            f"Use one of {', '.join(known)} and the like, or {{SCALE/…}} for another scale",
        )  # fmt: skip


def _fixed(study: dict[str, Any]) -> list[str]:
    return [name for name in study["fixed"] if name in (*FIXED_UNITS, "workload")]


def _value_of(at: Scaled, name: str, cells: list[Cell]) -> str:
    """What a placeholder stands for at a scale, its levels in these cells. Raises KeyError."""
    name, _, level = name.partition(":")
    if factor := at.study["factors"].get(name):
        return _level(factor, name, level, cells) if level else _levels(factor, name, cells)
    if level:
        raise KeyError(name)
    if name == "repetitions":
        return _repetitions(at)
    if name == "timeout_s":
        return f"{at.scale[name]:g} s"
    value = at.study["fixed"][name]
    if isinstance(value, dict):
        return workload_text(normalised(value))
    text = f"{value:g}" if isinstance(value, int | float) else str(value)
    return f"{text} {FIXED_UNITS[name]}"


def _repetitions(at: Scaled) -> str:
    """How often an arm is loaded in a cell, by the clock of each; slow cells aside."""
    found = {asked_repetitions(at.scale, cell) for cell in at.cells}
    return " to ".join(str(number) for number in sorted({min(found), max(found)}))


def _levels(factor: dict[str, Any], name: str, cells: list[Cell]) -> str:
    """The levels of a factor that some cell has, in the study's order, with the unit once."""
    measured = [
        level for level in factor["levels"] if any(c["levels"][name] == level for c in cells)
    ]
    if not measured:
        return NOT_MEASURED
    texts = [_value(factor, level) for level in measured]
    words = " and ".join([*([", ".join(texts[:-1])] if texts[1:] else []), *texts[-1:]])
    return f"{words} {factor['unit']}".strip()


def _level(factor: dict[str, Any], name: str, level: str, cells: list[Cell]) -> str:
    """One level's value at this scale. Raises KeyError."""
    value = factor["levels"][level]
    if not any(cell["levels"][name] == level for cell in cells):
        return NOT_MEASURED
    if isinstance(value, dict) and not set(value) <= {"bytes"}:
        return workload_text(normalised(value))
    return f"{_value(factor, level)} {factor['unit']}".strip()


def _value(factor: dict[str, Any], level: str) -> str:
    value = factor["levels"][level]
    if isinstance(value, dict) and set(value) == {"bytes"}:
        return size_text(value["bytes"])
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(factor.get("labels", {}).get(level, level))
    return f"{value:g}"


def workload_text(workload: Workload) -> str:
    """What a load fetches, in words: `an object of 5 MB`, `2 seeks in segments of 4.7 to 5 MB`."""
    given: dict[str, Any] = {**workload}
    match kind_of(workload):
        case "page":
            return f"{given['objects']} objects of {size_text(given['object_size']['bytes'])}"
        case "segments":
            segments = given["segments"]
            return f"{segments['seeks']} seeks in segments of {size_text(segments['bytes'])}"
        case "player":
            video = video_of(workload)
            low, high = video.ladder_mbit[0], video.ladder_mbit[-1]
            return f"{video.duration_s:g} s of video of {low:g} to {high:g} Mbit/s"
        case "site":
            site = SITES[given["site"]]
            return f"a page of {site.resources} resources, {size_text(round(site.total_bytes, -5))}"
        case "bulk":
            bulk = given["bulk"]
            return f"about {bulk['seconds']:g} s of an object of at most {size_text(bulk['at_most_bytes'])}"
        case _:
            return f"an object of {size_text(given['object'])}"


def size_text(size: int | list[int]) -> str:
    """A size, or a range of sizes, in decimal units: `150 KB`, `4.7 to 5 MB`; whole MiB in binary ones."""
    ends = size if isinstance(size, list) else [size]
    units = BINARY if all(end % BINARY[-1][1] == 0 for end in ends) else UNITS
    unit, factor = next(
        ((unit, factor) for unit, factor in units if ends[-1] >= factor), ("bytes", 1.0)
    )
    return f"{' to '.join(f'{end / factor:g}' for end in ends)} {unit}"
