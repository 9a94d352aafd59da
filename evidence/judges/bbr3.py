"""Two BBRv3 flows of different round-trip times behind tbf, measured under Linux 6.4."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evidence.judges.judge import DUMBBELL, OVER_TIME, Bar, Figures, Judge, published

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from goodqueue.runs.results.result import Result

SECONDS = 60
RECEIVE_WINDOW = "64MB"

SCENARIO = (
    DUMBBELL
    + """\
[topology.bottleneck]
rate = "10Gbps"
delay = "0s"
queue = {{ kind = "tbf", rate = "1Gbps", burst = "500000B", limit = "{limit}B" }}

[tcp]
profile = "linux"
congestion_control = "bbr3"
receive_window = "{window}"
"""
)

FLOW = """
[[flow]]
name = "rtt{rtt}"
rtt = "{rtt}ms"
start_jitter = "100ms"
interface = {{ super_segments = true, send_jitter = {{ law = "exponential", mean = "20us" }} }}
workload = {{ kind = "bulk" }}
"""


@dataclass(frozen=True)
class Row:
    """A published run.

    Attributes:
        name: its buffer, in bandwidth-delay products as the laboratory counts them.
        limit_bytes: the limit of tbf.
        theirs: goodput, mean round-trip time and retransmissions of each flow.
    """

    name: str
    limit_bytes: int
    theirs: Mapping[str, float]

    @property
    def rtts(self) -> list[int]:
        """Base round-trip times of the flows, in milliseconds."""
        return _rtts(self.theirs)

    def scenario(self, _seed: int) -> str:
        """Returns the scenario."""
        head = SCENARIO.format(seconds=SECONDS, limit=self.limit_bytes, window=RECEIVE_WINDOW)
        return head + "".join(FLOW.format(rtt=rtt) for rtt in self.rtts)

    def figures(self, summary: Mapping[str, Any]) -> Figures:
        """Returns the figures of both flows over the whole run."""
        found: Figures = {}
        for rtt in self.rtts:
            flow = summary["flows"][f"rtt{rtt}"]
            found[f"{rtt} ms: goodput, Mb/s"] = flow["goodput_bps"] / 1e6
            found[f"{rtt} ms: mean RTT, ms"] = summary[OVER_TIME][f"rtt{rtt}"]
            found[f"{rtt} ms: retransmitted, segments"] = flow["retransmissions"]
        return found

    def bar(self, figure: str) -> Bar:
        """Returns the bar of a figure."""
        theirs = self.theirs[figure]
        if figure.endswith("segments"):
            return Bar.factor(theirs, 2)
        if figure.endswith("Mb/s"):
            return Bar.around(theirs, 0.12, or_interval=True)
        return Bar.around(theirs, 0.1)


def sampled_rtts(run: Result) -> Figures:
    """Returns the mean round-trip time of each flow as `iperf3` takes it, in milliseconds.

    `iperf3` reads the kernel's smoothed round-trip time once a second.
    """
    import polars as pl

    if run.series is None:
        raise ValueError("the run has no series")
    end = int(run.summary["measured_s"])
    seconds = pl.DataFrame({"time_s": [float(second) for second in range(1, end + 1)]})
    found: Figures = {}
    for (flow,), samples in run.series.rtt.group_by("flow"):
        smoothed = samples.sort("time_s").with_columns(
            pl.col("rtt_s").ewm_mean(alpha=1 / 8, adjust=False)
        )
        mean = seconds.join_asof(smoothed, on="time_s")["rtt_s"].mean()
        found[str(flow)] = 1e3 * float(str(mean))
    return found


def _rtts(names: Mapping[str, object]) -> list[int]:
    """Returns the round-trip times that the names of columns or figures begin with."""
    found = (re.match(r"(?:rtt)?(\d+)", name) for name in names)
    return list(dict.fromkeys(int(one[1]) for one in found if one))


def rows(file: Path) -> Sequence[Row]:
    """Returns the published rows."""
    found = []
    for line in published(file):
        theirs = {}
        for rtt in _rtts(line):
            theirs[f"{rtt} ms: goodput, Mb/s"] = float(line[f"rtt{rtt}_mbps"])
            theirs[f"{rtt} ms: mean RTT, ms"] = float(line[f"rtt{rtt}_mean_rtt_us"]) / 1e3
            theirs[f"{rtt} ms: retransmitted, segments"] = float(line[f"rtt{rtt}_retx"])
        found.append(Row(f"{line['buffer_bdp']} BDP", int(line["limit_bytes"]), theirs))
    return found


JUDGE = Judge(
    name="bbr3-rtt",
    title="BBRv3 flows of 20 and 100 ms",
    who="Gomez and others, 2023: Linux 6.4 with Google's BBRv3 in Mininet",
    bar="goodput 12 % or our 95 % interval, mean RTT 10 %, retransmitted segments a factor of 2",
    setting="""\
Two BBRv3 flows for 60 s through `tbf` of 1 Gb/s, whose limit is given in bytes. The mean round trip
is that of `iperf3`, which reads the smoothed round-trip time of the kernel once a second. Ours:
`linux` profile with `bbr3`, receive windows of 64 MB, the whole 60 s with their start. Hosts have
`super_segments`, as Mininet's virtual Ethernet has, and a jitter of 20 us as measured in
[hosts.md](hosts.md).""",
    read_rows=rows,
    seeds=range(1, 11),
    over_time=sampled_rtts,
    cause="""\
three super-segments of 44 are lost there, and one of the other flow, in 60 s; this queue never
overflows here, and `tbf` splits nothing, as its bucket holds 500 kB""".replace("\n", " "),
    reading="""
* **Super-segments and jitter** move all goodputs towards the published ones: more of the figures
  are outside with segments that leave one by one and no jitter.
* **The flow of 20 ms gets too much** behind 0.5 BDP, and the flow of 100 ms too little. The
  published figures are of single runs, and the standard deviation of one of our runs is about
  30 Mb/s. ACKs late by 200 us on average, and a common start of both flows, do not change that.
  Neither do the rules in which Google's tree differs from the draft, which all together give the
  short flow still more: growth judged at each ACK, a threshold of 5/256, gains of 0.91 and 0.347
  in Down and Drain, the flight before the ACK in Down, the target with its offload budget, and
  Startup's end, which forgets losses and follows the largest bandwidth.
* **Ten BDP**: 132 and 44 segments are three super-segments and one. The laboratory's script has a
  function that adds a random loss of 0.0046 % (`netem`) to the path, which this experiment does not
  call. With such a loss at the bottleneck, four of our runs retransmit 79 and 180 segments on
  average.
* **Mean round trips** over all samples of a flow are another figure. A flow has more samples while
  it is fast, so that of the flow of 20 ms at 10 BDP would be 108 ms.
* Retransmissions of the other rows, thousands in each, agree within 26 %.
""",
)
