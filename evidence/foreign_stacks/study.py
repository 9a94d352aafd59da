"""Ten links with CUBIC of quinn-proto, and with the paced CUBIC over TCP that represents it."""

from __future__ import annotations

import json
import math
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from goodqueue.core.intervals import Interval, t_interval
from goodqueue.runs.settings import scenario_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from goodqueue.runs.settings import Settings

ROOT = Path(__file__).parents[2]
PROGRAM = ROOT / "examples" / "quic" / "target" / "release" / "goodqueue-quinn"
"""The program of the example, which `cargo build --release --locked` in its folder builds."""

SEEDS = (1, 2, 3, 4, 5)
FRACTIONS = (0.125, 0.25, 0.5, 1.0)
"""Buffers in bandwidth-delay products."""
TARGET = 0.98
"""Utilisation that the smallest buffer must reach."""
WARMUP_S, MEASURED_S = 10, 30
WINDOW = 64 << 20
"""Bytes of quinn's windows, so that flow control limits nothing."""
PACKET_BYTES = 1500
LEAST_PACKETS = 4


@dataclass(frozen=True)
class Place:
    """A link with its flows.

    Attributes:
        rate_bps: rate in bit/s.
        rtts_s: shortest and longest round-trip time without queueing, in s.
        flows: number of flows.
    """

    rate_bps: float
    rtts_s: tuple[float, float]
    flows: int

    @property
    def name(self) -> str:
        """Rate, round-trip times and flows."""
        shortest, longest = (f"{1e3 * rtt:g}" for rtt in self.rtts_s)
        times = shortest if shortest == longest else f"{shortest} to {longest}"
        flows = "1 flow" if self.flows == 1 else f"{self.flows} flows"
        return f"{self.rate_bps / 1e6:g} Mb/s, {times} ms, {flows}"

    def packets(self, fraction: float) -> int:
        """Returns the packets of a buffer that is given in bandwidth-delay products."""
        bdp = self.rate_bps * sum(self.rtts_s) / 2 / (8 * PACKET_BYTES)
        return max(round(fraction * bdp), LEAST_PACKETS)


PLACES = (
    Place(5e6, (0.100, 0.100), 2),
    Place(10e6, (0.040, 0.040), 1),
    Place(10e6, (0.020, 0.020), 4),
    Place(20e6, (0.080, 0.080), 1),
    Place(20e6, (0.010, 0.010), 2),
    Place(50e6, (0.020, 0.020), 2),
    Place(50e6, (0.020, 0.100), 10),
    Place(100e6, (0.040, 0.040), 1),
    Place(100e6, (0.010, 0.060), 10),
    Place(100e6, (0.010, 0.060), 40),
)

FIGURES = ("utilization", "loss_rate")


def settings(place: Place, fraction: float) -> Settings:
    """Returns the settings of the scenario, with the flows of TCP."""
    shortest, longest = (f"{round(1e6 * rtt)}us" for rtt in place.rtts_s)
    return {
        "schema_version": 2,
        "title": place.name,
        "duration": f"{WARMUP_S + MEASURED_S}s",
        "warmup": f"{WARMUP_S}s",
        "topology": {
            "shape": "dumbbell",
            "access": {"rate": "10Gbps"},
            "bottleneck": {
                "rate": f"{round(place.rate_bps)}bps",
                "delay": "1ms",
                "queue": {"limit": f"{place.packets(fraction)}p"},
                "reverse": {"queue": {"limit": "unlimited"}},
            },
        },
        "tcp": {
            "profile": "linux",
            "congestion_control": "cubic",
            "pacing": True,
            "loss_detection": "rack",
        },
        "flow": [
            {
                "name": "long",
                "count": place.flows,
                "rtt": {"from": shortest, "to": longest},
                "start_jitter": "3s",
                "workload": {"kind": "bulk"},
            }
        ],
    }


def of_tcp(place: Place, fraction: float, seed: int) -> dict[str, float]:
    """Returns the figures of a run of TCP."""
    scenario = scenario_of(settings(place, fraction), place.name).with_seed(seed)
    names, values = scenario.run(series=False, packets=False).metrics()
    found = dict(zip(names.split("\n"), memoryview(values).cast("d"), strict=True))
    return rounded({name: found[f"bottleneck.{name}"] for name in FIGURES})


def of_quinn(place: Place, fraction: float, seed: int, folder: Path) -> dict[str, float]:
    """Returns the figures of a run of quinn."""
    file = folder / f"{PLACES.index(place)}-{fraction}-{seed}.toml"
    file.write_text(scenario_of(settings(place, fraction), place.name).resolved_toml())
    asked = (PROGRAM, file, "--control", "cubic", "--window", str(WINDOW), "--seed", str(seed))
    done = subprocess.run(asked, check=True, capture_output=True, text=True)  # noqa: S603 - our own
    link = json.loads(done.stdout)["links"]["bottleneck"]
    return rounded({name: link[name] for name in FIGURES})


def rounded(figures: dict[str, float]) -> dict[str, float]:
    """Returns figures with six digits."""
    return {name: float(f"{value:.6g}") for name, value in figures.items()}


def smallest(utilizations: Sequence[float]) -> float:
    """Returns the smallest buffer that reaches the target, in BDPs.

    Between two buffers the utilisation is interpolated over the logarithm of the buffer. The result
    is at least the smallest buffer of the study, and twice its largest if none reaches the target.
    """
    if utilizations[0] >= TARGET:
        return FRACTIONS[0]
    for place in range(1, len(FRACTIONS)):
        before, after = utilizations[place - 1 : place + 1]
        if after >= TARGET:
            low, high = (math.log(FRACTIONS[at]) for at in (place - 1, place))
            return math.exp(low + (high - low) * (TARGET - before) / (after - before))
    return 2 * FRACTIONS[-1]


def interval(values: Sequence[float]) -> Interval:
    """Returns the 95 % interval of a mean over seeds."""
    return t_interval(list(values))
