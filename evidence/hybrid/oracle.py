"""Packet runs of drawn links, with which the hybrid engine is compared.

    python -m evidence.hybrid.oracle FIRST LAST OUT.jsonl [--replicates N]

Each seed from FIRST up to, not including, LAST draws one link. Each line of the output is one run
behind one buffer. Seeds below 1000 are for development, seeds from 1000 on for tests alone.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import struct
import sys
import time
from pathlib import Path
from typing import Any

from goodqueue.runs.settings import scenario_of
from goodqueue.sizing.link import Link, rtt_range
from goodqueue.sizing.trials.described import settings, tail_drop
from goodqueue.sizing.trials.length import Length, length

Row = dict[str, Any]
"""A drawn link or one of its runs, as a line of the output."""

MOST_PACKETS = 6_000_000
"""Approximate number of packets after which a run ends."""

REPLICATES = 2
"""Least number of seeds of the packet engine behind each buffer, unless `--replicates` sets it."""

CHEAP_PACKETS, MOST_OF_CHEAP = 1_000_000, 8
"""Packets that the runs of one requested replicate send together: short runs are repeated, at most
as often as the second number allows.
"""


def draw(seed: int) -> Row:
    """Draws a link in the range of the hybrid engine.

    The loss epochs of the link are so short that a run of `MOST_PACKETS` packets contains enough of
    them.
    """
    rng = random.Random(f"link {seed}")  # noqa: S311 - draws links, no secrets
    while True:
        case = _draw(rng, seed)
        link = link_of(case)
        if length(link, link.bdp_packets / 2, cold=True).packets <= MOST_PACKETS:
            return case


def _draw(rng: random.Random, seed: int) -> Row:
    flows = round(math.exp(rng.uniform(0, math.log(1500))))
    window = math.exp(rng.uniform(math.log(9), math.log(300)))
    if flows < 5:
        window *= math.exp(rng.uniform(0, math.log(8)))
    if rng.random() < 0.5:
        rtts = [math.exp(rng.uniform(math.log(0.01), math.log(0.12)))]
    else:
        first = math.exp(rng.uniform(math.log(0.01), math.log(0.03)))
        rtts = [first, first * math.exp(rng.uniform(math.log(1.5), math.log(12)))]
    mean = sum(rtts) / len(rtts)
    rate = flows * window * 12000 / mean
    control = "cubic" if rng.random() < 0.55 else "reno"
    profile = "linux" if rng.random() < 0.7 else "rfc"
    return {
        "seed": seed,
        "rate": round(rate),
        "rtts": rtts,
        "flows": flows,
        "control": control,
        "profile": profile,
        "byte_counting": profile == "linux",
    }


def link_of(case: Row) -> Link:
    """Returns the drawn link in the form that the sizing rules need."""
    rtts: tuple[float, ...] = tuple(case["rtts"])
    if len(rtts) > 1:
        rtts = rtt_range(rtts[0], rtts[-1])
    # Times in a scenario are whole microseconds.
    rtts = tuple(round(rtt * 1e6) / 1e6 for rtt in rtts)
    return Link(
        case["rate"],
        rtts,
        case["flows"],
        congestion_control=case["control"],
        profile=case["profile"],
        byte_counting=case["byte_counting"],
    )


def buffers(case: Row) -> list[int]:
    """Returns five buffers, in packets, around those at which utilisation and loss change."""
    link = link_of(case)
    bdp = link.bdp_packets
    low = max(6.0, 0.15 * bdp / math.sqrt(link.flows))
    high = max(min(1.2 * bdp, 3.0 * bdp / math.sqrt(link.flows)), 2 * low)
    return sorted({round(low * (high / low) ** (i / 4)) for i in range(5)})


def reach_of(link: Link, packets: int) -> Length:
    """Returns the length of a run in which flows begin with slow start.

    The length is that of a replicate of `size`, cut after `MOST_PACKETS` packets or 40 of the
    longest round-trip times, whichever is later. A quarter is not measured.

    Args:
        link: the link.
        packets: its buffer.
    """
    reach = length(link, packets, cold=True)
    share = min(1.0, MOST_PACKETS / reach.packets)
    duration = max(reach.duration_s * share, 40 * max(link.rtts_s))
    return Length(duration / 4, duration, duration / link.packet_time_s, warm=False)


COMMON = (
    "utilization",
    "loss_rate",
    "mean_queueing_delay_s",
    "p50_queueing_delay_s",
    "p99_queueing_delay_s",
    "loss_bursts",
    "mean_flows_hit",
)
"""Figures of the bottleneck that both engines yield under the same names."""

WANTED = (*COMMON, "drops_overlimit")
"""Figures of the bottleneck that are recorded."""


def run(case: Row, packets: int, seed: int) -> Row:
    """Runs the packet engine once behind this buffer; returns the link and its figures."""
    link = link_of(case)
    reach = reach_of(link, packets)
    scenario = scenario_of(settings(link_of(case), packets, tail_drop(packets), reach), "link")
    before = time.process_time()
    outcome = scenario.with_seed(seed).run(series=False, packets=False)
    took = time.process_time() - before
    names, data = outcome.metrics()
    values = dict(zip(names.split("\n"), struct.unpack(f"<{len(data) // 8}d", data), strict=False))
    found = {name: values.get(f"bottleneck.{name}", math.nan) for name in WANTED}
    found["jain"] = values.get("long.goodput_bps.jain", math.nan)
    found["goodput_bps"] = values.get("long.goodput_bps.sum", math.nan)
    for name in ("retransmissions", "timeouts"):
        found[name] = values.get(f"flows.{name}.sum", math.nan)
    return {
        **case,
        "packets": packets,
        "run_seed": seed,
        "warmup_s": reach.start_up_s,
        "duration_s": reach.duration_s,
        "cpu_s": took,
        **found,
    }


def replicates_of(reach: Length, asked: int) -> int:
    """Returns the number of runs behind one buffer if at least `asked` are wanted."""
    wanted = math.ceil(asked * CHEAP_PACKETS / reach.packets)
    return min(max(wanted, asked), MOST_OF_CHEAP * asked)


def main() -> None:
    """Draws links and runs them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("first", type=int)
    parser.add_argument("last", type=int)
    parser.add_argument("out", type=Path)
    parser.add_argument("--replicates", type=int, default=REPLICATES)
    asked = parser.parse_args()
    with asked.out.open("a") as out:
        for seed in range(asked.first, asked.last):
            case = draw(seed)
            for packets in buffers(case):
                count = replicates_of(reach_of(link_of(case), packets), asked.replicates)
                for replicate in range(1, count + 1):
                    out.write(json.dumps(run(case, packets, replicate)) + "\n")
                    out.flush()
            print(seed, case["flows"], case["control"], case["profile"], file=sys.stderr)


if __name__ == "__main__":
    main()
