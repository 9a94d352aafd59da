"""The frames of a run's figures; the only module of `runs` that imports polars."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from goodqueue.core.metrics import main_first
from goodqueue.core.polars import pl

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

BIN_S = 0.2
"""Length of the intervals of the throughput trace, in s; each has one value."""

SCHEMA = {"time_s": pl.Float64, "throughput_bps": pl.Float64}
LABELS = {"flow": pl.String, "direction": pl.String}

BY_NAME = {
    "shares": ("group", "share", pl.Float64),
    "losses_at": ("link", "packets", pl.Int64),
    "marks_at": ("link", "packets", pl.Int64),
}
"""Figures of the summary that map names to values; as columns they hold lists of pairs."""


def summary_frame(rows: dict[str, dict[str, Any]], key: str) -> pl.DataFrame:
    """Returns the figures of a summary with a row for each link or flow, which `key` names.

    The main figures come first (`goodqueue.core.metrics.MAIN`).
    """
    if not rows:
        return pl.DataFrame(schema={key: pl.String})
    frame = pl.DataFrame(
        [
            {key: name, **{k: figures[k] for k in main_first(figures) if k not in BY_NAME}}
            for name, figures in rows.items()
        ],
        infer_schema_length=None,
    )
    for column, (name, value, kind) in BY_NAME.items():
        if any(column in figures for figures in rows.values()):
            pairs = [
                [{name: k, value: v} for k, v in figures[column].items()]
                for figures in rows.values()
            ]
            schema = pl.List(pl.Struct({name: pl.String, value: kind}))
            frame = frame.with_columns(pl.Series(column, pairs, schema))
    return frame


def groups_frame(rows: Sequence[tuple[object, ...]], statistics: Sequence[str]) -> pl.DataFrame:
    """Returns the distributions of the figures of large groups of flows.

    Args:
        rows: group, figure, number of flows, and the statistics of each row.
        statistics: names of the columns after `group`, `figure` and `flows`.
    """
    names = {"group": pl.String, "figure": pl.String, "flows": pl.Int64}
    schema = {**names, **dict.fromkeys(statistics, pl.Float64)}
    return pl.DataFrame(rows, schema, orient="row")


def texts_frame(rows: Sequence[tuple[str | None, ...]], *columns: str) -> pl.DataFrame:
    """Returns rows of texts as a frame with these columns."""
    return pl.DataFrame(rows, dict.fromkeys(columns, pl.String), orient="row")


def throughput_frame(files: Iterable[tuple[tuple[str, str], Path]]) -> pl.DataFrame:
    """Reads the core's traces of throughput.

    Args:
        files: pairs of a flow and a direction, each with its trace.

    Returns:
        Columns `flow`, `direction`, `time_s` (the end of each interval of 0.2 s) and
        `throughput_bps` (the mean over it).
    """
    parts = [pl.DataFrame(schema={**LABELS, **SCHEMA})]
    for (flow, direction), file in files:
        if file.stat().st_size:
            read = pl.read_csv(file, separator=" ", has_header=False, schema=SCHEMA)
            labels = pl.lit(flow).alias("flow"), pl.lit(direction).alias("direction")
            parts.append(read.select(*labels, *SCHEMA))
    return pl.concat(parts)


def in_bins(frame: pl.DataFrame, most: int) -> tuple[pl.DataFrame, float]:
    """Returns the flows' total throughput by interval, and the length of an interval in s.

    Args:
        frame: throughput of each flow over time.
        most: largest number of intervals.
    """
    total = frame.group_by("time_s").agg(pl.col("throughput_bps").sum()).sort("time_s")
    each = max(1, math.ceil(total.height / most))
    bins = total.group_by(pl.int_range(pl.len()) // each, maintain_order=True)
    means = bins.agg(pl.col("time_s").last(), pl.col("throughput_bps").mean())
    return means.select("time_s", "throughput_bps"), each * BIN_S
