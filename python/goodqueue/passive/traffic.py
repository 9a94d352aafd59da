"""The flows of a capture as a simulation sees them: who is held back where, and by what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from goodqueue.passive.analysis import Analysis

LOCAL = (pl.col("class") == "bandwidth") | (
    (pl.col("class") == "congestion") & (pl.col("bottleneck") != "remote").fill_null(value=True)
)
"""Flows that the link holds back; those of which it cannot be told are taken for such."""

MSS, SHORT_SEGMENTS = 1448, 13
SHORT = (pl.col("class") == "size") | (pl.col("bytes") < SHORT_SEGMENTS * MSS)
"""Flows that are over before they know their link: 13 segments, as T-RAT has it (Zhang et al.,
SIGCOMM 2002)."""


def forward(analysis: Analysis) -> pl.DataFrame:
    """The flows whose data cross the link in the measured direction, largest first."""
    flows = analysis.flows.filter((pl.col("forward") == 1) & (pl.col("bytes") > 0))
    return flows.sort("bytes", descending=True)
