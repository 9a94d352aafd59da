"""Runs access, metro and core links with the traffic of 2026 behind many buffers.

Every run appends one line to a file. A study that was stopped continues with the runs that no file
contains.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from evidence.modern_buffers.trial import DATA
from evidence.modern_buffers.versions import is_present, newest, stamped
from evidence.rules_on_trial.run import metrics_of, read
from goodqueue.core.intervals import Interval, t_interval
from goodqueue.runs.settings import scenario_of
from goodqueue.sizing.controls import counts
from goodqueue.sizing.link import Link, rtt_range

if TYPE_CHECKING:
    from pathlib import Path

    from goodqueue.runs.settings import Settings
    from goodqueue.sizing.controls import Shares

SEEDS = 5
FILE = "links.jsonl"
FRACTIONS = (0.003, 0.01, 0.03, 0.06, 0.12, 0.25, 0.5, 1.0, 2.0)
"""Buffers in bandwidth-delay products."""

Point = tuple[str, str, float]
"""Link, mix, and buffer in bandwidth-delay products."""

LEAST_PACKETS = 4
PACKET_BYTES = 1500

SHORT_SHARE, VIDEO_SHARE = 0.15, 0.15
"""Shares of the rate that short flows ask for, and that videos at their highest rate need."""

SHORT_SIZE = {"law": "lognormal", "mean": "100kB", "sigma": 2.0}
"""Sizes of short flows: most have a few packets, and most bytes belong to few of them."""

VIDEO_BPS = 5e6
"""Highest bit rate of a video in bit/s, the last one of the ladder."""


@dataclass(frozen=True)
class Place:
    """A link of the study.

    Attributes:
        name: its name.
        rate_bps: its rate in bit/s.
        rtts_s: shortest and longest base round-trip time in s.
        flows: number of long flows.
        warmup_s: time that is not measured, in s.
        duration_s: time of a run, in s.
    """

    name: str
    rate_bps: float
    rtts_s: tuple[float, float]
    flows: int
    warmup_s: float
    duration_s: float

    def link(self, mix: Mix) -> Link:
        """Returns the link as the rules see it."""
        control = max(mix.shares, key=lambda one: one[1])[0]
        return Link(
            self.rate_bps,
            rtt_range(*self.rtts_s, steps=6),
            self.flows,
            congestion_control=control,
            controls=mix.shares if len(mix.shares) > 1 else (),
            paced=mix.paced == 1,
        )

    def packets(self, fraction: float) -> int:
        """Returns the packets of a buffer that is given in bandwidth-delay products."""
        bdp = self.rate_bps * sum(self.rtts_s) / 2 / (8 * PACKET_BYTES)
        return max(round(fraction * bdp), LEAST_PACKETS)


@dataclass(frozen=True)
class Mix:
    """The long flows of a link.

    Attributes:
        name: its name.
        shares: congestion controls with their shares of the long flows.
        paced: share of the CUBIC flows that pace, as senders of QUIC do.
        profile: TCP profile of the hosts.
        alone: True if there are no short flows and no videos.
    """

    name: str
    shares: Shares
    paced: float = 0.0
    profile: str = "linux"
    alone: bool = False


PLACES = (
    Place("access, 100 Mb/s", 100e6, (0.010, 0.060), 6, 10, 40),
    Place("metro, 1 Gb/s", 1e9, (0.005, 0.050), 60, 6, 16),
    Place("core, 2.5 Gb/s", 2.5e9, (0.010, 0.100), 400, 6, 12),
)

MIXES = (
    Mix("2004: Reno alone", (("reno", 1.0),), profile="rfc", alone=True),
    Mix("CUBIC", (("cubic", 1.0),)),
    Mix("today", (("cubic", 0.7), ("bbr3", 0.3)), paced=0.5),
    Mix("all paced", (("cubic", 0.5), ("bbr3", 0.5)), paced=1.0),
)


def settings(place: Place, mix: Mix, packets: int) -> Settings:
    """Returns the settings of the scenario of a link behind a buffer."""
    shortest, longest = (f"{round(1e6 * rtt)}us" for rtt in place.rtts_s)
    places = {"rtt": {"from": shortest, "to": longest}}
    jitter = {"start_jitter": f"{place.warmup_s / 3:.3f}s"}
    flows: list[Settings] = []
    for name, count, tcp in _groups(place, mix):
        long: Settings = {"workload": {"kind": "bulk"}, "tcp": tcp}
        flows.append({"name": name, "count": count, **places, **jitter, **long})
    if not mix.alone:
        # Each of the groups of short flows has one client, with a round trip of the link's range.
        middle = {"rtt": f"{round(1e6 * sum(place.rtts_s) / 2)}us"}
        load = f"{round(SHORT_SHARE * place.rate_bps)}bps"
        short = {"kind": "transfers", "size": dict(SHORT_SIZE), "load": load}
        flows.append({"name": "short", **middle, "workload": short})
        video = {"kind": "video", "ladder": ["1Mbps", "2500kbps", "5Mbps"], "variation": "30%"}
        count = max(round(VIDEO_SHARE * place.rate_bps / VIDEO_BPS), 1)
        # The server of a video sends down, so its clients lie on the other side of the link.
        ends: Settings = {"from": 1, "to": 0}
        flows.append(
            {"name": "video", "count": count, **ends, **places, **jitter, "workload": video}
        )
    return {
        "schema_version": 1,
        "title": f"{place.name}, {mix.name}",
        "duration": f"{place.duration_s:g}s",
        "warmup": f"{place.warmup_s:g}s",
        "topology": {
            "shape": "dumbbell",
            "access": {"rate": f"{round(min(place.rate_bps * 10, 10e9))}bps"},
            "bottleneck": {
                "rate": f"{round(place.rate_bps)}bps",
                "delay": "1ms",
                "queue": {"limit": f"{packets}p"},
                "reverse": {"queue": {"limit": "unlimited"}},
            },
        },
        "tcp": {"profile": mix.profile, "congestion_control": "cubic"},
        "flow": flows,
    }


def _groups(place: Place, mix: Mix) -> list[tuple[str, int, Settings]]:
    """Returns name, number of flows and TCP of each group of long flows."""
    groups: list[tuple[str, int, Settings]] = []
    for control, count in counts(mix.shares, place.flows).items():
        tcp: Settings = {"congestion_control": control}
        paced = round(mix.paced * count) if control == "cubic" else 0
        if paced:
            quic = {**tcp, "pacing": True, "loss_detection": "rack"}
            groups.append(("quic", paced, quic))
        if count > paced:
            groups.append((control, count - paced, tcp))
    return groups


def one(place: Place, mix: Mix, packets: int, seed: int) -> dict[str, float]:
    """Returns the figures of one run."""
    scenario = scenario_of(settings(place, mix, packets), "the link").with_seed(seed)
    found = metrics_of(scenario.run(series=False, packets=False))
    names = ("utilization", "loss_rate", "p99_queueing_delay_s")
    figures = {name: found[f"bottleneck.{name}"] for name in names}
    if not mix.alone:
        figures["slowdown"] = found["short.p50_slowdown"]
    return {name: float(f"{value:.6g}") for name, value in figures.items()}


def runs(seeds: int) -> list[tuple[Place, Mix, float, int]]:
    """Returns all runs: every link, mix and buffer, one seed after another."""
    return [
        (place, mix, fraction, seed)
        for seed in range(1, seeds + 1)
        for place in PLACES
        for mix in MIXES
        for fraction in FRACTIONS
    ]


def run(seeds: int, folder: Path = DATA) -> None:
    """Makes the runs that the folder does not contain, and appends their figures to its file."""
    done = {
        (one["place"], one["mix"], one["fraction"], one["seed"])
        for one in documents(folder)
        if is_present(one)
    }
    folder.mkdir(exist_ok=True)
    with (folder / FILE).open("a", encoding="utf-8") as file:
        for place, mix, fraction, seed in runs(seeds):
            key = {"place": place.name, "mix": mix.name, "fraction": fraction, "seed": seed}
            if tuple(key.values()) not in done:
                figures = one(place, mix, place.packets(fraction), seed)
                file.write(json.dumps(stamped({**key, **figures})) + "\n")
                file.flush()


def documents(folder: Path = DATA) -> list[dict[str, Any]]:
    """Returns the figures of all runs of the newest results version, in a fixed order."""
    found = newest(read(folder / FILE))
    return sorted(
        found, key=lambda each: (each["place"], each["mix"], each["fraction"], each["seed"])
    )


def seeds_of(place: Place, mix: Mix, fraction: float) -> int:
    """Returns the number of seeds with which a link was run behind a buffer."""
    return len(_values(place, mix, fraction, "utilization"))


def interval(place: Place, mix: Mix, fraction: float, figure: str) -> Interval | None:
    """Returns mean and 95 % interval of a figure; None without runs."""
    values = _values(place, mix, fraction, figure)
    return t_interval(values) if values else None


def _values(place: Place, mix: Mix, fraction: float, figure: str) -> list[float]:
    found = _by_point((DATA / FILE).stat().st_size).get((place.name, mix.name, fraction), [])
    return [one[figure] for one in found if figure in one]


@cache
def _by_point(_size: int) -> dict[Point, list[dict[str, Any]]]:
    """Returns the figures of all runs by link, mix and buffer.

    Args:
        _size: size of the file in bytes. The file only grows, so a new size means new runs.
    """
    points: dict[Point, list[dict[str, Any]]] = {}
    for one in documents():
        points.setdefault((one["place"], one["mix"], one["fraction"]), []).append(one)
    return points
