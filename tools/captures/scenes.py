"""Scenes to capture: each has a bottleneck, its flows, and the sender's segmentation."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Flow:
    """One iperf3 transfer. Delays are those of the reverse path, beyond and before the router."""

    congestion_control: str
    far_ms: float
    near_ms: float = 0.0
    start_s: float = 0.0
    pace_bps: int | None = None  # largest rate at which the application writes
    window_bytes: int = 4 << 20  # largest window that the receiver offers


@dataclass(frozen=True)
class Scene:
    """A capture to make."""

    name: str
    rate_bps: int
    limit_bytes: int
    seconds: float
    flows: tuple[Flow, ...]
    offloads: bool = False
    small: bool = True  # a few hundred kilobytes, to keep


def _four(control: str) -> tuple[Flow, ...]:
    paths = ((15, 5, 0), (20, 20, 0.3), (45, 15, 0.6), (70, 30, 0.9))
    return tuple(Flow(control, far, near, start) for far, near, start in paths)


SCENES = (
    Scene("reno", 4_000_000, 24_000, 12, (Flow("reno", 30, 10),)),
    Scene("cubic4", 6_000_000, 45_000, 10, _four("cubic")),
    Scene("cubic4-offloads", 6_000_000, 45_000, 10, _four("cubic"), offloads=True),
    Scene("bbr2", 4_000_000, 60_000, 10, (Flow("bbr", 25, 5), Flow("bbr", 50, 10, 0.5))),
    Scene(
        "mixed",
        *(5_000_000, 40_000, 10),
        (
            Flow("cubic", 30, 10),
            Flow("reno", 40, 20, 0.2),
            Flow("cubic", 35, 5, 0.4, window_bytes=6_000),
            Flow("cubic", 20, 5, 0.6, pace_bps=300_000),
        ),
        offloads=True,
    ),
    Scene("fast-offloads", 40_000_000, 200_000, 3, (Flow("cubic", 30, 10),), offloads=True),
    # About a million packets, to measure speed on. The bucket of one frame, which the kernel
    # refills by a timer per frame, passes at most about 200 Mb/s, so the capture does not show the
    # configured rate.
    Scene("long", 300_000_000, 1_500_000, 40, _four("cubic"), small=False),
)
