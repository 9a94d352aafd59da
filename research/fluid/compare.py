"""Holds the hybrid engine against recorded packet runs.

python compare.py RUNS.jsonl [--detail] [--seeds FIRST LAST]
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

from oracle import link_of

from goodqueue.sizing.trial import rtts_of_flows

ENGINE = Path(__file__).parents[2] / "target/release/examples/fluid"
FIGURES = (
    "utilization",
    "loss_rate",
    "mean_queueing_delay_s",
    "p50_queueing_delay_s",
    "p99_queueing_delay_s",
    "loss_bursts",
    "mean_flows_hit",
    "jain",
    "cpu_s",
)


def line_of(run: dict) -> str:
    """The run as the example `fluid` of the crate reads it."""
    link = link_of(run)
    rtts = rtts_of_flows(link)
    frame = link.frame_bytes
    return (
        f"{run['run_seed']} {math.floor(link.rate_bps)} {frame} {run['packets']} {link.flows} "
        f"{run['control']} {run['profile']} {run['warmup_s']} {run['duration_s']} "
        + ",".join(f"{rtt:.6f}" for rtt in rtts)
    )


def fluid(runs: list[dict]) -> list[dict]:
    """What the hybrid engine shows, run by run."""
    text = "\n".join(line_of(run) for run in runs)
    done = subprocess.run(  # noqa: S603 - our own program
        [ENGINE], input=text, capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def mean(rows: list[dict]) -> dict:
    """The figures, averaged over seeds."""
    return {name: sum(row[name] for row in rows) / len(rows) for name in FIGURES}


def needed(curve: list[tuple[float, float]], bound: float) -> float:
    """The buffer at which a falling curve reaches a bound, in log-log; nan outside of it."""
    for (b0, first), (b1, last) in pairwise(curve):
        if first >= bound > last:
            y0, y1, y = (math.log(max(v, 1e-6)) for v in (first, last, bound))
            return b0 * (b1 / b0) ** ((y0 - y) / (y0 - y1))
    return math.nan


def ratios(points: list[tuple[float, dict, dict]]) -> dict[str, float]:
    """Hybrid over packets: smallest buffer at bounds in the middle of what packets show."""
    found = {}
    for name, what in (
        ("util", lambda v: 1 - v["utilization"]),
        ("loss", lambda v: v["loss_rate"]),
    ):
        packets = [(b, what(p)) for b, p, _ in points]
        hybrid = [(b, what(h)) for b, _, h in points]
        bounds = (
            (0.02, 0.01, 0.05)
            if name == "util"
            else ([math.sqrt(max(packets[1][1], 1e-9) * max(packets[-2][1], 1e-9))])
        )
        for bound in bounds:
            want, got = needed(packets, bound), needed(hybrid, bound)
            if not math.isnan(want):
                found[f"{name}"] = (want, got)
                break
    return found


def main() -> None:
    """Prints each link, and how many agree."""
    parser = argparse.ArgumentParser()
    parser.add_argument("runs", type=Path)
    parser.add_argument("--detail", action="store_true")
    parser.add_argument("--seeds", type=int, nargs=2)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    runs = [json.loads(line) for line in asked.runs.read_text().splitlines()]
    if asked.seeds:
        runs = [run for run in runs if asked.seeds[0] <= run["seed"] < asked.seeds[1]]
    if asked.only:
        runs = [run for run in runs if asked.only in f"{run['profile']}-{run['control']}"]
    cases = defaultdict(lambda: defaultdict(list))
    for run, found in zip(runs, fluid(runs), strict=True):
        cases[run["seed"]][run["packets"]].append((run, found))
    errors = defaultdict(list)
    for seed, behind in sorted(cases.items()):
        run = next(iter(behind.values()))[0][0]
        points = []
        for packets, pairs in sorted(behind.items()):
            points.append((packets, mean([p for p, _ in pairs]), mean([h for _, h in pairs])))
        got = ratios(points)
        text = "  ".join(
            f"{name} {want:.0f}/{have:.0f} ({100 * (have / want - 1):+.0f}%)"
            for name, (want, have) in got.items()
        )
        window = link_of(run).window_packets
        print(
            f"#{seed} {run['profile']}-{run['control']} N={run['flows']} w={window:.0f} "
            f"rtt={[round(r * 1e3) for r in run['rtts']]} {run['rate'] / 1e6:.0f}Mb/s: {text}"
        )
        for name, (want, have) in got.items():
            errors[f"{run['profile']}-{run['control']} {name}"].append(
                (have / want - 1, have - want)
            )
        if asked.detail:
            for packets, p, h in points:
                print(
                    f"   {packets:5d}: util {p['utilization']:.4f} {h['utilization']:.4f}  loss "
                    f"{p['loss_rate']:.5f} {h['loss_rate']:.5f}  mean "
                    f"{p['mean_queueing_delay_s'] * 1e3:.2f} {h['mean_queueing_delay_s'] * 1e3:.2f}"
                    f"  p99 {p['p99_queueing_delay_s'] * 1e3:.2f} "
                    f"{h['p99_queueing_delay_s'] * 1e3:.2f}  bursts {p['loss_bursts']:.0f} "
                    f"{h['loss_bursts']:.0f} hit {p['mean_flows_hit']:.1f} "
                    f"{h['mean_flows_hit']:.1f}  jain {p['jain']:.3f} {h['jain']:.3f} cpu "
                    f"{p['cpu_s']:.2f} {h['cpu_s']:.3f}"
                )
    for name, values in sorted(errors.items()):
        good = sum(abs(r) <= 0.1 or abs(d) <= 2 for r, d in values)
        fair = sum(abs(r) <= 0.3 or abs(d) <= 2 for r, d in values)
        known = sorted(r for r, _ in values if not math.isnan(r))
        middle = known[len(known) // 2] if known else math.nan
        print(
            f"{name}: {len(values)} links, within 10%/2p {good}, within 30% {fair}, "
            f"median {middle:+.2f}"
        )


if __name__ == "__main__":
    main()
