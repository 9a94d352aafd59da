"""Results of a run as polars frames. Every column carries its unit in its name."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from goodqueue._core import Outcome, Table


# What the numbers in the core's columns of the same name stand for, in order.
KINDS = {
    "event": ["sent", "arrived", "dropped", "service_started", "delivered", "marked"],
    "direction": ["forward", "reverse"],
    "drop_reason": ["overlimit", "early", "forced", "target_exceeded", "link_loss"],
}


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
    """

    def __init__(self, outcome: Outcome, scenario: str) -> None:
        self._outcome = outcome
        self.scenario = scenario
        self.summary: dict[str, Any] = json.loads(outcome.summary_json())

    @cached_property
    def links(self) -> pl.DataFrame:
        """One row per link and direction: `link` and the figures of the summary."""
        return _summary_frame(self.summary["links"], "link")

    @cached_property
    def flows(self) -> pl.DataFrame:
        """One row per flow: `flow` and the figures of the summary."""
        return _summary_frame(self.summary["flows"], "flow")

    @cached_property
    def delays(self) -> pl.DataFrame:
        """How many packets waited how long: `link`, `queueing_delay_s`, `packets`.

        Delays are binned; each bin is within 1.6 % of the delays in it.
        """
        return self._frame(self._outcome.delays())

    @cached_property
    def series(self) -> Series | None:
        """What changed when, if it was recorded."""
        if not self._outcome.has_series:
            return None
        return Series(
            backlog=self._frame(self._outcome.backlog()),
            windows=self._frame(self._outcome.windows()),
            rtt=self._frame(self._outcome.rtt()),
        )

    @cached_property
    def packets(self) -> pl.DataFrame | None:
        """Every packet event at links, access links included, and at hosts, if recorded.

        `time_s`, `event`, `link` (null at hosts), `flow`, `direction`, `number` (of the packet in
        its flow and direction, from 0), `size_bytes` (IP), `sequence`, `payload_bytes` and
        `acknowledgement` (null unless TCP), `drop_reason` (null unless dropped or marked),
        `waited_s` (null unless service started).
        """
        return self._frame(self._outcome.packets()) if self._outcome.has_packets else None

    def _frame(self, table: Table) -> pl.DataFrame:
        """The core's columns as a frame, with nulls for what is absent and names for numbers."""
        names = {**KINDS, "link": self._outcome.links, "flow": self._outcome.flows}
        columns = {}
        for column, (kind, data) in table.items():
            values = pl.Series(column, np.frombuffer(data, kind))
            columns[column] = values.fill_nan(None) if kind == "<f8" else _present(values)
            if column in names:
                columns[column] = columns[column].cast(pl.UInt32).cat.to(pl.Enum(names[column]))
        return pl.DataFrame(columns)

    def __repr__(self) -> str:
        return f"Result(links={list(self.summary['links'])}, flows={len(self.summary['flows'])})"


def _present(values: pl.Series) -> pl.Series:
    """Whole numbers with nulls for what is absent."""
    return values if not values.len() or values.min() != -1 else values.set(values == -1, None)


def _summary_frame(rows: dict[str, dict[str, Any]], key: str) -> pl.DataFrame:
    return pl.DataFrame([{key: name, **figures} for name, figures in rows.items()])
