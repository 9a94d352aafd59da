"""Compares scenarios: the main figures of each, and paired differences from the first.

Every side is run under the same seeds. A difference is taken seed by seed, and its interval is
Student's t interval of these differences, in which effects of a seed common to both sides cancel
out. Intervals of quantiles also include the rounding of quantiles.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from goodqueue.core.columns import distinct_ends
from goodqueue.core.felt import FELT
from goodqueue.core.intervals import Interval, t_interval
from goodqueue.errors import RequestError
from goodqueue.runs.settings import settings_of
from goodqueue.study.plan import run_of, seed_after, variant_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue._core import Scenario
    from goodqueue.core.felt import Unit
    from goodqueue.study.runner import Runner

Finding = Literal["higher", "lower", "no difference shown"]

ROUNDING = 1 / 64
"""Relative rounding of quantiles: they are read off histograms, within this share of a measured
value."""

AS_WRITTEN = "as written"
"""Name of a variant without settings."""

OF_THE_LINK: tuple[tuple[str, str, Unit], ...] = (
    ("utilization", "utilisation", "share"),
    ("loss_rate", "loss", "share"),
    ("p50_queueing_delay_s", "queueing delay, p50", "s"),
    ("p99_queueing_delay_s", "queueing delay, p99", "s"),
    ("jain_index", "Jain's index", ""),
)


@dataclass(frozen=True, slots=True)
class Side:
    """One of the scenarios that are compared.

    Attributes:
        name: name in tables and pictures.
        scenario: the scenario that is run.
        link: the link whose figures are compared.
    """

    name: str
    scenario: Scenario
    link: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure by which sides are compared.

    Attributes:
        key: name in JSON, with the unit.
        title: name in tables, without the unit.
        unit: unit of the values.
    """

    key: str
    title: str
    unit: Unit

    @property
    def rounding(self) -> float:
        """Relative rounding error of a value, for figures that are read off a histogram; else 0."""
        return ROUNDING if re.search(r"(^|\.)p\d+_", self.key) else 0.0


@dataclass(frozen=True, slots=True)
class Sample:
    """The values of a figure under several seeds, or its differences between two sides.

    Attributes:
        values: one value for each seed that has the figure, in ascending order of the seeds.
        interval: their mean and its 95 % interval, widened by the rounding of quantiles.
    """

    values: tuple[float, ...]
    interval: Interval


@dataclass(frozen=True, slots=True)
class Comparison:
    """The result of a comparison.

    Attributes:
        sides: the sides; all others are compared with the first.
        seeds: the seeds under which every side was run.
        figures: the figures that at least one side has.
        means: the figures that each side has.
        differences: the differences of each other side from the first, seed by seed, for the
            figures that both have.
    """

    sides: tuple[Side, ...]
    seeds: tuple[int, ...]
    figures: tuple[Figure, ...]
    means: tuple[dict[Figure, Sample], ...]
    differences: tuple[dict[Figure, Sample], ...]

    @property
    def unchanging(self) -> list[str]:
        """Names of the sides whose figures are the same under each of several seeds."""
        return [
            side.name
            for side, means in zip(self.sides, self.means, strict=True)
            if len(self.seeds) > 1 and all(len(set(one.values)) == 1 for one in means.values())
        ]

    def as_dict(self) -> dict[str, object]:
        """Returns the comparison as `--json` prints it."""
        return {
            "schema_version": 1,
            "seeds": list(self.seeds),
            "sides": [
                {
                    "name": side.name,
                    "link": side.link,
                    "figures": {figure.key: _plain(one) for figure, one in means.items()},
                }
                for side, means in zip(self.sides, self.means, strict=True)
            ],
            "differences": [
                {
                    "name": side.name,
                    "against": self.sides[0].name,
                    "figures": {
                        figure.key: {**_plain(one), "finding": finding(one.interval)}
                        for figure, one in differences.items()
                    },
                }
                for side, differences in zip(self.sides[1:], self.differences, strict=True)
            ],
        }


def compare(sides: Sequence[Side], runner: Runner, replicates: int) -> Comparison:
    """Runs every side under the same seeds, which begin with that of the first scenario."""
    seeds = tuple(seed_after(sides[0].scenario.seed, more) for more in range(replicates))
    figures: dict[Figure, None] = {}
    metrics: list[dict[Figure, str]] = []
    for side in sides:
        metrics.append(_metrics(side))
        figures |= dict.fromkeys(metrics[-1])
    names = sorted({name for of_side in metrics for name in of_side.values()})
    runs = [
        run_of(variant_of(side.scenario, {"side": side.name}, index), seed)
        for index, side in enumerate(sides)
        for seed in seeds
    ]
    rows = [dict(zip(names, values, strict=True)) for values in runner.figures(runs, names)]
    by_seed = [
        {
            figure: [row[name] for row in rows[index * replicates : (index + 1) * replicates]]
            for figure, name in of_side.items()
        }
        for index, of_side in enumerate(metrics)
    ]
    first = by_seed[0]
    differences = []
    for own in by_seed[1:]:
        pairs = ((figure, own[figure], first[figure]) for figure in first if figure in own)
        found = ((figure, difference(figure, one, other)) for figure, one, other in pairs)
        differences.append({figure: one for figure, one in found if one is not None})
    means = tuple(
        {
            figure: one
            for figure, values in own.items()
            if (one := sample(values, figure.rounding * _size(values))) is not None
        }
        for own in by_seed
    )
    present = tuple(figure for figure in figures if any(figure in own for own in means))
    return Comparison(tuple(sides), seeds, present, means, tuple(differences))


def finding(difference: Interval) -> Finding:
    """Returns the sign of a difference, if its 95 % interval excludes zero."""
    if difference.low > 0:
        return "higher"
    return "lower" if difference.high < 0 else "no difference shown"


def split_settings(text: str) -> list[tuple[str, str]]:
    """Splits `key=value[,key=value]` at the commas that no bracket and no quotes enclose.

    Raises:
        RequestError: if a part has no equals sign or no key.
    """
    parts, depth, quote, begun = [], 0, "", 0
    for place, letter in enumerate(text):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "[{":
            depth += 1
        elif letter in "]}":
            depth -= 1
        elif letter == "," and depth == 0:
            parts.append(text[begun:place])
            begun = place + 1
    parts.append(text[begun:])
    settings = []
    for part in parts if text.strip() else []:
        key, equals, value = part.partition("=")
        if not equals or not key.strip():
            raise RequestError(
                f"--variant {text}: write key=value[,key=value], as in "
                "topology.bottleneck.queue.limit=50p"
            )
        settings.append((key.strip(), value.strip()))
    return settings


def names_of(variants: Sequence[Sequence[tuple[str, str]]]) -> list[str]:
    """Returns a name for each variant: its settings, with keys cut to their distinctive ends."""
    keys = dict.fromkeys(key for settings in variants for key, _ in settings)
    short = distinct_ends(list(keys))
    return [
        ", ".join(f"{short.get(key, key)}={value}" for key, value in settings) or AS_WRITTEN
        for settings in variants
    ]


def _metrics(side: Side) -> dict[Figure, str]:
    """Returns the name of the metric for each figure that a side has."""
    known = set(side.scenario.metric_names())
    wanted: list[tuple[Figure, tuple[str, ...]]] = [
        (Figure(key, title, unit), (f"{side.link}.{key}",)) for key, title, unit in OF_THE_LINK
    ]
    for name, kind in _groups(side.scenario):
        if kind != "ping":
            goodput = Figure(f"{name}.goodput_bps", f"{name}: goodput", "bps")
            wanted.append((goodput, (f"{name}.goodput_bps.sum", f"{name}.goodput_bps")))
        for key, title, unit in FELT.get(kind, ()):
            metric = f"{name}.{key}"
            wanted.append((Figure(metric, f"{name}: {title}", unit), (metric,)))
    found = {}
    for figure, names in wanted:
        present = [name for name in names if name in known]
        if present:
            found[figure] = present[0]
    return found


def _groups(scenario: Scenario) -> list[tuple[str, str]]:
    """Returns the name of each group of flows in the file, and the kind of its workload."""
    flows = settings_of(scenario).get("flow", [])
    return [(flow["name"], flow["workload"]["kind"]) for flow in flows]


def difference(figure: Figure, own: Sequence[float], first: Sequence[float]) -> Sample | None:
    """Returns the differences of a figure, seed by seed; None if no seed has it on both sides.

    The interval includes the rounding of both sides, because equal quantiles may be rounded
    differently.
    """
    pairs = [
        (one, other) for one, other in zip(own, first, strict=True) if math.isfinite(one - other)
    ]
    slack = figure.rounding * sum(_size(values) for values in zip(*pairs, strict=True))
    return sample([one - other for one, other in pairs], slack)


def sample(values: Sequence[float], slack: float) -> Sample | None:
    """Returns a sample of the seeds that have the figure; None if no seed has it.

    Args:
        values: one value for each seed; NaN for a seed without the figure.
        slack: error of the mean that is not due to chance; it widens the interval on either side.
    """
    present = tuple(value for value in values if math.isfinite(value))
    if not present:
        return None
    of_chance = t_interval(present)
    return Sample(present, Interval(of_chance.mean, of_chance.half_width + slack))


def _size(values: Sequence[float]) -> float:
    """Returns the mean magnitude of the finite values; 0 if there are none."""
    present = [abs(value) for value in values if math.isfinite(value)]
    return sum(present) / len(present) if present else 0.0


def _plain(one: Sample) -> dict[str, object]:
    """Returns a sample as a dictionary for JSON; the ends of an infinite interval are None."""
    low, high = one.interval.ends
    return {"mean": one.interval.mean, "low": low, "high": high, "values": list(one.values)}
