"""Writes docs/which-queue.md, and compares every discipline on one link: docs/queues/compared.md.

The digest takes the figures of `characterize`. The comparison runs every discipline on one link.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from evidence.core.cells import Cell
from evidence.core.derived import Derived
from evidence.core.pages import with_part
from evidence.which_queue import digest
from evidence.which_queue.digest import write
from evidence.which_queue.figures import COSTS
from goodqueue.core.intervals import Interval, t_interval
from goodqueue.core.parallel import workers
from goodqueue.output.terminal import progress
from goodqueue.runs.api import load
from goodqueue.runs.results.result import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue._core import Cancel

SCENARIO = Path("scenarios/which-queue.toml")
PAGE = Path("docs/queues/compared.md")
PICTURE = Path("docs/img/queues-compared.svg")

SEEDS = 20
"""Runs of each case."""

BASE_RTT_S = 0.040
"""Base RTT of the ping and of the short flows, in s."""
FIRST_SHORT_FLOW = 60
"""Number of the first short flow that begins after the warm-up."""

EF_FIRST = [0 if code_point == 46 else 1 for code_point in range(64)]
SCALABLE = {"tcp.ecn": "dctcp", "tcp.congestion_control": "dctcp"}


@dataclass(frozen=True)
class Case:
    """A queue to try: its name, its table, and the other settings that differ."""

    name: str
    queue: str
    others: tuple[tuple[str, str], ...] = ()


CASES = (
    Case("drop_tail, 1 BDP", '{ limit = "1bdp" }'),
    Case("drop_tail, 1000 packets", '{ limit = "1000p" }'),
    Case("drop_head, 1 BDP", '{ kind = "drop_head", limit = "1bdp" }'),
    Case("red", '{ kind = "red", limit = "400kB", probability = 0.1 }'),
    Case(
        "ns2_red, adaptive",
        '{ kind = "ns2_red", limit = "400kB", mean_packet = "1500B", '
        'adaptation = { kind = "floyd" } }',
    ),
    Case("choke", '{ kind = "choke", limit = "1000p" }'),
    Case("blue", '{ kind = "blue", limit = "200p" }'),
    Case("fpq", '{ kind = "fpq", limit = "1000p" }'),
    Case("codel", '{ kind = "codel" }'),
    Case("pie", '{ kind = "pie" }'),
    Case("pi2", '{ kind = "pi2", limit = "1000p" }'),
    Case("dualpi2", '{ kind = "dualpi2" }'),
    Case(
        "step, all DCTCP",
        '{ kind = "step", limit = "1bdp", threshold = "20p" }',
        tuple(SCALABLE.items()),
    ),
    Case("dualpi2, all DCTCP", '{ kind = "dualpi2" }', (*SCALABLE.items(), ("tcp.l4s", "true"))),
    Case("drr", '{ kind = "drr", limit = "1bdp" }'),
    Case("sfq", '{ kind = "sfq" }'),
    Case("fq_codel", '{ kind = "fq_codel" }'),
    Case("fq_pie", '{ kind = "fq_pie" }'),
    Case("cake", '{ kind = "cake" }'),
    Case(
        "tbf before fq_codel",
        '{ kind = "tbf", rate = "19Mbps", burst = "3028B", queue = { kind = "fq_codel" } }',
    ),
    Case(
        "prio, ping first",
        f'{{ kind = "prio", bands = [{{ limit = "1bdp" }}, {{ limit = "1bdp" }}], '
        f"dscp_map = {EF_FIRST} }}",
    ),
)


@dataclass(frozen=True)
class Row:
    """The figures of a queue, with 95 % intervals over the replicates."""

    name: str
    utilization: Interval
    p99_delay_ms: Interval
    ping_ms: Interval
    web_ms: Interval
    loss: Interval
    fairness: Interval


def figures(summary: dict[str, Any]) -> dict[str, float]:
    """Returns the figures of one run."""
    link, flows = summary["links"]["bottleneck"], summary["flows"]
    long = [flow["goodput_bps"] for name, flow in flows.items() if name.startswith("long.")]
    names = (name for name in flows if name.startswith("web."))
    short = [flows[name] for name in names if int(name[4:]) >= FIRST_SHORT_FLOW]
    times = [flow["completion_time_s"] for flow in short if flow["completion_time_s"] is not None]
    return {
        "utilization": 100 * link["utilization"],
        "p99_delay_ms": 1000 * link["p99_queueing_delay_s"],
        "ping_ms": 1000 * (flows["ping"]["p99_rtt_s"] - BASE_RTT_S),
        "web_ms": 1000 * fmean(times),
        "loss": 100 * link["loss_rate"],
        # Jain's index is 1 if all flows have the same rate, and 1/n if one flow has all.
        "fairness": sum(long) ** 2 / (len(long) * sum(rate * rate for rate in long)),
    }


def one(case: Case, seed: int, cancel: Cancel) -> dict[str, float]:
    """Returns the figures of one run of a case."""
    overrides = [("topology.bottleneck.queue", case.queue), *case.others]
    outcome = load(SCENARIO, set=overrides, seed=seed).run(cancel=cancel)
    return figures(Result(outcome, "").summary)


def compare(cases: Sequence[Case] = CASES, replicates: int = SEEDS) -> list[Row]:
    """Runs every case under seeds 1 to `replicates`."""
    with workers() as threads, progress() as bar:
        shown = bar.add_task("queues", total=len(cases))
        runs = [
            [threads.submit(partial(one, case, seed)) for seed in range(1, replicates + 1)]
            for case in cases
        ]
        rows = []
        for case, futures in zip(cases, runs, strict=True):
            found = [future.result() for future in futures]
            intervals = {key: t_interval([run[key] for run in found]) for key in found[0]}
            rows.append(Row(case.name, **intervals))
            bar.advance(shown)
    return rows


def table(rows: Sequence[Row], replicates: int) -> str:
    """Returns the rows as a Markdown table."""
    lines = [
        "| queue | utilisation, % | p99 delay, ms | ping, ms | 50 kB, ms | loss, % | fairness |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    lines += [
        f"| `{row.name.split(',')[0]}`{row.name[len(row.name.split(',')[0]) :]} "
        f"| {show(row.utilization, 1)} | {show(row.p99_delay_ms, 1)} | {show(row.ping_ms, 1)} "
        f"| {show(row.web_ms, 0)} | {show(row.loss, 2)} | {show(row.fairness, 2)} |"
        for row in rows
    ]
    lines += [
        "",
        f"Means of {replicates} runs, seeds 1 to {replicates}, ± the 95 % interval of the mean.",
    ]
    return "\n".join(lines) + "\n"


def show(interval: Interval, digits: int) -> str:
    """Formats a mean and its interval."""
    return f"{interval.mean:.{digits}f} ± {interval.half_width:.{digits}f}"


def make_comparison() -> None:
    """Runs every discipline, and writes the table and the picture of docs/queues/compared.md."""
    from evidence.which_queue.picture import save

    rows = compare(replicates=SEEDS)
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_part(page, "table", table(rows, SEEDS)), encoding="utf-8")
    save(rows, PICTURE)


def cells() -> list[Cell]:
    """Returns a run of each case."""
    return [
        Cell.of(str(SCENARIO), {"topology.bottleneck.queue": case.queue, **dict(case.others)})
        for case in CASES
    ]


THINGS = [
    Derived(
        "which_queue/digest",
        partial(write, Path()),
        products=(f"{digest.PAGE}#answers", f"{digest.PAGE}#table", str(digest.PICTURE)),
        inputs=(COSTS,),
        needs=("characterize",),
    ),
    Derived(
        "which_queue/compared",
        make_comparison,
        products=(f"{PAGE}#table", str(PICTURE)),
        inputs=(str(SCENARIO),),
        cells=cells,
        seeds=f"1 to {SEEDS}",
    ),
]
