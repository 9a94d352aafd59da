"""Pictures of congestion windows and backlogs over time, from both simulators."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import polars as pl

from evidence.validation.ns3.controls import CASES, SCENARIO, run_ns3
from goodqueue._core import Cancel
from goodqueue.plots.style import BLUE, ORANGE, Picture
from goodqueue.plots.thin import thin
from goodqueue.runs.api import run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from evidence.validation.ns3.controls import Case

FOLDER = Path("docs/img")
MSS = 1460
STEP = 0.005
"""Interval between two samples of ns-3's curves, in s."""
SEED = 1

CAPTIONS = {
    "CUBIC": "One flow of CUBIC over 50 Mb/s and 80 ms, 333 packets of buffer: the window grows "
    "to that of the last loss, stays there, grows beyond it and loses again; fast convergence "
    "makes long and short cycles alternate.",
    "BBR": "One flow of BBR over 10 Mb/s and 40 ms: the start-up fills the queue and drains it. "
    "Every eighth round trip probes for bandwidth, in a phase chosen at random. After ten seconds "
    "only four segments are in flight, to measure the shortest round trip.",
    "Vegas": "One flow of Vegas over 10 Mb/s and 40 ms: slow start overshoots. The window then "
    "falls by a segment per round trip until no more than four packets wait.",
}
"""Caption of each picture."""


def name(case: Case) -> str:
    """Returns the file name of a case's picture, without its ending."""
    return f"ns3-{case.name.lower()}"


def pictures(program: Path) -> list[Path]:
    """Runs the cases that have a picture again, with curves, and draws them."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    return [_picture(program, case).save(FOLDER) for case in CASES if case.shown is not None]


def _picture(program: Path, case: Case) -> Picture:
    assert case.shown is not None
    begin, end = case.shown
    theirs, ours = _ns3_curves(program, case), _our_curves(case)

    def draw(panels: list[Axes]) -> None:
        for axes, column, unit in zip(
            panels, ("cwnd", "backlog"), ("cwnd, segments", "packets waiting"), strict=True
        ):
            for curves, label, colour, width in (
                (theirs, "ns-3", ORANGE, 2.6),
                (ours, "goodqueue", BLUE, 0.9),
            ):
                line = curves[column]
                axes.step(
                    line["time_s"], line[column], where="post", color=colour, lw=width, label=label
                )
            axes.set_ylabel(unit)
            axes.set_ylim(bottom=0)
        panels[0].set_title(f"{case.name}: congestion window and backlog")
        panels[0].legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2)
        panels[-1].set_xlabel("time, s")
        panels[-1].set_xlim(begin, end)

    return Picture(name(case), CAPTIONS[case.name], draw, panels=2, height_inches=5.6)


def _ns3_curves(program: Path, case: Case) -> dict[str, pl.DataFrame]:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "curves.csv"
        case = _shortened(case, f"--curves={file}", f"--step={STEP}")
        run_ns3(program, case, SEED, Cancel())
        samples = pl.read_csv(file)
    return {
        "cwnd": _cut(case, samples.select("time_s", cwnd=pl.col("cwnd_bytes") / MSS), "cwnd"),
        "backlog": _cut(case, samples.select("time_s", backlog="backlog_packets"), "backlog"),
    }


def _our_curves(case: Case) -> dict[str, pl.DataFrame]:
    case = _shortened(case)
    series = run(SCENARIO, set=case.overrides, seed=SEED, series=True).series
    assert series is not None
    waiting = series.backlog.filter(pl.col("link") == "bottleneck")
    return {
        "cwnd": _cut(
            case, series.windows.select("time_s", cwnd=pl.col("cwnd_bytes") / MSS), "cwnd"
        ),
        "backlog": _cut(case, waiting.select("time_s", backlog="backlog_packets"), "backlog"),
    }


def _shortened(case: Case, *curves: str) -> Case:
    """Returns the case with a duration no longer than the picture shows."""
    assert case.shown is not None
    return replace(case, duration=case.shown[1], ns3=(*case.ns3, *curves))


def _cut(case: Case, line: pl.DataFrame, column: str) -> pl.DataFrame:
    """Returns the part of a line that the picture shows; its last value extends to the end."""
    assert case.shown is not None
    begin, end = case.shown
    line = thin(line.filter(pl.col("time_s").is_between(begin, end)), column)
    held = line.tail(1).with_columns(time_s=pl.lit(float(end)))
    return pl.concat([line, held])
