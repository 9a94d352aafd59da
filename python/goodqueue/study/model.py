"""The parts of a study as plain values, and the protocol of executors."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence  # noqa: TC003 - `--draw` reads the annotations
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
        index: its index in the grid, from 0; the last axis varies fastest.
        parameters: the value of each axis by column, such as
            `topology.bottleneck.queue.limit_packets`.
        scenario: its scenario, which is pickled as resolved text.
        digest: SHA-256 of the scenario's canonical form, without title, description and seed, and
            of the engine if it is not the packet engine.
        engine: engine that runs it.
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
    """Tables of a run that are stored beside its metrics, each as a Parquet file.

    Attributes:
        series: backlog, windows and round-trip times over time.
        histograms: distribution of queueing delays.
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
        wall_s: wall-clock time in seconds.
        host: host on which it ran.
        tables: stored tables, by file name without `.parquet`.
        error: reason why it failed, if it did.
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
        """Metrics by name."""
        values = struct.unpack(f"<{len(self.names)}d", self.values)
        return dict(zip(self.names, values, strict=True))


class Stop:
    """The switches that end a study: first gently, then at once.

    Attributes:
        draining: True if no further run is to be started; current runs are finished.
        aborted: True if current runs are stopped too, and not recorded.
        cancel: switch that stops current runs.
    """

    def __init__(self) -> None:
        self.draining = False
        self.aborted = False
        self.cancel = Cancel()

    def drain(self) -> None:
        """Prevents further runs from starting."""
        self.draining = True

    def abort(self) -> None:
        """Stops the current runs."""
        self.draining = self.aborted = True
        self.cancel.set()


class Executor(Protocol):
    """Executor of runs.

    Attributes:
        workers: number of concurrent runs, for estimates.
    """

    workers: int

    def execute(self, runs: Iterable[Run], keep: Keep, stop: Stop) -> Iterator[list[RunResult]]:
        """Runs all runs, started in the order given; yields results as they arrive.

        Results come in any order; each item has the results that arrived at the same time. `runs`
        may be long, so it is read only as runs are started. A run that fails yields a result with
        its error. After `stop.drain` no run is started. After `stop.abort` current runs yield
        nothing.
        """
        ...

    def close(self) -> None:
        """Releases threads and connections."""
        ...


@dataclass(frozen=True, slots=True)
class Bound:
    """The largest width of the 95 % interval of a mean, from end to end.

    Attributes:
        width: the width in the metric's unit, or as a share of the mean if relative.
        relative: True if it is a share of the mean's magnitude.
    """

    width: float
    relative: bool


@dataclass(frozen=True, slots=True)
class StopSpec:
    """The `[stop]` table.

    Attributes:
        width: the bound of each metric.
        min_replicates: smallest number of replicates of a variant.
        max_replicates: largest number of replicates of a variant.
        max_runs: largest number of runs of the whole study, if limited.
        max_time_s: largest wall-clock time of the study, if limited.
        baseline: index of the counterpart of each variant, for differences seed by seed; bounds
            then apply to the differences. None if bounds apply to the variants' own means. A
            variant that is its own baseline gets at most as many replicates as the other variants
            need.
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
        title: title above the picture; may be empty.
        x: an axis or a metric; empty for distributions.
        y: metrics; several share one picture.
        kind: lines of means over an axis; a heat map of means over the axes x and series; the
            distribution of single runs, cumulative or as boxes; or every variant's means of two
            metrics, with marks at the variants that no other surpasses in both.
        series: the axis with a line for each value, if any.
        facets: the axis with a panel for each value; or two, for the rows and the columns.
        where: values of axes to which the picture is restricted.
        band: range around the mean over the seeds: its 95 % interval, the range, or nothing.
        x_scale: linear or logarithmic.
        y_scale: linear or logarithmic.
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
    """A study file, resolved to its runs.

    Attributes:
        title: one line with the question of the study.
        text: the study file with its base scenario written into it.
        axes: the columns of the parameters, in the order of the file.
        variants: the points of the grid that are not excluded.
        seeds: seeds of every variant, or the first of them if there is a stopping rule; the
            successors of the last one follow.
        stop: the stopping rule, if any.
        plots: the pictures.
        keep: tables stored beside metrics.
    """

    title: str
    text: str
    axes: tuple[str, ...]
    variants: Sequence[Variant]
    seeds: Sequence[int]
    stop: StopSpec | None
    plots: tuple[PlotSpec, ...]
    keep: Keep
