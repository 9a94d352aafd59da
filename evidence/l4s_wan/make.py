"""The part of docs/evidence/controls.md on single flows over a path of the internet.

The jitter of the path was not published. Its mean is chosen so that one published figure is met,
and the other thirteen are compared. Two laws of jitter are treated alike.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evidence.core.derived import Derived
from evidence.core.pages import with_part
from evidence.l4s_grid.make import cells
from goodqueue.core.intervals import Interval, t_interval
from goodqueue.runs.api import run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PAGE = Path("docs/evidence/controls.md")
PART = "wan"
PUBLISHED = Path(__file__).parents[1] / "validation" / "l4s" / "wan-2020.csv"

SEEDS = range(1, 9)

HALVINGS = 7
"""Steps of the search for the mean of the jitter, from a range of `LEAST_MS` to `MOST_MS`."""

LEAST_MS, MOST_MS = 0.2, 3.0

SCENARIO = """
schema_version = 1
duration = "60s"
warmup = "20s"
[topology]
shape = "dumbbell"
framing = "14B"
access = { rate = "10Gbps" }
[topology.bottleneck]
rate = "20Mbps"
delay = "1ms"
queue = { kind = "dualpi2", min_qlen_step = "2p" }
reverse = { rate = "unlimited", queue = { limit = "unlimited" } }
[[flow]]
name = "one"
rtt = "7ms"
start_jitter = "1s"
workload = { kind = "bulk" }
tcp = { profile = "linux" }
"""

QUEUES = {
    "step 1 ms": '{ kind = "dualpi2", min_qlen_step = "2p" }',
    "step 5 ms": '{ kind = "dualpi2", min_qlen_step = "2p", step_thresh = "5ms" }',
    "fq_codel": '{ kind = "fq_codel" }',
}

CONTROLS = {
    "prague": (
        '{ profile = "prague", congestion_control = { kind = "prague", rtt_target = "0s" } }'
    ),
    "bbr": (
        '{ profile = "linux", ecn = "accecn", l4s = true, '
        'congestion_control = { kind = "bbr3", ecn_response = true, ecn_max_rtt = "40ms" } }'
    ),
    "cubic": '{ profile = "linux", ecn = "accecn" }',
}

NAMES = {"prague": "Prague", "bbr": "BBR", "cubic": "CUBIC"}

LAWS = {
    "exponential": '{{ law = "exponential", mean = "{us}us" }}',
    "Pareto": '{{ law = "pareto", shape = 2.5, mean = "{us}us" }}',
}
"""Laws of the jitter between the sender and the bottleneck."""


@dataclass(frozen=True)
class Row:
    """A published figure.

    Attributes:
        control: key of `CONTROLS`.
        queue: key of `QUEUES`.
        rate_mbps: rate of the bottleneck.
        goodput_mbps: published goodput.
    """

    control: str
    queue: str
    rate_mbps: int
    goodput_mbps: float


def published() -> list[Row]:
    """Returns the published figures; the jitter is chosen for the first."""
    with PUBLISHED.open(encoding="utf-8") as file:
        return [
            Row(one["control"], one["queue"], int(one["rate_mbps"]), float(one["goodput_mbps"]))
            for one in csv.DictReader(file)
        ]


def settings(row: Row, law: str, mean_ms: float) -> dict[str, str]:
    """Returns the settings of a row with this jitter; without any if its mean is zero."""
    found = {
        "topology.bottleneck.rate": f"{row.rate_mbps}Mbps",
        "topology.bottleneck.queue": QUEUES[row.queue],
        "flow.one.tcp": CONTROLS[row.control],
    }
    if mean_ms > 0:
        found["topology.access.jitter"] = LAWS[law].format(us=round(1e3 * mean_ms))
    return found


def goodput(row: Row, law: str, mean_ms: float) -> Interval:
    """Returns our goodput in Mb/s over all seeds."""
    chosen = settings(row, law, mean_ms)
    runs = (run(SCENARIO, set=chosen, seed=seed) for seed in SEEDS)
    return t_interval([one.summary["flows"]["one"]["goodput_bps"] / 1e6 for one in runs])


def calibrated(row: Row, law: str) -> float:
    """Returns the mean jitter in milliseconds with which our goodput is the published one."""
    low, high = LEAST_MS, MOST_MS
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if goodput(row, law, middle).mean > row.goodput_mbps:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def make() -> None:
    """Runs all rows without jitter and with each law, and writes the table."""
    rows = published()
    means = {law: calibrated(rows[0], law) for law in LAWS}
    columns = [[goodput(row, "", 0.0) for row in rows]]
    columns += [[goodput(row, law, mean) for row in rows] for law, mean in means.items()]
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(with_part(page, PART, table(rows, means, columns)), encoding="utf-8")


def table(
    rows: Sequence[Row], means: dict[str, float], columns: Sequence[Sequence[Interval]]
) -> str:
    """Returns the part of the page."""
    laws = [f"{law}, {mean:.2f} ms" for law, mean in means.items()]
    lines = [
        f"| sender | queue | Mb/s | Linux | without jitter | {' | '.join(laws)} |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for place, row in enumerate(rows):
        ours = " | ".join(f"{column[place].mean:.1f}" for column in columns)
        head = f"| {NAMES[row.control]} | {row.queue} | {row.rate_mbps} | {row.goodput_mbps:.1f}"
        lines.append(f"{head} | {ours} |")
    lines += ["", "Largest distance from the published figures, without the fitted one:", ""]
    lines += [*distances(rows, means, columns), ""]
    return "\n".join(lines)


def distances(
    rows: Sequence[Row], means: dict[str, float], columns: Sequence[Sequence[Interval]]
) -> Iterator[str]:
    """Yields an item for each column: its largest distances from figures that were not fitted."""
    for law, column in zip(("without jitter", *means), columns, strict=True):
        parts = []
        for control, name in NAMES.items():
            some = [
                abs(ours.mean / row.goodput_mbps - 1)
                for row, ours in zip(rows[1:], column[1:], strict=True)
                if row.control == control
            ]
            parts.append(f"{name} {100 * max(some):.0f} %")
        yield f"- {law}: {', '.join(parts)}"


THINGS = [
    Derived(
        "l4s_wan",
        make,
        products=(f"{PAGE}#{PART}",),
        inputs=("evidence/validation/l4s/wan-2020.csv",),
        cells=cells,
        seeds=f"{SEEDS[0]} to {SEEDS[-1]}",
    )
]
