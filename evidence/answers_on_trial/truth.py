"""The smallest buffer that keeps a question's bounds, by dense and long runs.

Runs begin with slow start, so nothing of the search's warm starts and shortened runs takes part.
Flows of CUBIC with long round trips reach their shares so slowly that runs of the search's full
length still have another utilisation than longer ones. The runs are therefore longer.
Buffers grow by a quarter until two neighbours keep all bounds. Between the last one that breaks a
bound and the first that keeps all, buffers grow by 5 %.
"""

from __future__ import annotations

import math
import struct
from dataclasses import asdict, dataclass
from functools import partial
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from goodqueue.core.parallel import workers
from goodqueue.runs.settings import scenario_of
from goodqueue.sizing.trials.described import settings, tail_drop
from goodqueue.sizing.trials.length import Length, length

if TYPE_CHECKING:
    from goodqueue._core import Cancel
    from goodqueue.sizing.link import Link

FIRST_SEED = 5_000_001
"""First seed of the dense runs, which no search reaches."""

COARSE, FINE = 1.25, 1.05
"""Ratios of neighbouring buffers."""

COARSE_SEEDS, FINE_SEEDS = 8, 32

FIRST_SEEDS, CLEAR = 3, 1.5
"""Seeds after which a buffer is judged if a figure is this factor from its bound, or more."""

MAX_BDP = 64
"""Largest buffer in BDP of a question without a bound on the delay."""

LONGER = 3
"""Measured part of a run, and time before it, in units of the whole length of a replicate."""

MAX_RUN = 12_000_000
"""Largest number of packets of a run; buffers that need more are not run."""

FIGURES = ("utilization", "loss_rate", "p99_queueing_delay_s")


@dataclass(frozen=True)
class Point:
    """Means of the figures behind one buffer.

    Attributes:
        packets: the buffer.
        runs: number of seeds.
        utilization: share of time in which the link sends.
        loss_rate: share of arriving packets that are dropped.
        p99_delay_s: 99th percentile of the queueing delay in seconds.
        worst: largest ratio of a figure to its bound, with the share of idle time in place of the
            utilisation; all bounds hold from 1 down.
        error: standard error of `worst`.
        bound: the bound of `worst`: `idle`, `loss` or `delay`.
    """

    packets: int
    runs: int
    utilization: float
    loss_rate: float
    p99_delay_s: float
    worst: float
    error: float
    bound: str

    def as_dict(self) -> dict[str, Any]:
        """Returns plain values with figures of five digits."""
        return {
            name: float(f"{value:.5g}") if isinstance(value, float) else value
            for name, value in asdict(self).items()
        }

    @property
    def keeps(self) -> bool:
        """True if the means keep all bounds."""
        return self.worst <= 1

    def is_clear(self) -> bool:
        """Returns True if more seeds would hardly change the verdict."""
        return not 1 / CLEAR < self.worst < CLEAR


class Dense:
    """Runs of one link behind any buffer, each made once."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self._runs: dict[int, list[tuple[float, ...]]] = {}

    def at(self, packets: int, seeds: int) -> Point:
        """Returns the figures behind a buffer, by so many seeds or more."""
        done = self._runs.setdefault(packets, [])
        wanted = range(FIRST_SEED + len(done), FIRST_SEED + seeds)
        if wanted:
            with workers() as threads:
                started = [threads.submit(partial(self._run, packets, seed)) for seed in wanted]
                done += [one.result() for one in started]
        means = [fmean(column) for column in zip(*done, strict=True)]
        ratios = [self._ratios(run) for run in done]
        by_bound = {name: [one[name] for one in ratios] for name in ratios[0]}
        bound = max(by_bound, key=lambda name: fmean(by_bound[name]))
        worst = by_bound[bound]
        error = stdev(worst) / math.sqrt(len(worst))
        return Point(packets, len(done), means[0], means[1], means[2], fmean(worst), error, bound)

    def points(self) -> list[Point]:
        """Returns the figures behind all buffers that were run, in their order."""
        return [self.at(packets, 0) for packets in sorted(self._runs)]

    def judged(self, packets: int, seeds: int) -> Point:
        """Returns the figures by few seeds if they are clear, by so many seeds otherwise."""
        first = self.at(packets, min(FIRST_SEEDS, seeds))
        return first if first.is_clear() else self.at(packets, seeds)

    def is_affordable(self, packets: int) -> bool:
        """Returns True if a run behind a buffer has few enough packets."""
        return self._length(packets).packets <= MAX_RUN

    def _length(self, packets: int) -> Length:
        usual = length(self.link, packets, cold=True)
        start_s, whole_s = LONGER * usual.duration_s, 2 * LONGER * usual.duration_s
        return Length(start_s, whole_s, 2 * LONGER * usual.packets, warm=False)

    def _run(self, packets: int, seed: int, _cancel: Cancel) -> tuple[float, ...]:
        table = settings(self.link, packets, tail_drop(packets), self._length(packets))
        outcome = scenario_of(table, "link").with_seed(seed).run(series=False, packets=False)
        names, data = outcome.metrics()
        values = struct.unpack(f"<{len(data) // 8}d", data)
        of = dict(zip(names.split("\n"), values, strict=True))
        return tuple(of[f"bottleneck.{name}"] for name in FIGURES)

    def _ratios(self, run: tuple[float, ...]) -> dict[str, float]:
        busy, loss, delay = run
        found = {"idle": (1 - busy) / (1 - self.link.min_utilization)}
        if self.link.max_loss_rate is not None:
            found["loss"] = loss / self.link.max_loss_rate
        if self.link.max_delay_s is not None:
            found["delay"] = delay / self.link.max_delay_s
        return found


@dataclass(frozen=True)
class Truth:
    """The smallest buffer that keeps all bounds.

    Attributes:
        least: the smallest buffer on the grid of 5 %, in packets; None if none was found.
        above: largest buffer below it that was seen to break a bound; the largest one that was
            tried if none was found.
        points: everything that was run.
    """

    least: int | None
    above: int
    points: tuple[Point, ...]

    def as_dict(self) -> dict[str, Any]:
        """Returns plain values."""
        points = [one.as_dict() for one in self.points]
        return {"least": self.least, "above": self.above, "points": points}


def truth(dense: Dense) -> Truth:
    """Returns the smallest buffer that keeps all bounds of a link."""
    last = _last(dense.link)
    broken, packets = 0, 1
    while packets <= last and dense.is_affordable(packets):
        following = _next(packets, COARSE)
        if dense.judged(packets, COARSE_SEEDS).keeps:
            least, below = _fine(dense, broken, packets)
            if least is not None:
                return Truth(least, below, tuple(dense.points()))
        broken, packets = packets, following
    return Truth(None, broken, tuple(dense.points()))


def _fine(dense: Dense, broken: int, kept: int) -> tuple[int | None, int]:
    """Returns the smallest buffer that keeps the bounds, and the largest below that breaks one."""
    below, packets = broken, _next(broken, FINE) if broken else 1
    while packets <= max(kept, _next(kept, FINE)):
        if dense.judged(packets, FINE_SEEDS).keeps:
            return packets, below
        below, packets = packets, _next(packets, FINE)
    return None, below


def _next(packets: int, ratio: float) -> int:
    return max(packets + 1, round(ratio * packets))


def _last(link: Link) -> int:
    if link.max_delay_s is not None:
        return math.ceil(2 * link.max_delay_s / link.packet_time_s)
    return math.ceil(max(MAX_BDP * link.bdp_packets, 64))
