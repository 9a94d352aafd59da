"""Comparison of a capture with the simulation of its model.

The model (`passive.model`) is run with the buffer that the capture shows, for the same length, with
the same flows and start times, under as many seeds as there are replicates. A figure agrees if the
measurement lies within the range of single runs, or within a tolerance of their mean: 25 % of the
loss, 2 points of utilisation, 15 % of the 99th percentile of the queueing delay.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from goodqueue.core.intervals import prediction_half_width
from goodqueue.core.polars import pl
from goodqueue.passive.scenario import LINK, earlier, today
from goodqueue.runs.settings import scenario_of
from goodqueue.study.plan import run_of, variant_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from goodqueue.passive.analysis import Analysis
    from goodqueue.passive.model import Model
    from goodqueue.study.runner import Runner

REPLICATES = 20
"""Number of runs of the final model."""

FIGURES = {
    "utilization": "utilisation",
    "loss_rate": "loss",
    "loss_burst_packets": "packets of a loss burst",
    "p50_delay_s": "median queueing delay",
    "p99_delay_s": "p99 queueing delay",
}
"""Figures that are compared, with their descriptions."""

OF_LINK = {
    "utilization": "utilization",
    "loss_rate": "loss_rate",
    "loss_burst_packets": "mean_loss_burst_packets",
    "p50_delay_s": "p50_queueing_delay_s",
    "p99_delay_s": "p99_queueing_delay_s",
}
"""Metrics of studies for these figures of the link."""

JUDGED = ("utilization", "loss_rate", "p99_delay_s")
"""Figures that must agree."""

UTILIZATION_POINTS = 0.02
LOSS_SHARE = 0.25
DELAY_SHARE = 0.15


@dataclass(frozen=True, slots=True)
class Comparison:
    """Comparison of one figure.

    Attributes:
        measured: value of the capture; None if the capture does not show it.
        mean: mean of the runs.
        low: lower end of the range that contains 95 % of runs.
        high: upper end of that range.
        tolerance: difference of mean and measurement that is always allowed; None if the figure is
            not judged.
    """

    measured: float | None
    mean: float
    low: float
    high: float
    tolerance: float | None = None

    @property
    def agrees(self) -> bool | None:
        """Returns True if the measurement agrees; None if the figure is not judged."""
        if self.measured is None or self.tolerance is None:
            return None
        return self.within or abs(self.measured - self.mean) <= self.tolerance

    @property
    def within(self) -> bool:
        """Returns True if the measurement lies in the range of single runs."""
        return self.measured is not None and self.low <= self.measured <= self.high

    @property
    def allowed(self) -> float:
        """Largest allowed difference of measurement and mean; infinite if not judged."""
        if self.measured is None or self.tolerance is None:
            return math.inf
        return max(self.tolerance, (self.high - self.low) / 2)

    def distance(self, allowed: float) -> float:
        """Returns the difference of measurement and mean, in units of the allowed difference."""
        if self.measured is None or not 0 < allowed < math.inf:
            return 0.0
        return abs(self.measured - self.mean) / allowed

    @property
    def ratio(self) -> float:
        """Measured value over simulated value; 1 if either is 0 or unknown."""
        if not self.measured or not self.mean:
            return 1.0
        return self.measured / self.mean

    def as_dict(self) -> dict[str, Any]:
        """Returns plain values."""
        return {
            "measured": self.measured,
            "simulated": self.mean,
            "low": self.low,
            "high": self.high,
            "agrees": self.agrees,
        }


@dataclass(frozen=True, slots=True)
class Today:
    """Comparison of the capture with its model.

    Attributes:
        model: final model.
        figures: comparisons of the link's figures, by name.
        goodput_bps: payload bits per second of each class of flows.
        replicates: number of runs.
        tried: number of models tried.
        fitted: differences from the first model, in words.
    """

    model: Model
    figures: Mapping[str, Comparison]
    goodput_bps: Mapping[str, Comparison]
    replicates: int
    tried: int = 1
    fitted: tuple[str, ...] = ()

    @property
    def agrees(self) -> bool:
        """Returns True if no judged figure disagrees."""
        return not self.disagreeing

    @property
    def disagreeing(self) -> tuple[str, ...]:
        """Judged figures that disagree."""
        return tuple(name for name, one in self.figures.items() if one.agrees is False)

    def distance(self, yardstick: Today) -> float:
        """Returns the distance of model and capture: a sum of squares over the judged figures.

        Args:
            yardstick: model whose range of runs is the unit for all models, so that a model with a
                larger spread does not seem nearer.
        """
        return math.fsum(
            one.distance(yardstick.figures[name].allowed) ** 2 for name, one in self.figures.items()
        )

    @property
    def loss_ratio(self) -> float:
        """Measured loss over simulated loss."""
        return self.figures["loss_rate"].ratio

    def as_dict(self) -> dict[str, Any]:
        """Returns plain values, as `--json` prints them."""
        model = self.model
        return {
            "agrees": self.agrees,
            "disagreeing": list(self.disagreeing),
            "likely_reason": likely_reason(self),
            "compared_s": model.window_s,
            "replicates": self.replicates,
            "models_tried": self.tried,
            "fitted": list(self.fitted),
            "limit_packets": model.limit_packets,
            "figures": {name: one.as_dict() for name, one in self.figures.items()},
            "goodput_bps": {name: one.as_dict() for name, one in self.goodput_bps.items()},
        }


def measured_figures(analysis: Analysis, model: Model) -> dict[str, float | None]:
    """Returns the figures of the capture, for the compared part if they can be restricted to it."""
    link, series = analysis.summary["link"], analysis.series
    inside = series.filter(pl.col("time_s") < model.window_s)
    # Bits of the last bin count in proportion to its part within the window.
    shares = [
        min((model.window_s - start) / width, 1.0)
        for start, width in zip(inside["time_s"], inside["bin_s"], strict=True)
    ]
    bits = math.fsum(
        share * rate * width
        for share, rate, width in zip(
            shares, inside["throughput_bps"], inside["bin_s"], strict=True
        )
    )
    delay = link["queueing_delay_s"] or {}
    bursts = analysis.bursts["packets"]
    mean = bursts.mean() if len(bursts) else None
    return {
        "utilization": bits / (model.window_s * model.rate_bps),
        "loss_rate": link["loss_rate"],
        "loss_burst_packets": None if mean is None else float(mean),  # type: ignore[arg-type]
        "p50_delay_s": delay.get("p50"),
        "p99_delay_s": delay.get("p99"),
    }


def measured_goodput(model: Model) -> dict[str, float]:
    """Returns the payload bits per second of each class over the compared part."""
    found: dict[str, float] = {}
    for sender in model.senders:
        there_s = max(min(sender.end_s, model.window_s) - sender.start_s, 0.0)
        bits = sender.payload_bps * there_s
        found[sender.kind] = found.get(sender.kind, 0.0) + bits / model.window_s
    return found


class Bench:
    """Runner of models of one capture."""

    def __init__(self, analysis: Analysis, runner: Runner, first_seed: int = 1) -> None:
        """Takes the capture, the runner, and the seed of the first replicate."""
        self._analysis = analysis
        self._runner = runner
        self._first_seed = first_seed

    def compare(self, model: Model, replicates: int) -> Today:
        """Runs a model and compares it with the capture."""
        metrics = [f"{LINK}.{metric}" for metric in OF_LINK.values()]
        goodputs = [f"tcp{number}.goodput_bps.sum" for number in range(len(model.senders))]
        runs = []
        for index in range(replicates):
            scenario = scenario_of(today(model, draw=index), "the capture")
            variant = variant_of(scenario, {"draw": index}, index)
            runs.append(run_of(variant, self._first_seed + index))
        values = self._runner.figures(runs, [*metrics, *goodputs])
        known = [[0.0 if math.isnan(value) else value for value in row] for row in values]
        measured = measured_figures(self._analysis, model)
        figures = {
            name: _compare(value, [row[place] for row in known], _tolerance(name, value))
            for place, (name, value) in enumerate(measured.items())
        }
        by_class = _by_class(model, [row[len(metrics) :] for row in known])
        measured_bps = measured_goodput(model)
        goodput = {kind: _compare(measured_bps[kind], values) for kind, values in by_class.items()}
        return Today(model, figures, goodput, replicates)


def _by_class(model: Model, rows: Sequence[Sequence[float]]) -> dict[str, list[float]]:
    kinds = dict.fromkeys(sender.kind for sender in model.senders)
    return {
        kind: [
            math.fsum(
                value
                for sender, value in zip(model.senders, row, strict=True)
                if sender.kind == kind
            )
            for row in rows
        ]
        for kind in kinds
    }


def _tolerance(name: str, measured: float | None) -> float | None:
    """Returns the allowed difference of a figure; None if it is not judged."""
    if name not in JUDGED or measured is None:
        return None
    shares = {"loss_rate": LOSS_SHARE, "p99_delay_s": DELAY_SHARE}
    return UTILIZATION_POINTS if name == "utilization" else shares[name] * measured


def _compare(
    measured: float | None, values: Sequence[float], tolerance: float | None = None
) -> Comparison:
    """Compares a figure with the runs; the range is Student's, for one further run."""
    mean = fmean(values)
    half = prediction_half_width(stdev(values), len(values)) if len(values) > 1 else math.inf
    return Comparison(measured, mean, max(mean - half, 0.0), mean + half, tolerance)


def likely_reason(today: Today) -> str | None:
    """Returns the likely reason of a disagreement; None if model and capture agree."""
    if today.agrees:
        return None
    return next(reason for reason, holds in _reasons(today).items() if holds)


def _reasons(today: Today) -> dict[str, bool]:
    """Returns the possible reasons, the likeliest first, each with True if it applies."""
    model, apart = today.model, today.disagreeing
    local = model.local
    known = sum(sender.payload_bytes for sender in local if sender.control is not None)
    return {
        "the queue drops before it is full, and the kind of AQM is not known": model.aqm,
        "the capture does not show the buffer": model.limit_packets is None,
        "the queue is not a FIFO of constant rate, which is simulated": "p99_delay_s" in apart
        and "loss_rate" not in apart,
        (
            "the flows began before the capture, so their windows at its beginning are not known"
        ): bool(earlier(model)),
        "most traffic does not show its congestion control": 2 * known
        < sum(sender.payload_bytes for sender in local),
        "BBR's start and probes depend on chance, more than the runs show": any(
            sender.control == "bbr" for sender in local
        ),
        "flows began and ended within the capture": not all(sender.lasts for sender in local),
        (
            "the senders differ from the simulated TCP in a property that the capture does not show"
        ): True,
    }
