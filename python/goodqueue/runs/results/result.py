"""Results of a run, as figures and as polars frames. The name of every column includes its unit.

`goodqueue.runs.results.frames` makes the frames. It is imported only when a frame is requested,
because the import of polars takes longer than a short run.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from goodqueue.core.shown import axes_of, html_of, words_of
from goodqueue.errors import RequestError, nearest
from goodqueue.runs.results.named import Figures

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from goodqueue._core import Outcome, Table
    from goodqueue.core.shown import Drawn


# Each column of numbers in the core's tables has a list of names: number k stands for name k.
KINDS = {
    "event": ["sent", "arrived", "dropped", "service_started", "delivered", "marked"],
    "direction": ["forward", "reverse"],
    "limited_by": ["nothing", "handshake", "congestion", "receiver_window", "application"],
    "drop_reason": ["overlimit", "early", "forced", "target_exceeded", "link_loss"],
}


KINDS_OF_NAMES = {"links": "link", "flows": "flow", "groups": "group"}
"""Tables of the summary whose figures have a name, with the kind of each."""


@dataclass(frozen=True)
class Series:
    """Quantities of a run over time; they exist only if recording was requested.

    Attributes:
        backlog: columns `link`, `time_s`, `backlog_packets`, `backlog_bytes`; a row for each
            change.
        windows: columns `flow`, `time_s`, `cwnd_bytes`, `ssthresh_bytes` (null before the first
            value), `in_flight_bytes`; a row for each change.
        rtt: columns `flow`, `time_s`, `rtt_s`; a row for each RTT sample.
        limits: columns `flow`, `time_s`, `limited_by`; a row for each change of the factor that
            limits the sender of a bulk flow (nothing, handshake, congestion, receiver_window,
            application).

    Examples:
        >>> import goodqueue
        >>> series = goodqueue.run(goodqueue.EXAMPLE, series=True).series
        >>> series.backlog.columns
        ['link', 'time_s', 'backlog_packets', 'backlog_bytes']
    """

    backlog: pl.DataFrame
    windows: pl.DataFrame
    rtt: pl.DataFrame
    limits: pl.DataFrame


class Result:
    """The results of one run.

    Attributes:
        summary: the engine, and every figure by link and by flow, as plain data; docs/results.md
            describes each key. `result["bottleneck"]` has the figures of a link or a flow as
            attributes.
        scenario: the scenario that was run, as TOML with every key written out.
        throughput: TCP or UDP payload that reached its receiver, if it was recorded, with the
            columns `flow`, `direction` (`up` to the flow's server, `down` to its client), `time_s`
            (end of an interval of 0.2 s) and `throughput_bps` (mean over the interval). A flow has
            the directions in which its workload sends data. At most 64 pairs of flow and direction
            are recorded.

    Examples:
        >>> import goodqueue
        >>> result = goodqueue.run(goodqueue.EXAMPLE)
        >>> result.flows["flow"].to_list()
        ['upload', 'ping']
        >>> result["bottleneck"].utilization > 0.99
        True
        >>> result["upload"].goodput_bps < 2e6
        True
    """

    def __init__(
        self, outcome: Outcome, scenario: str, throughput: pl.DataFrame | None = None
    ) -> None:
        self._outcome = outcome
        self.scenario = scenario
        self.throughput = throughput
        summary = json.loads(outcome.summary_json())
        self.summary: dict[str, Any] = {"engine": "packets", **summary}

    def plot(self, name: str | None = None, *, link: str | None = None) -> Drawn:
        """Draws a picture of the run by pyplot, without a caption, and returns its axes.

        Args:
            name: `backlog`, `cwnd`, `rtt`, `throughput`, `delay` or `delay-cdf`, as far as the run
                recorded its data; by default the backlog, or the first picture that exists.
            link: link of the backlog and of delays; by default `bottleneck`, or the first link.

        Raises:
            RequestError: if the run has no such picture, or no such link.
        """
        return axes_of(self, name, link=link)

    def __getitem__(self, name: str) -> Figures:
        """Returns the figures of a link, a flow, or a large group of flows.

        Raises:
            RequestError: if there is no such name, or if a link and a flow have it.
        """
        places = [place for place in KINDS_OF_NAMES if name in self.summary.get(place, {})]
        if not places:
            raise RequestError(f"no link or flow {name!r}; {nearest(name, list(self))}")
        if len(places) > 1:
            kinds = " and a ".join(KINDS_OF_NAMES[place] for place in places)
            raise RequestError(
                f"{name!r} is both a {kinds}: write result.summary[{places[0]!r}][{name!r}]"
            )
        [place] = places
        return Figures(KINDS_OF_NAMES[place], name, self.summary[place][name])

    def __iter__(self) -> Iterator[str]:
        """Yields the names of links, flows and large groups of flows."""
        return (name for place in KINDS_OF_NAMES for name in self.summary.get(place, {}))

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def _repr_html_(self) -> str:
        return html_of(self)

    @cached_property
    def links(self) -> pl.DataFrame:
        """A frame with one row per link and direction: `link` and the figures of the summary.

        The column `shares` holds lists of pairs: `group`, `share`.
        """
        from goodqueue.runs.results.frames import summary_frame

        return summary_frame(self.summary["links"], "link")

    @cached_property
    def flows(self) -> pl.DataFrame:
        """A frame with one row per flow: `flow` and the figures of the summary.

        It has no rows for flows of groups of more than 1,000 flows, which `groups` describes.
        The columns `losses_at` and `marks_at` hold lists of pairs: `link`, `packets`.
        """
        from goodqueue.runs.results.frames import summary_frame

        return summary_frame(self.summary["flows"], "flow")

    @cached_property
    def groups(self) -> pl.DataFrame:
        """The distributions of the figures of large groups of flows, one row per group and figure.

        The columns are `group`, `figure` (as in the summary of a flow; `limited_by.congestion` and
        so on for shares), `flows` (number of flows that have the figure), `mean`, `min`, `p5`,
        `p50`, `p95` and `max` over these flows, in the figure's unit, and `sum` and `jain_index`,
        null for most figures. A group is large if it has more than 1,000 flows, unless the
        scenario sets `record.flows`. Without such a group the frame has no rows.
        """
        from goodqueue.runs.results.frames import groups_frame

        rows = [
            (group, figure, values["flows"], *(values.get(column) for column in STATISTICS))
            for group, entry in self.summary.get("groups", {}).items()
            for figure, values in _distributions(entry)
        ]
        return groups_frame(rows, STATISTICS)

    def classes(self, link: str) -> pl.DataFrame:
        """Returns the factor that limits each TCP flow, as seen from a link: `flow`, `class`.

        The class is `local` if congestion at this link limits the flow, and `remote` if congestion
        at another link does. It is null if no link dropped or marked the flow's data. Otherwise it
        is `window` or `size`. Flows of groups of more than 1,000 flows are not included.

        Raises:
            RequestError: if there is no such link.
        """
        from goodqueue.runs.results.frames import texts_frame

        links = self.summary["links"]
        if link not in links:
            raise RequestError(f"unknown link {link!r}; {nearest(link, links)}")
        rows = [
            (name, _seen_from(link, figures))
            for name, figures in self.summary["flows"].items()
            if figures["class"] is not None
        ]
        return texts_frame(rows, "flow", "class")

    @cached_property
    def delays(self) -> pl.DataFrame:
        """The distribution of queueing delays: `link`, `queueing_delay_s`, `packets`.

        Delays are binned; the value of a bin is within 1.6 % of every delay in it.
        """
        return self._frame(self._outcome.delays())

    @cached_property
    def waits(self) -> pl.DataFrame | None:
        """The queueing delay of each packet of an emulation; None for a simulated run.

        The columns are `link`, `time_s` (the begin of the packet's transmission) and
        `queueing_delay_s`.
        """
        waits = getattr(self._outcome, "waits", None)
        return None if waits is None else self._frame(waits())

    @cached_property
    def series(self) -> Series | None:
        """Quantities over time; None if they were not recorded."""
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
        """Every packet event at links (access links included) and at hosts; None if not recorded.

        The columns are `time_s`, `event`, `link` (null at hosts), `flow`, `direction`, `number` (of
        the packet in its flow and direction, from 0), `size_bytes` (IP), `sequence`,
        `payload_bytes` and `acknowledgement` (null unless TCP), `drop_reason` (null unless dropped
        or marked), and `waited_s` (null unless service started).
        """
        return self._frame(self._outcome.packets()) if self._outcome.has_packets else None

    def _frame(self, table: Table) -> pl.DataFrame:
        from goodqueue.core.tables import frame

        return frame(table, {**KINDS, "link": self._outcome.links, "flow": self._outcome.flows})

    def __repr__(self) -> str:
        return words_of(self)


def _seen_from(link: str, flow: dict[str, Any]) -> str | None:
    if flow["class"] != "congestion":
        return str(flow["class"])
    if flow["bottleneck"] is None:
        return None
    return "local" if flow["bottleneck"] == link else "remote"


STATISTICS = ("mean", "min", "p5", "p50", "p95", "max", "sum", "jain_index")
"""Statistics of a figure of a large group of flows."""

WORDS = ("bottleneck", "class")
"""Figures of a flow that are words. A large group has the number of flows for each word."""


def _distributions(entry: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the figures of a large group that have a distribution, with their names."""
    for name, values in entry.items():
        if name == "limited_by":
            yield from ((f"{name}.{cause}", below) for cause, below in values.items())
        elif isinstance(values, dict) and name not in {"losses_at", "marks_at", *WORDS}:
            yield name, values
