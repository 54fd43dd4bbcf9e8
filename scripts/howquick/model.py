"""The resolved study and its plan, as `config/schemas/resolved_study.schema.json` has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict

# Only for the type checker: guests make no form that no load needs.
if TYPE_CHECKING:
    from howquick.analysis_model import (
        Claim,
        Comparison,
        Difference,
        Figure,
        LogCost,
        Paper,
        Unsupported,
    )

Role = Literal["server", "client"]
ROLES: tuple[Role, Role] = ("server", "client")
# Of the machine, or of a guest that the pinned kernel makes (docs/virtual-time.md).
Clock = Literal["real", "virtual"]
# Cell names, or per factor the values or level names wanted.
CellSelection = dict[str, Any] | list[str]


class Link(TypedDict):
    """A link as a study describes it (docs/formats.md, 3); `bandwidth_mbit` may be `unshaped`."""

    bandwidth_mbit: float | str
    rtt_ms: float
    loss_percent: float
    queue_ms: float
    mtu_bytes: int
    burst_bytes: NotRequired[int]
    offloads: NotRequired[str]
    bandwidth_up_mbit: NotRequired[float]
    delay_up_ms: NotRequired[float]
    aqm: NotRequired[str]
    ecn: NotRequired[bool]
    loss_burst_packets: NotRequired[float]
    loss_in_burst_percent: NotRequired[float]
    jitter_ms: NotRequired[float]
    jitter_distribution: NotRequired[str]
    reorder_percent: NotRequired[float]
    path_mtu_bytes: NotRequired[int]
    rate_trace: NotRequired[str]  # with the hash of what it holds (howquick.testbed.trace)
    rate_trace_up: NotRequired[str]


class ObjectSize(TypedDict):
    """Size of a page's objects: fixed, or the bounds of a uniform distribution, bytes."""

    bytes: int | list[int]


class Player(TypedDict):
    """A video and its player (howquick.player.video.Video)."""

    ladder_mbit: list[float]
    segment_s: float
    segments: int
    buffer_s: float
    algorithm: str
    size_variation_percent: float


class Segments(TypedDict, total=False):
    """A viewer's jumps: so many segments of this size, one after another; or a player alone."""

    seeks: int
    bytes: int
    player: Player


class Bulk(TypedDict):
    """A download that is made as large as it takes to last so many seconds."""

    seconds: float
    at_most_bytes: int


class Workload(TypedDict, total=False):
    """What is loaded: `objects` and `object_size` of a page, or one of the others."""

    objects: int
    object_size: ObjectSize
    object: int
    site: str
    segments: Segments
    bulk: Bulk


class FlowBeside(TypedDict):
    """A flow that shares the link with an arm's own; `start_s` seconds after the load begins, or its bounds.

    background: it is ended with the arm's own load; otherwise the load waits for it.
    """

    arm: Arm
    start_s: float | list[float]
    workload: Workload
    background: bool


class NotApplicable(TypedDict):
    """An arm that cannot be measured in a cell, and why; left_out: the scale alone spares it."""

    arm: str
    why: str
    left_out: NotRequired[bool]


class Combination(TypedDict):
    """A cell to be: one level of each factor, and the parameters that follow from it."""

    name: str
    values: dict[str, float | str]
    levels: dict[str, str]
    parameters: dict[str, Any]


class Cell(TypedDict):
    """One combination of levels, with the link and the workload that follow from it."""

    name: str
    values: dict[str, float | str]
    levels: dict[str, str]
    link: Link
    workload: Workload
    not_applicable: list[NotApplicable]
    clock: NotRequired[Clock]
    exact: NotRequired[bool]
    moves: NotRequired[int]
    beside: NotRequired[list[FlowBeside]]
    start_s: NotRequired[float]
    options: NotRequired[dict[str, Any]]
    congestion_control: NotRequired[str]  # of every arm, in place of its own
    observe: NotRequired[dict[str, bool]]
    full_captures: NotRequired[int]  # where it has another number than the study
    alone: NotRequired[bool]
    tolerate_delays: NotRequired[bool]
    profile: NotRequired[list[str]]


class Arm(TypedDict):
    """What is compared: a server with a client over one protocol, with their options."""

    name: str
    label: str
    group: str
    server: str
    client: str
    protocol: str
    connection: str
    congestion_control: str
    options: dict[str, Any]
    own_options: NotRequired[dict[str, dict[str, Any]]]  # of one end alone, by role


class Level(TypedDict):
    """A level of a factor: its name in cells, its value in tables, and its text for readers."""

    name: str
    value: float | str
    label: NotRequired[str]


class Factor(TypedDict):
    """What varies between cells."""

    name: str
    label: str
    unit: str
    levels: list[Level]


class SlowCells(TypedDict):
    """Cells whose repetition takes longer than `above_s` seconds have so many repetitions."""

    above_s: float
    repetitions: int


class Precision(TypedDict):
    """Repetitions are added until medians are within ± `relative`, or there are `at_most`."""

    relative: float
    at_most: int


class VirtualScale(TypedDict):
    """What a scale asks for in virtual time; `above_s` is of the machine's own time there."""

    repetitions: int
    exact_repetitions: NotRequired[int]  # of cells without dice
    slow_cells: NotRequired[SlowCells]


class ResolvedStudy(TypedDict):
    """A study at one scale, every default filled in."""

    study: str
    title: str
    question: NotRequired[str]  # where it is not the title itself
    paper: NotRequired[Paper]  # an own study has none
    scale: str
    seed: int
    repetitions: int
    timeout_s: float
    slow_cells: SlowCells | None
    virtual: NotRequired[VirtualScale]  # in place of both for cells in virtual time
    precision: Precision | None
    block_seconds: float
    full_captures: int
    factors: list[Factor]
    fixed: dict[str, Any]
    cells: list[Cell]
    arms: list[Arm]
    # Arms that the study file names and the scale's own list leaves out.
    left_out: NotRequired[list[str]]
    client_metrics: NotRequired[list[str]]
    unsupported: list[Unsupported]
    comparison: Comparison
    figures: list[Figure]
    claims: list[Claim]
    differences: list[Difference]
    # Repetitions that precision asks for beyond the stated ones, by cell.
    further: NotRequired[dict[str, int]]


class PlannedBlock(TypedDict):
    """Consecutive repetitions of one cell with all its arms: one job.

    seconds: expected wall time; bytes: expected size on disk; peak_mbit: the rate that the fastest of its
    arms can reach; alone: it has the machine to itself; cpu_s: processor time of clients whose start is a
    large part of it; processors: that one client keeps busy; clock: where it is the virtual one.
    """

    study: str
    cell: str
    block: int
    repetitions: list[int]
    seconds: float
    bytes: int
    peak_mbit: float
    arms: int
    alone: bool
    cpu_s: float
    processors: float
    clock: NotRequired[Clock]


class Plan(ResolvedStudy):
    """A resolved study cut into blocks, with hashes, licences and costs of logs of what takes part.

    `programs` and `versions` are by name, the emulator among the former; versions come when it is written.
    """

    blocks: list[PlannedBlock]
    programs: dict[str, str]
    licences: dict[str, str]
    log_costs: dict[str, LogCost]
    versions: NotRequired[dict[str, str]]
