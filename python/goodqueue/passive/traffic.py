"""Selection of a capture's flows for a simulation, by their limiting factors and bottlenecks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goodqueue.core.polars import pl

if TYPE_CHECKING:
    from goodqueue.passive.analysis import Analysis

LOCAL = (pl.col("class") == "bandwidth") | (
    (pl.col("class") == "congestion") & (pl.col("bottleneck") != "remote").fill_null(value=True)
)
"""Flows that the link limits. Flows with an unknown limit are included."""

MSS, SHORT_SEGMENTS = 1448, 13
SHORT = (pl.col("class") == "size") | (pl.col("bytes") < SHORT_SEGMENTS * MSS)
"""Flows that end before congestion can limit them: 13 segments, as in T-RAT (Zhang et al., SIGCOMM
2002)."""


CONTROLS = ("reno", "cubic", "bbr")
"""Congestion controls that the analysis of a capture distinguishes."""

EVERY_SEGMENT = 1.25
"""Segments per ACK up to which a receiver is assumed to acknowledge each segment."""

BYTE_COUNTING = 0.75
"""Growth in segments per round trip from which on a Reno window is assumed to grow by the bytes
acknowledged (RFC 3465: 1.0) and not by one step per delayed ACK (0.5)."""


def byte_counting(flows: pl.DataFrame) -> bool | None:
    """Returns True if the windows of most Reno data grow by the bytes ACKed; None if unknown."""
    shows = flows.filter(
        (pl.col("congestion_control") == "reno") & pl.col("growth_segments").is_not_null()
    )
    total = sum(shows["bytes"].to_list())
    if not total:
        return None
    weighted = shows.select((pl.col("growth_segments") * pl.col("bytes")).sum()).item()
    return bool(weighted / total >= BYTE_COUNTING)


def forward(analysis: Analysis) -> pl.DataFrame:
    """Returns the flows whose data cross the link in the measured direction, largest first."""
    flows = analysis.flows.filter((pl.col("forward") == 1) & (pl.col("bytes") > 0))
    return flows.sort("bytes", descending=True)
