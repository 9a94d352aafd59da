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


CONTROLS = ("reno", "cubic", "bbr")
"""Congestion controls that a capture tells apart."""

EVERY_SEGMENT = 1.25
"""Up to so many segments per acknowledgement, a receiver is taken to acknowledge each segment."""

BYTE_COUNTING = 0.75
"""Segments per round trip from which on a Reno window grows by the bytes that are acknowledged
(RFC 3465: 1.0), not by a step for each of the delayed acknowledgements (0.5)."""


def byte_counting(flows: pl.DataFrame) -> bool | None:
    """Whether Reno windows grow by the bytes acknowledged, by most bytes; None if none shows."""
    shows = flows.filter(
        (pl.col("congestion_control") == "reno") & pl.col("growth_segments").is_not_null()
    )
    total = sum(shows["bytes"].to_list())
    if not total:
        return None
    weighted = shows.select((pl.col("growth_segments") * pl.col("bytes")).sum()).item()
    return bool(weighted / total >= BYTE_COUNTING)


def forward(analysis: Analysis) -> pl.DataFrame:
    """The flows whose data cross the link in the measured direction, largest first."""
    flows = analysis.flows.filter((pl.col("forward") == 1) & (pl.col("bytes") > 0))
    return flows.sort("bytes", descending=True)
