"""Runs Prague beside a classic flow behind queues without L4S, for docs/evidence/controls.md.

It writes two tables: one beside the published ratios of
heistp/l4s-tests (its scenario 6), and one of today's defaults.
"""

from __future__ import annotations

import csv
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

from evidence.core.cells import Cell
from evidence.core.derived import Derived
from evidence.core.pages import with_part
from evidence.l4s_grid.make import cells
from goodqueue import _core
from goodqueue.core.intervals import Interval, t_interval
from goodqueue.runs.api import load
from goodqueue.study.plan import longest_first, run_of, variant_of
from goodqueue.study.runner import Runner, user_store
from goodqueue.study.threads import Threads

if TYPE_CHECKING:
    from collections.abc import Sequence

PAGE = Path("docs/evidence/controls.md")
PUBLISHED = Path(__file__).parents[1] / "validation" / "l4s" / "shared-queues-2020.csv"
SHARED_PART = "prague shared queues"
CLASSIC_PART = "prague classic queues"

SEEDS = 3
"""Seeds of each run."""

NEAR = 2.0
"""Goal: largest factor between our ratio and the published one."""

OFF, ON = "false", "true"
"""Values of `ecn_fallback`."""

SCENARIO = """
schema_version = 1
duration = "60s"
warmup = "20s"
record = { tcp_delays = true }
[topology]
shape = "dumbbell"
framing = "14B"
access = { rate = "unlimited" }
[topology.bottleneck]
rate = "50Mbps"
delay = "1ms"
queue = { kind = "drop_tail", limit = "1000p" }
reverse = { queue = { kind = "drop_tail", limit = "1000p" } }
[[flow]]
name = "prague"
rtt = "20ms"
start_jitter = "1s"
workload = { kind = "bulk" }
tcp = { profile = "prague", congestion_control = { kind = "prague" } }
[[flow]]
name = "classic"
rtt = "20ms"
start_jitter = "1s"
workload = { kind = "bulk" }
tcp = { profile = "linux", ecn = "accecn" }
"""

METRICS = (
    "prague.goodput_bps",
    "classic.goodput_bps",
    "prague.p99_pdv_s",
)

SHARED = {
    "fq_codel(1q)": '{ kind = "fq_codel", flows = 1 }',
    "fq_codel(1q,1ms/20ms)": (
        '{ kind = "fq_codel", flows = 1, target = "1ms", interval = "20ms" }'
    ),
    "pie": '{ kind = "pie", ecn = true }',
    "pie(100p/5ms)": (
        '{ kind = "pie", ecn = true, limit = "100p", target = "5ms", tupdate = "32ms" }'
    ),
    "red(150000b)": '{ kind = "red", ecn = true, adaptive = true, limit = "150000B" }',
    "red(400000b)": '{ kind = "red", ecn = true, adaptive = true, limit = "400000B" }',
}
"""The shared queues of the published tests."""

CLASSIC = {
    "`drop_tail`, 1 BDP": '{ kind = "drop_tail", limit = "1bdp" }',
    "`drop_tail`, 4 BDP": '{ kind = "drop_tail", limit = "4bdp" }',
    "`codel`, `ecn`": '{ kind = "codel", ecn = true }',
    "`codel`, `ce_threshold = 1ms`": '{ kind = "codel", ecn = true, ce_threshold = "1ms" }',
    "`pie`, `ecn`": SHARED["pie"],
    "`red`, `ecn`, `adaptive`": SHARED["red(400000b)"],
    "`fq_codel`": '{ kind = "fq_codel" }',
    "`fq_codel`, `ce_threshold = 1ms`": '{ kind = "fq_codel", ce_threshold = "1ms" }',
    "the same, ECT(1) alone": (
        '{ kind = "fq_codel", ce_threshold = "1ms", ce_threshold_selector = "ect1" }'
    ),
    "one queue of it, ECT(1) alone": (
        '{ kind = "fq_codel", flows = 1, ce_threshold = "1ms", ce_threshold_selector = "ect1" }'
    ),
    "`cake`": '{ kind = "cake", bandwidth = "50Mbps" }',
    "`policer`": '{ kind = "policer", rate = "50Mbps", burst = "125kB" }',
    "`dualpi2`": '{ kind = "dualpi2" }',
}
"""Queues that the second table compares, by their names there."""

TCP_2020 = (
    '{{ profile = "prague", congestion_control = {{ kind = "prague", rtt_target = "0s", '
    "ecn_fallback = {} }} }}"
)
TCP_NOW = '{{ profile = "prague", congestion_control = {{ kind = "prague", ecn_fallback = {} }} }}'
OTHERS = {
    "cubic-ecn": '{ profile = "linux", ecn = "accecn" }',
    "cubic-noecn": '{ profile = "linux" }',
    "reno-ecn": '{ profile = "linux", congestion_control = "reno", ecn = "accecn" }',
    "reno-noecn": '{ profile = "linux", congestion_control = "reno" }',
    "prague": TCP_NOW.format(OFF),
}
"""Flows beside Prague, by their names in the published table."""

Settings = dict[str, str]


@dataclass(frozen=True)
class Figures:
    """Figures of a case, one of each seed.

    Attributes:
        ratio: goodput of Prague over that of the other flow.
        delay_ms: 99th percentile of the one-way delay of Prague's data above its minimum, in ms.
        goodput_mbps: goodput of both flows in Mb/s.
    """

    ratio: tuple[float, ...]
    delay_ms: tuple[float, ...]
    goodput_mbps: tuple[float, ...]


def settings(queue: str, prague: str, other: str) -> Settings:
    """Returns the changes of the scenario that make a case.

    Args:
        queue: table of the queue.
        prague: table of Prague's TCP.
        other: table of the other flow's TCP.
    """
    found = {
        "topology.bottleneck.queue": queue,
        "flow.prague.tcp": prague,
        "flow.classic.tcp": other,
    }
    if "policer" in queue or "cake" in queue:
        # A policer and a shaper limit the rate of a faster link.
        found["topology.bottleneck.rate"] = "1Gbps"
    return found


def measure(
    cases: Sequence[Settings], seeds: int = SEEDS, store: Path | None = None
) -> list[Figures]:
    """Returns the figures of the cases, of which those that the store has are not run again."""
    scenarios = [load(SCENARIO, set=list(case.items())) for case in cases]
    variants = [variant_of(scenario, {}, index) for index, scenario in enumerate(scenarios)]
    runs = [run_of(one, seed) for one in longest_first(variants) for seed in range(1, seeds + 1)]
    with ExitStack() as stack:
        runner = Runner(stack.enter_context(user_store("prague-classic", store)), Threads(None))
        rows = runner.figures(runs, METRICS)
    found: dict[int, list[list[float]]] = {}
    for run, row in zip(runs, rows, strict=True):
        found.setdefault(run.variant.index, []).append(row)
    return [_figures(found[index]) for index in range(len(cases))]


def _figures(rows: Sequence[Sequence[float]]) -> Figures:
    prague, other, delay = zip(*rows, strict=True)
    return Figures(
        tuple(a / b for a, b in zip(prague, other, strict=True)),
        tuple(1e3 * one for one in delay),
        tuple((a + b) / 1e6 for a, b in zip(prague, other, strict=True)),
    )


@dataclass(frozen=True)
class Row:
    """A published pair of flows behind a shared queue.

    Attributes:
        queue: name of the queue.
        other: the flow beside Prague.
        prague_mbps: Prague's rate in Mb/s.
        other_mbps: the other flow's rate in Mb/s.
    """

    queue: str
    other: str
    prague_mbps: float
    other_mbps: float

    @property
    def ratio(self) -> float:
        """Published ratio of both rates."""
        return self.prague_mbps / self.other_mbps


def published() -> list[Row]:
    """Returns the published rows."""
    with PUBLISHED.open(encoding="utf-8", newline="") as lines:
        return [
            Row(one["queue"], one["other"], float(one["prague_mbps"]), float(one["other_mbps"]))
            for one in csv.DictReader(lines)
        ]


def shared_table(rows: Sequence[Row], off: Sequence[Figures], on: Sequence[Figures]) -> str:
    """Returns the published ratios and ours as a Markdown table.

    Args:
        rows: the published rows.
        off: our figures of each without detection.
        on: our figures of each with detection.
    """
    heads = ("queue", "beside", "Linux", "here", "factor", "here, with detection")
    lines = [f"| {' | '.join(heads)} |", "| --- " * len(heads) + "|"]
    factors = [fmean(one.ratio) / row.ratio for row, one in zip(rows, off, strict=True)]
    for row, factor, without, with_it in zip(rows, factors, off, on, strict=True):
        cells = [
            row.queue,
            row.other,
            f"{row.ratio:.0f}",
            _shown(t_interval(without.ratio)),
            f"{factor:.2f}",
            _shown(t_interval(with_it.ratio)),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    near = sum(1 / NEAR <= factor <= NEAR for factor in factors)
    lines += ["", f"Within a factor of {NEAR:.0f} of the published ratio: {near} of {len(rows)}."]
    return "\n".join(lines) + "\n"


def classic_table(names: Sequence[str], off: Sequence[Figures], on: Sequence[Figures]) -> str:
    """Returns the figures behind each queue as a Markdown table.

    Args:
        names: names of the queues.
        off: figures without detection behind each queue, beside CUBIC with ECN, CUBIC without, and
            Prague.
        on: figures with detection in the same order.
    """
    heads = (
        "queue",
        "beside CUBIC with ECN",
        "with detection",
        "beside CUBIC without ECN",
        "with detection",
        "beside Prague",
        "Prague's p99, ms",
        "with detection",
        "goodput of both, Mb/s",
    )
    lines = [f"| {' | '.join(heads)} |", "| --- " * len(heads) + "|"]
    for index, name in enumerate(names):
        ecn, plain, prague = off[3 * index : 3 * index + 3]
        ecn_on, plain_on, _ = on[3 * index : 3 * index + 3]
        cells = [
            name,
            *(_shown(t_interval(one.ratio)) for one in (ecn, ecn_on, plain, plain_on, prague)),
            *(_shown(t_interval(one.delay_ms)) for one in (ecn, ecn_on)),
            _shown(t_interval(ecn.goodput_mbps)),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _shown(interval: Interval) -> str:
    digits = 0 if interval.mean >= 10 else 1 if interval.mean >= 3 else 2
    return f"{interval.mean:.{digits}f} ± {interval.half_width:.{digits}f}"


def make() -> None:
    """Runs both tables, and writes them."""
    rows = published()
    beside = ("cubic-ecn", "cubic-noecn", "prague")
    both = []
    for fallback in (OFF, ON):
        shared = [
            settings(SHARED[row.queue], TCP_2020.format(fallback), OTHERS[row.other])
            for row in rows
        ]
        classic = [
            settings(queue, TCP_NOW.format(fallback), OTHERS[other])
            for queue, other in product(CLASSIC.values(), beside)
        ]
        found = measure([*shared, *classic])
        both.append((found[: len(rows)], found[len(rows) :]))
    (shared_off, classic_off), (shared_on, classic_on) = both
    provenance = (
        f"\nMade by `make evidence NAME=prague_classic`, {SEEDS} seeds, results version "
        f"{_core.results_version()}. Means over the seeds ± their 95 % intervals.\n"
    )
    page = PAGE.read_text(encoding="utf-8")
    for name, text in (
        (SHARED_PART, shared_table(rows, shared_off, shared_on)),
        (CLASSIC_PART, classic_table(list(CLASSIC), classic_off, classic_on)),
    ):
        page = with_part(page, name, text + provenance)
    PAGE.write_text(page, encoding="utf-8")


def own_cells() -> list[Cell]:
    """Returns Prague beside ECN-capable CUBIC behind each shared and each classic queue."""
    other = OTHERS["cubic-ecn"]
    rigs = [(SHARED, TCP_2020.format(OFF)), (CLASSIC, TCP_NOW.format(ON))]
    return [
        Cell.of(SCENARIO, dict(settings(queue, tcp, other)))
        for queues, tcp in rigs
        for queue in queues.values()
    ]


THINGS = [
    Derived(
        "prague_classic",
        make,
        products=(f"{PAGE}#{SHARED_PART}", f"{PAGE}#{CLASSIC_PART}"),
        inputs=("evidence/validation/l4s/shared-queues-2020.csv",),
        cells=cells,
        seeds=f"1 to {SEEDS}",
    )
]
