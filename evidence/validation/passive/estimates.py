"""Judges the analysis of captures on simulated links whose true values are known.

Scenarios are drawn at random from a seed. The analysis was developed on those of `DEVELOPMENT`. The
analysis is judged on the scenarios of `HELD_OUT`, a seed that was fixed before any of its scenarios
was run. `SEEN` was held out before. Its loss bursts led to a change of the analysis, so this seed
is no longer used for the judgement.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from ipaddress import IPv4Address
from itertools import pairwise
from math import log
from pathlib import Path
from random import Random
from statistics import fmean, median
from typing import TYPE_CHECKING, Any

import numpy as np

from goodqueue import _core

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from goodqueue._core import Table

    Vector = np.ndarray[Any, np.dtype[np.float64]]

DEVELOPMENT = 1
SEEN = 200_509
HELD_OUT = 20_261_122
SCENARIOS = 30
DURATION_S = 40
JITTER_S = 1
"""Flows start at random within this time, in seconds."""

ALL_BURSTS = "L with the start-up"
LEAST_BURSTS = 5
"""Smallest number of bursts whose mean length is compared."""

RTT_SHARE, RTT_S = 0.1, 0.005
"""An estimated round-trip time counts as right if its error is at most 10 % or 5 ms (Jiang and
Dovrolis, 2002).
"""

FRAME_BITS = 8 * 1500
"""Size of a full frame in bits; the links of these scenarios count IP packets."""

SAME = {
    "window": {"receiver_window", "sender_window"},
    "size": {"size", "application"},
    "congestion": {"congestion", "bandwidth"},
}
"""T-RAT's names for each class of the simulator."""


@dataclass(frozen=True, slots=True)
class Group:
    """Flows of one kind; `path` lists the links that they cross."""

    name: str
    path: tuple[str, ...]
    rtts_ms: tuple[int, ...]
    control: str = "reno"
    window: int | None = None
    load: str | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """The latest time of a flow's slow start, and the longest recovery from a loss in it."""

    slow_until_s: float
    recovery_s: float


@dataclass(frozen=True, slots=True)
class Drawn:
    """A scenario drawn at random."""

    number: int
    rates_bps: dict[str, int]
    buffer_ms: int
    queue: str
    groups: tuple[Group, ...]

    @property
    def flows(self) -> list[tuple[Group, int]]:
        """Each flow's group and round-trip time in ms, in the order of the scenario."""
        return [(group, rtt) for group in self.groups for rtt in group.rtts_ms]

    def base_rtt_s(self, flow: int) -> float:
        """Returns the base RTT: propagation, and the transmission of a full frame by each link."""
        group, rtt = self.flows[flow]
        return rtt / 1e3 + sum(FRAME_BITS / self.rates_bps[link] for link in group.path)

    def start(self, flow: int) -> Start:
        """Returns the longest slow start of a flow of the target, behind a full buffer.

        The window is assumed to grow by at least half in each round trip, up to the capacity of the
        path.
        """
        full_s = self.base_rtt_s(flow) + self.buffer_ms / 1e3
        rounds = log(self.rates_bps["target"] * full_s / FRAME_BITS, 1.5)
        return Start(JITTER_S + rounds * full_s, 3 * full_s + 0.05)

    def scenario(self) -> dict[str, Any]:
        """Returns the scenario as a mapping."""
        return {
            "schema_version": 1,
            "title": f"Drawn scenario {self.number}",
            "duration": f"{DURATION_S}s",
            "warmup": "0s",
            "seed": self.number,
            "topology": {
                "shape": "chain",
                "access": {"rate": "1Gbps"},
                "link": [self._link(name) for name in self.rates_bps],
            },
            "tcp": {"profile": "linux"},
            "flow": [self._flow(group) for group in self.groups],
        }

    def _link(self, name: str) -> dict[str, Any]:
        queue = {"kind": self.queue if name == "target" else "drop_tail"}
        limit = f"{self.buffer_ms}ms" if name == "target" else "80ms"
        rate = self.rates_bps[name]
        reverse = {"rate": "1Gbps", "queue": {"limit": "unlimited"}}
        return {
            "name": name,
            "rate": f"{rate}bps",
            "delay": "1ms",
            "queue": {**queue, "limit": limit},
            "reverse": reverse,
        }

    def _flow(self, group: Group) -> dict[str, Any]:
        work: dict[str, Any] = {"kind": "bulk"}
        if group.load is not None:
            size = {"law": "exponential", "mean": "20440B"}
            work = {"kind": "transfers", "size": size, "load": group.load}
        tcp: dict[str, Any] = {"congestion_control": group.control}
        if group.window is not None:
            tcp["receive_window"] = f"{group.window}B"
        return {
            "name": group.name,
            "from": group.path[0],
            "to": group.path[-1],
            "rtt": [f"{rtt}ms" for rtt in group.rtts_ms],
            "start_jitter": f"{JITTER_S}s",
            "workload": work,
            "tcp": tcp,
        }


def drawn(seed: int, count: int = SCENARIOS) -> Iterator[Drawn]:
    """Yields links of 5 to 50 Mb/s with local, remote, window-limited and short flows."""
    draw = Random(seed)  # noqa: S311 - scenarios, no secrets
    for number in range(1, count + 1):
        yield _draw(number, draw)


def _draw(number: int, draw: Random) -> Drawn:
    rate = draw.choice([5, 10, 20, 50]) * 1_000_000
    flows = round(2 * 15 ** draw.random())

    def rtts(many: int) -> tuple[int, ...]:
        return tuple(round(15 * 20 ** draw.random()) for _ in range(many))

    control = draw.choice(["reno", "reno", "cubic", "cubic", "both", "bbr"])
    local = rtts(flows)
    half = len(local) // 2 if control == "both" else len(local)
    first = "reno" if control == "both" else control
    at_target = ("target",)
    groups = [Group("local", at_target, local[:half], first)]
    if local[half:]:
        groups.append(Group("cubic", at_target, local[half:], "cubic"))
    rates = {"up": 1_000_000_000, "target": rate, "down": 1_000_000_000}
    # Remote flows have a slower link before or behind the target; they share its rate.
    for side in draw.sample(["up", "down"], draw.choice([0, 1, 1, 2])):
        many = draw.randint(2, 6)
        path = ("up", "target") if side == "up" else ("target", "down")
        rates[side] = round(rate * draw.uniform(0.1, 0.3))
        groups.append(Group(f"remote-{side}", path, rtts(many), draw.choice(["reno", "cubic"])))
    if draw.random() < 0.7:
        many = draw.randint(1, 5)
        longest = rtts(many)
        # Each window is at most a third of a fair share, and at least two segments.
        share = rate / (flows + many) / 3 * min(longest) / 1e3 / 8
        groups.append(
            Group("windowed", at_target, longest, window=max(2, int(share / 1460)) * 1460)
        )
    if draw.random() < 0.7:
        load = f"{round(rate * draw.uniform(0.02, 0.1) / 4)}bps"
        groups.append(Group("short", at_target, rtts(4), load=load))
    buffer = round(draw.uniform(0.3, 1.5) * sum(local) / len(local))
    queue = draw.choice(["drop_tail"] * 4 + ["codel"])
    return Drawn(number, rates, max(buffer, 5), queue, tuple(groups))


@dataclass(slots=True)
class Score:
    """Counts of right and wrong results in one or more scenarios, weighted by bytes or flows."""

    rtt: Counter[bool] = field(default_factory=Counter)
    classes: Counter[tuple[str, str]] = field(default_factory=Counter)
    places: Counter[tuple[str, str]] = field(default_factory=Counter)
    controls: Counter[tuple[str, str]] = field(default_factory=Counter)
    errors: dict[str, list[float]] = field(default_factory=dict)
    queues: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, other: Score) -> None:
        """Adds the counts of another score to this one."""
        self.rtt += other.rtt
        self.classes += other.classes
        self.places += other.places
        self.controls += other.controls
        self.queues += other.queues
        for name, values in other.errors.items():
            self.errors.setdefault(name, []).extend(values)


def columns(table: Table) -> dict[str, np.ndarray[Any, Any]]:
    """Returns the core's columns as arrays."""
    return {name: np.frombuffer(data, kind) for name, (kind, data) in table.items()}


def score(case: Drawn, truth: Truth, analysis: _core.Analysis) -> Score:
    """Compares the analysis of a scenario with the true values of the simulator."""
    result = Score()
    flows = columns(analysis.flows())
    names = analysis.names()
    labels = truth.labels
    for row, name in enumerate(analysis.flow_names):
        flow = _flow_of(name)
        if flow is None or not flows["forward"][row]:
            continue
        size = int(flows["bytes"][row])
        base = case.base_rtt_s(flow)
        wrong = abs(flows["rtt_s"][row] - base)
        result.rtt[bool(wrong <= max(RTT_SHARE * base, RTT_S))] += size
        assigned = names["class"][flows["class"][row]]
        group = case.flows[flow][0]
        label = labels[flow]["class"]
        result.classes[label, assigned] += size
        if group.load is not None or label != "congestion":
            continue
        control = names["congestion_control"][flows["congestion_control"][row]]
        result.controls[group.control, control] += 1
        if labels[flow]["bottleneck"] is not None:
            place = "local" if labels[flow]["bottleneck"] == "target" else "remote"
            at = flows["bottleneck"][row]
            result.places[place, names["bottleneck"][at] if at >= 0 else "undecided"] += 1
    summary = json.loads(analysis.summary_json())
    got = {name: found["value"] for name, found in summary["parameters"].items() if found}
    got[ALL_BURSTS] = summary["bursts"]["mean_packets"] or 0.0
    for name, value in _parameters(case, truth).items():
        if value is not None:
            result.errors[name] = [got.get(name, 0.0) / value - 1]
    kind = "fifo" if case.queue == "drop_tail" else "aqm"
    result.queues[kind, summary["link"]["queue_kind"]] += 1
    return result


def _flow_of(name: str) -> int | None:
    """Returns the number of a flow from the address of its client; None for a server's address."""
    host = int(IPv4Address(name.split(":", maxsplit=1)[0])) - int(IPv4Address("10.0.0.1"))
    return host // 2 if host < 1 << 16 else None


def _parameters(case: Drawn, truth: Truth) -> dict[str, float | None]:
    local = [
        number
        for number, label in enumerate(truth.labels)
        if label["class"] == "congestion" and label["bottleneck"] == "target"
        if case.flows[number][0].load is None
    ]
    if not local:
        return {}
    round_trip = len(local) / sum(1 / case.base_rtt_s(flow) for flow in local)
    bursts = truth.bursts(round_trip, {flow: case.start(flow) for flow in local})
    return {
        "N_b": float(len(local)),
        "T_e_s": round_trip,
        "L": _mean_length(packets for packets, start_up in bursts if not start_up),
        ALL_BURSTS: _mean_length(packets for packets, _ in bursts),
    }


def _mean_length(packets: Iterable[int]) -> float | None:
    lengths = list(packets)
    return fmean(lengths) if len(lengths) >= LEAST_BURSTS else None


@dataclass(frozen=True, slots=True)
class Truth:
    """The true values of a run, from the simulator.

    Attributes:
        labels: the factor that limits each flow.
        drops_s: times at which the target dropped packets, in s.
        waits_s: queueing delay of the target at these times, in s.
        losers: number of the flow that lost each packet.
    """

    labels: list[dict[str, Any]]
    drops_s: Vector
    waits_s: Vector
    losers: list[int]

    def bursts(self, round_trip_s: float, local: Mapping[int, Start]) -> list[tuple[int, bool]]:
        """Returns the bursts of losses (BSCL, section III-C): packets, and True for the start-up.

        Losses belong to one burst if they are spaced by less than the queueing delay plus the
        effective round-trip time of the local flows, which is known only after the run. A burst
        belongs to the start-up if one of these flows loses in it for the first time while it may be
        in slow start, or has not yet recovered from that loss.
        """
        if not self.losers:
            return []
        apart = np.diff(self.drops_s) >= round_trip_s + self.waits_s[1:]
        edges = [0, *(int(edge) + 1 for edge in np.flatnonzero(apart)), len(self.losers)]
        until, found = {flow: start.slow_until_s for flow, start in local.items()}, []
        recovering: set[int] = set()
        for first, last in pairwise(edges):
            losers = set(self.losers[first:last]) & until.keys()
            starting = {flow for flow in losers if self.drops_s[first] <= until[flow]}
            found.append((last - first, bool(starting)))
            for flow in losers - recovering:
                end = float(self.drops_s[last - 1]) + local[flow].recovery_s
                until[flow] = end if flow in starting else -1.0
            recovering |= losers
        return found


def simulate(case: Drawn, folder: Path) -> Truth:
    """Runs a scenario with captures on both sides of the target."""
    from goodqueue.runs.api import run

    files = {name: folder / name for name in ("tr", "queue:target")}
    files |= {f"{side}:target": folder / f"{side}.pcapng" for side in ("before", "after")}
    summary = run(case.scenario(), trace=files).summary
    # The nodes of the trace are each flow's client, then the routers; the second router is the
    # target's.
    first = len(case.flows) + 1
    drops, losers = _drops(files["tr"], (str(first), str(first + 1)))
    times, packets = np.loadtxt(files["queue:target"], unpack=True)
    before = np.searchsorted(times, drops, side="right") - 1
    waiting = np.where(before >= 0, packets[before], 0)
    waits = waiting * FRAME_BITS / case.rates_bps["target"]
    return Truth(list(summary["flows"].values()), drops, waits, losers)


def _drops(trace: Path, link: tuple[str, str]) -> tuple[Vector, list[int]]:
    """Returns times and flows of a link's drops from ns-2's trace, which counts flows from 1."""
    with trace.open() as lines:
        lost = [line.split() for line in lines if line.startswith("d ")]
    here = [words for words in lost if (words[2], words[3]) == link]
    return np.array([float(words[1]) for words in here]), [int(words[7]) - 1 for words in here]


def judge(
    cases: Iterable[Drawn],
    run: Callable[[Drawn, Path], Truth] = simulate,
    taps: int = 2,
) -> tuple[Score, list[Score]]:
    """Runs and analyses cases; returns the score of all together and the score of each."""
    total, each = Score(), []
    for case in cases:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            truth = run(case, folder)
            after = folder / "after.pcapng" if taps == 2 else None
            analysis = _core.analyze(folder / "before.pcapng", after=after)
            each.append(score(case, truth, analysis))
        total.add(each[-1])
    return total, each


WITHIN = {"N_b": 0.2, "T_e_s": 0.15, "L": 0.25, ALL_BURSTS: 0.25}


def share(right: float, all_: float) -> float:
    """Returns a share; 0 if the total is 0."""
    return right / all_ if all_ else 0.0


def class_share(total: Score) -> float:
    """Returns the share of bytes whose limiting factor was found correctly."""
    right = sum(
        size for (label, assigned), size in total.classes.items() if assigned in SAME[label]
    )
    return share(right, sum(total.classes.values()))


def place_share(total: Score) -> float:
    """Returns the share of flows that were correctly found to be local or remote."""
    right = sum(count for (label, assigned), count in total.places.items() if label == assigned)
    return share(right, sum(total.places.values()))


def criteria(total: Score) -> list[tuple[str, float, float]]:
    """Returns for each criterion its description, the share that is right, and the bound."""
    rows = [
        ("round-trip times, by bytes", share(total.rtt[True], sum(total.rtt.values())), 0.9),
        ("limiting factors, by bytes", class_share(total), 0.9),
        ("local against remote, by flows", place_share(total), 0.85),
    ]
    for name, bound in WITHIN.items():
        errors = [abs(error) for error in total.errors.get(name, [])]
        within = share(sum(error <= bound for error in errors), len(errors))
        middle = median(errors) if errors else 0.0
        rows.append((f"{name} within {bound:.0%} (median error {middle:.1%})", within, 0.9))
    return rows


def matrix(title: str, counts: Counter[tuple[str, str]]) -> list[str]:
    """Returns a confusion matrix as Markdown lines, with the shares of each row."""
    assigned = sorted({assigned for _, assigned in counts})
    lines = [f"| {title} | {' | '.join(assigned)} | all |", "| --- " * (len(assigned) + 2) + "|"]
    for label in sorted({label for label, _ in counts}):
        row = [counts[label, name] for name in assigned]
        shares = " | ".join(f"{value / sum(row):.1%}" if value else "-" for value in row)
        lines.append(f"| {label} | {shares} | {sum(row):,} |")
    return [*lines, ""]


def report(total: Score, seed: int, count: int) -> str:
    """Returns the section for the docs, as Markdown."""
    lines = [
        f"{count} scenarios drawn from seed {seed}.",
        "",
        "| what | right | asked |",
        "| --- | --- | --- |",
        *(f"| {words} | {right:.1%} | {asked:.0%} |" for words, right, asked in criteria(total)),
        "",
        *matrix("limited by (bytes)", total.classes),
        *matrix("bottleneck (flows)", total.places),
        *matrix("congestion control (flows)", total.controls),
        *matrix("queue (scenarios)", total.queues),
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the section; returns exit code 1 if a criterion is not met."""
    parser = argparse.ArgumentParser(prog="python -m evidence.validation.passive.estimates")
    parser.add_argument("--seed", type=int, default=HELD_OUT)
    parser.add_argument("--scenarios", type=int, default=SCENARIOS)
    parser.add_argument("--taps", type=int, choices=(1, 2), default=2)
    options = parser.parse_args(arguments)
    total, _ = judge(drawn(options.seed, options.scenarios), taps=options.taps)
    print(report(total, options.seed, options.scenarios))
    return 0 if all(right >= asked for _, right, asked in criteria(total)) else 1


if __name__ == "__main__":
    sys.exit(main())
