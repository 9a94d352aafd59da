"""Results of a run as polars frames. Every column carries its unit in its name."""

from __future__ import annotations

import json
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any

import polars as pl

from goodqueue.errors import RequestError
from goodqueue.tables import frame

if TYPE_CHECKING:
    from goodqueue._core import Outcome, Table


# What the numbers in the core's columns of the same name stand for, in order.
KINDS = {
    "event": ["sent", "arrived", "dropped", "service_started", "delivered", "marked"],
    "direction": ["forward", "reverse"],
    "limited_by": ["nothing", "handshake", "congestion", "receiver_window", "application"],
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
        limits: `flow`, `time_s`, `limited_by`: what the sender of a bulk flow waits for from then
            on (nothing, handshake, congestion, receiver_window, application), at each change.
    """

    backlog: pl.DataFrame
    windows: pl.DataFrame
    rtt: pl.DataFrame
    limits: pl.DataFrame


class Result:
    """What one run yielded.

    Attributes:
        summary: the engine, and every figure by link and by flow; docs/results.md describes each
            key.
        scenario: the scenario that was run, with every key written out, as TOML.
        throughput: the payload of TCP or UDP that reached the server, if it was recorded: `flow`,
            `time_s` (the end of an interval of 0.2 s), `throughput_bps` (over the interval). It has
            at most 64 flows: those whose data go to the server.
    """

    def __init__(
        self, outcome: Outcome, scenario: str, throughput: pl.DataFrame | None = None
    ) -> None:
        self._outcome = outcome
        self.scenario = scenario
        self.throughput = throughput
        summary = json.loads(outcome.summary_json())
        self.summary: dict[str, Any] = {"engine": "packets", **summary}

    @cached_property
    def links(self) -> pl.DataFrame:
        """One row per link and direction: `link` and the figures of the summary.

        `shares` is a list of pairs: `group`, `share`.
        """
        return _summary_frame(self.summary["links"], "link")

    @cached_property
    def flows(self) -> pl.DataFrame:
        """One row per flow: `flow` and the figures of the summary.

        `losses_at` and `marks_at` are lists of pairs: `link`, `packets`.
        """
        return _summary_frame(self.summary["flows"], "flow")

    def classes(self, link: str) -> pl.DataFrame:
        """What limits each TCP flow, as seen from a link: `flow`, `class`.

        `class` is `local` if the flow is limited by congestion at this link, `remote` if at another
        (null if no link dropped or marked its data), `window` or `size`.
        """
        links = self.summary["links"]
        if link not in links:
            near = get_close_matches(link, links, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"the links are {', '.join(links)}"
            raise RequestError(f"there is no link {link!r}; {hint}")
        rows = [
            (name, _seen_from(link, figures))
            for name, figures in self.summary["flows"].items()
            if figures["class"] is not None
        ]
        return pl.DataFrame(rows, {"flow": pl.String, "class": pl.String}, orient="row")

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
            limits=self._frame(self._outcome.limits()),
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
        return frame(table, {**KINDS, "link": self._outcome.links, "flow": self._outcome.flows})

    def __repr__(self) -> str:
        return f"Result(links={list(self.summary['links'])}, flows={len(self.summary['flows'])})"


def _seen_from(link: str, flow: dict[str, Any]) -> str | None:
    if flow["class"] != "congestion":
        return str(flow["class"])
    if flow["bottleneck"] is None:
        return None
    return "local" if flow["bottleneck"] == link else "remote"


BY_NAME = {
    "shares": ("group", "share", pl.Float64),
    "losses_at": ("link", "packets", pl.Int64),
    "marks_at": ("link", "packets", pl.Int64),
}
"""Figures of the summary that have a name for each value: as columns, lists of pairs."""


def _summary_frame(rows: dict[str, dict[str, Any]], key: str) -> pl.DataFrame:
    frame = pl.DataFrame(
        [
            {key: name, **{k: v for k, v in figures.items() if k not in BY_NAME}}
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
