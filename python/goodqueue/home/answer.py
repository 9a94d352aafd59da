"""The answer for a home: rates to type, figures before and after, and what was assumed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from goodqueue.home.devices import SYNTAXES, device_lines
from goodqueue.home.scenario import DOWN_BUFFER, NOW, UP_BUFFER

if TYPE_CHECKING:
    from goodqueue.core.intervals import Interval
    from goodqueue.home.household import Direction
    from goodqueue.home.line import Rates
    from goodqueue.home.scenario import Home
    from goodqueue.study.compare import Comparison
    from goodqueue.tuning.answer import Tuned

PING = "ping.p99_rtt_s"
"""Figure that is bounded: the 99th percentile of the ping."""


@dataclass(frozen=True, slots=True)
class Found:
    """The rate of one direction's shaper.

    Attributes:
        direction: `up` or `down`.
        line: the line's rate in this direction.
        tuned: the search.
    """

    direction: Direction
    line: Rates
    tuned: Tuned

    @property
    def kbps(self) -> int | None:
        """The rate to type in whole kbit/s; None if no rate is known to keep the bound."""
        best = self.tuned.best
        return None if best is None else int(self.tuned.axis.values[best.mark].number // 1000)

    @property
    def share(self) -> float | None:
        """The rate to type as a share of the line's highest rate."""
        return None if self.kbps is None else 1e3 * self.kbps / self.line.high_bps


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer for a home.

    Attributes:
        home: the line and the household.
        bound_s: the bound on 99 of 100 pings in seconds.
        found: the rates by direction, as far as they were searched.
        comparison: figures before and after; None if they were not run.
        stopped: True if Ctrl-C ended the runs before and after.
    """

    home: Home
    bound_s: float
    found: dict[Direction, Found]
    comparison: Comparison | None = None
    stopped: bool = False

    @property
    def kbps(self) -> dict[Direction, int]:
        """The rates to type in kbit/s, by direction."""
        return {one.direction: one.kbps for one in self.found.values() if one.kbps is not None}

    @property
    def complete(self) -> bool:
        """True if every direction that is filled has a rate."""
        return len(self.kbps) == len(self.home.directions)

    @property
    def interrupted(self) -> bool:
        """True if Ctrl-C ended the command."""
        return self.stopped or any(one.tuned.interrupted for one in self.found.values())

    @property
    def impossible(self) -> bool:
        """True if no rate of a direction keeps the bound, as runs have shown."""
        return any(one.tuned.impossible for one in self.found.values())

    @property
    def proved(self) -> bool:
        """True if runs have shown that the rates keep the bound, under fresh seeds, too."""
        shown = all(one.tuned.proved for one in self.found.values())
        return self.complete and shown and self.holds

    @property
    def holds(self) -> bool:
        """True if fresh seeds have shown that the rates to type keep the bound."""
        ping = self.figure(PING)
        return ping is not None and ping[1].high <= self.bound_s

    @property
    def needless(self) -> bool:
        """True if the line of today keeps the bound, too."""
        ping = self.figure(PING)
        return ping is not None and ping[0].high <= self.bound_s

    def figure(self, key: str) -> tuple[Interval, Interval] | None:
        """Returns a figure before and after; None if it is not known."""
        if self.comparison is None:
            return None
        found = [
            next((one.interval for figure, one in means.items() if figure.key == key), None)
            for means in self.comparison.means
        ]
        return None if found[0] is None or found[1] is None else (found[0], found[1])

    def toml(self) -> str:
        """Returns the scenario with the rates to type, as a file for people."""
        rates = {direction: f"{kbps}kbps" for direction, kbps in self.kbps.items()}
        return self.home.toml(*(rates.get(one, NOW) for one in ("up", "down")))

    def assumptions(self) -> list[str]:
        """Returns what the answer takes for granted, as sentences without full stops."""
        home, kind = self.home, self.home.line.of_kind
        if home.loaded_ping_s is not None:
            queue = f"today's modem holds {1e3 * (home.loaded_ping_s - home.rtt_s):.0f} ms up"
        else:
            queue = f"today's modem holds {UP_BUFFER} up, {DOWN_BUFFER} down (--loaded-ping)"
        adds = home.framing
        if adds.overhead:
            cells = {"atm": " in ATM cells", "ptm": " and PTM's 65th byte", "none": ""}
            takes = f"a packet takes {adds.overhead} bytes more{cells[adds.cells]}"
        else:
            takes = "a packet takes no more bytes"
        rest = [kind.left_out] if kind.left_out else []
        return [self._rates(), takes, queue, *rest]

    def _rates(self) -> str:
        """Returns which rates the line is taken to have."""
        line = self.home.line
        if line.margin and not (line.up.change and line.down.change):
            margin = f"{100 * line.margin:.3g} %"
            return f"{line.of_kind.rates}, up to {margin} too high (--margin)"
        return line.of_kind.rates

    def lines(self, syntax: str) -> list[str]:
        """Returns the lines to type on a device."""
        return device_lines(syntax, self.kbps, self.home.framing)

    def as_dict(self) -> dict[str, Any]:
        """Returns the answer as plain data, as `--json` prints it."""
        home, line, framing = self.home, self.home.line, self.home.framing
        return {
            "schema_version": 1,
            "line": {
                "kind": line.kind,
                "up_bps": [line.up.low_bps, line.up.high_bps],
                "down_bps": [line.down.low_bps, line.down.high_bps],
                "overhead_bytes": framing.overhead,
                "minimum_bytes": framing.minimum,
                "cells": framing.cells,
                "margin": line.margin,
                "rtt_s": home.rtt_s,
            },
            "traffic": list(home.words),
            "max_ping_s": self.bound_s,
            "rates": {
                direction: {
                    "kbps": one.kbps,
                    "share": one.share,
                    **{
                        key: one.tuned.as_dict()[key]
                        for key in ("recommended", "impossible", "nearest_miss", "budget")
                    },
                }
                for direction, one in self.found.items()
            },
            "shown": self.proved,
            "needless": self.needless,
            "comparison": None if self.comparison is None else self.comparison.as_dict(),
            "lines": {name: self.lines(name) for name in SYNTAXES} if self.complete else None,
            "assumptions": self.assumptions(),
            "interrupted": self.interrupted,
        }
