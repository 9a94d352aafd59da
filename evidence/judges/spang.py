"""Depth of the queue of a 10 Gb/s port under long flows, measured on a Tofino switch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evidence.judges.judge import OVER_TIME, Bar, Figures, Judge, Trial, published

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from goodqueue.runs.results.result import Result

MEDIAN, TAIL = "median depth, packets", "99th percentile, packets"

CELLS = 113
"""Cells of 80 bytes that a frame of 9000 bytes takes in the switch."""

OWN_DEPTH = 2
"""Depth that the switch reports for a packet behind which no other waits: its own cells, as packets
of 9000 bytes, rounded up."""

MOST_WAITING = 215
"""Packets that wait at most at one port: the memory that the switch gives it."""

SCENARIO = """\
schema_version = 1
duration = "{end}s"
warmup = "{begin}s"

[topology]
shape = "graph"
framing = "38B"

[[topology.link]]
name = "interfaces"
from = "sender"
to = "switch"
rate = "20Gbps"
delay = "0s"
queue = {{ limit = "unlimited" }}
reverse = {{ queue = {{ limit = "unlimited" }} }}

[[topology.link]]
name = "port"
from = "switch"
to = "receiver"
rate = "10Gbps"
delay = "0s"
queue = {{ kind = "{kind}", limit = "{limit}p" }}
interrupts = {{ interval = "{interrupts}" }}

[topology.link.reverse]
delay = "1200us"
queue = {{ limit = "unlimited" }}
interrupts = {{ interval = "{interrupts}" }}
jitter = {{ law = "exponential", mean = "{late}" }}

[tcp]
profile = "linux"
congestion_control = "{control}"
mss = "8948B"
receive_window = "64MB"

[[flow]]
name = "long"
count = {flows}
from = "sender"
to = "receiver"
start_jitter = "1ms"
workload = {{ kind = "bulk" }}
"""

BEGIN_S, END_S = 0.3333, 0.6667
"""The middle third of a run of 1 s."""

LATE = "30us"
"""Mean delay of ACKs in hosts, which docs/validation.md recommends for links of this speed."""

INTERRUPTS = "126us"
"""Time between interrupts of both network cards: the largest of the adaptive moderation of `ixgbe`
(Linux 5.5), which it reaches while fewer than 48 packets come between two interrupts."""


@dataclass(frozen=True)
class Row:
    """A published set of quantiles.

    Attributes:
        control: congestion control of all flows.
        flows: number of flows.
        cells: limit of the queue, in cells.
        limit: the same in packets of 9000 bytes.
        theirs: median and 99th percentile of the depth.
    """

    control: str
    flows: int
    cells: int
    limit: float
    theirs: Mapping[str, float]

    @property
    def name(self) -> str:
        """The name of the row."""
        return f"{self.control}, {self.flows} flows, {self.limit:.1f} packets"

    def scenario(self, _seed: int) -> str:
        """Returns the scenario."""
        waiting = waiting_of(self.cells)
        return SCENARIO.format(
            begin=BEGIN_S,
            end=END_S,
            kind="drop_head" if waiting < MOST_WAITING else "drop_tail",
            limit=min(waiting, MOST_WAITING),
            late=LATE,
            interrupts=INTERRUPTS,
            control=self.control,
            flows=self.flows,
        )

    def figures(self, summary: Mapping[str, Any]) -> Figures:
        """Returns quantiles of the depth, counted as the switch counts."""
        found: Figures = summary[OVER_TIME]
        return found

    def bar(self, figure: str) -> Bar:
        """Returns the bar of a quantile."""
        share, least = (0.1, 1.0) if figure == MEDIAN else (0.15, 2.0)
        return Bar.around(self.theirs[figure], share, least)


def waiting_of(cells: int) -> int:
    """Returns the most packets that wait behind a switch's limit.

    The switch loses a packet that leaves the queue if the cells at this time, its own included, are
    not fewer than the limit.
    """
    return math.ceil(cells / CELLS) - 1


def depths(run: Result) -> Figures:
    """Returns quantiles of the depth over packets, each at its departure, as the switch counts.

    Packets that find the port idle never wait. Those that the port loses as they leave have as many
    packets as the limit behind them.
    """
    import polars as pl

    series, link = run.series, run.summary["links"]["port"]
    if series is None:
        raise ValueError("the run has no series")
    waiting = series.backlog.filter(pl.col("link") == "port")
    change = pl.col("backlog_packets").cast(pl.Int64).diff()
    after = (change < 0) & (pl.col("time_s") >= BEGIN_S)
    behind = waiting.filter(after)["backlog_packets"].to_list()
    alone = max(link["departures"] - len(behind), 0)
    lost = link["drops"] if link["queue"] == "drop_head" else 0
    behind = sorted([0] * alone + behind + [link["limit"]["packets"]] * lost)
    return {
        figure: float(OWN_DEPTH + behind[round(share * (len(behind) - 1))])
        for figure, share in ((MEDIAN, 0.5), (TAIL, 0.99))
    }


def rows(file: Path) -> Sequence[Row]:
    """Returns the published rows, sorted by control, flows and limit."""
    found = []
    for line in published(file):
        theirs = {MEDIAN: float(line["depth_p50"]), TAIL: float(line["depth_p99"])}
        cells, limit = int(line["max_queue_depth_cells"]), float(line["max_queue_depth_packets"])
        found.append(Row(line["algorithm"], int(line["num_flows"]), cells, limit, theirs))
    return sorted(found, key=lambda row: (row.control, row.flows, row.limit))


PROMPT = Trial("ACKs that are not late", {"topology.link.port.reverse.jitter.mean": "1ps"})
SINGLE = Trial(
    "an interrupt for each packet",
    {
        "topology.link.port.interrupts.interval": "1ps",
        "topology.link.port.reverse.interrupts.interval": "1ps",
    },
)

JUDGE = Judge(
    name="spang2021",
    title="Queues of long flows at 10 Gb/s",
    who="Spang, Arslan and McKeown (Stanford), 2021: Tofino switch, Linux hosts",
    bar="medians 10 % or 1 packet, 99th percentiles 15 % or 2 packets",
    setting="""\
Long flows of one congestion control over 10 Gb/s and 1.2 ms with packets of 9000 bytes. The
laboratory's programs say what it measured. The switch counts cells of 80 bytes, 113 for a packet,
and loses a packet that leaves its queue if the cells then reach the limit (`drop_head`). It reports
the depth at each departure, its own cells included. As packets of 9000 bytes, rounded up, that is 2
if no other packet waits. No more than 215 packets wait, because the switch gives one port no more.
The quantiles are over packets of the middle third of a run of 1 s, and so are ours. All flows share
one sender, whose two bonded interfaces of 10 Gb/s are one of 20 Gb/s here, and one receiver. The
network cards of both interrupt every 126 us at most, for all flows together
([hosts.md](hosts.md#interrupts-that-flows-share)). Ours: `linux` profile, and ACKs late by 30 us on
average (exponential), the value that
[another comparison](#what-was-tried-on-tiny-and-deep-buffers) found for hosts on such links. Every
fourth row in the order of control, flows and limit is run.""",
    read_rows=rows,
    seeds=range(1, 6),
    every=4,
    over_time=depths,
    trials=(PROMPT, SINGLE),
    cause=(
        "not known; of what was tried the lateness of ACKs moves such rows most, and all rows have "
        "one mean of it"
    ),
    reading="""
* **Rows outside** miss their median. Most have one flow, or a limit below 45 packets, of 7.2 us
  each, which is the order of the lateness of hosts.
* **Hosts.** The laboratory has one process that sends and one that receives, and network cards
  whose driver (`ixgbe` of Linux 5.5) raises the time between interrupts up to 126 us while fewer
  than 48 packets come at a time. At 10 Gb/s 17 packets come in this time, so all flows are
  acknowledged in one burst. The line above the table has the rows with and without such
  interrupts, and without late ACKs, which interrupts do not replace. What interrupts gain on these
  rows is mostly chance: with one seed, the 227 rows that are not run here hardly gain anything.
* **One run.** The published figures are of a third of a second, in which one flow of CUBIC or Reno
  crosses less than a period of its sawtooth behind the larger limits.
* **One BBR flow**: without late ACKs its queue is nearly empty. Its estimate of the bandwidth rises
  with the lateness of ACKs, as under
  [Linux at 10 Mb/s](#what-was-tried-on-tiny-and-deep-buffers).
""",
)
