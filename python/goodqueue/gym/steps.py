"""Steps of a flow's episode: intervals without an ACK count, and an interface bounds the pace."""

from __future__ import annotations

import math
import tomllib
from typing import TYPE_CHECKING, Any

from goodqueue import _core

if TYPE_CHECKING:
    from collections.abc import Iterator

    from goodqueue._core import Scenario
    from goodqueue.gym.presets import Preset
    from goodqueue.gym.rows import FlowRow

INTERFACE_FACTOR = 10
"""Rate of an interface that the scenario does not state, over the fastest link of the scenario."""


class Steps:
    """The steps of one flow in one episode.

    The core pauses at a flow's first ACK after an interval. If no ACK comes for longer, the row
    that ends the silence follows one silent row for each further interval. The count of steps then
    depends on time alone, and a learner that sends nothing does not end its episode early.
    """

    def __init__(self, preset: Preset, end_s: float) -> None:
        """Begins an episode.

        Args:
            preset: says how long an interval is.
            end_s: end of the run, in seconds.
        """
        self._interval_s = preset.interval_s
        self._interval_rtts = preset.interval_rtts
        self._end_s = end_s
        self._before: FlowRow | None = None

    def of(self, row: FlowRow) -> list[FlowRow]:
        """Returns the steps up to a row: silent intervals, and the row with what is left of it."""
        silent = self._silent(row.now_s)
        self._before = row
        left = row.length_s - sum(one.length_s for one in silent)
        return [*silent, row._replace(length_s=left) if silent else row]

    def rest(self) -> list[FlowRow]:
        """Returns the silent intervals between the last row and the end of the run."""
        return self._silent(self._end_s)

    def _silent(self, until_s: float) -> list[FlowRow]:
        """Returns a row for each whole interval before a time, without the one that ends there."""
        before = self._before
        if before is None:
            return []
        length = self._interval_s or self._interval_rtts * before.smoothed_rtt_s
        if not length > 0:
            return []
        count = math.floor((until_s - before.now_s) / length) - 1
        return [_silence(before, place * length, length) for place in range(1, count + 1)]


class Flow:
    """One flow of an episode: its steps that wait, and the bound on its pace.

    Attributes:
        is_due: True if the run has to go on before the next step.
    """

    def __init__(self, preset: Preset | None = None, scenario: Scenario | None = None) -> None:
        """Begins an episode; without a scenario there is none."""
        self._steps = Steps(preset, scenario.duration_s) if preset and scenario else None
        self._most_bps = interface_bps(scenario) if scenario else math.inf
        self._waiting: list[FlowRow] = []
        self._over = False
        self.is_due = True

    def bounded(self, action: tuple[float, float]) -> tuple[float, float]:
        """Returns the window and the pace of an action, with the pace that the interface allows."""
        window, pace = action
        return window, min(pace, self._most_bps)

    def note(self, row: FlowRow) -> None:
        """Takes the row of the next decision, or of the end of the run."""
        if self._steps is None:
            return
        self._over = bool(row.ended)
        self._waiting = self._steps.rest() if self._over else self._steps.of(row)
        self.is_due = False

    def next(self) -> FlowRow | None:
        """Returns the next step; None after the end of the run."""
        if not self._waiting:
            return None
        step = self._waiting.pop(0)
        self.is_due = not self._waiting and not self._over
        return step


def _silence(before: FlowRow, after_s: float, length_s: float) -> FlowRow:
    """Returns the row of an interval without an ACK, which ends some time after the row before."""
    return before._replace(
        now_s=before.now_s + after_s,
        length_s=length_s,
        delivered=0.0,
        lost=0.0,
        sent=0.0,
        mean_rtt_s=math.nan,
        min_rtt_s=math.nan,
        rtt_gradient=0.0,
        loss_events=0.0,
        timeouts=0.0,
        acks=0.0,
    )


def interface_bps(scenario: Scenario) -> float:
    """Returns the rate of a learner's network interface, in bits per second.

    It is the rate of the hosts' own links, or ten times that of the fastest link if the scenario
    leaves them open.
    """
    topology = tomllib.loads(scenario.resolved_toml())["topology"]
    access = list(_rates(topology.get("access", {})))
    if access:
        return max(access)
    return INTERFACE_FACTOR * max(_rates(topology), default=math.inf)


def _rates(table: Any) -> Iterator[float]:  # noqa: ANN401 - a part of a TOML document
    """Yields the rates of all links in a part of a scenario, in bits per second."""
    if isinstance(table, list):
        for entry in table:
            yield from _rates(entry)
    elif isinstance(table, dict):
        for key, value in table.items():
            if key == "rate" and value != "unlimited":
                yield float(_core.parse_rate(key, value))
            elif key != "queue":
                yield from _rates(value)
