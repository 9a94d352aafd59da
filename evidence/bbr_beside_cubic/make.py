"""Measures BBR's share beside CUBIC in deep buffers: the table of docs/evidence/controls.md.

`make evidence NAME=bbr_beside_cubic` makes all runs and writes the table.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from evidence.core.cells import Cell
from evidence.core.derived import Derived
from evidence.core.pages import with_part
from goodqueue.core.parallel import workers
from goodqueue.output.terminal import progress
from goodqueue.runs.api import load
from goodqueue.runs.results.result import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue._core import Cancel

PAGE = Path("docs/evidence/controls.md")
PART = "bbr beside cubic"
SEEDS = 4
"""Runs of each cell."""

RTT_S = 0.040
BDP_PACKETS = 10e6 * RTT_S / 8 / 1500
PROBE_INTERVAL_S = 10
"""Time between two of BBR's measurements of the shortest round trip, by default, in s."""
PROBE_S = 0.2
"""Time for which BBR keeps four segments in flight to measure it, in s; a round trip is added."""

SCENARIO = f"""
schema_version = 1
duration = "1200s"
warmup = "600s"
[topology]
shape = "dumbbell"
access = {{ rate = "1Gbps" }}
[topology.bottleneck]
rate = "10Mbps"
delay = "5ms"
queue = {{ kind = "drop_tail", limit = "32bdp" }}
reverse = {{ queue = {{ limit = "100000p" }} }}
[tcp]
profile = "linux"
[[flow]]
name = "bbr"
start_jitter = "1s"
rtt = "{round(1000 * RTT_S)}ms"
workload = {{ kind = "bulk" }}
tcp = {{ congestion_control = "bbr" }}
[[flow]]
name = "others"
count = 16
start_jitter = "1s"
rtt = "{round(1000 * RTT_S)}ms"
workload = {{ kind = "bulk" }}
tcp = {{ congestion_control = "cubic" }}
"""

BUFFERS = (2, 4, 8, 16, 32)
"""Buffers in bandwidth-delay products."""

LATE = (("flow.0.start", "60s"),)
EARLY = (("duration", "400s"), ("warmup", "100s"))


@dataclass(frozen=True)
class Case:
    """Changes to the base case (16 CUBIC flows, BBR from the start), with the name of their row."""

    name: str
    others: tuple[tuple[str, str], ...]


CASES = (
    Case("1 CUBIC", (*LATE, ("flow.1.count", "1"))),
    Case("16 CUBIC", LATE),
    Case("16 Reno", (*LATE, ("flow.1.tcp.congestion_control", "reno"))),
    Case(
        "16 CUBIC, probe every 30 s",
        (*LATE, ("flow.0.tcp.congestion_control", '{ kind = "bbr", probe_rtt_interval = "30s" }')),
    ),
    Case("16 CUBIC, BBR from 60 s, 100 to 400 s", (*LATE, *EARLY)),
    Case("16 CUBIC, all from the start, 100 to 400 s", EARLY),
)


def model(buffer_bdp: float, probe_interval_s: float = PROBE_INTERVAL_S) -> float:
    """Returns BBR's share of the link by the model of Ware and others (IMC 2019), for one BBR flow.

    While BBR measures the round trip, only packets of the other flows wait: a part p of the buffer
    Q. BBR then keeps 2·b·(p·Q/C + RTT) in flight, where b is its estimate of the bandwidth. The
    link serves each flow in proportion to its packets there: p = 1/2 - 1/(2X) - 4/Q for a buffer of
    X bandwidth-delay products. In each measurement BBR is silent while the queue drains, for a
    round trip, and for 0.2 s.
    """
    packets = buffer_bdp * BDP_PACKETS
    theirs = max(0.0, 0.5 - 1 / (2 * buffer_bdp) - 4 / packets)
    silent_s = buffer_bdp * RTT_S + PROBE_S + RTT_S
    return (1 - theirs) * (1 - silent_s / probe_interval_s)


def share(case: Case, buffer_bdp: float, seed: int, cancel: Cancel) -> float:
    """Returns the share of all goodput that the BBR flows have in one run."""
    limit = ("topology.bottleneck.queue.limit", f"{buffer_bdp:g}bdp")
    outcome = load(SCENARIO, set=[limit, *case.others], seed=seed).run(cancel=cancel)
    flows = Result(outcome, "").summary["flows"]
    goodput = {name: flow["goodput_bps"] for name, flow in flows.items()}
    ours = sum(rate for name, rate in goodput.items() if name.partition(".")[0] == "bbr")
    return float(ours / sum(goodput.values()))


def measure(
    cases: Sequence[Case], buffers: Sequence[int], replicates: int
) -> list[tuple[str, list[float]]]:
    """Returns for each case the mean share at each buffer."""
    seeds = range(1, replicates + 1)
    with workers() as threads, progress() as bar:
        shown = bar.add_task("BBR", total=len(cases) * len(buffers))
        runs = [
            [[threads.submit(partial(share, case, bdp, seed)) for seed in seeds] for bdp in buffers]
            for case in cases
        ]
        rows = []
        for case, cells in zip(cases, runs, strict=True):
            means = []
            for cell in cells:
                means.append(fmean(future.result() for future in cell))
                bar.advance(shown)
            rows.append((case.name, means))
    return rows


def table(rows: Sequence[tuple[str, list[float]]], buffers: Sequence[int], replicates: int) -> str:
    """Returns the model and the rows as a Markdown table, in percent."""
    rows = [
        ("model", [model(bdp) for bdp in buffers]),
        ("model, probe every 30 s", [model(bdp, 30) for bdp in buffers]),
        *rows,
    ]
    lines = [
        "| beside | " + " | ".join(f"{bdp} BDP" for bdp in buffers) + " |",
        "| --- |" + " --- |" * len(buffers),
    ]
    lines += [
        f"| {name} | " + " | ".join(f"{100 * share:.0f}" for share in shares) + " |"
        for name, shares in rows
    ]
    return (
        "\n".join([*lines, "", f"Means of {replicates} runs, in per cent of the goodput."]) + "\n"
    )


def make() -> None:
    """Makes all runs and writes the table."""
    text = table(measure(CASES, BUFFERS, SEEDS), BUFFERS, SEEDS)
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_part(page, PART, text), encoding="utf-8")


def cells() -> list[Cell]:
    """Returns one run of each case behind four bandwidth-delay products, with an early BBR."""
    fixed = {"topology.bottleneck.queue.limit": "4bdp", "flow.0.start": "1s"}
    return [Cell.of(SCENARIO, {**dict(case.others), **fixed}) for case in CASES]


THINGS = [
    Derived(
        "bbr_beside_cubic",
        make,
        products=(f"{PAGE}#{PART}",),
        cells=cells,
        seeds=f"1 to {SEEDS}",
    )
]
