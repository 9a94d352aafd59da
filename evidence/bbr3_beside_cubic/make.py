"""Measures BBRv3 beside CUBIC, by itself, and in its start-up.

`make evidence NAME=bbr3_beside_cubic` makes all runs and writes the tables of
docs/evidence/controls.md.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, TypeVar

from evidence.bbr_beside_cubic.make import BDP_PACKETS, LATE, PAGE, SCENARIO, Case, share
from evidence.core.cells import Cell
from evidence.core.derived import Derived
from evidence.core.pages import with_part
from goodqueue.core.intervals import Interval, t_interval
from goodqueue.core.parallel import workers
from goodqueue.output.terminal import progress
from goodqueue.runs.api import load
from goodqueue.runs.results.result import Result

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from goodqueue._core import Cancel

    Run = Callable[[int, Cancel], Mapping[str, float]]

Key = TypeVar("Key")

SEEDS = 5
BUFFERS = (0.25, 0.5, 1, 2, 4, 8, 16, 32)
"""Buffers beside CUBIC, in bandwidth-delay products."""

BBR3 = ("flow.0.tcp.congestion_control", "bbr3")
SPAN = (("duration", "600s"), ("warmup", "200s"))


def beside(flows: int, others: int) -> Case:
    """Returns the case of so many BBRv3 flows that start behind so many CUBIC flows."""
    counts = (("flow.0.count", str(flows)), ("flow.1.count", str(others)))
    return Case(f"{flows} beside {others} CUBIC", (BBR3, *LATE, *SPAN, *counts))


def measuring(every: str) -> Case:
    """Returns the case of one flow beside one that measures its round trip at other intervals."""
    control = f'{{ kind = "bbr3", probe_rtt_interval = "{every}" }}'
    ours = ("flow.0.tcp.congestion_control", control)
    return Case(f"1 beside 1 CUBIC, measuring every {every[:-1]} s", (*beside(1, 1).others, ours))


FAST = (("topology.bottleneck.rate", "100Mbps"), ("duration", "300s"), ("warmup", "100s"))
CASES = (
    *(beside(1, others) for others in (1, 2, 4, 8, 16)),
    beside(4, 4),
    beside(8, 8),
    measuring("10s"),
    measuring("30s"),
    Case("1 beside 1 CUBIC, 100 Mb/s", (*beside(1, 1).others, *FAST)),
)

FLOWS = (1, 2, 4, 8)
"""Numbers of BBRv3 flows without others."""
QUEUE_BDP = 8
START_BUFFERS = (0.1, 0.25, 0.5, 1, 2, 4)
"""Buffers of the start-up, in bandwidth-delay products."""
START = (
    ("topology.bottleneck.rate", "100Mbps"),
    ("topology.access.rate", "10Gbps"),
    ("duration", "3s"),
    ("warmup", "0s"),
    ("flow.0.start_jitter", "10ms"),
)
NO_EXIT = ("flow.0.tcp.congestion_control", '{ kind = "bbr3", loss_threshold = 0.999 }')
"""The loss rate that ends Startup is never reached."""

MARKS = (
    ("topology.bottleneck.rate", "100Mbps"),
    ("topology.access.rate", "10Gbps"),
    ("topology.bottleneck.queue", '{ kind = "step", limit = "1000p", threshold = "10p" }'),
    ("topology.bottleneck.delay", "500us"),
    ("flow.0.rtt", "4ms"),
    ("flow.0.tcp.ecn", "dctcp"),
    ("duration", "60s"),
    ("warmup", "20s"),
)
"""A step of ten packets, 1.2 ms, in a buffer without losses. Receivers report each mark."""

RESPONSES = {
    "`bbr3`": (BBR3,),
    "`bbr3`, `ecn_response`": (
        ("flow.0.tcp.congestion_control", '{ kind = "bbr3", ecn_response = true }'),
    ),
    "`dctcp`": (("flow.0.tcp.congestion_control", "dctcp"),),
}
"""Responses to marks, by their names in the table."""


def shared(case: Case, buffer_bdp: float, seed: int, cancel: Cancel) -> dict[str, float]:
    """Returns BBRv3's share of all goodput in one run, in per cent."""
    return {"share": 100 * share(case, buffer_bdp, seed, cancel)}


def alone(
    settings: tuple[tuple[str, str], ...], buffer_bdp: float, seed: int, cancel: Cancel
) -> dict[str, float]:
    """Returns utilisation, loss rate, lost packets and mean queue of BBRv3 flows without others.

    The queue is in bandwidth-delay products of 10 Mb/s, the shares are in per cent.
    """
    text = SCENARIO[: SCENARIO.rindex("[[flow]]")]
    limit = ("topology.bottleneck.queue.limit", f"{buffer_bdp:g}bdp")
    outcome = load(text, set=[BBR3, limit, *settings], seed=seed).run(cancel=cancel)
    link = Result(outcome, "").summary["links"]["bottleneck"]
    return {
        "utilisation": 100 * link["utilization"],
        "loss": 100 * link["loss_rate"],
        "lost": link["drops"],
        "queue": link["mean_backlog_packets"] / BDP_PACKETS,
        "delay": 1e3 * link["mean_queueing_delay_s"],
        "marks": 100 * link["marks"] / link["arrivals"],
    }


def measure(runs: Mapping[Key, Run], seeds: int) -> dict[Key, dict[str, Interval]]:
    """Makes every run with every seed, and returns the 95 % intervals of its figures."""
    with workers() as threads, progress() as bar:
        shown = bar.add_task("BBRv3", total=len(runs))
        started = {
            key: [threads.submit(partial(run, seed)) for seed in range(1, seeds + 1)]
            for key, run in runs.items()
        }
        found = {}
        for key, futures in started.items():
            values = [future.result() for future in futures]
            found[key] = {
                name: t_interval([one[name] for one in values]).within(0, float("inf"))
                for name in values[0]
            }
            bar.advance(shown)
    return found


def text_of(interval: Interval, digits: int) -> str:
    """Returns an interval with so many digits after the point."""
    return interval.text(lambda value: f"{value:.{digits}f}")


def lines_of(head: list[str], rows: list[list[str]]) -> str:
    """Returns a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def beside_table(seeds: int) -> str:
    """Makes the runs beside CUBIC, and returns BBRv3's shares."""
    runs = {(case, bdp): partial(shared, case, bdp) for case in CASES for bdp in BUFFERS}
    found = measure(runs, seeds)
    rows = []
    for case in CASES:
        flows, others = (int(value) for key, value in case.others if key.endswith("count"))
        cells = [text_of(found[case, bdp]["share"], 0) for bdp in BUFFERS]
        rows.append([case.name, f"{100 * flows / (flows + others):.0f}", *cells])
    head = ["flows of `bbr3`", "equal shares", *(f"{bdp:g} BDP" for bdp in BUFFERS)]
    note = f"Means of {seeds} runs ± their 95 % interval, in per cent of the goodput."
    return f"{lines_of(head, rows)}\n{note}\n"


def queue_table(seeds: int) -> str:
    """Makes the runs of BBRv3 flows without others, and returns their standing queue."""
    runs = {
        flows: partial(alone, (("flow.0.count", str(flows)), *SPAN), QUEUE_BDP) for flows in FLOWS
    }
    rows = [
        [
            str(flows),
            text_of(one["queue"], 2),
            text_of(one["utilisation"], 2),
            text_of(one["loss"], 3),
        ]
        for flows, one in measure(runs, seeds).items()
    ]
    head = ["flows of `bbr3`", "mean queue, BDP", "utilisation, %", "loss, %"]
    return lines_of(head, rows)


def start_table(seeds: int) -> str:
    """Makes the runs of a start-up, and returns what it loses, also without its exit on loss."""
    settings = {"as it is": START, "no exit": (*START, NO_EXIT)}
    found = measure(
        {
            (bdp, name): partial(alone, of, bdp)
            for bdp in START_BUFFERS
            for name, of in settings.items()
        },
        seeds,
    )
    rows = []
    for bdp in START_BUFFERS:
        one, other = (found[bdp, name] for name in settings)
        figures = (text_of(one["lost"], 0), text_of(one["loss"], 2), text_of(one["utilisation"], 1))
        rows.append([f"{bdp:g}", *figures, text_of(other["lost"], 0)])
    head = ["buffer, BDP", "packets lost", "loss, %", "utilisation, %", "lost without exit on loss"]
    return lines_of(head, rows)


def marks_table(seeds: int) -> str:
    """Makes the runs behind a step that marks, and returns delay and utilisation."""
    found = measure(
        {
            (flows, name): partial(alone, (*MARKS, ("flow.0.count", str(flows)), *of), 1)
            for flows in FLOWS
            for name, of in RESPONSES.items()
        },
        seeds,
    )
    rows = []
    for flows, name in found:
        one = found[flows, name]
        figures = (text_of(one["delay"], 2), text_of(one["marks"], 1))
        rows.append([str(flows), name, text_of(one["utilisation"], 1), *figures])
    head = ["flows", "control", "utilisation, %", "mean queueing delay, ms", "marks, %"]
    return lines_of(head, rows)


PARTS = {
    "bbr3 beside cubic": beside_table,
    "bbr3 queue": queue_table,
    "bbr3 start": start_table,
    "bbr3 marks": marks_table,
}
"""Parts of the page, with the function that makes each."""


def make() -> None:
    """Makes all runs and writes the tables."""
    for name, table in PARTS.items():
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(with_part(page, name, table(SEEDS)), encoding="utf-8")


def cells() -> list[Cell]:
    """Returns runs beside CUBIC, with BBRv3 from the start, and alone: start-up and marks."""
    fixed = {"topology.bottleneck.queue.limit": "1bdp", "flow.0.start": "1s"}
    text = SCENARIO[: SCENARIO.rindex("[[flow]]")]
    limit = {"topology.bottleneck.queue.limit": "0.5bdp"}
    return [
        *(Cell.of(SCENARIO, {**dict(case.others), **fixed}) for case in (CASES[0], CASES[-1])),
        *(Cell.of(text, {**dict((BBR3, *START, *own)), **limit}) for own in ((), (NO_EXIT,))),
        *(Cell.of(text, dict((*MARKS, *own))) for own in RESPONSES.values()),
    ]


THINGS = [
    Derived(
        "bbr3_beside_cubic",
        make,
        products=tuple(f"{PAGE}#{name}" for name in PARTS),
        cells=cells,
        seeds=f"1 to {SEEDS}",
    )
]
