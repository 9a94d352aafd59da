"""Smoothing buffer of one AIMD stream: by the law of its saw-tooth, by chance, by simulation.

The stream is described by flags (`PlayoutQuestion`), or is a video flow of a scenario
(`FilePlayout`).
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from goodqueue import _core
from goodqueue.core.intervals import Interval, t_interval
from goodqueue.errors import RequestError
from goodqueue.runs.settings import settings_of
from goodqueue.sizing.smoothing.formula import smoothing_packets, wandering_packets
from goodqueue.sizing.smoothing.stream import Stream, friendly_decrease, smoothed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.study.runner import Runner

MIN_WINDOW = 2.0
"""Smallest R T in packets: a window has whole packets, and a saw-tooth needs two levels."""

MAX_PACKETS = 20_000_000
"""Largest number of packets of all replicates together: about a minute on two cores."""

AIMD = {"reno": (1.0, 0.5)}
"""Increase and decrease of congestion controls that are AIMD without parameters."""


@dataclass(frozen=True, slots=True)
class Units:
    """Conversion of a buffer in packets to other units.

    Attributes:
        rate_bps: rate of the stream, payload.
        packet_bytes: payload of a packet.
        window: R T in packets.
    """

    rate_bps: float
    packet_bytes: int
    window: float

    def convert(self, packets: float) -> dict[str, float]:
        """Returns a buffer in every unit; seconds are playing time."""
        size = packets * self.packet_bytes
        return {
            "packets": packets,
            "bytes": size,
            "seconds": size * 8 / self.rate_bps,
            "bdp": packets / self.window,
        }


@dataclass(frozen=True, slots=True)
class Estimate:
    """Estimate of a smoothing buffer, in packets.

    Attributes:
        by: method, in words.
        packets: the buffer; for a simulation the mean and its 95 % interval.
        replicates: number of runs; 0 for theory.
    """

    by: str
    packets: Interval
    replicates: int = 0

    def as_dict(self, units: Units) -> dict[str, Any]:
        """Returns values for JSON; the ends of an interval are null if there is none."""
        found: dict[str, Any] = {"by": self.by, "replicates": self.replicates}
        ends = {"low": self.packets.low, "high": self.packets.high}
        known = self.replicates > 1
        return (
            found
            | units.convert(self.packets.mean)
            | {name: units.convert(end) if known else None for name, end in ends.items()}
        )


@dataclass(frozen=True, slots=True)
class Playout:
    """Smoothing buffers of a stream.

    Attributes:
        units: conversion of packets to other units.
        rtt_s: the round-trip time.
        increase: a, packets per round trip.
        decrease: b, the share of the window given up on a loss.
        apart: packets from one loss to the next.
        losses: number of losses of the simulated stream.
        duration_s: playing time.
        estimates: the buffers.
    """

    units: Units
    rtt_s: float
    increase: float
    decrease: float
    apart: float
    losses: float
    duration_s: float
    estimates: Sequence[Estimate]

    def as_dict(self) -> dict[str, Any]:
        """Returns values for JSON."""
        return {
            "schema_version": 1,
            "stream": {
                **{name: value for name, value in asdict(self.units).items() if name != "window"},
                "rtt_s": self.rtt_s,
                "alpha": self.increase,
                "beta": self.decrease,
                "bdp_packets": self.units.window,
                "packets_per_loss": self.apart,
                "losses": self.losses,
                "duration_s": self.duration_s,
            },
            "buffers": [one.as_dict(self.units) for one in self.estimates],
        }


@dataclass(frozen=True, slots=True)
class PlayoutQuestion:
    """Flags that describe a stream, as typed; None if absent.

    Attributes:
        rate: payload rate of the stream.
        rtt: round-trip time of the path.
        duration: playing time.
        alpha: packets by which the window grows per round trip.
        beta: share of the window given up on a loss; by default that of the friendly pair.
        packet: payload of a packet.
    """

    rate: str
    rtt: str
    duration: str
    alpha: float = 1.0
    beta: str | None = None
    packet: str = "1000B"

    def stream(self) -> Stream:
        """Returns the stream, checked; its losses are at even distances.

        Raises:
            ScenarioError: with the flag and what to write instead.
            RequestError: if the stream has no saw-tooth.
        """
        packet = _core.parse_size("--packet", self.packet)
        if not 40 <= packet <= 65_000:
            raise RequestError(f"--packet {self.packet}: write a payload from 40B to 65000B")
        if not 0.001 <= self.alpha <= 1000:
            raise RequestError(f"--alpha {self.alpha:g}: write a number from 0.001 to 1000")
        decrease = _decrease(self.alpha, self.beta)
        rate = _core.parse_rate("--rate", self.rate)
        rtt = _core.parse_span("--rtt", self.rtt)
        window = rate * rtt / (8 * packet)
        if window < MIN_WINDOW:
            raise RequestError(
                f"--rate {self.rate} and --rtt {self.rtt} give {window:.3g} packets of "
                f"{packet} B per round trip, but a saw-tooth needs at least "
                f"{MIN_WINDOW:g}"
            )
        stream = Stream(self.alpha, decrease, window, rtt, 1, packet_bytes=packet)
        played = _core.parse_span("--duration", self.duration)
        tooth = stream.apart * rtt / window
        if played < tooth:
            raise RequestError(
                f"--duration {self.duration} is shorter than one saw-tooth of {tooth:.3g} "
                "s; write at least that"
            )
        teeth = round(played / tooth)
        return Stream(self.alpha, decrease, window, rtt, teeth, packet_bytes=packet)

    def law(self) -> Playout:
        """Returns the answer by theory alone; runs nothing."""
        return _answer(self.stream(), ())

    def answer(self, runner: Runner, replicates: int, seed: int = 1) -> Playout:
        """Returns the answer by theory and by simulation.

        Losses at even distances are simulated from the foot of a tooth, as the law assumes, and
        from evenly spaced places on it. Random losses are simulated under several seeds.

        Raises:
            RequestError: if the stream needs more packets than can be run.
        """
        even = self.stream()
        packets = 2 * replicates * even.losses * even.apart
        if packets > MAX_PACKETS:
            raise RequestError(
                f"{replicates} replicates with and without chance are {packets:,} packets, and at "
                f"most {MAX_PACKETS:,} are simulated: write a shorter --duration, fewer "
                "--replicates, or --quick for the law alone"
            )
        starts = [
            (replace(even, offset=(place + 0.5) / replicates), seed) for place in range(replicates)
        ]
        chance = replace(even, at_random=True)
        seeds = [(chance, seed + place) for place in range(replicates)]
        found = [one.buffer for one in smoothed(runner, [(even, seed), *starts, *seeds])]
        foot, anywhere, random = found[0], found[1 : 1 + replicates], found[1 + replicates :]
        simulated = (
            Estimate("simulated, from the foot of a tooth", _exact(foot), 1),
            Estimate("simulated, from all places on a tooth", _of_sizes(anywhere), replicates),
            Estimate("simulated, random losses", _of_sizes(random), replicates),
        )
        return _answer(even, simulated)


@dataclass(frozen=True, slots=True)
class FilePlayout:
    """Smoothing buffer of a video flow of a scenario.

    Attributes:
        scenario: the scenario.
        flow: its name; None for the only video.
        alpha: growth, as in `PlayoutQuestion`; None for that of the flow's congestion control.
        beta: decrease, as in `PlayoutQuestion`; None for that of the flow's congestion control.
    """

    scenario: _core.Scenario
    flow: str | None = None
    alpha: float | None = None
    beta: str | None = None

    def answer(self, runner: Runner, replicates: int) -> Playout:
        """Returns the answer by the law for the flow's rate and round-trip time, and by simulation.

        Raises:
            RequestError: if there is no such flow, or its congestion control is not AIMD.
        """
        from goodqueue.study.plan import run_of, variant_of

        flow = self._flow()
        name = str(flow["name"])
        increase, decrease = self._pair(flow)
        packet = _core.parse_size("mss", str(flow["tcp"]["mss"]))
        metrics = ("smoothing_buffer_bytes", "reverse_data_span_s", "mean_rtt_s", "goodput_bps")
        variant = variant_of(self.scenario, {})
        first = self.scenario.seed
        runs = [run_of(variant, first + place) for place in range(replicates)]
        rows = runner.figures(runs, [f"{name}.{metric}" for metric in metrics])
        if any(math.isnan(value) for row in rows for value in row):
            raise RequestError(f"no data of {name} arrived; write a longer duration")
        sizes, spans, rtts, goodputs = zip(*rows, strict=True)
        whole = self.scenario.duration_s - self.scenario.warmup_s
        span, rtt = t_interval(spans).mean, t_interval(rtts).mean
        rate = t_interval(goodputs).mean * whole / span
        window = rate * rtt / (8 * packet)
        units = Units(rate, packet, window)
        law = Estimate("law of a saw-tooth", _exact(smoothing_packets(window, increase, decrease)))
        simulated = Estimate("simulated", _of_sizes([size / packet for size in sizes]), replicates)
        apart = _apart(window, increase, decrease)
        losses = window * span / rtt / apart
        return Playout(units, rtt, increase, decrease, apart, losses, span, (law, simulated))

    def _flow(self) -> dict[str, Any]:
        """Returns the flow with every default written out."""
        flows = settings_of(self.scenario)["flow"]
        videos = {one["name"]: one for one in flows if one["workload"]["kind"] == "video"}
        if self.flow is None and len(videos) == 1:
            return dict(next(iter(videos.values())))
        if self.flow is None or self.flow not in videos:
            if not videos:
                raise RequestError(
                    'no flow of this scenario is a stream; write workload = { kind = "video", ... }'
                )
            what = "several streams" if self.flow is None else f"--flow {self.flow}: no such stream"
            raise RequestError(f"{what}; choose one with --flow: {', '.join(videos)}")
        return dict(videos[self.flow])

    def _pair(self, flow: dict[str, Any]) -> tuple[float, float]:
        """Returns increase and decrease: as typed, or those of the flow's congestion control."""
        tcp = flow["tcp"]
        kind = tcp["congestion_control"]
        own = AIMD.get(kind)
        if kind == "gaimd":
            own = float(tcp["alpha"]), float(tcp["beta"])
        if self.alpha is not None:
            return self.alpha, _decrease(self.alpha, self.beta)
        if own is None:
            raise RequestError(
                f"the law applies to AIMD, and {kind} is not AIMD; write --alpha and "
                "--beta to compare with the law for such a pair"
            )
        return own if self.beta is None else (own[0], _decrease(own[0], self.beta))


def _decrease(increase: float, typed: str | None) -> float:
    """Returns the share of the window given up on a loss, as typed or that of the friendly pair."""
    if typed is None:
        decrease = friendly_decrease(increase)
        if not 0.001 <= decrease <= 0.999:
            raise RequestError(
                f"--alpha {increase:g}: no friendly pair has this increase; write --beta, "
                "from 0.001 to 0.999"
            )
        return decrease
    decrease = _core.parse_fraction("--beta", typed)
    if not 0.001 <= decrease <= 0.999:
        raise RequestError(f"--beta {typed}: write a share from 0.001 to 0.999")
    return decrease


def _exact(value: float) -> Interval:
    return Interval(value, 0.0)


def _of_sizes(packets: Sequence[float]) -> Interval:
    """Returns the mean of buffers, none of which is negative."""
    return t_interval(packets).within(0.0, math.inf)


def _apart(window: float, increase: float, decrease: float) -> float:
    """Returns the packets of one tooth."""
    return decrease * window**2 / (increase * (1 - decrease / 2))


def _answer(stream: Stream, simulated: Sequence[Estimate]) -> Playout:
    """Combines the law, the effect of chance, and the simulations."""
    rate = stream.window * stream.packet_bytes * 8 / stream.rtt_s
    law = smoothing_packets(stream.window, stream.increase, stream.decrease)
    wandering = wandering_packets(stream.losses, stream.apart)
    by_law = Estimate("law of a saw-tooth", _exact(law))
    by_chance = Estimate("formula for many random losses", _exact(wandering))
    return Playout(
        Units(rate, stream.packet_bytes, stream.window),
        stream.rtt_s,
        stream.increase,
        stream.decrease,
        stream.apart,
        stream.losses,
        stream.losses * stream.apart * stream.rtt_s / stream.window,
        (by_law, *simulated[:2], by_chance, *simulated[2:]),
    )
