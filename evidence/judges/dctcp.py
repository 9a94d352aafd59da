"""Figure 17 of DCTCP: three groups of senders over two bottlenecks, measured on hardware."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evidence.judges.judge import Bar, Figures, Judge, published

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

GROUPS = {"S1": (10, "t1", "r1"), "S2": (20, "t1", "own"), "S3": (10, "t2", "r1")}
"""Number of flows of each group, and the nodes where they begin and end."""

NEAR = 0.03

HEAD = """\
schema_version = 1
duration = "2s"
warmup = "1s"

[topology]
shape = "graph"
framing = "38B"
access = { rate = "1Gbps", delay = "10us" }

[[topology.node]]
name = "t1"

[[topology.node]]
name = "t2"

[[topology.node]]
name = "r1"

[[topology.node]]
name = "own"

[[topology.link]]
name = "trunk"
from = "t1"
to = "t2"
rate = "10Gbps"
delay = "10us"
queue = { kind = "step", limit = "1000p", threshold = "65p" }

[[topology.link]]
name = "last"
from = "t2"
to = "r1"
rate = "1Gbps"
delay = "10us"
queue = { kind = "step", limit = "1000p", threshold = "20p" }

[[topology.link]]
name = "others"
from = "t2"
to = "own"
rate = "unlimited"
delay = "0s"

[tcp]
profile = "linux"
congestion_control = "dctcp"
ecn = "dctcp"
"""

FLOW = """
[[flow]]
name = "{name}"
count = {count}
from = "{begin}"
to = "{end}"
start_jitter = "100ms"
workload = {{ kind = "bulk" }}
"""


@dataclass(frozen=True)
class Row:
    """A published set of the three rates.

    Attributes:
        name: place of the measurement.
        theirs: the rate of one sender of each group.
    """

    name: str
    theirs: Mapping[str, float]

    def scenario(self, _seed: int) -> str:
        """Returns the scenario; all flows to `r1` share the link before it."""
        flows = (
            FLOW.format(name=name, count=count, begin=begin, end=end)
            for name, (count, begin, end) in GROUPS.items()
        )
        return HEAD + "".join(flows)

    def figures(self, summary: Mapping[str, Any]) -> Figures:
        """Returns the mean rate of a sender of each group, in bits of frames."""
        found: Figures = {}
        for name, (count, _, _) in GROUPS.items():
            flows = [summary["flows"][f"{name}.{index}"] for index in range(count)]
            frames = sum(one["throughput_bps"] + one["packets_received"] * 38 * 8 for one in flows)
            found[f"{name}, Mb/s"] = frames / count / 1e6
        return found

    def bar(self, figure: str) -> Bar:
        """Returns the bar of a rate."""
        return Bar.around(self.theirs[figure], NEAR)


def rows(file: Path) -> Sequence[Row]:
    """Returns the published rows."""
    return [
        Row(line["source"], {f"{name}, Mb/s": float(line[name]) for name in GROUPS})
        for line in published(file)
    ]


JUDGE = Judge(
    name="dctcp-fig17",
    title="DCTCP, figure 17",
    who="Microsoft and Stanford, 2010: hardware switches and hosts",
    bar="3 %, as bits on the wire",
    setting="""\
Ten senders S1 send over a link of 10 Gb/s (marking above 65 packets) and a link of 1 Gb/s (above 20
packets) to one receiver, ten senders S3 over the second link alone, and twenty senders S2 over the
first link to receivers of their own. Hosts have 1 Gb/s and links 10 us. Ours: `linux` profile with
`dctcp`, measured for 1 s after 1 s. Frames count with 38 bytes of Ethernet each.""",
    read_rows=rows,
    seeds=range(1, 6),
    reading="""
The ten senders S1 cross both marking queues and get about 2 % less than published, S3 2 % more. The
published rates of S1 and S3 add up to 1 Gb/s, so they are bits on the wire. As goodput, without
headers and frames, the same runs are 1.7 to 5.4 % below the published figures.
""",
)
