"""Drawn problems of two parameters: a scenario, two ranges, bounds, and a figure to make best."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evidence.tune_on_trial.draw import CHAIN, DUMBBELL, SHORT, Facts

if TYPE_CHECKING:
    from collections.abc import Iterator

DRAWS = 40
"""Number of problems."""

QUEUE = "topology.bottleneck.queue"


@dataclass(frozen=True, slots=True)
class Range:
    """A parameter and its range.

    Attributes:
        path: path of the parameter.
        low: lower end, in `unit`.
        high: upper end.
        unit: unit of the range.
    """

    path: str
    low: float
    high: float
    unit: str

    def __str__(self) -> str:
        return f"{self.path}={self.low}{self.unit}..{self.high}{self.unit}"

    def values(self, count: int) -> list[str]:
        """Returns evenly spread values, by factors if the range is wide, as `--set` takes them."""
        steps = [step / (count - 1) for step in range(count)]
        if self.high >= 4 * self.low:
            numbers = [self.low * (self.high / self.low) ** step for step in steps]
        else:
            numbers = [self.low + (self.high - self.low) * step for step in steps]
        whole = self.unit in {"p", "kbps", "B"}
        written = [str(round(one)) if whole else f"{one:.5g}" for one in numbers]
        return list(dict.fromkeys(f"{one}{self.unit}" for one in written))


@dataclass(frozen=True, slots=True)
class Problem:
    """A question for `tune`.

    Attributes:
        kind: its kind.
        text: the scenario.
        vary: the two parameters with their ranges.
        keep: the bounds.
        goal: the figure to make best.
        most: True if it should be large.
    """

    kind: str
    text: str
    vary: tuple[Range, Range]
    keep: tuple[str, ...]
    goal: str
    most: bool


def problems(seed: int = 2, seconds: int = 8) -> Iterator[Problem]:
    """Yields problems without end, each kind in turn.

    Args:
        seed: seed of the draws.
        seconds: length of a run.
    """
    draw = random.Random(seed)  # noqa: S311 - no secret
    while True:
        for kind in KINDS:
            facts = Facts(
                rate=round(math.exp(draw.uniform(math.log(1500), math.log(4000)))),
                rtt=draw.randint(20, 60),
                flows=draw.randint(1, 3),
                control=draw.choice(["cubic", "reno"]),
                seconds=seconds,
            )
            yield kind(draw, facts)


def shaper(draw: random.Random, facts: Facts) -> Problem:
    """Returns a problem: a shaper's rate and CoDel's target that keep the modem and a ping fast."""
    text = facts.filled(CHAIN, framing=draw.choice(["pppoe-ptm", "bridged-ptm", "pppoe-llcsnap"]))
    text = text.replace('kind = "fq_codel"', 'kind = "codel"')
    packets_ms = 3 * 12_000 / facts.rate
    keep = (
        f"modem.p99<={draw.uniform(10, 40) + packets_ms:.1f}ms",
        f"ping.p95<={facts.rtt + draw.uniform(15, 60) + packets_ms:.1f}ms",
    )
    rate = Range("topology.link.shaper.rate", round(0.75 * facts.rate), facts.rate, "kbps")
    target = Range("topology.link.shaper.queue.target", 1, 60, "ms")
    return Problem("shaper", text, (rate, target), keep, "upload.goodput", most=True)


def codel(draw: random.Random, facts: Facts) -> Problem:
    """Returns a problem: CoDel's target and interval with the shortest ping on a busy link."""
    text = facts.filled(DUMBBELL, queue='kind = "codel", limit = "1000p"')
    keep = (f"bottleneck.utilization>={draw.uniform(90, 98):.1f}%",)
    vary = Range(f"{QUEUE}.target", 1, 60, "ms"), Range(f"{QUEUE}.interval", 60, 400, "ms")
    return Problem("codel", text, vary, keep, "ping.p95", most=False)


def red(draw: random.Random, facts: Facts) -> Problem:
    """Returns a problem: RED's thresholds with the largest goodput whose ping stays short."""
    most = round(3 * facts.bdp + 60)
    queue = f'kind = "red", limit = "{4 * most}kB", min = "8kB", max = "40kB", probability = 0.1'
    text = facts.filled(DUMBBELL, queue=queue)
    bound_ms = facts.rtt + draw.uniform(0.1, 0.5) * 8000 * most / facts.rate
    vary = Range(f"{QUEUE}.min", 2000, 30_000, "B"), Range(f"{QUEUE}.max", 33_000, 1000 * most, "B")
    return Problem("red", text, vary, (f"ping.p95<={bound_ms:.1f}ms",), "upload.goodput", most=True)


def pie(draw: random.Random, facts: Facts) -> Problem:
    """Returns a problem: PIE's target and period with the shortest ping on a busy link."""
    text = facts.filled(DUMBBELL, queue='kind = "pie", limit = "1000p"')
    keep = (f"bottleneck.utilization>={draw.uniform(90, 98):.1f}%",)
    vary = Range(f"{QUEUE}.target", 2, 80, "ms"), Range(f"{QUEUE}.tupdate", 5, 60, "ms")
    return Problem("pie", text, vary, keep, "ping.p95", most=False)


def window(draw: random.Random, facts: Facts) -> Problem:
    """Returns a problem: queue limit and initial window with the shortest transfers."""
    size, load = draw.randint(20, 60), round(0.2 * facts.rate)
    text = facts.filled(DUMBBELL, SHORT, queue='limit = "50p"', size=size, load=load)
    text = text.replace('profile = "linux"', 'profile = "linux"\ninitial_window = "10p"')
    keep = (f"bottleneck.loss<={draw.uniform(2, 7):.1f}%",)
    limit = Range(f"{QUEUE}.limit", 4, round(4 * facts.bdp + 30), "p")
    return Problem("window", text, (limit, WINDOW), keep, "short.mean", most=False)


WINDOW = Range("tcp.initial_window", 2, 30, "p")
"""Segments that a connection sends before it hears from the receiver."""

KINDS = (shaper, codel, red, pie, window)
"""Kinds of problems, in the order in which they are drawn."""
