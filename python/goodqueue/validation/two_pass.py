"""BSCL from a packet capture: run, estimate, size, run again.

    python -m goodqueue.validation.two_pass [FLOWS ...]

Dhamdhere, Jiang and Dovrolis (INFOCOM 2005) run their mix behind C T, measure it, and run it again
behind the buffer that follows. Here nothing is known of the first run but what it left in two
captures, before and after the queue. Prints the rows of docs/traces.md.
"""

from __future__ import annotations

import math
import sys
import tempfile
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import goodqueue
from goodqueue.papers.dhamdhere2005.mix import LOSS, Traffic
from goodqueue.passive import analyze
from goodqueue.passive.link import link_of
from goodqueue.sizing.rules.bscl import bscl

if TYPE_CHECKING:
    from goodqueue.passive import Analysis
    from goodqueue.sizing.link import Link

FLOWS = (10, 50, 100, 200, 300)
FIRST_SEED, SECOND_SEED = 1, 2


@dataclass(frozen=True, slots=True)
class Passed:
    """One number of flows.

    Attributes:
        known: the link as the scenario has it.
        estimated: the link as the captures tell it.
        packets: BSCL's buffer from the one and from the other.
        loss_rate: behind each.
        utilization: behind each.
    """

    known: Link
    estimated: Link
    packets: tuple[int, int]
    loss_rate: tuple[float, float]
    utilization: tuple[float, float]

    @property
    def row(self) -> str:
        """A row of the page's table."""
        known, estimated = self.known, self.estimated
        cells = [
            *(f"{link.flows}" for link in (known, estimated)),
            *(f"{1e3 * link.harmonic_rtt_s:.1f}" for link in (known, estimated)),
            *(f"{link.local_rate_bps / 1e6:.1f}" for link in (known, estimated)),
            *(f"{packets:,}" for packets in self.packets),
            *(f"{100 * loss:.2f}" for loss in self.loss_rate),
            *(f"{100 * share:.1f}" for share in self.utilization),
        ]
        return f"| {' | '.join(cells)} |"


def two_passes(flows: int) -> Passed:
    """Runs the mix with so many local flows twice, the second time by both buffers."""
    traffic = Traffic(flows)
    known = traffic.link
    estimated = replace(link_of(_first(traffic)), max_loss_rate=LOSS)
    sizes = tuple(math.ceil(bscl(link).packets) for link in (known, estimated))
    again = [_run(traffic, packets, SECOND_SEED) for packets in sizes]
    return Passed(
        known,
        estimated,
        (sizes[0], sizes[1]),
        (again[0]["loss_rate"], again[1]["loss_rate"]),
        (again[0]["utilization"], again[1]["utilization"]),
    )


def _first(traffic: Traffic) -> Analysis:
    with tempfile.TemporaryDirectory() as folder:
        taps = {point: Path(folder) / f"{point}.pcapng" for point in ("before", "after")}
        _run(traffic, int(traffic.link.bdp_packets), FIRST_SEED, taps)
        return analyze(taps["before"], after=taps["after"])


def _run(
    traffic: Traffic, packets: int, seed: int, taps: dict[str, Path] | None = None
) -> dict[str, float]:
    text = files("goodqueue.papers.dhamdhere2005").joinpath("mix.toml").read_text()
    limit = ("topology.target.queue.limit", f"{packets}p")
    changes = [*traffic.overrides(), limit]
    result = goodqueue.run(text, set=changes, seed=seed, series=False, trace=taps)
    figures: dict[str, float] = result.summary["links"]["target"]
    return figures


def main() -> int:
    """Prints a row for each number of flows; 1 if a loss is more than 0.5 points too large."""
    counts = [int(argument) for argument in sys.argv[1:]] or FLOWS
    worst = 0.0
    for flows in counts:
        passed = two_passes(flows)
        print(passed.row, flush=True)
        worst = max(worst, passed.loss_rate[1])
    return int(worst > LOSS + 0.005)


if __name__ == "__main__":
    sys.exit(main())
