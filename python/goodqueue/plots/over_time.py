"""Lines over time: the backlog of a link, and the round-trip times of a flow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from goodqueue.plots.panels import Line
from goodqueue.plots.thin import thin

if TYPE_CHECKING:
    from goodqueue.runs.result import Result


def backlog(result: Result, link: str, label: str, unit: str = "packets") -> Line:
    """Returns the backlog of a link over time, in packets, or in kB if the unit is `bytes`."""
    assert result.series is not None
    own = thin(result.series.backlog.filter(pl.col("link") == link), f"backlog_{unit}")
    scale = 1 if unit == "packets" else 1000
    values = (own[f"backlog_{unit}"] / scale).to_list()
    return Line(label, own["time_s"].to_list(), values, form="steps")


def round_trips(result: Result, flow: str, label: str, until_s: float = 1e9) -> Line:
    """Returns the round-trip times of a flow over time, in ms."""
    assert result.series is not None
    rtt = result.series.rtt
    own = thin(rtt.filter((pl.col("flow") == flow) & (pl.col("time_s") <= until_s)), "rtt_s")
    return Line(label, own["time_s"].to_list(), (own["rtt_s"] * 1000).to_list())
