"""Drawn problems of one parameter: a scenario, a range, bounds, and a figure to make best."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

DRAWS = 40
"""Number of problems."""

DUMBBELL = """\
schema_version = 1
duration = "{duration}s"
warmup = "{warmup}s"
[topology]
shape = "dumbbell"
access = {{ rate = "1Gbps" }}
[topology.bottleneck]
rate = "{rate}kbps"
delay = "1ms"
queue = {{ {queue} }}
[tcp]
profile = "linux"
congestion_control = "{control}"
"""

CHAIN = """\
schema_version = 1
duration = "{duration}s"
warmup = "{warmup}s"
[topology]
shape = "chain"
access = {{ rate = "1Gbps" }}
[[topology.link]]
name = "shaper"
rate = "{rate}kbps"
delay = "0s"
queue = {{ kind = "fq_codel" }}
reverse = {{ rate = "unlimited", queue = {{ limit = "unlimited" }} }}
[[topology.link]]
name = "modem"
rate = "{rate}kbps"
delay = "1ms"
framing = "{framing}"
queue = {{ limit = "300ms" }}
[tcp]
profile = "linux"
congestion_control = "{control}"
"""

FLOWS = """\
[[flow]]
name = "upload"
count = {flows}
rtt = "{rtt}ms"
start_jitter = "1s"
workload = {{ kind = "bulk" }}
[[flow]]
name = "ping"
rtt = "{rtt}ms"
start_jitter = "100ms"
workload = {{ kind = "ping", interval = "40ms" }}
"""

SHORT = """\
[[flow]]
name = "short"
rtt = "{rtt}ms"
start_jitter = "100ms"
workload = {{ kind = "transfers", size = "{size}kB", load = "{load}kbps" }}
"""


@dataclass(frozen=True, slots=True)
class Problem:
    """A question for `tune`.

    Attributes:
        kind: its kind.
        text: the scenario.
        path: path of the parameter.
        low: lower end of its range, in `unit`.
        high: upper end of its range.
        unit: unit of the range.
        keep: the bounds.
        goal: the figure to make best.
        most: True if it should be large.
    """

    kind: str
    text: str
    path: str
    low: float
    high: float
    unit: str
    keep: tuple[str, ...]
    goal: str
    most: bool

    @property
    def vary(self) -> str:
        """The parameter and its range as `--vary` takes them."""
        return f"{self.path}={self.low:g}{self.unit}..{self.high:g}{self.unit}"

    @property
    def log(self) -> bool:
        """True if the range is wide."""
        return self.high >= 4 * self.low


@dataclass(frozen=True, slots=True)
class Facts:
    """Random facts of a scenario: rate in kb/s, round-trip time in ms, flows, control, length."""

    rate: int
    rtt: int
    flows: int
    control: str
    seconds: int

    @property
    def bdp(self) -> float:
        """Bandwidth-delay product in packets."""
        return self.rate * self.rtt / 12_000

    def filled(self, frame: str, *more: str, **others: object) -> str:
        """Returns a scenario of these facts."""
        values = {
            "rate": self.rate,
            "rtt": self.rtt,
            "flows": self.flows,
            "control": self.control,
            "duration": self.seconds,
            "warmup": self.seconds // 4,
            **others,
        }
        return "".join(part.format(**values) for part in (frame, FLOWS, *more))


def problems(seed: int = 1, seconds: int = 10) -> Iterator[Problem]:
    """Yields problems without end, each kind in turn.

    Args:
        seed: seed of the draws.
        seconds: length of a run.
    """
    draw = random.Random(seed)  # noqa: S311 - no secret
    while True:
        for kind in KINDS:
            facts = Facts(
                rate=round(math.exp(draw.uniform(math.log(3000), math.log(10_000)))),
                rtt=draw.randint(20, 60),
                flows=draw.randint(1, 3),
                control=draw.choice(["cubic", "reno"]),
                seconds=seconds,
            )
            yield kind(draw, facts)


LIMIT = "topology.bottleneck.queue.limit"


def _most(facts: Facts) -> int:
    return round(4 * facts.bdp + 30)


def limit_for_delay(draw: random.Random, facts: Facts) -> Problem:
    """Returns a problem: the limit with the largest goodput whose ping stays short."""
    text = facts.filled(DUMBBELL, queue='limit = "50p"')
    most = _most(facts)
    waits_ms = 12_000 * most / facts.rate
    bound_ms = facts.rtt + draw.uniform(0.15, 0.7) * waits_ms
    keep = (f"ping.p99<={bound_ms:.1f}ms",)
    return Problem("delay", text, LIMIT, 4, most, "p", keep, "upload.goodput", most=True)


def limit_for_utilization(draw: random.Random, facts: Facts) -> Problem:
    """Returns a problem: the limit with the shortest queue that keeps the link busy."""
    text = facts.filled(DUMBBELL, queue='limit = "50p"')
    keep = (f"bottleneck.utilization>={draw.uniform(90, 97):.1f}%",)
    goal = "bottleneck.p99"
    return Problem("busy", text, LIMIT, 3, _most(facts), "p", keep, goal, most=False)


def shaper(draw: random.Random, facts: Facts) -> Problem:
    """Returns a problem: the rate of a shaper before a modem whose queue stays short."""
    framing = draw.choice(["pppoe-ptm", "bridged-ptm", "pppoe-llcsnap"])
    text = facts.filled(CHAIN, framing=framing)
    keep = (f"modem.p99<={draw.uniform(10, 40):.1f}ms",)
    path, unit = "topology.link.shaper.rate", "kbps"
    low = round(0.75 * facts.rate)
    return Problem("shaper", text, path, low, facts.rate, unit, keep, "upload.goodput", most=True)


def target(draw: random.Random, facts: Facts) -> Problem:
    """Returns a problem: CoDel's target with the shortest ping that keeps the link busy."""
    text = facts.filled(DUMBBELL, queue='kind = "codel", limit = "1000p"')
    keep = (f"bottleneck.utilization>={draw.uniform(88, 96):.1f}%",)
    path = "topology.bottleneck.queue.target"
    return Problem("codel", text, path, 1, 60, "ms", keep, "ping.p95", most=False)


def limit_for_transfers(draw: random.Random, facts: Facts) -> Problem:
    """Returns a problem: the limit with the shortest transfers beside an upload."""
    size = draw.randint(20, 60)
    text = facts.filled(
        DUMBBELL, SHORT, queue='limit = "50p"', size=size, load=round(0.2 * facts.rate)
    )
    keep = (f"bottleneck.loss<={draw.uniform(1, 6):.1f}%",)
    goal = "short.mean"
    return Problem("transfers", text, LIMIT, 4, _most(facts), "p", keep, goal, most=False)


KINDS = (limit_for_delay, limit_for_utilization, shaper, target, limit_for_transfers)
"""Kinds of problems, in the order in which they are drawn."""
