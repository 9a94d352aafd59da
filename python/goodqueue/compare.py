"""Scenarios side by side: the main figures of each, and paired differences from the first.

Every side is run under the same seeds. A difference is taken seed by seed, and its interval is
Student's t interval of those differences: what a seed does to both sides alike cancels out.
Intervals of quantiles are wider by what quantiles are rounded.
"""

from __future__ import annotations

import math
import re
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from goodqueue.errors import RequestError
from goodqueue.intervals import Interval, t_interval
from goodqueue.study.plan import run_of, seed_after, variant_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue._core import Scenario
    from goodqueue.study.runner import Runner

Unit = Literal["share", "s", "bps", ""]
Finding = Literal["higher", "lower", "no difference shown"]

ROUNDING = 1 / 64
"""Quantiles are read off histograms, and each is within this share of a value that was measured."""

AS_WRITTEN = "as written"
"""What a variant without settings is called."""

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
        name: what tables and pictures call it.
        scenario: what is run.
        link: the link whose figures are compared.
    """

    name: str
    scenario: Scenario
    link: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure that sides are compared by.

    Attributes:
        key: its name in JSON, with its unit.
        title: its name in tables, without its unit.
        unit: the unit of its values.
    """

    key: str
    title: str
    unit: Unit

    @property
    def rounding(self) -> float:
        """The share of a value by which it may be off, since it is read off a histogram."""
        return ROUNDING if re.search(r"(^|\.)p\d+_", self.key) else 0.0


@dataclass(frozen=True, slots=True)
class Sample:
    """A figure under several seeds, or the differences of one between two sides.

    Attributes:
        values: one for each seed that has the figure, by rising seed.
        interval: their mean and its 95 % interval, with room for the rounding of quantiles.
    """

    values: tuple[float, ...]
    interval: Interval


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a comparison yielded.

    Attributes:
        sides: what was compared; the first is what the others are compared with.
        seeds: the seeds that every side was run under.
        figures: the figures that at least one side has.
        means: of each side the figures that it has.
        differences: of each side but the first, the figures that both have: its own less the
            first's, seed by seed.
    """

    sides: tuple[Side, ...]
    seeds: tuple[int, ...]
    figures: tuple[Figure, ...]
    means: tuple[dict[Figure, Sample], ...]
    differences: tuple[dict[Figure, Sample], ...]

    @property
    def unchanging(self) -> list[str]:
        """The sides that have the same figures under each of several seeds."""
        return [
            side.name
            for side, means in zip(self.sides, self.means, strict=True)
            if len(self.seeds) > 1 and all(len(set(one.values)) == 1 for one in means.values())
        ]

    def as_dict(self) -> dict[str, object]:
        """The comparison as `--json` prints it."""
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
    """Runs every side under the same seeds, beginning with that of the first scenario."""
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
    """What the 95 % interval of a difference shows: its sign, if zero lies outside."""
    if difference.low > 0:
        return "higher"
    return "lower" if difference.high < 0 else "no difference shown"


def split_settings(text: str) -> list[tuple[str, str]]:
    """Splits `key=value[,key=value]` at the commas that no bracket and no quotes enclose.

    Raises:
        RequestError: of a part without an equals sign.
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
    """What each variant is called: its settings, with the ends of keys that tell them apart."""
    keys = {key for settings in variants for key, _ in settings}

    def short(key: str) -> str:
        for parts in range(1, key.count(".") + 2):
            end = ".".join(key.split(".")[-parts:])
            if sum(other == end or other.endswith(f".{end}") for other in keys) == 1:
                return end
        return key

    return [
        ", ".join(f"{short(key)}={value}" for key, value in settings) or AS_WRITTEN
        for settings in variants
    ]


def _metrics(side: Side) -> dict[Figure, str]:
    """The names of the metrics of a side's figures."""
    known = set(side.scenario.metric_names())
    wanted: list[tuple[Figure, tuple[str, ...]]] = [
        (Figure(key, title, unit), (f"{side.link}.{key}",)) for key, title, unit in OF_THE_LINK
    ]
    for name, is_ping in _groups(side.scenario):
        if is_ping:
            wanted += [
                (Figure(f"{name}.{p}_rtt_s", f"{name}: RTT, {p}", "s"), (f"{name}.{p}_rtt_s",))
                for p in ("p50", "p99")
            ]
        else:
            goodput = Figure(f"{name}.goodput_bps", f"{name}: goodput", "bps")
            wanted.append((goodput, (f"{name}.goodput_bps.sum", f"{name}.goodput_bps")))
    found = {}
    for figure, names in wanted:
        present = [name for name in names if name in known]
        if present:
            found[figure] = present[0]
    return found


def _groups(scenario: Scenario) -> list[tuple[str, bool]]:
    """The groups of flows in the file: name, and whether they are pings."""
    flows = tomllib.loads(scenario.resolved_toml()).get("flow", [])
    return [(flow["name"], flow["workload"]["kind"] == "ping") for flow in flows]


def difference(figure: Figure, own: Sequence[float], first: Sequence[float]) -> Sample | None:
    """The differences of a figure, seed by seed; None if no seed has the figure on both sides.

    Two quantiles that are equal may differ by the rounding of both.
    """
    pairs = [
        (one, other) for one, other in zip(own, first, strict=True) if math.isfinite(one - other)
    ]
    slack = figure.rounding * sum(_size(values) for values in zip(*pairs, strict=True))
    return sample([one - other for one, other in pairs], slack)


def sample(values: Sequence[float], slack: float) -> Sample | None:
    """A sample without the seeds that have no such figure; None if no seed has it.

    Args:
        values: one for each seed.
        slack: by how much the mean may be off for another reason than chance; the interval is
            wider by that on either side.
    """
    present = tuple(value for value in values if math.isfinite(value))
    if not present:
        return None
    of_chance = t_interval(present)
    return Sample(present, Interval(of_chance.mean, of_chance.half_width + slack))


def _size(values: Sequence[float]) -> float:
    """The mean magnitude of the values that there are."""
    present = [abs(value) for value in values if math.isfinite(value)]
    return sum(present) / len(present) if present else 0.0


def _plain(one: Sample) -> dict[str, object]:
    """A sample as JSON has it; an interval without end has no ends."""
    ends = math.isfinite(one.interval.half_width)
    return {
        "mean": one.interval.mean,
        "low": one.interval.low if ends else None,
        "high": one.interval.high if ends else None,
        "values": list(one.values),
    }
