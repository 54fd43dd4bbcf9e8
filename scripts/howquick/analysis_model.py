"""What a plan holds for the analysis and for readers alone, as the schemas of studies and plans have it."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from howquick.model import CellSelection


class Text(TypedDict):
    """Another text of the same study."""

    authors: str
    title: str
    venue: str
    year: NotRequired[int]


class Paper(TypedDict):
    """The paper that is reproduced."""

    authors: str
    title: str
    venue: str
    year: int
    doi: NotRequired[str]
    url: NotRequired[str]
    also: NotRequired[Text]


class Metric(TypedDict):
    """A column of the table of runs and its names for readers; `better`: which values are, else the lower."""

    column: str
    label: str
    short: str
    unit: str
    better: NotRequired[str]


class Rule(TypedDict):
    """When one arm is faster than another: that share of comparisons, by that margin."""

    share: float
    margin: float
    comparisons: NotRequired[str]


class Comparison(TypedDict):
    """Which arms are held against each other, [a, b]: a against b, and how."""

    metric: Metric
    arms: list[str]
    pairs: list[list[str]]
    rule: Rule
    design: NotRequired[str]
    confidence: NotRequired[float]
    resamples: NotRequired[int]
    adjust: NotRequired[str]


class Figure(TypedDict):
    """A figure of the appendix; what a kind reads of it: howquick.study.figures.READS."""

    name: str
    kind: str
    title: str
    paper: NotRequired[str]
    also: NotRequired[str]
    caption: NotRequired[str]
    cells: NotRequired[CellSelection]
    arms: NotRequired[list[str] | str]
    facet: NotRequired[str]
    rows: NotRequired[list[str]]
    columns: NotRequired[list[str]]
    pairs: NotRequired[list[list[str]]]
    silent_percent: NotRequired[float]
    metric: NotRequired[Metric]
    x: NotRequired[str]
    path: NotRequired[str]


# Not a class: `with` is a word of Python's.
Condition = TypedDict(
    "Condition",
    {
        "quantity": str,
        "cells": CellSelection,
        "statistic": NotRequired[str],
        "arm": NotRequired[str | list[str]],
        "against": NotRequired[str | list[str]],
        "against_cells": NotRequired[CellSelection],
        "pairs": NotRequired[list[list[str]]],
        "combine": NotRequired[str],
        "beats": NotRequired[str],
        "with": NotRequired[str],
        "metric": NotRequired[Metric],
        "at_least": NotRequired[float],
        "more_than": NotRequired[float],
        "at_most": NotRequired[float],
        "less_than": NotRequired[float],
        "between": NotRequired[list[float]],
        "paper": NotRequired[str | float],
        "counts": NotRequired[bool],
    },
)


class Claim(TypedDict):
    """A claim, where it is made, and the conditions under which it holds."""

    id: str
    text: str
    where: str
    test: list[Condition]


class Difference(TypedDict):
    """What differs from the paper."""

    paper: str
    here: str
    why: str


class Unsupported(TypedDict):
    """A pair of the arm matrix that its programs declare to be impossible."""

    protocol: str
    server: str
    client: str
    connection: str
    why: str


class LogCost(TypedDict):
    """Shares of an arm's goodput that logs leave (None: not written), and the pairs by which it is known."""

    qlog: float | None
    captures: float | None
    both: float | None
    measured: list[str]
    versions: dict[str, str]
