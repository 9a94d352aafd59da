"""Section VI from end to end: run the mix, analyse captures, size the buffer by BSCL, run again.

The first run is behind a buffer of C T and leaves two captures, before and after the queue. Their
analysis gives N, T_e, C_e and the burst length, and BSCL computes a buffer from these. The second
run has this buffer and another seed. For comparison the mix also runs behind the buffer that BSCL
computes from the scenario's own values.

Captures are not kept, because those of one run take up to 400 MB. The estimates from them are kept
in the folder of runs. Their file names change with the scenario, the seed and the code that
simulates or analyses.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import goodqueue
from goodqueue import _core, passive
from goodqueue.core.files.outdir import write_whole
from goodqueue.core.parallel import available_processors
from goodqueue.core.polars import pl
from goodqueue.papers.dhamdhere2005.figures import sized
from goodqueue.papers.dhamdhere2005.mix import (
    ESTIMATES,
    LOSS,
    TRUTH,
    Case,
    Mix,
    Traffic,
    classic,
    median_burst_of,
)
from goodqueue.passive import analyze
from goodqueue.passive.link import link_of
from goodqueue.sizing.link import Link
from goodqueue.study.record.cache import set_aside, warn_unused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from goodqueue.papers.dhamdhere2005.mix import Figures
    from goodqueue.passive import Analysis

WARMUP_S = 20.0
"""Warm-up of `mix.toml`, in seconds: a tenth of 200 s, as in the paper."""

FOLDER = "captures"


@dataclass(frozen=True, slots=True)
class Estimate:
    """Estimates from the captures of one first run.

    Attributes:
        link: rate, number of flows, round-trip times and local share from the whole capture, as
            `goodqueue size --from` uses them. Its synchronisation is the analysed mean burst, after
            all flows have started, over N.
        burst: median length of the loss bursts after `WARMUP_S`, in packets; NaN if there are none.
        truth: the same median, as counted by the simulator.
        took_s: time that the run and the analysis took, in seconds.
    """

    link: Link
    burst: float
    truth: float
    took_s: float = 0.0

    def text(self) -> str:
        """Returns the estimate as JSON text, for a file."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, text: str) -> Estimate:
        """Reads an estimate back from its JSON text."""
        known = json.loads(text)
        link = known.pop("link")
        return cls(Link(**{**link, "rtts_s": tuple(link["rtts_s"])}), **known)


def estimate(traffic: Traffic, seed: int) -> Estimate:
    """Runs the mix behind C T and reads the captures that it leaves."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="goodqueue-") as folder:
        taps = {point: Path(folder) / f"{point}.pcapng" for point in ("before", "after")}
        limit = ("topology.target.queue.limit", f"{classic(traffic).packets}p")
        text = files(__package__).joinpath(traffic.scenario).read_text("utf-8")
        result = goodqueue.run(
            text, set=[*traffic.overrides(), limit], seed=seed, series=False, trace=taps
        )
        analysis = analyze(taps["before"], after=taps["after"])
    truth = result.summary["links"]["target"]["p50_loss_burst_packets"]
    return Estimate(
        replace(link_of(analysis), max_loss_rate=LOSS),
        _median_burst(analysis),
        math.nan if truth is None else truth,
        time.monotonic() - began,
    )


def _median_burst(analysis: Analysis) -> float:
    """Returns the median loss burst after the warm-up, in packets.

    Slow start overshoots by hundreds of packets, so earlier bursts are left out. The captures
    themselves are not cut, because T_e would be far too small without the handshakes.
    """
    late = analysis.bursts.filter(pl.col("time_s") >= WARMUP_S)["packets"].median()
    return float(late) if isinstance(late, int | float) else math.nan


def estimates(mix: Mix, traffic: Iterable[Traffic], seeds: int) -> dict[Traffic, list[Estimate]]:
    """Returns estimates of all traffic under seeds 1 to `seeds`; kept estimates are not remade."""
    runs = list(product(traffic, range(1, seeds + 1)))
    with ThreadPoolExecutor(available_processors()) as pool:
        try:
            found = list(pool.map(lambda run: _kept(mix, *run), runs))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    by_traffic: dict[Traffic, list[Estimate]] = {}
    for (one, _seed), value in zip(runs, found, strict=True):
        by_traffic.setdefault(one, []).append(value)
    return by_traffic


def _kept(mix: Mix, traffic: Traffic, seed: int) -> Estimate:
    identity = mix.run(classic(traffic), seed).identity
    name = hashlib.sha256(identity + _analysis()).hexdigest()
    path = mix.folder / FOLDER / f"{name}.json"
    if path.is_file():
        try:
            return Estimate.read(path.read_text("utf-8"))
        except (ValueError, KeyError, TypeError, AttributeError):
            set_aside(path)
    found = estimate(traffic, seed)
    try:
        path.parent.mkdir(exist_ok=True)
        write_whole(path, found.text())
    except OSError as error:
        warn_unused(path.parent, error)
    return found


@cache
def _analysis() -> bytes:
    """Returns a hash that changes with the code that simulates and analyses."""
    found = hashlib.sha256(Path(_core.__file__).read_bytes())
    for path in sorted(Path(passive.__file__).parent.glob("*.py")):
        found.update(path.read_bytes())
    for function in (estimate, _median_burst):
        found.update(inspect.getsource(function).encode())
    return found.digest()


@dataclass(frozen=True, slots=True)
class Second:
    """Second runs behind buffers with one source of their inputs.

    Both sequences have one entry per seed. No second run has the seed of the captures that gave its
    buffer.

    Attributes:
        packets: size of each buffer, in packets.
        figures: figures of each run.
    """

    packets: Sequence[int]
    figures: Sequence[Figures]

    def per_cent(self, figure: str) -> list[float]:
        """Returns the figure of each run, in percent."""
        return [100 * run[figure] for run in self.figures]


Seconds = dict[tuple[Traffic, str], Second]
"""Second runs by traffic and by the source of their buffer (TRUTH or ESTIMATES)."""


def sizes(traffic: Traffic, found: Sequence[Estimate]) -> dict[str, list[Case]]:
    """Returns the cases of the second runs by the source of their BSCL buffer."""
    return {
        TRUTH: [sized(traffic, known_burst(found)) for _ in found],
        ESTIMATES: [sized(traffic, one.burst, link=one.link) for one in found],
    }


def known_burst(found: Sequence[Estimate]) -> float:
    """Returns the median burst that the simulator counts in the first runs, in packets."""
    return median_burst_of([{"median_burst": one.truth} for one in found])


def second_runs(
    mix: Mix,
    found: Mapping[Traffic, Sequence[Estimate]],
    sizes: Callable[[Traffic, Sequence[Estimate]], Mapping[str, list[Case]]] = sizes,
) -> Seconds:
    """Returns the second runs; those that the store lacks start together."""
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
    """Pairs each case with the next seed; the last case takes the first seed."""
    return [(case, (place + 1) % len(cases) + 1) for place, case in enumerate(cases)]
