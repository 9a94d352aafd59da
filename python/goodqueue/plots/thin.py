"""Reduction of points in a line without a visible change."""

from __future__ import annotations

import polars as pl

DRAWN_BINS = 1200
"""Number of bins, about the width of a picture in pixels; more cannot be distinguished."""


def thin(series: pl.DataFrame, value: str, time: str = "time_s") -> pl.DataFrame:
    """Keeps each time bin's first, smallest, largest and last row.

    A line through these rows covers the same pixels as a line through every row.
    """
    if series.height <= 4 * DRAWN_BINS:
        return series
    start, stop = series[time][0], series[time][-1]
    position = (pl.col(time) - start) / max(stop - start, 1e-12) * DRAWN_BINS
    column = pl.col(value)
    kept = (
        series.with_row_index("row")
        .group_by(position.floor().alias("bin"))
        .agg(
            pl.col("row").first().alias("first"),
            pl.col("row").get(column.arg_min()).alias("least"),
            pl.col("row").get(column.arg_max()).alias("most"),
            pl.col("row").last().alias("last"),
        )
        .unpivot(["first", "least", "most", "last"])["value"]
        .unique()
        .sort()
    )
    return series[kept]
