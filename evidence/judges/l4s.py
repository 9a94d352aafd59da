"""TCP Prague beside classic senders behind many queues, measured on the FABRIC testbed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from evidence.judges.judge import DUMBBELL, Bar, Figures, Judge, published

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

SECONDS = 60
PRAGUE, CLASSIC = "Prague, Mb/s", "classic, Mb/s"
NEAR_AQM, NEAR_FIFO = 5.0, 8.0
NEVER = "1000s"
"""Target of CoDel that it never reaches, where only a threshold marks."""

CELL = re.compile(
    r"(?P<sender>[a-z0-9-]+?)_(?P<bdp>[\d.]+)_(?P<rate>\d+)_(?P<rtt>\d+)_(?P<queue>\w+?)"
    r"_(?P<threshold>none|\d+)_(?P<fallback>\d)_3_(?P<ecn>\d)(?:_(?P<l4s>\d+)_(?P<classic>\d+))?"
)

ALPHA, BETA = (tc / 256 * 64 / 127 for tc in (41, 819))
"""Gains of DualPI2 in the kernel of the L4S team, per second: half of those that `tc` names.

Its `calculate_probability` divides by 127 what is in units of 1/64 (`net/sched/sch_dualpi2.c`,
commit 29c297fd79dd). Linux 6.17 divides by 64.
"""

QUEUES = {
    "FIFO": 'kind = "drop_tail", limit = "{bytes}B"',
    "Codel": 'kind = "codel", limit = "{packets}p", target = "{threshold}ms", ecn = true',
    "Codel_drop": 'kind = "codel", limit = "{packets}p", target = "{threshold}ms"',
    "pie_drop": 'kind = "pie", limit = "{packets}p", target = "{threshold}ms"',
    "FQ_Codel": 'kind = "fq_codel", limit = "{packets}p", target = "{threshold}ms"',
    "FQ_Codel_L4S": (
        'kind = "fq_codel", limit = "{packets}p", target = "{threshold}ms", '
        'ce_threshold = "1ms", ce_threshold_selector = "ect1"'
    ),
    "DualPI2": (
        'kind = "dualpi2", target = "{threshold}ms", min_qlen_step = "2p", '
        f"alpha = {ALPHA:.6f}, beta = {BETA:.6f}"
    ),
    "FQ": (
        f'kind = "fq_codel", limit = "{{packets}}p", target = "{NEVER}", interval = "{NEVER}", '
        'ce_threshold = "{threshold}ms", quantum = "3028B", drop_batch = 1'
    ),
    "single_queue_FQ": (
        f'kind = "codel", limit = "{{packets}}p", target = "{NEVER}", interval = "{NEVER}", '
        'ce_threshold = "{threshold}ms"'
    ),
}
"""Queues by their names in the data, with the parameters of the laboratory's own commands."""

CONTROLS = {
    "cubic": '"cubic"',
    "bbrv1": '"bbr"',
    "bbrv3": '"bbr3"',
    "ecnlow-bbrv3": '{ kind = "bbr3", ecn_response = true }',
}
"""Classic senders by the beginning of the name of a file."""

SCENARIO = (
    DUMBBELL
    + """\
[topology.bottleneck]
rate = "{rate}Mbps"
delay = "0s"
queue = {{ {queue} }}

[[flow]]
name = "prague"
count = {l4s}
rtt = "{rtt}ms"
start_interval = "50ms"
start_jitter = "50ms"
workload = {{ kind = "bulk" }}

[flow.tcp]
profile = "prague"
congestion_control = {{ kind = "prague", ecn_fallback = {fallback} }}

[[flow]]
name = "classic"
count = {classic}
rtt = "{rtt}ms"
start_interval = "50ms"
start_jitter = "50ms"
workload = {{ kind = "bulk" }}

[flow.tcp]
profile = "linux"
congestion_control = {control}
ecn = "{ecn}"
"""
)


class Key(NamedTuple):
    """Identity of a row: the classic sender, and the fields of the name of a cell."""

    stem: str
    sender: str
    queue: str
    bdp: float
    rate_mbps: int
    rtt_ms: int
    threshold_ms: str
    fallback: bool
    ecn: bool
    flows: tuple[int, int]


@dataclass(frozen=True)
class Row:
    """A published cell: the rates of one side or of both.

    Attributes:
        key: its fields.
        theirs: the rate of each side that is known.
    """

    key: Key
    theirs: Mapping[str, float]

    @property
    def name(self) -> str:
        """The name of the row."""
        key = self.key
        words = [f"{key.sender}{' with ECN' if key.ecn else ''}"]
        words += [f"{key.queue} {key.threshold_ms} ms" if key.threshold_ms else key.queue]
        words += [f"{key.bdp:g} BDP", f"{key.rtt_ms} ms"]
        words += ["fallback"] if key.fallback else []
        words += [] if key.flows == (1, 1) else [f"{key.flows[0]} to {key.flows[1]} flows"]
        return ", ".join(words)

    def scenario(self, _seed: int) -> str:
        """Returns the scenario."""
        key = self.key
        size = int(1000 * key.bdp * key.rate_mbps * key.rtt_ms / 8)
        queue = QUEUES[key.queue].format(
            bytes=size, packets=size // 1500 + 1, threshold=key.threshold_ms
        )
        control = CONTROLS[key.sender]
        echo = "dctcp" if "ecn_response" in control else "rfc3168"
        return SCENARIO.format(
            seconds=SECONDS,
            rate=key.rate_mbps,
            rtt=key.rtt_ms,
            queue=queue,
            fallback=str(key.fallback).lower(),
            control=control,
            ecn=echo if key.ecn else "off",
            l4s=key.flows[0],
            classic=key.flows[1],
        )

    def figures(self, summary: Mapping[str, Any]) -> Figures:
        """Returns the goodput of each side over the whole run."""
        found: Figures = {PRAGUE: 0.0, CLASSIC: 0.0}
        for name, flow in summary["flows"].items():
            found[PRAGUE if name.startswith("prague") else CLASSIC] += flow["goodput_bps"] / 1e6
        return found

    def bar(self, figure: str) -> Bar:
        """Returns the bar of a rate."""
        near = NEAR_FIFO if self.key.queue == "FIFO" else NEAR_AQM
        return Bar.around(self.theirs[figure], 0.0, near)


def key_of(experiment: str, file: str, cell: str) -> Key | None:
    """Returns the fields of a cell; None for controls that this project does not have.

    Files of round-trip times have none, either. Two numbers at the end of a cell are numbers of
    flows in experiments with several flows only.
    """
    if "bbrv2" in f"{experiment} {file}".lower() or "_tput" not in file:
        return None
    stem = re.sub(r"_tput.*", "", file)
    sender = stem.lower().split("_")[0]
    fields = CELL.fullmatch(cell)
    if fields is None or sender not in CONTROLS or fields["queue"] not in QUEUES:
        return None
    several = fields["l4s"] is not None and not experiment.startswith("1vs1")
    flows = (int(fields["l4s"]), int(fields["classic"])) if several else (1, 1)
    threshold = "" if fields["threshold"] == "none" else fields["threshold"]
    return Key(
        stem,
        sender,
        fields["queue"],
        float(fields["bdp"]),
        int(fields["rate"]),
        int(fields["rtt"]),
        threshold,
        fields["fallback"] == "1",
        fields["ecn"] == "1",
        flows,
    )


def rows(file: Path) -> Sequence[Row]:
    """Returns the published rows, sorted by their fields."""
    found: dict[Key, dict[str, float]] = {}
    for line in published(file):
        key = key_of(line["experiment"], line["file"], line["cell"])
        if key is not None:
            side = PRAGUE if line["cell"].startswith("prague") else CLASSIC
            found.setdefault(key, {})[side] = float(line["mean"])
    return [Row(key, found[key]) for key in sorted(found)]


JUDGE = Judge(
    name="l4s-pam2025",
    title="TCP Prague beside classic senders",
    who="Sarpkaya and others, 2024: FABRIC testbed, Linux 5.13 and 6.4, kernel of the L4S team",
    bar="5 Mb/s for both sides, 8 behind a FIFO",
    setting="""\
Flows of TCP Prague beside classic flows for 60 s, with their start, through `htb` and queues with
the parameters of the laboratory's own commands. Figures are the sums of each side. Ours: profiles
`prague` and `linux`; `fq` with a threshold is `fq_codel`, or `codel` for its single queue, with a
`ce_threshold` and a target that is never reached. Flows start 50 ms apart, because `iperf3` opens
all connections before it sends. Every eighth row in the order of their fields is run; rows with
BBRv2, which goodqueue does not have, are left out.""",
    read_rows=rows,
    seeds=range(1, 4),
    every=8,
    cause=(
        "the kernel's Prague takes DualPI2 for a classic queue, although the published round trips "
        "vary too little for its rule"
    ),
    reading="""
* **Another eighth of the rows**, every eighth from the fifth on, with which nothing was chosen: 81
  of 93 are inside. Of both eighths, these are 141 of 162 rows with active queues and 19 of 24 with
  a FIFO.
* **DualPI2.** The kernel of the L4S team divides by 127 what is in units of 1/64, so its gains are
  half of those that `tc` shows, and its step spares packets that found fewer than two others. Linux
  6.17 divides by 64. With Linux's gains Prague beside CUBIC gets 3 to 5 Mb/s more.
* **Hosts add no delay that matters.** The laboratory switched off offloads on all interfaces, so
  its queues see single segments. The mean round trip of Prague is 10.34 ms behind DualPI2 and 11.09
  ms behind FQ-CoDel with a threshold; ours are 10.44 and 11.09 ms. An exponential delay of 0.3 ms
  on the links of hosts, by which the row of CoDel would come nearer, makes them half a millisecond
  longer.
* **CoDel with ECN and 1 BDP**: 88 and 7 Mb/s, published 75 and 20, which is what a limit of 66 in
  place of 84 packets gives here (76 and 18). What fills the other places is not known. No effect
  have `segmentation_offload`, late ACKs, pacing of CUBIC, classic slow start, the ACK option of
  accurate ECN, and other rules of CoDel's count.
* **Fallback**: behind DualPI2 the kernel's Prague falls to 9 Mb/s, and behind FQ-CoDel to 40; ours
  keeps half of the link. Its rule, which ours follows, needs a mean deviation of the round trip of
  0.75 ms, and no distribution with the published mean above the base of 10 ms has that.
* **FIFO with several flows on each side**: Prague gets 5 to 17 Mb/s too little. Without its
  independence of the round trip, 10 and 10 flows on 0.5 BDP have 59 and 36 (published 60 and 35),
  but one and one then 57 and 36 in place of 42 and 52 (41 and 53). The cause is not known.
* **Many flows on 1 BDP.** If flows start within 100 ms, some SYNs are lost, and a connection whose
  SYN is sent again has no ECN (RFC 3168, and Linux). It then takes the whole link behind a queue
  that only marks: 94 Mb/s for the classic one of 25 and 25 flows, published 41, and 33 if flows
  start 50 ms apart.
* **FIFO with one flow on each side**: the published standard deviations are 4 to 7 Mb/s, so 8 Mb/s
  is about as much as chance allows.
""",
)
