"""Characterises every queue discipline by RFC 7928: the tables of docs/characterize.md.

`make evidence NAME=characterize` runs all of them, and writes the digest into the page and
every figure to evidence/characterize/queues.csv.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evidence.core.derived import Derived
from evidence.core.pages import with_part
from goodqueue import _core
from goodqueue.characterization.api import SEEDS, characterize
from goodqueue.output.terminal import number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evidence.core.cells import Cell
    from goodqueue.characterization.measure import Characterization
    from goodqueue.study.compare import Sample

PAGE = Path("docs/characterize.md")
EVERY_FIGURE = Path("evidence/characterize/queues.csv")

QUEUES = {
    "drop_tail, 1 BDP": '{ kind = "drop_tail", limit = "1bdp" }',
    "drop_tail, 1000 packets": '{ kind = "drop_tail", limit = "1000p" }',
    "drop_head, 1 BDP": '{ kind = "drop_head", limit = "1bdp" }',
    "red": '{ kind = "red", limit = "400kB", probability = 0.1 }',
    "ns2_red, adaptive": '{ kind = "ns2_red", limit = "400kB", mean_packet = "1500B", '
    'adaptation = { kind = "floyd" } }',
    "choke": '{ kind = "choke", limit = "1000p" }',
    "blue": '{ kind = "blue", limit = "200p" }',
    "fpq": '{ kind = "fpq", limit = "1000p" }',
    "codel": "codel",
    "pie": "pie",
    "pi2": '{ kind = "pi2", limit = "1000p" }',
    "dualpi2": "dualpi2",
    "step": '{ kind = "step", limit = "1bdp", threshold = "20p" }',
    "drr": '{ kind = "drr", limit = "1bdp" }',
    "sfq": "sfq",
    "fq_codel": "fq_codel",
    "fq_pie": "fq_pie",
    "cake": "cake",
    "tbf before fq_codel": '{ kind = "tbf", rate = "9500kbps", burst = "3028B", '
    'queue = { kind = "fq_codel" } }',
}
"""Every discipline of the registry that shares a link among flows, with the parameters of
docs/queues/compared.md. `prio` needs classes that the guidelines' traffic does not have."""


@dataclass(frozen=True)
class Column:
    """A column of the digest.

    Attributes:
        head: header, with the unit.
        section: file of the section.
        case: number of the case.
        metric: the metric.
        factor: factor from the metric's unit to that of the header.
    """

    head: str
    section: str
    case: int
    metric: str
    factor: float = 1.0


COLUMNS = (
    Column("use by one flow, % (5.2)", "aggressive", 0, "bottleneck.utilization", 100),
    Column("use under medium load, % (8.2.3)", "medium", 0, "bottleneck.utilization", 100),
    Column("p99 delay, ms (8.2.3)", "medium", 0, "bottleneck.p99_queueing_delay_s", 1000),
    Column("loss, % (8.2.3)", "medium", 0, "bottleneck.loss_rate", 100),
    Column("ping p99, ms (4.6)", "scheduling", 0, "ping.p99_latency_under_load_s", 1000),
    Column("Jain's index (4.6)", "scheduling", 0, "long.goodput_bps.jain"),
    Column("page, s (7.2 IV)", "bursts", 3, "web.mean_page_time_s"),
    Column("call MOS (9.1, 5 bulk)", "traffic-mix", 3, "call.mos"),
    Column("TCP in overload, Mb/s (5.3)", "overload", 0, "long.goodput_bps", 1e-6),
    Column(
        "far over near (6.2, 560 ms)", "rtt-fairness", 4, "second.goodput_bps / first.goodput_bps"
    ),
    Column("use, capacity slow, % (8.2.6)", "capacity-slow", 0, "bottleneck.utilization", 100),
    Column("p99 then, ms (8.2.6)", "capacity-slow", 0, "bottleneck.p99_queueing_delay_s", 1000),
)


def make() -> None:
    """Runs every queue, and writes the table and every figure."""
    found = {name: characterize(queue=queue, seeds=SEEDS) for name, queue in QUEUES.items()}
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_part(page, "table", digest(found)), encoding="utf-8")
    write_csv(found, EVERY_FIGURE)


def digest(found: dict[str, Characterization]) -> str:
    """Returns the columns of the digest as a Markdown table, with its provenance."""
    heads = ["queue", *(column.head for column in COLUMNS), "better, worse"]
    lines = [f"| {' | '.join(heads)} |", "| --- " * len(heads) + "|"]
    for name, result in found.items():
        cells = [_cell(result, column) for column in COLUMNS]
        lines.append(f"| {' | '.join([f'`{name}`', *cells, _tally(result)])} |")
    seeds = {name: len(one.seeds) for name, one in found.items()}
    provenance = (
        f"Made by `make evidence NAME=characterize`. Means of {seeds_of(seeds)} ± the 95 % "
        f"interval of the mean, results version {_core.results_version()}."
    )
    return "\n".join([*lines, "", provenance]) + "\n"


def seeds_of(numbers: dict[str, int]) -> str:
    """Returns the number of runs of most queues in words, and those of queues with fewer."""
    most = max(numbers.values())
    fewer = [f"`{name}` {number}" for name, number in numbers.items() if number < most]
    return f"{most} runs" + (f" (fewer: {', '.join(fewer)})" if fewer else "")


def _tally(result: Characterization) -> str:
    tally = result.tally
    return "" if result.against is None else f"{tally['better']}, {tally['worse']}"


def _cell(result: Characterization, column: Column) -> str:
    cases = [one for one in result.found if one.section.key == column.section]
    scores = cases[column.case].scores
    found = [score.own for score in scores if score.measure.metric == column.metric]
    return _text(found[0] if found else None, column.factor)


def _text(one: Sample | None, factor: float) -> str:
    if one is None:
        return "-"
    interval = one.interval
    mean = number(interval.mean * factor, 3).removesuffix(".")
    return f"{mean} ± {number(interval.half_width * factor, 2)}"


def write_csv(found: dict[str, Characterization], path: Path) -> None:
    """Writes every figure of every queue, in the units of the metrics' names."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["# results version", _core.results_version()])
        heads = ["queue", "section", "case", "metric", "mean", "half_width", "seeds", "finding"]
        writer.writerow(heads)
        for name, result in found.items():
            writer.writerows(_rows(name, result))


def _rows(name: str, result: Characterization) -> Iterator[Sequence[object]]:
    for one in result.found:
        for score in one.scores:
            if score.own is not None:
                mean, half = score.own.interval.mean, score.own.interval.half_width
                metric = score.measure.metric
                figures = [f"{mean:.5g}", f"{half:.2g}", len(score.own.values), score.verdict]
                yield [name, one.section.number, one.case.name, metric, *figures]


def cells() -> list[Cell]:
    """Returns the cells of `which_queue/compared`, which run the same queues on one link."""
    from evidence.which_queue.make import cells as compared

    return compared()


THINGS = [
    Derived(
        "characterize",
        make,
        products=(f"{PAGE}#table", str(EVERY_FIGURE)),
        inputs=("python/goodqueue/characterization/rfc7928",),
        cells=cells,
        seeds=f"1 to {SEEDS}",
    )
]
