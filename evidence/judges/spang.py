"""Depth of the queue of a 10 Gb/s port under long flows, measured on a Tofino switch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evidence.judges.judge import Bar, Figures, Judge, Trial, published

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

MEDIAN, TAIL = "median depth, packets", "99th percentile, packets"

LEAST_DEPTH = 2
"""Depth that the switch reports for a packet that finds no other one."""

MOST_WAITING = 214
"""Packets that wait at most with the two largest limits: the switch gives one port no more."""

SCENARIO = """\
schema_version = 1
duration = "{seconds}s"
warmup = "1s"

[topology]
shape = "dumbbell"
access = {{ rate = "40Gbps" }}

[topology.bottleneck]
rate = "10Gbps"
delay = "0s"
queue = {{ limit = "{limit}p" }}

[topology.bottleneck.reverse]
rate = "40Gbps"
queue = {{ limit = "unlimited" }}
jitter = {{ law = "exponential", mean = "{late}" }}

[tcp]
profile = "linux"
congestion_control = "{control}"
mss = "8948B"
receive_window = "64MB"

[[flow]]
name = "long"
count = {flows}
rtt = "1200us"
start_jitter = "100ms"
workload = {{ kind = "bulk" }}
"""

SECONDS = 4
LATE = "30us"
"""Mean delay of ACKs in hosts, which docs/validation.md recommends for links of this speed."""


@dataclass(frozen=True)
class Row:
    """A published set of quantiles.

    Attributes:
        control: congestion control of all flows.
        flows: number of flows.
        limit: limit of the queue, in packets.
        theirs: median and 99th percentile of the depth.
    """

    control: str
    flows: int
    limit: float
    theirs: Mapping[str, float]

    @property
    def name(self) -> str:
        """The name of the row."""
        return f"{self.control}, {self.flows} flows, {self.limit:.1f} packets"

    def scenario(self, _seed: int) -> str:
        """Returns the scenario."""
        return SCENARIO.format(
            seconds=SECONDS,
            limit=min(round(self.limit), MOST_WAITING),
            late=LATE,
            control=self.control,
            flows=self.flows,
        )

    def figures(self, summary: Mapping[str, Any]) -> Figures:
        """Returns quantiles of the waiting packets, counted as the switch counts."""
        link = summary["links"]["bottleneck"]
        return {
            MEDIAN: LEAST_DEPTH + link["p50_backlog_packets"],
            TAIL: LEAST_DEPTH + link["p99_backlog_packets"],
        }

    def bar(self, figure: str) -> Bar:
        """Returns the bar of a quantile."""
        share, least = (0.1, 1.0) if figure == MEDIAN else (0.15, 2.0)
        return Bar.around(self.theirs[figure], share, least)


def rows(file: Path) -> Sequence[Row]:
    """Returns the published rows, sorted by control, flows and limit."""
    found = []
    for line in published(file):
        theirs = {MEDIAN: float(line["depth_p50"]), TAIL: float(line["depth_p99"])}
        flows, limit = int(line["num_flows"]), float(line["max_queue_depth_packets"])
        found.append(Row(line["algorithm"], flows, limit, theirs))
    return sorted(found, key=lambda row: (row.control, row.flows, row.limit))


PROMPT = Trial("ACKs that are not late", {"topology.bottleneck.reverse.jitter.mean": "1ps"})

JUDGE = Judge(
    name="spang2021",
    title="Queues of long flows at 10 Gb/s",
    who="Spang, Arslan and McKeown (Stanford), 2021: Tofino switch, Linux hosts",
    bar="medians 10 % or 1 packet, 99th percentiles 15 % or 2 packets",
    setting="""\
Long flows of one congestion control over 10 Gb/s and 1.2 ms with packets of 9000 bytes. The depths
are those of the switch: 2 for a packet that finds no other one, and 2 above the limit at most. Ours
are quantiles over time of the waiting packets, plus 2; no more than 214 packets wait, because the
switch gives one port no more. Hosts: `linux` profile, 40 Gb/s, and ACKs late by 30 us on average
(exponential), the value that [another comparison](#what-was-tried-on-tiny-and-deep-buffers) found
for hosts on such links. Measured for 3 s after 1 s; the laboratory's runs are longer. Every fourth
row in the order of control, flows and limit is run.""",
    read_rows=rows,
    seeds=range(1, 4),
    every=4,
    trials=(PROMPT,),
    cause=(
        "most queues outside are short and half empty, where bursts decide, and hosts are known "
        "only by one figure, the lateness of ACKs"
    ),
    reading="""
* **All 99th percentiles are inside**; rows outside miss their median. Most of these have a limit
  below 45 packets, of 7.2 us each, which is the order of the lateness of
  hosts.
* **Time or packets.** Ours are quantiles over time, and the switch samples packets. With quantiles
  of the wait of each packet in units of 7.2 us, the same number of rows is inside, but other ones:
  these medians are too high where those over time are too low.
* **One BBR flow** has a queue of 14 packets in place of 18 behind 22, and 22 in place of 29 behind
  44. Without late ACKs it has 5: its estimate of the bandwidth rises with the lateness of ACKs, as
  under [Linux at 10 Mb/s](#what-was-tried-on-tiny-and-deep-buffers).
""",
)
