"""The hybrid engine behind the links and buffers of recorded packet runs.

    python -m evidence.hybrid.compare RUNS.jsonl… [--detail] [--seeds FIRST LAST] [--only PART]

The last lines are the tables of docs/hybrid.md.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from evidence.hybrid.oracle import COMMON, Row, link_of
from goodqueue.sizing.search.agreement import AGREED_WINDOW
from goodqueue.sizing.trials.length import rtts_of_flows

ENGINE = Path(__file__).parents[2] / "target/release/examples/fluid"
"""The compiled example of the crate `fluid`."""

FIGURES = (*COMMON, "jain", "cpu_s")
"""Figures that both engines yield."""

LEAST_BUSY = (0.98, 0.99, 0.95)
"""Requested utilisations. The first one that the packet engine reaches with some of the buffers is
used.
"""

LEAST_LOGARITHM = 1e-6
"""Smallest share whose logarithm is taken; smaller shares count as this one."""


class Point(NamedTuple):
    """Figures of two curves at one buffer: those of the packet engine and those that are compared.

    Attributes:
        packets: the buffer.
        right: figures of the packet engine.
        other: figures of the hybrid engine, or of the packet engine under other seeds.
    """

    packets: float
    right: Row
    other: Row


class Needed(NamedTuple):
    """The smallest buffers that keep a bound, in packets, by either curve.

    Attributes:
        right: the buffer by the packet engine.
        other: the buffer by the method that is compared; 0 if every buffer keeps the bound,
            infinite if none does.
    """

    right: float
    other: float

    @property
    def excess(self) -> float:
        """Relative error of the buffer."""
        return self.other / self.right - 1

    def within(self, share: float) -> bool:
        """Returns True if the buffers differ by at most a share or by at most two packets."""
        return abs(self.excess) <= share or abs(self.other - self.right) <= 2


def line_of(run: Row) -> str:
    """Returns a run in the format that the example `fluid` reads."""
    link = link_of(run)
    rtts = rtts_of_flows(link)
    frame = link.frame_bytes
    return (
        f"{run['run_seed']} {math.floor(link.rate_bps)} {frame} {run['packets']} {link.flows} "
        f"{run['control']} {run['profile']} {run['warmup_s']} {run['duration_s']} "
        + ",".join(f"{rtt:.6f}" for rtt in rtts)
    )


def fluid(runs: list[Row]) -> list[Row]:
    """Returns the figures of the hybrid engine, run by run."""
    text = "\n".join(line_of(run) for run in runs)
    done = subprocess.run(  # noqa: S603 - our own program
        [ENGINE], input=text, capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def mean(rows: list[Row]) -> Row:
    """Returns the figures, averaged over seeds."""
    return {name: sum(row[name] for row in rows) / len(rows) for name in FIGURES}


def needed(curve: list[tuple[float, float]], bound: float) -> float:
    """Returns the buffer, in packets, at which a falling curve reaches a bound.

    Between two points logarithms are interpolated. Returns 0 if the curve does not cross the bound
    and its last point keeps it, infinity if it does not keep it.

    Args:
        curve: buffers in packets, rising, each with a share.
        bound: the share that is allowed.
    """
    for (b0, first), (b1, last) in pairwise(curve):
        if first >= bound > last:
            y0, y1, y = (math.log(max(v, LEAST_LOGARITHM)) for v in (first, last, bound))
            return float(b0 * (b1 / b0) ** ((y0 - y) / (y0 - y1)))
    return 0.0 if curve[-1][1] < bound else math.inf


def buffers_needed(points: list[Point]) -> dict[str, Needed]:
    """Returns the smallest buffers for a utilisation, `util`, and for a loss rate, `loss`.

    The bound on the loss rate is the geometric mean of the packet engine's loss rates at the second
    and at the last but one buffer. A bound that the packet engine's curve does not cross is left
    out.
    """
    loss = [max(point.right["loss_rate"], 1e-9) for point in points]
    bounds = {
        "util": tuple(1 - busy for busy in LEAST_BUSY),
        "loss": (math.sqrt(loss[1] * loss[-2]),),
    }
    found: dict[str, Needed] = {}
    for name, choices in bounds.items():
        right = [(point.packets, _share(name, point.right)) for point in points]
        other = [(point.packets, _share(name, point.other)) for point in points]
        for bound in choices:
            pair = Needed(needed(right, bound), needed(other, bound))
            if 0 < pair.right < math.inf:
                found[name] = pair
                break
    return found


def _share(name: str, row: Row) -> float:
    """Returns the share that falls with the buffer: of time that is idle, or of packets lost."""
    return float(1 - row["utilization"] if name == "util" else row["loss_rate"])


def counts(buffers: list[Needed]) -> str:
    """Returns the number of buffers that agree, in words."""
    known = sorted(pair.excess for pair in buffers if 0 < pair.other < math.inf)
    middle = known[len(known) // 2] if known else math.nan
    low, high = nine_tenths(buffers)
    return (
        f"{len(buffers)} links, within 10 % or 2 packets {sum(b.within(0.1) for b in buffers)}, "
        f"within 30 % or 2 packets {sum(b.within(0.3) for b in buffers)}, "
        f"curve does not cross the bound {len(buffers) - len(known)}, median {middle:+.2f}, "
        f"nine tenths from {low:.2f} to {high:.2f}"
    )


def nine_tenths(buffers: list[Needed]) -> tuple[float, float]:
    """Returns the ends of the middle nine tenths of the ratios, or of all ratios of few links."""
    ratios = sorted(pair.other / pair.right for pair in buffers)
    left_out = len(ratios) // 20
    return ratios[left_out], ratios[-1 - left_out]


def differences(points: list[Point]) -> list[str]:
    """Returns the differences of figures at the same buffer, in words.

    Differences of loss rate and delay are natural logarithms of ratios.
    """
    lines = []
    for name in ("utilization", "loss_rate", "p99_queueing_delay_s", "jain"):
        pairs = [(point.right[name], point.other[name]) for point in points]
        if name in {"utilization", "jain"}:
            errors = [other - right for right, other in pairs]
        else:
            errors = [math.log(other / right) for right, other in pairs if min(right, other) > 0]
        spread = math.sqrt(fmean(error * error for error in errors))
        lines.append(f"{name}: mean difference {fmean(errors):+.4f}, root mean square {spread:.4f}")
    return lines


def title_of(run: Row) -> str:
    """Returns a line that describes the link of a run."""
    return (
        f"#{run['seed']} {run['profile']}-{run['control']} N={run['flows']} "
        f"w={link_of(run).window_packets:.0f} rtt={[round(r * 1e3) for r in run['rtts']]} "
        f"{run['rate'] / 1e6:.0f}Mb/s"
    )


def detail(point: Point) -> str:
    """Returns a line of figures behind one buffer, packet engine first; delays in milliseconds."""
    shown = (
        ("util", "utilization", 1, 4),
        ("loss", "loss_rate", 1, 5),
        ("mean", "mean_queueing_delay_s", 1e3, 2),
        ("p99", "p99_queueing_delay_s", 1e3, 2),
        ("bursts", "loss_bursts", 1, 0),
        ("hit", "mean_flows_hit", 1, 1),
        ("jain", "jain", 1, 3),
        ("cpu", "cpu_s", 1, 3),
    )
    figures = (
        f"{word} {factor * point.right[name]:.{places}f} {factor * point.other[name]:.{places}f}"
        for word, name, factor, places in shown
    )
    return f"   {point.packets:5.0f}: {'  '.join(figures)}"


def read_runs(paths: list[Path]) -> list[Row]:
    """Returns the recorded runs of all files."""
    return [json.loads(line) for path in paths for line in path.read_text().splitlines()]


def main() -> None:
    """Prints each link, and the number of links that agree."""
    parser = argparse.ArgumentParser()
    parser.add_argument("runs", type=Path, nargs="+")
    parser.add_argument("--detail", action="store_true", help="print every buffer")
    parser.add_argument(
        "--seeds", type=int, nargs=2, help="links from the first to before the last"
    )
    parser.add_argument("--only", default="", help="links whose profile-control has this part")
    asked = parser.parse_args()
    first, last = asked.seeds or (0, math.inf)
    runs = [
        run
        for run in read_runs(asked.runs)
        if first <= run["seed"] < last and asked.only in f"{run['profile']}-{run['control']}"
    ]
    cases: dict[int, dict[int, list[tuple[Row, Row]]]] = defaultdict(lambda: defaultdict(list))
    for run, found in zip(runs, fluid(runs), strict=True):
        cases[run["seed"]][run["packets"]].append((run, found))
    buffers: dict[str, list[Needed]] = defaultdict(list)
    everything: list[Point] = []
    for _, behind in sorted(cases.items()):
        run = next(iter(behind.values()))[0][0]
        points = [
            Point(packets, mean([p for p, _ in pairs]), mean([h for _, h in pairs]))
            for packets, pairs in sorted(behind.items())
        ]
        everything += points
        got = buffers_needed(points)
        text = "  ".join(
            f"{name} {pair.right:.0f}/{pair.other:.0f} ({100 * pair.excess:+.0f}%)"
            for name, pair in got.items()
        )
        print(f"{title_of(run)}: {text}")
        if asked.detail:
            print("\n".join(map(detail, points)))
        for name, pair in got.items():
            buffers[f"{name}, {run['profile']}-{run['control']}"].append(pair)
            buffers[f"{name}, all"].append(pair)
            size = "small" if link_of(run).window_packets < AGREED_WINDOW else "large"
            buffers[f"{name}, {size} windows"].append(pair)
    for name, pairs in sorted(buffers.items()):
        print(f"{name}: {counts(pairs)}")
    print("\n".join(differences(everything)))


if __name__ == "__main__":
    main()
