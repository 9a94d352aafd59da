"""Results of a run as polars frames. Every column carries its unit in its name."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from goodqueue._core import Outcome


@dataclass(frozen=True)
class Series:
    """What changed when, recorded only when asked for.

    Attributes:
        backlog: `link`, `time_s`, `backlog_packets`, `backlog_bytes`, at each change.
        windows: `flow`, `time_s`, `cwnd_bytes`, `ssthresh_bytes` (null if there is none yet),
            `in_flight_bytes`, at each change.
        rtt: `flow`, `time_s`, `rtt_s`, for each sample.
    """

    backlog: pl.DataFrame
    windows: pl.DataFrame
    rtt: pl.DataFrame


class Result:
    """What one run yielded.

    Attributes:
        summary: every figure, by link and by flow; docs/results.md describes each key.
        scenario: the scenario that was run, with every key written out, as TOML.
        series: what changed when, if it was recorded.
    """

    def __init__(self, outcome: Outcome, scenario: str, *, series: bool) -> None:
        self._outcome = outcome
        self.scenario = scenario
        self.summary: dict[str, Any] = json.loads(outcome.summary_json())
        self.series = _series(outcome) if series else None

    @cached_property
    def links(self) -> pl.DataFrame:
        """One row per link and direction: `link` and the figures of the summary."""
        return _table(self.summary["links"], "link")

    @cached_property
    def flows(self) -> pl.DataFrame:
        """One row per flow: `flow` and the figures of the summary."""
        return _table(self.summary["flows"], "flow")

    @cached_property
    def delays(self) -> pl.DataFrame:
        """How many packets waited how long: `link`, `queueing_delay_s`, `packets`.

        Delays are binned; each bin is within 1.6 % of the delays in it.
        """
        names, link, delay, packets = self._outcome.delays()
        return pl.DataFrame(
            {
                "link": _names(names, link),
                "queueing_delay_s": np.frombuffer(delay, "<f8"),
                "packets": np.frombuffer(packets, "<u8"),
            }
        )

    def __repr__(self) -> str:
        return f"Result(links={list(self.summary['links'])}, flows={len(self.summary['flows'])})"


def _series(outcome: Outcome) -> Series:
    links, link, link_time, packets, waiting = outcome.backlog()
    flows, flow, flow_time, cwnd, ssthresh, in_flight = outcome.windows()
    pinged, sample, sample_time, rtt = outcome.rtt()
    return Series(
        backlog=pl.DataFrame(
            {
                "link": _names(links, link),
                "time_s": np.frombuffer(link_time, "<f8"),
                "backlog_packets": np.frombuffer(packets, "<u8"),
                "backlog_bytes": np.frombuffer(waiting, "<u8"),
            }
        ),
        windows=pl.DataFrame(
            {
                "flow": _names(flows, flow),
                "time_s": np.frombuffer(flow_time, "<f8"),
                "cwnd_bytes": np.frombuffer(cwnd, "<u8"),
                "ssthresh_bytes": np.frombuffer(ssthresh, "<f8"),
                "in_flight_bytes": np.frombuffer(in_flight, "<u8"),
            }
        ).with_columns(pl.col("ssthresh_bytes").fill_nan(None)),
        rtt=pl.DataFrame(
            {
                "flow": _names(pinged, sample),
                "time_s": np.frombuffer(sample_time, "<f8"),
                "rtt_s": np.frombuffer(rtt, "<f8"),
            }
        ),
    )


def _names(names: list[str], index: bytes) -> pl.Series:
    """The names that indices stand for, as a column that stores each name once."""
    return pl.Series(np.frombuffer(index, "<u4")).cat.to(pl.Enum(names))


def _table(rows: dict[str, dict[str, Any]], key: str) -> pl.DataFrame:
    return pl.DataFrame([{key: name, **figures} for name, figures in rows.items()])
