"""The question of a home, and its answer."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from goodqueue import _core
from goodqueue.errors import RequestError, as_typed
from goodqueue.home.answer import Answer, Found
from goodqueue.home.household import DOWN, UP, USUAL, household
from goodqueue.home.line import Line, framing_of, rate_text, rates_of
from goodqueue.home.scenario import FULL_BYTES, NOW, PATHS, Home
from goodqueue.runs.memory import limit_of
from goodqueue.runs.settings import scenario_of
from goodqueue.study.compare import Side, compare
from goodqueue.study.plan import seed_after
from goodqueue.study.runner import Runner, user_store
from goodqueue.study.threads import Threads
from goodqueue.tuning.api import tune

if TYPE_CHECKING:
    from goodqueue.home.household import Direction
    from goodqueue.study.compare import Comparison
    from goodqueue.tuning.effort import Effort

USUAL_RTT = "30ms"
"""Ping while nothing waits, without `--rtt`."""

WAIT_S = 0.020
"""Time that all queues together may add to 99 of 100 pings, without `--max-ping`."""

UP_PACKETS, DOWN_PACKETS = 3, 30
"""Numbers of full packets up and down that may be sent first, too, without `--max-ping`. On a slow
line a packet takes many milliseconds, and no shaper divides it. The first packets of three
connections of a page, ten of each (RFC 6928), reach the line before any shaper of the home."""

MARGIN = "2%"
"""Share by which a line may be slower than it is said to be, without `--margin`: an assumption. The
page of a modem rounds, and retransmissions on the line take a part of its rate."""

MAX_MARGIN = 0.3
"""Largest margin: a line that is slower still changes its rate, which a range describes."""

MIN_SHARE = 0.6
"""Lowest rate of a shaper that is tried, as a share of the lowest rate of the line."""

SEARCHED_SHARE, CHANGING_SHARE = 0.85, 0.65
"""Share of the wait with which rates are searched, and that of a line whose rate changes. A search
bounds the mean over runs. Single runs, such as an evening, differ from it, and more so if the rate
changes."""

FIRST_DOWN_SHARE = 0.8
"""Rate of the shaper down while that of the shaper up is searched, as a share in the same way."""

TRIED_SEEDS = 8
"""Number of seeds of the runs before and after, which no search has used."""

APART = 1_000_000
"""Seeds between those of the search and those of the runs before and after."""


@dataclass(frozen=True, slots=True)
class Question:
    """The options of `goodqueue home`, as typed; None if absent."""

    line: str
    down: str
    up: str
    framing: str | None = None
    overhead: str | None = None
    rtt: str = USUAL_RTT
    traffic: str = USUAL
    max_ping: str | None = None
    loaded_ping: str | None = None
    margin: str = MARGIN
    seed: int | None = None

    def home(self) -> Home:
        """Returns the line and the household.

        Raises:
            ScenarioError: if a value cannot be read; the message names its option.
            RequestError: if a value is wrong.
        """
        framing = framing_of(self.line, self.framing)
        overhead = None
        if self.overhead is not None:
            overhead = _core.parse_size("--overhead", _with_unit(self.overhead))
            if overhead > MAX_OVERHEAD:
                raise RequestError(f"--overhead {self.overhead}: write 0 to {MAX_OVERHEAD} bytes")
        down = rates_of("--down", self.down, self.line)
        up = rates_of("--up", self.up, self.line)
        rtt_s = _core.parse_span("--rtt", self.rtt)
        if not MIN_RTT_S <= rtt_s <= MAX_RTT_S:
            raise RequestError(f"--rtt {self.rtt}: write a time from 1ms to 2s")
        loaded_s = None
        if self.loaded_ping is not None:
            loaded_s = _core.parse_span("--loaded-ping", self.loaded_ping)
            if not rtt_s < loaded_s <= MAX_LOADED_S:
                raise RequestError(
                    f"--loaded-ping {self.loaded_ping}: write a time above --rtt ({self.rtt}), and "
                    "at most 10s"
                )
        margin = _core.parse_fraction("--margin", self.margin)
        if margin > MAX_MARGIN:
            raise RequestError(
                f"--margin {self.margin}: write at most {100 * MAX_MARGIN:.0f}%, or give a range "
                "of rates, as in --up 5Mbps..20Mbps"
            )
        line = Line(self.line, framing, overhead, down, up, margin)
        seed = 1 if self.seed is None else self.seed
        return Home(line, household(self.traffic), rtt_s, loaded_s, seed)

    def bound_s(self, home: Home) -> float:
        """Returns the bound on 99 of 100 pings in seconds.

        Raises:
            RequestError: if it is not above the ping while nothing waits.
        """
        if self.max_ping is None:
            packets = (UP_PACKETS, home.line.up), (DOWN_PACKETS, home.line.down)
            bits = 8 * home.framing.on_line(FULL_BYTES)
            sent_s = sum(count * bits / rates.low_bps for count, rates in packets)
            return math.ceil(1e3 * (home.rtt_s + WAIT_S + sent_s)) / 1e3
        bound_s = _core.parse_span("--max-ping", self.max_ping)
        if bound_s <= home.rtt_s:
            raise RequestError(
                f"--max-ping {self.max_ping}: the ping is {self.rtt} while nothing waits (--rtt); "
                "write a longer time"
            )
        return bound_s


MAX_OVERHEAD = 256
"""Largest overhead that tc-cake(8) accepts, in bytes."""

MIN_RTT_S, MAX_RTT_S, MAX_LOADED_S = 0.001, 2.0, 10.0


def _with_unit(text: str) -> str:
    """Returns a size with a unit; a plain number counts bytes."""
    return f"{text}B" if text.isdecimal() else text


def answer_home(question: Question, effort: Effort) -> Answer:
    """Finds the rates of a shaper, and runs the line before and after.

    The rate up is searched first, if both directions are shaped, with a moderate rate down; then
    the rate down with the rate up that was found, so that both together keep the bound. If no rate
    keeps a part of the wait, all of it is allowed.

    Raises:
        ScenarioError: if a value of the question cannot be read.
        RequestError: if the question is wrong.
    """
    home = question.home()
    bound_s = question.bound_s(home)
    rates: dict[Direction, str] = {UP: NOW, DOWN: NOW}
    directions = home.directions
    if len(directions) > 1:
        rates[DOWN] = rate_text(FIRST_DOWN_SHARE * home.line.down.low_bps)
    found: dict[Direction, Found] = {}
    left = effort.budget
    changes = home.line.up.change or home.line.down.change
    for direction in directions:
        for share in (CHANGING_SHARE if changes else SEARCHED_SHARE, 1.0):
            kept_s = home.rtt_s + share * (bound_s - home.rtt_s)
            one = _search(home, direction, rates, kept_s, replace(effort, budget=left))
            left = max(left - one.tuned.used, 1.0)
            if one.kbps is not None or one.tuned.ended:
                break
        found[direction] = one
        if one.kbps is not None:
            rates[direction] = f"{one.kbps}kbps"
        if one.kbps is None or one.tuned.interrupted:
            break
    answer = Answer(home, bound_s, found)
    if answer.interrupted or len(answer.kbps) < len(directions):
        return answer
    try:
        return replace(answer, comparison=_compare(home, rates, effort))
    except KeyboardInterrupt:
        return replace(answer, stopped=True)


def _search(
    home: Home, direction: Direction, rates: dict[Direction, str], kept_s: float, effort: Effort
) -> Found:
    """Returns the highest rate of a direction's shaper that keeps the ping within a time."""
    line = home.line.up if direction == UP else home.line.down
    high_bps = line.high_bps if line.change else (1 - home.line.margin) * line.high_bps
    low, high = (rate_text(bps) for bps in (MIN_SHARE * line.low_bps, high_bps))
    path = PATHS[direction]
    tuned = as_typed(tune)(
        home.settings(rates[UP], rates[DOWN]),
        f"{path}={low}..{high}",
        keep=[f"ping.p99<={1e3 * kept_s:.6g}ms"],
        most=path,
        **effort.options(),
    )
    return Found(direction, line, tuned)


def _compare(home: Home, rates: dict[Direction, str], effort: Effort) -> Comparison:
    """Returns the figures of today's line and of the shaped line, under fresh seeds."""
    fresh = replace(home, seed=seed_after(home.seed, APART))
    sides = [
        Side(name, scenario_of(settings, f"<{name}>"), "modem")
        for name, settings in (
            ("now", fresh.settings()),
            ("then", fresh.settings(rates[UP], rates[DOWN])),
        )
    ]
    with user_store("tuning", effort.store) as store:
        threads = Threads(effort.jobs, limit_of(effort.memory))
        return compare(sides, Runner(store, threads, effort.on_run), TRIED_SEEDS)
