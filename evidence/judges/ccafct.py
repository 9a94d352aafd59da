"""Completion times of CUBIC flows in one queue with a long competitor, measured under Linux."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evidence.judges.judge import DUMBBELL, Bar, Figures, Judge, published

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

MEAN = "geometric mean, ms"

FLOWS = 900
GAP_S = 0.2
MEAN_BYTES = 645683
SIGMA = math.log(2097152 / 65536) / (2 * 1.645)
"""Logarithmic standard deviation of lengths with these 5th and 95th percentiles."""

HEAD_START_S = 20.0
"""Time from the start of the competitor to that of the flows, so that it has left slow start."""

SECONDS = 280
"""End of a run: the flows begin within about 180 s, and the last ones end some seconds later."""

HEAD = (
    DUMBBELL
    + """\
[topology.bottleneck]
rate = "50Mbps"
delay = "{delay}us"
queue = {{ kind = "fq_codel", flows = 1 }}
reverse = {{ queue = {{ kind = "fq_codel", flows = 1 }} }}

[tcp]
profile = "linux"
"""
)

COMPETITOR = """
[[flow]]
name = "competitor"
from = 1
to = 0
workload = {{ kind = "bulk" }}
tcp = {{ profile = "{profile}", congestion_control = "{control}", ecn = "accecn" }}
"""

FLOW = f"""
[[flow]]
name = "flows"
start = "{HEAD_START_S}s"

[flow.workload]
kind = "transfers"
direction = "down"
size = {{ law = "lognormal", mean = "{MEAN_BYTES}B", sigma = {SIGMA:.6f} }}
interval = "{GAP_S}s"
most = {FLOWS}
reuse = true
"""


@dataclass(frozen=True)
class Row:
    """A published row.

    Attributes:
        rtt_ms: base round-trip time.
        competitor: control of the long flow, or `none`.
        theirs: the geometric mean of the completion times.
    """

    rtt_ms: int
    competitor: str
    theirs: Mapping[str, float]

    @property
    def name(self) -> str:
        """The name of the row."""
        beside = "alone" if self.competitor == "none" else f"beside {self.competitor}"
        return f"{self.rtt_ms} ms, {beside}"

    def scenario(self, _seed: int) -> str:
        """Returns the scenario."""
        text = HEAD.format(seconds=SECONDS, delay=self.rtt_ms * 500)
        if self.competitor != "none":
            profile = "prague" if self.competitor == "prague" else "linux"
            text += COMPETITOR.format(profile=profile, control=self.competitor)
        return text + FLOW

    def figures(self, summary: Mapping[str, Any]) -> Figures:
        """Returns the geometric mean over the flows that ended, each of which is one transfer."""
        return {MEAN: 1e3 * summary["flows"]["flows"]["geometric_mean_transfer_time_s"]}

    def bar(self, figure: str) -> Bar:
        """Returns the bar of a completion time."""
        return Bar.around(self.theirs[figure], 0.15)


def rows(file: Path) -> Sequence[Row]:
    """Returns the published rows."""
    return [
        Row(int(line["rtt_ms"]), line["competitor"], {MEAN: float(line["geomean_ms"])})
        for line in published(file)
    ]


JUDGE = Judge(
    name="ccafct-2021",
    title="Completion times beside a long flow",
    who="Heist, 2021: Linux, netem",
    bar="geometric means 15 %",
    setting="""\
900 transfers from servers to clients cross one CoDel queue (`fq_codel flows 1`) of 50 Mb/s, alone
or beside a long flow that starts 20 s before them. Each transfer asks with 200 bytes on a
connection of its own and ends when its last byte arrives, as in the laboratory's program over HTTP.
A transfer that waits for its handshake begins on the connection of one that ends, as with Go's
`net/http` for clients that share connections (`reuse`). Lengths and gaps are drawn by the seed from
the published laws. Ours: CUBIC of the `linux` profile without ECN, as clients there do not ask for
it; the long flow is CUBIC or Prague with accurate ECN.""",
    read_rows=rows,
    seeds=range(1, 7),
    cause=(
        "not known; the ECN of the long flow, its slow start and its direction move such rows by "
        "less than a tenth of the difference, or away"
    ),
    reading="""
* **Alone**, transfers take as long as published, within 6 %. Five transfers begin in a second, so a
  share of 1 - exp(-5 RTT/s) of them finds a connection with a large window: 5 % at 10 ms, 18 % at
  40, 33 % at 80 and 55 % at 160 ms. With connections of their own those at 160 ms would take 28 %
  longer than published.
* **Beside CUBIC** ours are too fast by a tenth to a third, and beside Prague at 80 ms by a fifth.
  With ECN on the transfers, Prague would do them no harm at all (260 ms in place of 1171 at 10 ms):
  without ECN it is marked while they lose packets.
* **Super-segments** (`interface`) change the rows alone and beside CUBIC by 2 % at most up to 80
  ms, and shorten those beside Prague by 20 to 27 %, away from the published ones. Rows here have
  none.
* **Chance**: the published figures are of one draw of the 900 lengths and gaps.
* A completion time up to the ACK of the last byte, which may be delayed by 40 ms, would be 17 %
  longer at 10 ms.
""",
)
