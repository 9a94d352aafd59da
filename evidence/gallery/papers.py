"""Pictures of the traffic in published studies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evidence.gallery.dots import Group, dots
from evidence.gallery.runs import Shown, Take, group, of, swept
from goodqueue.core.intervals import Interval
from goodqueue.plots.over_time import round_trips
from goodqueue.plots.panels import Line, Panel, stacked
from goodqueue.plots.style import BLUE, ORANGE

if TYPE_CHECKING:
    from goodqueue.plots.style import Picture

SHARES = {
    "5 %": {
        "topology.link.remote.rate": "1Mbps",
        "flow.windowed.tcp.receive_window": "5840B",
        "flow.short.workload.load": "27.1kbps",
    },
    "10 %": {},
    "20 %": {
        "topology.link.remote.rate": "4Mbps",
        "flow.windowed.tcp.receive_window": "20440B",
        "flow.short.workload.load": "108.2kbps",
    },
}
"""Overrides listed in scenarios/bscl-mix.toml, by the share of the traffic that is not local."""

PARTS = {"remote": 0.4, "windowed": 0.4, "short": 0.2}
"""Fraction of that share for each kind of flow."""


def bscl_mix() -> Picture:
    """Draws the throughput of the mix's parts, as designed and as measured."""
    show = Shown("bscl-mix")
    runs = show.replicates(list(SHARES.values()), seeds=3)

    def throughput(part: str) -> Take:
        return lambda summary: sum(group(summary, part, "throughput_bps")) / 1e6

    rows, designed, measured = [], [], []
    for share, summaries in zip(SHARES, runs, strict=True):
        for part, of_share in PARTS.items():
            rows.append(f"{share}: {part}")
            designed.append(Interval(float(share[:-2]) / 100 * of_share * 50, 0))
            measured.append(of(summaries, throughput(part)))
    return dots(
        show.name,
        title="A mix of traffic on 50 Mb/s",
        caption=(
            "What remotely bottlenecked, window-limited and short flows take together, for three "
            "shares of the capacity: as designed, and as measured over three runs with 95 % "
            "intervals. Local flows take the rest. Windows come in whole segments, and "
            "retransmissions count."
        ),
        xlabel="Mb/s (logarithmic)",
        rows=rows,
        groups=[Group("measured", measured), Group("designed", designed, hollow=True)],
        log=True,
    )


def gijsbers_ping() -> Picture:
    """Draws Figure 2 of Gijsbers and Akkoorath: a ping behind four buffers."""
    show = Shown("gijsbers-ping")
    limits = (10, 50, 100, 500)
    runs = [show.run({"topology.queue.limit": f"{m}p", "duration": "100s"}) for m in limits]
    lines = [
        round_trips(run, "ping", f"{m} frames", until_s=100)
        for run, m in zip(runs, limits, strict=True)
    ]
    return stacked(
        show.name,
        title="A ping every 10 ms, four buffers",
        caption=(
            "Round-trip times of a ping beside a bulk flow on 0.5 Mb/s, over the first 100 s, "
            "with 10 to 500 frames of buffer at every interface. The paper's Figure 2 shows the "
            "same without numbers."
        ),
        xlabel="time, s",
        panels=[Panel("ping, ms (logarithmic)", lines, log=True)],
    )


TABLE_3 = {
    10: (34796, 17800),
    25: (36214, 17800),
    50: (35784, 17743),
    100: (35964, 17143),
    250: (43933, 9196),
    500: (47969, 5139),
}
"""Printed goodput at server 1 and at server 2, in bytes a second, by the buffer in frames."""


def gijsbers_periodic() -> Picture:
    """Draws Table 3 of Gijsbers and Akkoorath: the goodput of both flows against the buffer."""
    show = Shown("gijsbers-periodic")
    settings = [
        {"topology.queue.limit": f"{m}p", "flow.periodic.start_jitter": "3s"} for m in TABLE_3
    ]
    echo = {"flow.bulk.workload": '{ kind = "echo", reply = "1B" }'}
    runs = show.replicates(settings, seeds=10)
    echoed = show.replicates([setting | echo for setting in settings], seeds=10)
    limits = list(TABLE_3)

    def goodput(flow: str) -> Take:
        return lambda summary: summary["flows"][flow]["goodput_bps"] / 8000

    return stacked(
        show.name,
        title="200 kB every 10 s beside a bulk flow",
        caption=(
            "Goodput of both flows against the buffer: ours over ten starts of the second flow "
            "with 95 % intervals, the same with a server that echoes a byte for each segment of "
            "the bulk flow, and the paper's Table 3 (diamonds; blue bulk, orange every 10 s), "
            "each row of it one start. The second flow's loss at large buffers comes with the "
            "echo, which the paper does not mention."
        ),
        xlabel="buffer, frames (logarithmic)",
        xlog=limits,
        panels=[
            Panel(
                "goodput, kB/s",
                [
                    swept("bulk", limits, runs, goodput("bulk")),
                    swept("every 10 s", limits, runs, goodput("periodic")),
                    swept("bulk, echoed", limits, echoed, goodput("bulk")),
                    swept("every 10 s, echoed", limits, echoed, goodput("periodic")),
                    Line(
                        "",
                        limits,
                        [bulk / 1000 for bulk, _ in TABLE_3.values()],
                        form="marks",
                        colour=BLUE,
                    ),
                    Line(
                        "",
                        limits,
                        [periodic / 1000 for _, periodic in TABLE_3.values()],
                        form="marks",
                        colour=ORANGE,
                    ),
                ],
            )
        ],
    )


def red_study() -> Picture:
    """Draws goodput and response time against the buffer, for three rates of random loss."""
    show = Shown("red-study")
    limits = (5, 7, 10, 15, 30, 50)
    lines: dict[str, list[Line]] = {"goodput": [], "response": []}
    for loss in ("1%", "2%", "5%"):
        settings = [
            {
                "topology.link.bottleneck.queue.limit": f"{limit}kB",
                "topology.link.bottleneck.loss.probability": loss,
            }
            for limit in limits
        ]
        runs = show.replicates(settings, seeds=10)
        label = f"{loss[:-1]} % lost"
        lines["goodput"].append(swept(label, limits, runs, _tcp_goodput))
        lines["response"].append(swept("", limits, runs, _response))
    return stacked(
        show.name,
        title="Three servers, datagrams and RED",
        caption=(
            "Goodput of the three servers together, and mean response time of their objects, "
            "against the buffer; means of ten runs with 95 % intervals."
        ),
        xlabel="buffer, kB (logarithmic)",
        xlog=limits,
        panels=[
            Panel("goodput, kb/s", lines["goodput"], top=500),
            Panel("response time, ms", lines["response"]),
        ],
    )


def _tcp_goodput(summary: dict[str, Any]) -> float:
    return sum(float(summary["flows"][f"node{n}"]["goodput_bps"]) for n in (0, 2, 3)) / 1000


def _response(summary: dict[str, Any]) -> float:
    flows = summary["flows"]
    objects = {f"node{n}": int(flows[f"node{n}"]["objects"]) for n in (0, 2, 3)}
    total = sum(count * float(flows[n]["mean_object_time_s"]) for n, count in objects.items())
    return 1000 * total / sum(objects.values())
