"""Analysis of a capture: flows, round-trip times, losses and link, as frames and a summary."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from goodqueue import _core
from goodqueue.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from os import PathLike

    import polars as pl

PARAMETERS = {
    "N_b": "flows that the link limits, averaged over time",
    "T_e_s": "their effective round-trip time, the harmonic mean",
    "C_e_bps": "their total rate",
    "L": "packets of a loss burst, without the start-up of flows",
    "alpha": "loss-burst length over number of flows",
    "M_bytes": "size of their packets",
}
"""Parameters of the sizing rules, described as by Dhamdhere, Jiang and Dovrolis (INFOCOM 2005)."""

MIN_COMMON = 0.1
"""Share of the packets of a pair of captures that passed the link, below which a note says that the
captures hardly belong together. For a bulk transfer the share is one half (data one way, ACKs the
other) to one."""


MIN_FORWARD = 0.01
"""Share of the data seen at both points that passed the first one first, below which the captures
are refused: they are swapped, or have different clocks. The share is not 0 with the right order,
because short requests travel against a bulk transfer."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """An estimate and its 95 % interval, in the unit with which its name ends."""

    value: float
    low: float
    high: float


class Analysis:
    """Analysis of one capture, or of a pair of captures around a bottleneck.

    Attributes:
        summary: all results except the tables; docs/traces.md describes each key.
    """

    def __init__(self, core: _core.Analysis) -> None:
        self._core = core
        self.summary: dict[str, Any] = json.loads(core.summary_json())

    @property
    def parameters(self) -> dict[str, Parameter | None]:
        """N_b, T_e_s, C_e_bps, L, alpha and M_bytes; None for unknown ones."""
        return {
            name: None if found is None else Parameter(**found)
            for name, found in self.summary["parameters"].items()
        }

    @cached_property
    def flows(self) -> pl.DataFrame:
        """One row per direction of a TCP connection that carried data; its columns have units."""
        from goodqueue.core.polars import pl

        flows = self._frame(self._core.flows())
        names = pl.Series("name", self._core.flow_names, pl.String)
        return flows.insert_column(1, names.gather(flows["flow"]))

    @cached_property
    def rtts(self) -> pl.DataFrame:
        """Round-trip times over time, thinned: `flow`, `time_s`, `rtt_s`."""
        return self._frame(self._core.rtts())

    @cached_property
    def losses(self) -> pl.DataFrame:
        """Losses: `time_s`, `flow` (null if from a drop log), `packets`, `where`."""
        return self._frame(self._core.losses())

    @cached_property
    def bursts(self) -> pl.DataFrame:
        """Loss bursts at the target link.

        The columns are `time_s`, `duration_s`, `packets`, `flows_hit`, and `start_up`: 1 if a flow
        that the link limits overshot in this burst during its start-up.
        """
        return self._frame(self._core.bursts())

    @cached_property
    def series(self) -> pl.DataFrame:
        """The target link, bin by bin: rate, utilisation, flows, losses and queueing delay."""
        return self._frame(self._core.series())

    def _frame(self, table: _core.Table) -> pl.DataFrame:
        from goodqueue.core.tables import frame  # takes a quarter of a second to import

        return frame(table, self._core.names())

    def __repr__(self) -> str:
        return f"Analysis(flows={self.summary['flows']}, duration_s={self.summary['duration_s']})"


def analyze(  # noqa: PLR0913 - all but the capture are options, by name
    capture: str | PathLike[str],
    *,
    after: str | PathLike[str] | None = None,
    link_rate_bps: int | None = None,
    drops: Sequence[float] | None = None,
    thresholds: Mapping[str, float] | None = None,
    seed: int = 1,
    progress: Callable[[int], object] | None = None,
) -> Analysis:
    """Analyses a packet capture: its flows, and the factors that limit them.

    Args:
        capture: a pcap or pcapng file, or a trace of ns-2.
        after: a second capture of the same packets behind the bottleneck; `capture` is then the one
            before it.
        link_rate_bps: rate of the link in bits per second of frames as captured (with Ethernet's
            header on Ethernet); estimated if None.
        drops: times of drops at the link, in seconds on the capture's clock. Those before and after
            the capture are left out, with a note.
        thresholds: values that replace documented thresholds, by name.
        seed: seed of the bootstrap of the intervals.
        progress: function called now and then with the bytes read; an exception that it raises ends
            the analysis.

    Raises:
        ScenarioError: if a file is not a capture.
        RequestError: if the captures do not show the same packets, or show them first behind the
            bottleneck.
        OSError: if a file cannot be read.
    """
    analysis = Analysis(
        _core.analyze(
            str(capture),
            after=None if after is None else str(after),
            link_rate_bps=link_rate_bps,
            drops=drops,
            thresholds=list((thresholds or {}).items()),
            seed=seed,
            progress=progress,
        )
    )
    if after is not None:
        _refuse_swapped(analysis.summary, capture, after)
        if analysis.summary["link"]["queueing_delay_s"] is None:
            raise RequestError(
                f"{after} and {capture} have no packet in common; check that they are from "
                "the same link and the same time"
            )
        _note_strangers(analysis.summary, capture, after)
    return analysis


def _refuse_swapped(
    summary: dict[str, Any], capture: str | PathLike[str], after: str | PathLike[str]
) -> None:
    """Refuses captures whose packets travel from the second point to the first."""
    forward, backward = summary["crossed"]["forward"], summary["crossed"]["backward"]
    if forward < MIN_FORWARD * (forward + backward):
        raise RequestError(
            f"data segments that appear in {after} before {capture}: {backward:,}, in the "
            f"opposite order: {forward:,}; the captures are swapped (the one before the "
            "link comes first, the one behind it with --after), or have different clocks"
        )


def _note_strangers(
    summary: dict[str, Any], capture: str | PathLike[str], after: str | PathLike[str]
) -> None:
    """Adds a note if hardly a packet passed both points, as by chance, such as repeated ACKs."""
    passed, seen = summary["link"]["packets"], summary["packets"]["tcp"]
    if passed < MIN_COMMON * seen:
        summary["notes"].insert(
            0,
            (
                f"only {passed:,} of {seen:,} TCP packets were seen before the link and after "
                f"it, so the results for the link are unreliable; check that {capture} is the "
                f"capture before it, {after} the one after it, and both are from the same time"
            ),
        )
