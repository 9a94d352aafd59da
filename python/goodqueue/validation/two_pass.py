"""BSCL from packet captures: run, estimate, size, run again.

    python -m goodqueue.validation.two_pass [SEEDS]

Dhamdhere, Jiang and Dovrolis (INFOCOM 2005) run their mix behind C T, measure it, and run it again
behind the buffer that follows. `goodqueue reproduce dhamdhere2005` has their figures 5 to 9 with N,
T_e and C_e from the scenario; here nothing is known of a first run but what it left in two
captures, before and after the queue. Prints the tables of docs/dhamdhere2005.md and draws its
pictures. It is no part of `reproduce`, whose store keeps figures of runs: what is estimated from a
capture is none, and every call would write 28 GB of captures again.
"""

from __future__ import annotations

import math
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

import goodqueue
from goodqueue.papers.dhamdhere2005.figures import (
    ERROR_FLOWS,
    ERRORS,
    FEW_FLOWS,
    MANY_FLOWS,
    sized,
)
from goodqueue.papers.dhamdhere2005.mix import LOSS, Case, Mix, Traffic, classic, median_burst_of
from goodqueue.parallel import available_processors
from goodqueue.passive import analyze
from goodqueue.passive.link import link_of
from goodqueue.study.runner import Runner, user_store
from goodqueue.study.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from goodqueue.papers.dhamdhere2005.mix import Figures
    from goodqueue.passive import Analysis
    from goodqueue.sizing.link import Link

SHARES = (0.95, 0.9, 0.8)
"""Of figures 5, 6 and 7."""

SHARE = 0.9
"""Of figures 8 and 9."""

SEEDS = 3

WARMUP_S = 20.0
"""What `mix.toml` drops, as the paper does: a tenth of 200 s."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the captures of one first run tell.

    Attributes:
        link: rate, flows, round trips and local share, as `goodqueue size --from` takes them: from
            all of the capture. Its synchronisation is the mean burst once flows have started,
            as the analysis tells it, over N.
        burst: median length of the loss bursts after `WARMUP_S`, in packets; NaN if there are none.
        truth: the same as the simulator counts it.
    """

    link: Link
    burst: float
    truth: float


def estimate(traffic: Traffic, seed: int) -> Estimate:
    """Runs the mix behind C T and reads the captures that it leaves."""
    with tempfile.TemporaryDirectory(prefix="goodqueue-") as folder:
        taps = {point: Path(folder) / f"{point}.pcapng" for point in ("before", "after")}
        limit = ("topology.target.queue.limit", f"{classic(traffic).packets}p")
        text = files("goodqueue.papers.dhamdhere2005").joinpath("mix.toml").read_text("utf-8")
        result = goodqueue.run(
            text, set=[*traffic.overrides(), limit], seed=seed, series=False, trace=taps
        )
        analysis = analyze(taps["before"], after=taps["after"])
    truth = result.summary["links"]["target"]["p50_loss_burst_packets"]
    return Estimate(
        replace(link_of(analysis), max_loss_rate=LOSS),
        _median_burst(analysis),
        math.nan if truth is None else truth,
    )


def _median_burst(analysis: Analysis) -> float:
    """Of bursts after the warm-up: the start overshoots by hundreds of packets.

    The captures are not cut there: without handshakes T_e comes out far too small.
    """
    late = analysis.bursts.filter(pl.col("time_s") >= WARMUP_S)["packets"].median()
    return float(late) if isinstance(late, int | float) else math.nan


def estimates(traffic: Iterable[Traffic], seeds: int) -> dict[Traffic, list[Estimate]]:
    """Of all traffic under the seeds from 1 on."""
    runs = list(product(traffic, range(1, seeds + 1)))
    with ThreadPoolExecutor(available_processors()) as pool:
        found = list(pool.map(lambda run: estimate(*run), runs))
    by_traffic: dict[Traffic, list[Estimate]] = {}
    for (one, _seed), value in zip(runs, found, strict=True):
        by_traffic.setdefault(one, []).append(value)
    return by_traffic


@dataclass(frozen=True, slots=True)
class Second:
    """Second runs with buffers from truth and from estimates, under the same seeds.

    Each number is one per seed. No second run has the seed of the captures that its buffer is from.

    Attributes:
        packets: the buffers.
        figures: what the runs came to.
    """

    packets: Sequence[int]
    figures: Sequence[Figures]

    def per_cent(self, figure: str) -> list[float]:
        """Of each run."""
        return [100 * run[figure] for run in self.figures]


Seconds = dict[tuple[Traffic, str], Second]
"""By traffic and by what the buffer is from."""

TRUTH, ESTIMATES, MEAN = "truth", "estimates", "estimates, mean burst"


def sizes(traffic: Traffic, found: Sequence[Estimate]) -> dict[str, list[Case]]:
    """BSCL's buffer for each second run, by what it is from."""
    burst = median_burst_of([{"median_burst": one.truth} for one in found])
    made: dict[str, list[Case]] = {
        TRUTH: [sized(traffic, burst) for _ in found],
        ESTIMATES: [sized(traffic, one.burst, link=one.link) for one in found],
    }
    if traffic.flows in FEW_FLOWS and traffic.local_share == SHARE:
        made[MEAN] = [
            sized(traffic, one.link.synchronization * one.link.flows, link=one.link)
            for one in found
        ]
    if traffic.flows in ERROR_FLOWS and traffic.local_share == SHARE:
        for label, error in ERRORS.items():
            made[f"{TRUTH}, {label}"] = [sized(traffic, burst, error) for _ in found]
            made[f"{ESTIMATES}, {label}"] = [
                sized(traffic, one.burst, error, one.link) for one in found
            ]
    return made


def second_runs(mix: Mix, found: Mapping[Traffic, Sequence[Estimate]]) -> Seconds:
    """Runs all that the store does not hold at once."""
    cases = {
        (traffic, source): made
        for traffic, of in found.items()
        for source, made in sizes(traffic, of).items()
    }
    known = mix.figures(run for made in cases.values() for run in _runs(made))
    return {
        key: Second([case.packets for case in made], [known[run] for run in _runs(made)])
        for key, made in cases.items()
    }


def _runs(cases: Sequence[Case]) -> list[tuple[Case, int]]:
    """With the next seed each, the last with the first."""
    return [(case, (place + 1) % len(cases) + 1) for place, case in enumerate(cases)]


def all_traffic() -> list[Traffic]:
    """That of figures 5 to 9, each once."""
    many = [Traffic(flows, share) for share in SHARES for flows in MANY_FLOWS]
    return list(dict.fromkeys([*many, *(Traffic(flows, SHARE) for flows in FEW_FLOWS)]))


def main() -> int:
    """Prints the tables and draws; 1 if estimates do worse than they may."""
    from goodqueue.validation.two_pass_report import FOLDER, pictures, report, verdict

    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS
    if seeds < 2:
        sys.exit("two seeds at the least: a second run has another than its captures")
    found = estimates(all_traffic(), seeds)
    with user_store("papers") as store:
        second = second_runs(Mix(Runner(store, Threads())), found)
    print(report(found, second))
    for picture in pictures(second):
        picture.save(FOLDER)
    misses = verdict(second)
    print("\n".join(misses), file=sys.stderr)
    return int(bool(misses))


if __name__ == "__main__":
    sys.exit(main())
