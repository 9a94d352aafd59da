"""Runs Prague beside CUBIC over DualPI2 on a grid of 500 points, for docs/evidence/controls.md.

It writes the table, and every point to evidence/l4s_grid/points.csv.
"""

from __future__ import annotations

import csv
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from evidence.core.cells import Cell
from evidence.core.derived import Derived
from evidence.core.pages import with_part
from goodqueue import _core
from goodqueue.core.intervals import Interval, t_interval
from goodqueue.runs.api import load
from goodqueue.study.plan import longest_first, run_of, variant_of
from goodqueue.study.runner import Runner, user_store
from goodqueue.study.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PAGE = Path("docs/evidence/controls.md")
EVERY_POINT = Path("evidence/l4s_grid/points.csv")
PART = "l4s grid"
SEEDS = 2
"""Seeds of each point."""

MIXES = ((1, 1), (1, 3), (3, 1), (1, 9), (9, 1))
"""Flows of Prague and of CUBIC."""
RATES_MBPS = (4, 6, 9, 15, 22, 35, 50, 80, 120, 200)
RTTS_MS = (5, 7, 10, 14, 20, 27, 40, 55, 75, 100)
SLOW_MBPS = 15
"""Highest rate at which the grid is run again with other marks of short queues, in Mb/s. A full
packet takes 0.8 ms there, which is most of the step of 1 ms."""

WINDOWS = (0, 2, 3, 4, 8)
"""Lower bounds of the classes of fair windows, in segments. CUBIC's smallest window has two."""
CLASSIC_TARGET_MS = 15
"""Target of the classic queue's delay, in ms."""
PACKET_BITS = 12_000
"""Bits of a packet of 1500 bytes."""

Keys = dict[str, str]
"""Keys of the queue, and their values."""

LINUX: Keys = {"min_qlen_step": "0p"}
"""The grid with Linux's defaults."""
SLOW_LINKS: dict[str, Keys] = {
    '`min_qlen_step = "1p"`': {"min_qlen_step": "1p"},
    '`min_qlen_left = "2p"`': {"min_qlen_left": "2p"},
    "RFC 9332's ramp": {"step_thresh": "800us", "ramp_range": "400us", "min_qlen_left": "2p"},
}
"""Queues with which the slow links are run again. The last has the parameters of RFC 9332 appendix
A.1: `minTh`, `range` and `Th_len`."""

Place = tuple[tuple[int, int], int, int]
"""Flows of Prague and of CUBIC, rate of the link in Mb/s, and base round-trip time in ms."""

SCENARIO = """
schema_version = 1
duration = "60s"
warmup = "20s"
record = { tcp_delays = true }
[topology]
shape = "dumbbell"
framing = "14B"
access = { rate = "unlimited" }
[topology.bottleneck]
rate = "50Mbps"
delay = "1ms"
queue = { kind = "dualpi2" }
reverse = { queue = { kind = "dualpi2" } }
[[flow]]
name = "prague"
rtt = "20ms"
start_jitter = "1s"
workload = { kind = "bulk" }
tcp = { profile = "prague" }
[[flow]]
name = "cubic"
rtt = "20ms"
start_jitter = "1s"
workload = { kind = "bulk" }
tcp = { profile = "linux" }
"""

METRICS = (
    "prague.goodput_bps",
    "cubic.goodput_bps",
    "prague.goodput_bps.min",
    "cubic.goodput_bps.min",
    "prague.p99_pdv_s",
    "cubic.mean_one_way_delay_s",
    "cubic.min_one_way_delay_s",
    "bottleneck.utilization",
)


@dataclass(frozen=True)
class Point:
    """A point of the grid, with its figures.

    Attributes:
        mix: flows of Prague and of CUBIC.
        rate_mbps: rate of the link in Mb/s.
        rtt_ms: base round-trip time in ms.
        ratio: goodput of a flow of Prague over that of a flow of CUBIC, for each seed.
        least: smallest goodput of a flow over an equal share of the link, for each seed.
        low_p99_ms: 99th percentile of the one-way delay of Prague's data above its minimum, in ms.
        classic_ms: mean one-way delay of CUBIC's data above its minimum, in ms.
        utilization: utilisation of the link, for each seed.
    """

    mix: tuple[int, int]
    rate_mbps: int
    rtt_ms: int
    ratio: tuple[float, ...]
    least: tuple[float, ...]
    low_p99_ms: tuple[float, ...]
    classic_ms: tuple[float, ...]
    utilization: tuple[float, ...]

    @property
    def fair_window(self) -> float:
        """Packets of 1500 bytes that an equal share sends in a round trip of a CUBIC flow."""
        round_trip_ms = self.rtt_ms + CLASSIC_TARGET_MS
        return self.rate_mbps * 1e3 * round_trip_ms / sum(self.mix) / PACKET_BITS


def settings(place: Place, keys: Keys) -> list[tuple[str, str]]:
    """Returns the changes of the scenario that make a point.

    Args:
        place: place in the grid.
        keys: keys of the queue.
    """
    mix, rate_mbps, rtt_ms = place
    return [
        *((f"topology.bottleneck.queue.{key}", value) for key, value in keys.items()),
        ("flow.0.count", str(mix[0])),
        ("flow.1.count", str(mix[1])),
        ("topology.bottleneck.rate", f"{rate_mbps}Mbps"),
        ("flow.0.rtt", f"{rtt_ms}ms"),
        ("flow.1.rtt", f"{rtt_ms}ms"),
    ]


def measure(
    places: Sequence[Place], keys: Keys = LINUX, seeds: int = SEEDS, store: Path | None = None
) -> list[Point]:
    """Returns the points, of which those that the store has are not run again."""
    scenarios = [load(SCENARIO, set=settings(place, keys)) for place in places]
    variants = [variant_of(scenario, {}, index) for index, scenario in enumerate(scenarios)]
    runs = [run_of(one, seed) for one in longest_first(variants) for seed in range(1, seeds + 1)]
    with ExitStack() as stack:
        runner = Runner(stack.enter_context(user_store("l4s-grid", store)), Threads(None))
        rows = runner.figures(runs, METRICS)
    found: dict[int, list[list[float]]] = {}
    for run, row in zip(runs, rows, strict=True):
        found.setdefault(run.variant.index, []).append(row)
    return [_point(place, found[index]) for index, place in enumerate(places)]


def _point(place: Place, rows: Sequence[Sequence[float]]) -> Point:
    mix, rate_mbps, rtt_ms = place
    share = rate_mbps * 1e6 / sum(mix)
    prague, cubic, prague_min, cubic_min, low, mean, shortest, used = zip(*rows, strict=True)
    return Point(
        mix,
        rate_mbps,
        rtt_ms,
        ratio=tuple(a / b for a, b in zip(prague, cubic, strict=True)),
        least=tuple(min(pair) / share for pair in zip(prague_min, cubic_min, strict=True)),
        low_p99_ms=tuple(1e3 * one for one in low),
        classic_ms=tuple(1e3 * (a - b) for a, b in zip(mean, shortest, strict=True)),
        utilization=used,
    )


HEADS = (
    "rate, Mb/s",
    "points",
    "ratio, middle half of the points",
    "points with a ratio of 0.5 to 2",
    "smallest share",
    "L p99, ms",
    "points with L p99 below 2 ms",
    "C mean, ms",
    "utilisation, %",
)


def table(points: Sequence[Point], slow: Mapping[str, Sequence[Point]], seeds: int) -> str:
    """Returns a row for each rate as a Markdown table, with the provenance.

    Args:
        points: the grid with Linux's defaults.
        slow: points of the slow links with each of the other queues, by the queue's name.
        seeds: seeds of each point.
    """
    rows = [
        *_rows(points, ""),
        *([_row("all", points)] if points else []),
        *(row for name, found in slow.items() for row in _rows(found, f", {name}")),
    ]
    provenance = (
        f"Made by `make evidence NAME=l4s_grid`, {seeds} seeds, results version "
        f"{_core.results_version()}. Delays and utilisation are means over the points ± the 95 % "
        "interval of the mean."
    )
    lines = [f"| {' | '.join(HEADS)} |", "| --- " * len(HEADS) + "|", *rows, "", provenance]
    return "\n".join(lines) + "\n"


def windows_table(slow: Mapping[str, Sequence[Point]]) -> str:
    """Returns the smallest share of a flow by the fair window, as a Markdown table.

    Args:
        slow: points of the slow links with each queue, by the queue's name.
    """
    heads = ("fair window, packets", "points", *slow)
    lines = [f"| {' | '.join(heads)} |", "| --- " * len(heads) + "|"]
    for low, high in zip(WINDOWS, (*WINDOWS[1:], float("inf")), strict=True):
        name = f"{low} to {high}" if high < float("inf") else f"{low} and more"
        chosen = [
            [fmean(point.least) for point in points if low <= point.fair_window < high]
            for points in slow.values()
        ]
        if chosen[0]:
            cells = (f"{min(shares):.3f}" for shares in chosen)
            lines.append(f"| {name} | {len(chosen[0])} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _rows(points: Sequence[Point], suffix: str) -> list[str]:
    rates = dict.fromkeys(point.rate_mbps for point in points)
    return [
        _row(f"{rate}{suffix}", [point for point in points if point.rate_mbps == rate])
        for rate in rates
    ]


def _row(name: str, points: Sequence[Point]) -> str:
    ratios = sorted(fmean(point.ratio) for point in points)
    count = len(ratios)
    even = sum(0.5 <= ratio <= 2 for ratio in ratios)
    short = sum(fmean(point.low_p99_ms) < 2 for point in points)
    cells = [
        name,
        str(count),
        f"{ratios[count // 4]:.2f} to {ratios[3 * count // 4]:.2f}",
        str(even),
        f"{min(fmean(point.least) for point in points):.3f}",
        _shown(t_interval([fmean(point.low_p99_ms) for point in points])),
        str(short),
        _shown(t_interval([fmean(point.classic_ms) for point in points])),
        _shown(t_interval([100 * fmean(point.utilization) for point in points])),
    ]
    return f"| {' | '.join(cells)} |"


def _shown(interval: Interval) -> str:
    return f"{interval.mean:.2f} ± {interval.half_width:.2f}"


def write_csv(points: Sequence[Point], path: Path) -> None:
    """Writes every point with the mean of each figure and the half-width of its 95 % interval."""
    figures = ("ratio", "least", "low_p99_ms", "classic_ms", "utilization")
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        heads = [head for figure in figures for head in (figure, f"{figure}_half_width")]
        rows.writerow(["prague", "cubic", "rate_mbps", "rtt_ms", *heads])
        for point in points:
            found = [t_interval(list(getattr(point, figure))) for figure in figures]
            values = [f"{x:.4g}" for one in found for x in (one.mean, one.half_width)]
            rows.writerow([*point.mix, point.rate_mbps, point.rtt_ms, *values])


def make() -> None:
    """Runs the grid, and writes the table and the points."""
    places = list(product(MIXES, RATES_MBPS, RTTS_MS))
    points = measure(places)
    slow = [place for place in places if place[1] <= SLOW_MBPS]
    others = {name: measure(slow, keys) for name, keys in SLOW_LINKS.items()}
    linux = [point for point in points if point.rate_mbps <= SLOW_MBPS]
    text = table(points, others, SEEDS)
    text += "\n" + windows_table({"Linux's defaults": linux, **others})
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_part(page, PART, text), encoding="utf-8")
    write_csv(points, EVERY_POINT)


def cells() -> list[Cell]:
    """Returns runs of this grid and of Prague behind classic queues, which share a canary."""
    from evidence.prague_classic.make import own_cells as classic

    return [*own_cells(), *classic()]


def own_cells() -> list[Cell]:
    """Returns a point with Linux's defaults, and one with each of the other queues."""
    place = (MIXES[0], SLOW_MBPS, 20)
    return [
        Cell.of(SCENARIO, dict(settings(place, keys))) for keys in (LINUX, *SLOW_LINKS.values())
    ]


THINGS = [
    Derived(
        "l4s_grid",
        make,
        products=(f"{PAGE}#{PART}", str(EVERY_POINT)),
        cells=cells,
        seeds=f"1 to {SEEDS}",
    )
]
