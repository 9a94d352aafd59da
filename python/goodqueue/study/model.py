"""The parts of a study as plain values, and the protocols of executors and stopping rules."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from goodqueue._core import Cancel

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import polars as pl

    from goodqueue._core import Scenario
    from goodqueue.runs.engines import Engine

Parameter = str | int | float | bool
"""A value of an axis: a number in the unit that its column names, or a text."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One point of the grid: a scenario that is run under every seed.

    Attributes:
        index: its place in the grid, from 0; the last axis varies fastest.
        parameters: the value of each axis by column, such as
            `topology.bottleneck.queue.limit_packets`.
        scenario: what is run; it pickles as its resolved text.
        digest: SHA-256 of the scenario's canonical form, without title, description and seed, and
            of the engine if it is not the packet engine.
        engine: what runs it.
    """

    index: int
    parameters: Mapping[str, Parameter]
    scenario: Scenario
    digest: bytes
    engine: Engine = "packets"


@dataclass(frozen=True, slots=True)
class Run:
    """A variant under one seed.

    Attributes:
        variant: the variant.
        seed: the seed.
        identity: 32 bytes; runs of equal identity have equal results, so one is enough.
    """

    variant: Variant
    seed: int
    identity: bytes


@dataclass(frozen=True, slots=True)
class Keep:
    """The tables that are kept of a run beside its metrics, each as a Parquet file.

    Attributes:
        series: backlog, windows and round-trip times over time.
        histograms: how many packets waited how long.
        flows: every figure of every flow.
    """

    series: bool = False
    histograms: bool = False
    flows: bool = False


@dataclass(frozen=True, slots=True)
class RunResult:
    """The results of a run.

    Attributes:
        run: the run.
        names: the names of its metrics, such as `bottleneck.utilization`; empty if it failed.
        values: their values, little-endian doubles; NaN is a figure without a sample.
        wall_s: how long it took.
        host: where it ran.
        tables: what is kept beside, by file name without `.parquet`.
        error: why it failed, if it did.
    """

    run: Run
    names: tuple[str, ...]
    values: bytes
    wall_s: float
    host: str
    tables: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    error: str | None = None

    @property
    def metrics(self) -> dict[str, float]:
        """The metrics by name."""
        values = struct.unpack(f"<{len(self.names)}d", self.values)
        return dict(zip(self.names, values, strict=True))


class Stop:
    """The switches that end a study: first gently, then at once.

    Attributes:
        draining: no further run is to be started; those under way end as they would.
        aborted: those under way are stopped too, and not recorded.
        cancel: the switch that stops them.
    """

    def __init__(self) -> None:
        self.draining = False
        self.aborted = False
        self.cancel = Cancel()

    def drain(self) -> None:
        """Starts no further run."""
        self.draining = True

    def abort(self) -> None:
        """Stops what is running."""
        self.draining = self.aborted = True
        self.cancel.set()


class Executor(Protocol):
    """Runs runs, somewhere.

    Attributes:
        workers: how many at once, for estimates.
    """

    workers: int

    def execute(self, runs: Iterable[Run], keep: Keep, stop: Stop) -> Iterator[list[RunResult]]:
        """Runs all, in the order given as far as starts go; yields results as they come.

        Results come in any order, several at once where they came together. `runs` may be long:
        it is read as runs are started, not before. A run that fails yields a result with its
        error. Once `stop` drains no run is started; once it aborts, runs under way yield nothing.
        """
        ...

    def close(self) -> None:
        """Gives back threads and connections."""
        ...


Samples = Mapping[str, Sequence[float]]
"""Of one variant: the values of each metric in the order of the study's seeds, one for every
replicate that was run. NaN stands for a failed run, so that equal positions are equal seeds."""


class StoppingRule(Protocol):
    """Says how many replicates are enough.

    It is asked when every run that it wanted has ended, and sees values in the order of seeds: what
    it wants does not depend on who was faster.
    """

    def more(self, samples: Sequence[Samples]) -> Sequence[int]:
        """Returns the number of replicates that each variant still needs; all 0 ends the study."""
        ...

    def worst(self, samples: Sequence[Samples]) -> str | None:
        """One line on the interval that is furthest from its bound, for progress."""
        ...


@dataclass(frozen=True, slots=True)
class Bound:
    """The largest width of the 95 % interval of a mean, from end to end.

    Attributes:
        width: in the metric's unit, or a share of the mean if relative.
        relative: whether it is a share of the mean's magnitude.
    """

    width: float
    relative: bool


@dataclass(frozen=True, slots=True)
class StopSpec:
    """The `[stop]` table.

    Attributes:
        width: the bound of each metric.
        min_replicates: every variant gets so many.
        max_replicates: none gets more.
        max_runs: the budget of the whole study, if any.
        max_time_s: likewise in wall-clock time.
        baseline: for each variant the index of that with which it is compared seed by seed; bounds
            then hold for the differences. None if bounds hold for the variants' own means. A
            variant that is its own baseline needs no more than the others do.
    """

    width: Mapping[str, Bound]
    min_replicates: int = 5
    max_replicates: int = 1000
    max_runs: int | None = None
    max_time_s: float | None = None
    baseline: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class PlotSpec:
    """One `[[plot]]`. Axes are named by their column, everything else by its metric.

    Attributes:
        name: the picture's file name without suffix.
        title: above the picture; may be empty.
        x: an axis or a metric; empty for distributions.
        y: metrics; several share one picture.
        kind: lines of means over an axis; a heat map of means over the axes x and series; the
            distribution of single runs, cumulative or as boxes; or every variant's means of two
            metrics, and which of them no other beats in both.
        series: the axis that tells lines apart, if any.
        facets: the axis with a panel for each value; or two, of the rows and of the columns.
        where: by axis, the values that the picture is narrowed down to.
        band: what surrounds the mean over the seeds: its 95 % interval, the range, or nothing.
        x_scale, y_scale: linear or logarithmic.
    """

    name: str
    title: str
    x: str
    y: tuple[str, ...]
    kind: Literal["lines", "heatmap", "cdf", "box", "pareto"] = "lines"
    series: str | None = None
    facets: tuple[str, ...] = ()
    where: Mapping[str, tuple[Parameter, ...]] = field(default_factory=dict)
    band: Literal["interval", "range", "none"] = "interval"
    x_scale: Literal["linear", "log"] = "linear"
    y_scale: Literal["linear", "log"] = "linear"


@dataclass(frozen=True, slots=True)
class StudyPlan:
    """A study file, resolved: what is to be run.

    Attributes:
        title: one line that says what the study asks.
        text: the study file with its base scenario written into it.
        axes: the columns of the parameters, in the order of the file.
        variants: the points of the grid that are not excluded.
        seeds: what every variant is run under, or begins with if there is a stopping rule; the
            seeds after the last are its successors.
        stop: the stopping rule, if any.
        plots: the pictures.
        keep: what is kept beside metrics.
    """

    title: str
    text: str
    axes: tuple[str, ...]
    variants: Sequence[Variant]
    seeds: Sequence[int]
    stop: StopSpec | None
    plots: tuple[PlotSpec, ...]
    keep: Keep
